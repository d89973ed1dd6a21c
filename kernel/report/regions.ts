/**
 * Live bytes by address and time: regions of memory of equal size that contained blocks, and the live bytes of each at
 * certain moments. When there are too many regions, they become twice as large.
 */
import { COLUMNS as MOMENTS, SPACE_BITS } from '../../lib/kernel/layouts/report'
import { takeZeros } from '../live/room'
import { HashTable, TABLE, VALUE } from '../shared/hash-table'

const MOST: u32 = 1024
const COLUMNS: u32 = MOMENTS
const ROW: usize = COLUMNS * 4
/** The maximum number of regions of a block. */
const WIDEST: u64 = 256
const LARGEST: u32 = 56
const SPACE: u64 = SPACE_BITS
/** A number that no space has. */
const NO_SPACE: u64 = u64.MAX_VALUE

/** Per region, its address space (above `SPACE`) and its number in it, and its live bytes. */
export const REGION_KEYS: usize = memory.data(8192)
const LIVE: usize = memory.data(8192)
export let regions: u32 = 0
/** The logarithm of their size. */
export let regionShift: u32 = 16
/** Bytes of blocks without a region. */
export let lost: u64 = 0
/** Rows of 32-bit floats, one row for each region. */
export let matrix: usize = 0

/** Regions by their key, from 1. */
const byKey = changetype<HashTable>(memory.data(TABLE))
/** The last region found. */
let lastKey: u64 = 0
let lastRegion: i32 = -1

/** Makes room. @returns whether there is memory */
export function makeRegions(): bool {
  if (matrix != 0) return true
  if (!byKey.reserve(MOST)) return false
  matrix = takeZeros(21)
  return matrix != 0
}

/** The region with a key, which is added if there is room; otherwise -1. */
// @ts-ignore: decorator
@inline
function regionOf(key: u64): i32 {
  if (key == lastKey && lastRegion >= 0) return lastRegion
  const slot = byKey.slotOf(key)
  let region = load<i32>(slot, VALUE) - 1
  if (region < 0) {
    if (regions == MOST) return -1
    region = <i32>regions
    regions++
    store<u64>(REGION_KEYS + ((<usize>region) << 3), key)
    store<u64>(byKey.put(slot, key), <u64>regions, VALUE)
  }
  lastKey = key
  lastRegion = region
  return region
}

/** Makes regions twice as large. @returns whether that is possible */
function coarsen(): bool {
  if (regionShift == LARGEST) return false
  regionShift++
  joinRegions(1, NO_SPACE)
  return true
}

/** Forgets the regions of a space. */
export function dropRegions(space: u32): void {
  joinRegions(0, <u64>space)
}

/** Divides the numbers of regions by `2^bits`, and forgets those of a space. */
function joinRegions(bits: u64, space: u64): void {
  lastRegion = -1
  byKey.forget()
  const before = regions
  regions = 0
  for (let region: u32 = 0; region < before; region++) {
    const old = load<u64>(REGION_KEYS + ((<usize>region) << 3))
    if (old >> SPACE == space) continue
    const below: u64 = (1 << SPACE) - 1
    const key = (old & ~below) | ((old & below) >> bits)
    const live = load<u64>(LIVE + ((<usize>region) << 3))
    const from = matrix + <usize>region * ROW
    const slot = byKey.slotOf(key)
    const known = load<u32>(slot, VALUE)
    if (known == 0) {
      const to = regions
      regions++
      store<u64>(byKey.put(slot, key), <u64>regions, VALUE)
      store<u64>(REGION_KEYS + ((<usize>to) << 3), key)
      store<u64>(LIVE + ((<usize>to) << 3), live)
      memory.copy(matrix + <usize>to * ROW, from, ROW)
    } else {
      const at = LIVE + ((<usize>(known - 1)) << 3)
      store<u64>(at, load<u64>(at) + live)
      const to = matrix + <usize>(known - 1) * ROW
      for (let cell: usize = 0; cell < ROW; cell += 4)
        store<f32>(to + cell, load<f32>(to + cell) + load<f32>(from + cell))
    }
  }
  memory.fill(LIVE + ((<usize>regions) << 3), 0, (<usize>(MOST - regions)) << 3)
  memory.fill(matrix + <usize>regions * ROW, 0, <usize>(MOST - regions) * ROW)
}

/** Adds a block to its regions, or removes it. @param size as for `takePages` */
export function takeRegions(space: u32, address: u64, size: u64, isGain: bool): void {
  let at = address
  let left = size
  while (left > 0) {
    const within = at & (((<u64>1) << regionShift) - 1)
    if (isGain && ((within >> 1) + (left >> 1)) >> (regionShift - 1) > WIDEST && coarsen()) continue
    const part = min<u64>(left, ((<u64>1) << regionShift) - within)
    const region = regionOf(((<u64>space) << SPACE) | (at >> regionShift))
    if (region < 0) {
      if (isGain && coarsen()) continue
      if (isGain) lost += part
    } else {
      const live = LIVE + ((<usize>region) << 3)
      store<u64>(live, isGain ? load<u64>(live) + part : load<u64>(live) - part)
    }
    at += part
    left -= part
  }
}

/** Saves the live bytes as a column. */
export function snapshot(column: u32): void {
  if (matrix == 0) return
  for (let region: usize = 0; region < <usize>regions; region++) {
    store<f32>(matrix + region * ROW + ((<usize>column) << 2), <f32>load<u64>(LIVE + (region << 3)))
  }
}

/** Keeps every second of the columns, all of which are in use. */
export function joinColumns(): void {
  if (matrix == 0) return
  for (let region: usize = 0; region < <usize>regions; region++) {
    const row = matrix + region * ROW
    for (let column: usize = 0; column < COLUMNS / 2; column++) {
      store<f32>(row + (column << 2), load<f32>(row + (column << 3) + 4))
    }
    memory.fill(row + ROW / 2, 0, ROW / 2)
  }
}

/** Ends a trace: no block is live. */
export function endRegions(): void {
  memory.fill(LIVE, 0, 8192)
}

/**
 * Finds the chunk that holds an address, for repairs. The map has, for each page, the first chunk that begins in it.
 * Maintaining it costs as much as the rest of the simulation, so it is created when a repair needs it, and dropped when
 * no prediction has been wrong for a while.
 *
 * The hash is multiplication by the golden ratio, because most pages are neighbours. If pages were chosen to collide,
 * the map is made again with a keyed hash. Predictions never depend on the key, so that compact traces can be read with
 * another one: the data that a call adds to the log, which is limited, depends on the layout of the first map. It does
 * not depend on the layout of a keyed map, in which no page moves.
 */
import { giveRoom, takeZeros } from '../../live/room'
import { hashOf } from '../hash'
import { AFTER, endOfRecords, link, placeOf, RECORD, records, STATE, MAPPED } from './chunks'
import { set32 } from './log'

/** The number of calls without a repair after which the map is dropped, and the maximum length of searches. */
const KEPT: u32 = 8192
const PAGES_BACK: u64 = 65_536
const STEPS: u32 = 4096
const FEWEST: u32 = 12
/** The maximum distance of a page from its slot. Beyond it, pages count as chosen to collide. */
const LONG: u32 = 256
/** In a keyed map: marks the slot of a removed page. No chunk has this number. */
const GONE: u32 = 1

let table: usize = 0
/** The logarithm of the number of slots, and the last one. */
let log: u32 = 0
let last: u32 = 0
/** The number of used slots; restored on undo. */
const COUNT: usize = memory.data(4)
let callsLeft: u32 = 0
/** Whether a page was too far from its slot, and whether the hash is keyed since then. */
let isOdd: bool = false
export let isKeyed: bool = false

/** Drops the map, and returns to the hash without a key. */
export function clearMap(): void {
  dropMap()
  isOdd = isKeyed = false
}

export function dropMap(): void {
  if (table != 0) giveRoom(table, log + 2)
  table = 0
}

/** Prepares for a call, which may add some chunks. */
export function mapBegins(): void {
  if (table != 0) keepMap()
}

function keepMap(): void {
  if (--callsLeft == 0) dropMap()
  else if (isOdd && !isKeyed) makeKeyed()
  else if (load<u32>(COUNT) > (last + 1) / 2) {
    if (isKeyed) makeKeyed()
    else makeMap(log + 1)
  }
}

/** The logarithm of twice the number of chunks. */
function slotsForAll(): u32 {
  let slots = FEWEST
  while (<u64>((<u32>1) << slots) * RECORD < 2 * <u64>endOfRecords()) slots++
  return slots
}

/** Creates a keyed map, at most a quarter of which is used. */
function makeKeyed(): bool {
  isKeyed = true
  let slots = slotsForAll()
  while (makeMap(slots)) {
    if (load<u32>(COUNT) <= (last + 1) / 4) return true
    slots++
  }
  return false
}

/** Creates the map unless it exists. @returns false if memory is exhausted */
export function needMap(): bool {
  const calls = max(KEPT, endOfRecords() / RECORD / 4)
  if (table != 0) {
    callsLeft = calls
    return true
  }
  if (!(isKeyed ? makeKeyed() : makeMap(slotsForAll()))) return false
  callsLeft = calls
  return true
}

function makeMap(slots: u32): bool {
  dropMap()
  table = takeZeros(slots + 2)
  if (table == 0) return false
  log = slots
  last = ((<u32>1) << slots) - 1
  store<u32>(COUNT, 0)
  const end = endOfRecords()
  for (let chunk: u32 = RECORD; chunk < end; chunk += RECORD) {
    if (load<u8>(records + chunk, STATE) >= MAPPED) continue
    add(chunk)
    if (isOdd && !isKeyed) return makeKeyed()
  }
  return true
}

function pageOf(chunk: u32): u64 {
  return placeOf(chunk) >> 12
}

function slotOf(page: u64): u32 {
  return (isKeyed ? hashOf(page) : <u32>((page * 0x9e37_79b9_7f4a_7c15) >> 32)) & last
}

function at(slot: u32): usize {
  return table + ((<usize>slot) << 2)
}

/** The slot of a page, or the empty slot for it. */
function find(page: u64): u32 {
  const first = slotOf(page)
  let slot = first
  while (true) {
    const chunk = load<u32>(at(slot))
    if (chunk == 0 || (chunk != GONE && pageOf(chunk) == page)) break
    slot = (slot + 1) & last
  }
  if (((slot - first) & last) > LONG) isOdd = true
  return slot
}

/** A call adds few chunks, and the map grows between calls, so it is never full. */
function add(chunk: u32): void {
  const slot = find(pageOf(chunk))
  const first = load<u32>(at(slot))
  if (first == 0) set32(COUNT, load<u32>(COUNT) + 1)
  else if (placeOf(first) <= placeOf(chunk)) return
  set32(at(slot), chunk)
}

export function mapAdded(chunk: u32): void {
  if (table != 0) add(chunk)
}

/** Removes a chunk, which still exists. */
export function mapRemoved(chunk: u32): void {
  if (table != 0) remove(chunk)
}

function remove(chunk: u32): void {
  let slot = find(pageOf(chunk))
  if (load<u32>(at(slot)) != chunk) return
  const after = link(chunk, AFTER)
  if (after != 0 && pageOf(after) == pageOf(chunk)) {
    set32(at(slot), after)
    return
  }
  if (isKeyed) {
    set32(at(slot), GONE)
    return
  }
  set32(COUNT, load<u32>(COUNT) - 1)
  let next = slot
  while (true) {
    next = (next + 1) & last
    const moved = load<u32>(at(next))
    if (moved == 0) break
    if (((next - slotOf(pageOf(moved))) & last) >= ((next - slot) & last)) {
      set32(at(slot), moved)
      slot = next
    }
  }
  set32(at(slot), 0)
}

/** The chunk that holds a virtual address, 0 if there is none or it is too far. */
export function chunkAt(place: u64): u32 {
  if (table == 0) return 0
  const page = place >> 12
  for (let back: u64 = 0; back < PAGES_BACK && page - back > 0; back++) {
    let chunk = load<u32>(at(find(page - back)))
    if (chunk == 0 || placeOf(chunk) > place) continue
    for (let step: u32 = 0; step < STEPS && chunk != 0; step++) {
      const end = placeOf(chunk) + load<u64>(records + chunk, 8)
      if (place < end) return place >= placeOf(chunk) ? chunk : 0
      chunk = link(chunk, AFTER)
    }
    return 0
  }
  return 0
}

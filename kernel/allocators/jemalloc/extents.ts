/**
 * Extents: contiguous pages. An extent is a run of regions of a class, a large block, or free. Extents are numbered
 * from 1. Each has the address of its first page, or 0 while that is unknown.
 */
import { giveRoom, takeRoom } from '../../live/room'
import { PAGE_LOG, sizeClass } from './rules'

/** Contiguous pages, in a record of 64 bytes. */
@unmanaged
class Extent {
  /** The address of its first page, and its order among extents of equal use. */
  base: u64
  order: u64
  pages: u32
  /** Of a run: the number of its free regions, and its class. */
  free: u16
  class: u8
  state: u8
  /** The children in a set. An unused record has the next unused one on the left. */
  left: u32
  right: u32
  /** Of a run: the address of its bits if there are more than 64, otherwise the bits. */
  bits: u32
  arena: u16
  freeBits: u64
  liveBits: u64
  /** Why the address is a guess, 0 if it is certain; and how far from its first page a large block begins. */
  guessed: u8
  offset: u16
  /** The pages that a block of whole chunks uses (3, 4). */
  block: u32
}

const LOG: u32 = 6
const FREE_BITS: usize = offsetof<Extent>('freeBits')
export const LEFT: usize = offsetof<Extent>('left')
export const RIGHT: usize = offsetof<Extent>('right')

/** Kinds of extents. */
const UNUSED: u8 = 0
export const RUN: u8 = 1
export const LARGE: u8 = 2
/** A free large block in a cache. */
export const KEPT: u8 = 3
export const DIRTY: u8 = 4
export const RETAINED: u8 = 5

/** Why an address is a guess: a free extent is there, or another extent ends there. */
export const FROM_FREE: u8 = 1
export const FROM_NEXT: u8 = 2

/** The directory: an address for each 1024 records. */
const DIRECTORY: usize = memory.data(8192)
const PIECE_LOG: u32 = 10
/** Numbers of extents are less than this. */
const MOST: u32 = 1 << 21
let count: u32 = 1
let unused: u32 = 0
/** Whether an extent could not be made since the last reset: there were too many, or memory was exhausted. */
export let areTooMany: bool = false
export let isExhausted: bool = false

export function clearExtents(): void {
  for (let n: u32 = 1; n < count; n++) if (extent(n).state == RUN) giveBits(n)
  for (let i: u32 = 0; i < MOST >> PIECE_LOG; i++) {
    const piece = load<u32>(DIRECTORY + ((<usize>i) << 2))
    if (piece != 0) giveRoom(piece, PIECE_LOG + LOG)
  }
  memory.fill(DIRECTORY, 0, 8192)
  count = 1
  unused = 0
  areTooMany = isExhausted = false
}

/** The record of an extent. */
export function extent(n: u32): Extent {
  const piece = <usize>load<u32>(DIRECTORY + ((<usize>(n >> PIECE_LOG)) << 2))
  return changetype<Extent>(piece + ((<usize>(n & ((1 << PIECE_LOG) - 1))) << LOG))
}

/** Whether a number identifies an extent in use. */
export function exists(n: u32): bool {
  return n != 0 && n < count && extent(n).state != UNUSED
}

/** Makes an extent that is not a run. @returns 0 if there are too many or memory is exhausted */
export function addExtent(state: u8, arena: u32, base: u64, pages: u32, order: u64): u32 {
  let n = unused
  if (n != 0) unused = extent(n).left
  else {
    n = count
    if (n >= MOST) {
      areTooMany = true
      return 0
    }
    const entry = DIRECTORY + ((<usize>(n >> PIECE_LOG)) << 2)
    if (load<u32>(entry) == 0) {
      const piece = takeRoom(PIECE_LOG + LOG)
      if (piece == 0) {
        isExhausted = true
        return 0
      }
      store<u32>(entry, <u32>piece)
    }
    count++
  }
  const record = extent(n)
  memory.fill(changetype<usize>(record), 0, 1 << LOG)
  record.base = base
  record.order = order
  record.pages = pages
  record.arena = <u16>arena
  record.state = state
  return n
}

export function dropExtent(n: u32): void {
  if (extent(n).state == RUN) giveBits(n)
  extent(n).state = UNUSED
  extent(n).left = unused
  unused = n
}

/**
 * Makes an extent a run of a class whose regions are free from a given one on. @returns false if memory is exhausted
 */
export function makeRun(n: u32, c: u32, from: u32): bool {
  const record = extent(n)
  const regions = sizeClass(c).regions
  const words = (regions + 63) >> 6
  if (words > 1) {
    const bits = takeRoom(bitsLog(words))
    if (bits == 0) return false
    record.bits = <u32>bits
  }
  record.class = <u8>c
  record.state = RUN
  record.free = <u16>(regions - from)
  const bits = bitsOf(n)
  memory.fill(bits, 0, (<usize>words) << 4)
  for (let word: u32 = from >> 6; word < words; word++) {
    const first = word << 6
    let free = ~(<u64>0)
    if (from > first) free <<= from - first
    if (regions - first < 64) free &= ((<u64>1) << (regions - first)) - 1
    store<u64>(bits + ((<usize>word) << 3), free)
  }
  return true
}

function bitsLog(words: u32): u32 {
  return 4 + (32 - clz(words - 1))
}

/** Makes a run a plain extent again. */
export function dropBits(n: u32): void {
  if (extent(n).state == RUN) giveBits(n)
  extent(n).offset = 0
}

function giveBits(n: u32): void {
  const words = (sizeClass(extent(n).class).regions + 63) >> 6
  if (words > 1) giveRoom(extent(n).bits, bitsLog(words))
}

/** The bits of free regions. The same number of words after these has the bits of regions with live blocks. */
// @ts-ignore: decorator
@inline
function bitsOf(n: u32): usize {
  return sizeClass(extent(n).class).regions > 64 ? <usize>extent(n).bits : changetype<usize>(extent(n)) + FREE_BITS
}
// @ts-ignore: decorator
@inline
function liveBits(n: u32): usize {
  return bitsOf(n) + ((<usize>((sizeClass(extent(n).class).regions + 63) >> 6)) << 3)
}

// @ts-ignore: decorator
@inline
export function isLive(n: u32, region: u32): bool {
  return ((load<u64>(liveBits(n) + ((<usize>(region >> 6)) << 3)) >> (region & 63)) & 1) != 0
}
export function setLive(n: u32, region: u32, yes: bool): void {
  const word = liveBits(n) + ((<usize>(region >> 6)) << 3)
  const bit = (<u64>1) << (region & 63)
  store<u64>(word, yes ? load<u64>(word) | bit : load<u64>(word) & ~bit)
}

// @ts-ignore: decorator
@inline
export function isFree(n: u32, region: u32): bool {
  return ((load<u64>(bitsOf(n) + ((<usize>(region >> 6)) << 3)) >> (region & 63)) & 1) != 0
}

/** Marks a region as free that was not. */
export function freeRegion(n: u32, region: u32): void {
  const word = bitsOf(n) + ((<usize>(region >> 6)) << 3)
  store<u64>(word, load<u64>(word) | ((<u64>1) << (region & 63)))
  extent(n).free++
}

/** Marks a free region as used. */
// @ts-ignore: decorator
@inline
export function useRegion(n: u32, region: u32): void {
  const word = bitsOf(n) + ((<usize>(region >> 6)) << 3)
  store<u64>(word, load<u64>(word) & ~((<u64>1) << (region & 63)))
  extent(n).free--
}

/** The lowest free region from one on, or `regionsOf` if there is none. */
// @ts-ignore: decorator
@inline
export function lowestFree(n: u32, from: u32): u32 {
  const regions = sizeClass(extent(n).class).regions
  const bits = bitsOf(n)
  for (let word = from >> 6; word << 6 < regions; word++) {
    let free = load<u64>(bits + ((<usize>word) << 3))
    if (word == from >> 6) free &= ~(<u64>0) << (from & 63)
    if (free != 0) return (word << 6) + <u32>ctz(free)
  }
  return regions
}

/** Marks all regions of a run as used. */
export function useAll(n: u32): void {
  memory.fill(bitsOf(n), 0, (<usize>((sizeClass(extent(n).class).regions + 63) >> 6)) << 3)
  extent(n).free = 0
}

/** The number of the page after an extent. */
export function endPage(n: u32): u64 {
  return (extent(n).base >> PAGE_LOG) + extent(n).pages
}

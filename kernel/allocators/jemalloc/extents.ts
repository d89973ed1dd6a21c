/**
 * Extents: contiguous pages. An extent is a run of regions of a class, a large block, or free. Extents are numbered
 * from 1. Each has the address of its first page, or 0 while that is unknown.
 */
import { giveRoom, takeRoom } from '../../live/room'
import { PAGE_LOG, regionsOf } from './rules'

/** Offsets in a record: address, order among extents of equal use, pages, and so on. */
const LOG: u32 = 6
const BASE: usize = 0
export const ORDER: usize = 8
const PAGES: usize = 16
const FREE: usize = 20
const CLASS: usize = 22
const STATE: usize = 23
/** The children in a set. An unused record has the next unused one here. */
export const LEFT: usize = 24
export const RIGHT: usize = 28
/** The address of the bits, if there are more than 64. */
const BITS: usize = 32
const ARENA: usize = 36
const INLINE: usize = 40
/** Whether the address is a guess; and how far from its first page a large block begins. */
const GUESSED: usize = 56
const OFFSET: usize = 58
/** The pages that a block of whole chunks uses (3, 4). */
const BLOCK: usize = 60

/** Kinds of extents. */
export const UNUSED: u8 = 0
export const RUN: u8 = 1
export const LARGE: u8 = 2
/** A free large block in a cache. */
export const KEPT: u8 = 3
export const DIRTY: u8 = 4
export const RETAINED: u8 = 5

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

/** Forgets all extents. */
export function clearExtents(): void {
  for (let n: u32 = 1; n < count; n++) if (stateOf(n) == RUN) giveBits(n)
  for (let i: u32 = 0; i < MOST >> PIECE_LOG; i++) {
    const piece = load<u32>(DIRECTORY + ((<usize>i) << 2))
    if (piece != 0) giveRoom(piece, PIECE_LOG + LOG)
  }
  memory.fill(DIRECTORY, 0, 8192)
  count = 1
  unused = 0
  areTooMany = isExhausted = false
}

/** The address of a record. */
// @ts-ignore: decorator
@inline
export function at(n: u32): usize {
  return <usize>load<u32>(DIRECTORY + ((<usize>(n >> PIECE_LOG)) << 2)) + ((<usize>(n & ((1 << PIECE_LOG) - 1))) << LOG)
}
// @ts-ignore: decorator
@inline
export function baseOf(n: u32): u64 {
  return load<u64>(at(n), BASE)
}
// @ts-ignore: decorator
@inline
export function orderOf(n: u32): u64 {
  return load<u64>(at(n), ORDER)
}
// @ts-ignore: decorator
@inline
export function extentPages(n: u32): u32 {
  return load<u32>(at(n), PAGES)
}
// @ts-ignore: decorator
@inline
export function freeOf(n: u32): u32 {
  return load<u16>(at(n), FREE)
}
// @ts-ignore: decorator
@inline
export function classOfRun(n: u32): u32 {
  return load<u8>(at(n), CLASS)
}
// @ts-ignore: decorator
@inline
export function stateOf(n: u32): u8 {
  return load<u8>(at(n), STATE)
}
// @ts-ignore: decorator
@inline
export function arenaOf(n: u32): u32 {
  return load<u16>(at(n), ARENA)
}

// @ts-ignore: decorator
@inline
export function isGuessed(n: u32): bool {
  return load<u8>(at(n), GUESSED) != 0
}
/** Sets an address that is a guess: a free extent is there, or another extent ends there. */
export const FROM_FREE: u8 = 1
export const FROM_NEXT: u8 = 2
export function setGuessed(n: u32, from: u8): void {
  store<u8>(at(n), from, GUESSED)
}
export function guessOf(n: u32): u8 {
  return load<u8>(at(n), GUESSED)
}
/** The address is certain. */
export function confirm(n: u32): void {
  store<u8>(at(n), 0, GUESSED)
}
// @ts-ignore: decorator
@inline
export function offsetOf(n: u32): u32 {
  return load<u16>(at(n), OFFSET)
}
export function setOffset(n: u32, offset: u32): void {
  store<u16>(at(n), <u16>offset, OFFSET)
}
export function blockPages(n: u32): u32 {
  return load<u32>(at(n), BLOCK)
}
export function setBlockPages(n: u32, pages: u32): void {
  store<u32>(at(n), pages, BLOCK)
}
export function setBase(n: u32, base: u64): void {
  store<u64>(at(n), base, BASE)
}
export function setArenaOf(n: u32, arena: u32): void {
  store<u16>(at(n), <u16>arena, ARENA)
}
export function setOrder(n: u32, order: u64): void {
  store<u64>(at(n), order, ORDER)
}
export function setPages(n: u32, pages: u32): void {
  store<u32>(at(n), pages, PAGES)
}
export function setState(n: u32, state: u8): void {
  store<u8>(at(n), state, STATE)
}

/** Whether a number identifies an extent in use. */
// @ts-ignore: decorator
@inline
export function exists(n: u32): bool {
  return n != 0 && n < count && stateOf(n) != UNUSED
}

/** Makes an extent that is not a run. @returns 0 if there are too many or memory is exhausted */
export function addExtent(state: u8, arena: u32, base: u64, pages: u32, order: u64): u32 {
  let n = unused
  if (n != 0) unused = load<u32>(at(n), LEFT)
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
  const record = at(n)
  memory.fill(record, 0, 1 << LOG)
  store<u64>(record, base, BASE)
  store<u64>(record, order, ORDER)
  store<u32>(record, pages, PAGES)
  store<u16>(record, <u16>arena, ARENA)
  store<u8>(record, state, STATE)
  return n
}

/** Removes an extent. */
export function dropExtent(n: u32): void {
  if (stateOf(n) == RUN) giveBits(n)
  setState(n, UNUSED)
  store<u32>(at(n), unused, LEFT)
  unused = n
}

/**
 * Makes an extent a run of a class whose regions are free from a given one on. @returns false if memory is exhausted
 */
export function makeRun(n: u32, c: u32, from: u32): bool {
  const record = at(n)
  const regions = regionsOf(c)
  const words = (regions + 63) >> 6
  if (words > 1) {
    const bits = takeRoom(bitsLog(words))
    if (bits == 0) return false
    store<u32>(record, <u32>bits, BITS)
  }
  store<u8>(record, <u8>c, CLASS)
  store<u8>(record, RUN, STATE)
  store<u16>(record, <u16>(regions - from), FREE)
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

// @ts-ignore: decorator
@inline
function bitsLog(words: u32): u32 {
  return 4 + (32 - clz(words - 1))
}

/** Makes a run a plain extent again. */
export function dropBits(n: u32): void {
  if (stateOf(n) == RUN) giveBits(n)
  setOffset(n, 0)
}

function giveBits(n: u32): void {
  const words = (regionsOf(classOfRun(n)) + 63) >> 6
  if (words > 1) giveRoom(load<u32>(at(n), BITS), bitsLog(words))
}

/** The bits of free regions. The same number of words after these has the bits of regions with live blocks. */
// @ts-ignore: decorator
@inline
function bitsOf(n: u32): usize {
  return regionsOf(classOfRun(n)) > 64 ? <usize>load<u32>(at(n), BITS) : at(n) + INLINE
}
// @ts-ignore: decorator
@inline
function liveBits(n: u32): usize {
  return bitsOf(n) + ((<usize>((regionsOf(classOfRun(n)) + 63) >> 6)) << 3)
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
// @ts-ignore: decorator
@inline
export function freeRegion(n: u32, region: u32): void {
  const word = bitsOf(n) + ((<usize>(region >> 6)) << 3)
  store<u64>(word, load<u64>(word) | ((<u64>1) << (region & 63)))
  store<u16>(at(n), load<u16>(at(n), FREE) + 1, FREE)
}

/** Marks a free region as used. */
// @ts-ignore: decorator
@inline
export function useRegion(n: u32, region: u32): void {
  const word = bitsOf(n) + ((<usize>(region >> 6)) << 3)
  store<u64>(word, load<u64>(word) & ~((<u64>1) << (region & 63)))
  const record = at(n)
  store<u16>(record, load<u16>(record, FREE) - 1, FREE)
}

/** The lowest free region from one on, or `regionsOf` if there is none. */
// @ts-ignore: decorator
@inline
export function lowestFree(n: u32, from: u32): u32 {
  const regions = regionsOf(classOfRun(n))
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
  memory.fill(bitsOf(n), 0, (<usize>((regionsOf(classOfRun(n)) + 63) >> 6)) << 3)
  store<u16>(at(n), 0, FREE)
}

/** The number of the page after an extent. */
// @ts-ignore: decorator
@inline
export function endPage(n: u32): u64 {
  return (baseOf(n) >> PAGE_LOG) + extentPages(n)
}

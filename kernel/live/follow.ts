/**
 * What a batch does to the live set: it comes as what its events are to do to blocks, by their keys
 * (lib/blocks/block-keys.ts), and goes as what they did, by the blocks' numbers: a block that begins gets the
 * number that was given back last, or the next one from 1.
 *
 * What it holds stays from call to call, in memory that grows with the blocks that are live at once.
 */
import { begin, clearSet, finish, numberOf, seedSet, wasLive } from './set'

export { isSeeded, live, numbers } from './set'

/** Bits of intents and effects, as in lib/blocks/block-effect.ts and block-keys.ts. */
export const BEGAN: u32 = 1
export const DONE: u32 = 2
const UNKNOWN: u32 = 4
const AGAIN: u32 = 8
export const REUSED: u32 = 16
const BY_KERNEL: u32 = 16
const INDEXED: u32 = 128
/** Sets the pages of a kernel apart from its objects: the same as in lib/blocks/address-spaces.ts. */
const PAGE_BIT: u64 = 1 << 63

/** Per row, what is to be done, and the keys of the block to be ended and of the one that begins. */
export const INTENTS: usize = memory.data(4288)
export const ENDS: usize = memory.data(32960)
export const BEGINS: usize = memory.data(32960)
/** Per row, what was done, and the numbers of these blocks, 0 for none. */
export const EFFECTS: usize = memory.data(4288)
export const ENDED: usize = memory.data(16576)
export const BEGUN: usize = memory.data(16576)

/**
 * How many of the blocks that ended last are remembered, to tell a double free from a free of an unknown block; a power
 * of two.
 */
const REMEMBERED: u32 = 65_536
/** Their keys, each in the one place that its key allows; the null key for none. */
const FREED: usize = memory.data(524288)
let hasFreed: bool = false

/** Sets what nobody knows. */
export function seed(low: u32, high: u32): void {
  seedSet(low, high)
}

/** Forgets all blocks. @returns whether there is memory */
export function clear(): bool {
  // It is large, and a stream may hold very many very short traces.
  if (hasFreed) memory.fill(FREED, 0, 8 * REMEMBERED)
  hasFreed = false
  return clearSet()
}

/** The number of a live block, 0 if it is not live. */
export function find(low: u32, high: u32, isIndex: bool): u32 {
  return numberOf(((<u64>high) << 32) | (<u64>low), isIndex)
}

/** Does what the rows from 0 on say. @returns how many: less than there are if there is no memory for one more block */
export function follow(rows: u32): u32 {
  for (let row: usize = 0; row < <usize>rows; row++) {
    const intent = <u32>load<u8>(INTENTS + row)
    const isIndex = (intent & INDEXED) != 0
    let effect = intent & ~(INDEXED | BY_KERNEL | BEGAN | DONE)
    let ended: u32 = 0
    let begun: u32 = 0
    if ((intent & DONE) != 0) {
      const key = load<u64>(ENDS + (row << 3))
      ended = end(key, isIndex)
      // A kernel may free pages as an object, or the reverse.
      if (ended == 0 && (intent & BY_KERNEL) != 0) ended = end(key ^ PAGE_BIT, isIndex)
      if (ended != 0) effect = DONE
      // The null key, which stands for none there, can only be a damaged trace's index.
      else effect = key != 0 && load<u64>(placeOf(key)) == key ? UNKNOWN | AGAIN : UNKNOWN
    }
    if ((intent & BEGAN) != 0) {
      begun = begin(load<u64>(BEGINS + (row << 3)), isIndex)
      if (begun == 0) return <u32>row
      effect |= wasLive ? BEGAN | REUSED : BEGAN
    }
    store<u8>(EFFECTS + row, <u8>effect)
    store<u32>(ENDED + (row << 2), ended)
    store<u32>(BEGUN + (row << 2), begun)
  }
  return rows
}

// @ts-ignore: decorator
@inline
function end(key: u64, isIndex: bool): u32 {
  const number = finish(key, isIndex)
  if (number != 0) {
    hasFreed = true
    store<u64>(placeOf(key), key)
  }
  return number
}

// @ts-ignore: decorator
@inline
function placeOf(key: u64): usize {
  const h = ((<u32>key) ^ (<u32>(key >> 32) * 0x85eb_ca6b)) * 0x9e37_79b1
  return FREED + ((<usize>((h ^ (h >> 15)) & (REMEMBERED - 1))) << 3)
}

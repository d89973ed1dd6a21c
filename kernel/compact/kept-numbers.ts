/** The numbers of a checkpoint, and lists of words that are needed while one is written or read. */

import { GrowingTable } from '../shared/grow'
import { isEncoding, isOver, mixed } from './coder'
import { folded, pairNumber, unfolded } from './numbers'

const SORT: u32 = 60
/** The maximum number of chunks and blocks per byte of payload. */
const THINGS_PER_BYTE: u32 = 4096
/** The number of further chunks and blocks that are allowed. */
let thingsLeft: u64 = 0

/** Begins a checkpoint. @param length of the payload, if it is read */
export function beginThings(length: u32): void {
  thingsLeft = 65_536 + <u64>length * THINGS_PER_BYTE
}

/** Counts another chunk or block. @returns false if the payload is too short for that number */
export function countThing(): bool {
  return isEncoding || (!isOver() && thingsLeft-- != 0)
}

/** Codes a number. @param what its kind @param context what its value depends on */
// @ts-ignore: decorator
@inline
export function keptNumber(value: u64, what: u32, context: u32): u64 {
  return pairNumber(value, mixed(context, what), what, SORT)
}

/** Codes a number that is near another one. */
// @ts-ignore: decorator
@inline
export function keptNear(value: u64, near: u64, what: u32, context: u32): u64 {
  return near + unfolded(keptNumber(folded(value - near), what, context))
}

/** A list of words of 32 bits. */
@unmanaged
export class Words extends GrowingTable {
  count: u32
}

export function clearWords(words: Words): void {
  words.drop()
  words.count = 0
}

/** Adds a word. @returns false if memory is exhausted */
export function addWord(words: Words, word: u32): bool {
  if (!words.extend((<u64>words.count + 1) << 2)) return false
  store<u32>(words.at + ((<usize>words.count) << 2), word)
  words.count++
  return true
}

export function wordAt(words: Words, i: u32): u32 {
  return load<u32>(words.at + ((<usize>i) << 2))
}

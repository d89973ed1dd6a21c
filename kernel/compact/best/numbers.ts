/** Numbers of the best level, by three contexts: the length as a tree of decisions, then the bits below the top one. */

import { bit, freshen, isEncoding, mixed, plainBit } from '../coder'
import { ask, context, mix } from './mixer'

/** The number of modelled bits below the top one. */
const LEARNED: u32 = 10

/** Counters for whether a number has more than 31 bits, by its kind. */
const LONG: usize = memory.data(256)

export function resetMixedNumbers(): void {
  freshen(LONG, 64)
}

/** Codes a decision by a node in three contexts. */
// @ts-ignore: decorator
@inline
function nodeBit(y: u32, node: u32, a: u32, b: u32, c: u32, selector: u32): u32 {
  ask()
  context(node)
  context(mixed(node, a))
  context(mixed(node ^ 0x1000_0000, b))
  context(mixed(node ^ 0x2000_0000, c))
  return mix(y, selector)
}

/** Codes the lower bits of a number by a tree. */
export function mixedTree(value: u32, bits: i32, id: u32, a: u32, b: u32, c: u32, selector: u32): u32 {
  let node: u32 = 1
  for (let i = bits - 1; i >= 0; i--) node = (node << 1) | nodeBit((value >> i) & 1, mixed(id, node), a, b, c, selector)
  return node & ((1 << bits) - 1)
}

/** Codes a number of any length. @param id its kind; `selector` and the next one are its weights */
export function mixedNumber(value: u64, id: u32, a: u32, b: u32, c: u32, selector: u32): u64 {
  let length: u32 = isEncoding ? 64 - <u32>clz<u64>(value) : 0
  if (bit(length > 31 ? 1 : 0, LONG + ((<usize>(id & 63)) << 2)) == 0)
    length = mixedTree(length, 5, id, a, b, c, selector)
  else length = min<u32>(64, mixedTree(length, 7, id + 64, a, b, c, selector))
  if (length < 2) return length
  let top: u64 = 1
  for (let i = <i32>length - 2; i >= 0; i--) {
    const y = (<u32>(value >> i)) & 1
    const isLearned = length - 2 - <u32>i < LEARNED
    const node = mixed(id + 1000, (length << 16) | ((<u32>top) & 0xffff))
    top = (top << 1) | (isLearned ? nodeBit(y, node, a, b, c, selector + 1) : plainBit(y))
  }
  return top
}

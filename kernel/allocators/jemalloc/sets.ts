/**
 * Sets of extents, by their order and then by address. A set is a treap: its root is the number of an extent, whose
 * record has the children. Priorities are hashes, so the depth is logarithmic.
 */
import { extent, LEFT, RIGHT } from './extents'

function priority(n: u32): u32 {
  const x = n * 0x9e37_79b1
  return (x ^ (x >> 15)) * 0x85eb_ca6b
}

/** Whether one extent comes before another. */
// @ts-ignore: decorator
@inline
export function isBefore(one: u32, other: u32): bool {
  const a = extent(one).order
  const b = extent(other).order
  if (a != b) return a < b
  const c = extent(one).base
  const d = extent(other).base
  return c != d ? c < d : one < other
}

/** Adds an extent. @param root the address of the root */
export function insert(root: usize, n: u32): void {
  let link = root
  let other = load<u32>(link)
  const own = priority(n)
  while (other != 0 && priority(other) >= own) {
    link = changetype<usize>(extent(other)) + (isBefore(n, other) ? LEFT : RIGHT)
    other = load<u32>(link)
  }
  store<u32>(link, n)
  // Divides the subtree into the extents before and after the new one.
  let before = changetype<usize>(extent(n)) + LEFT
  let after = changetype<usize>(extent(n)) + RIGHT
  while (other != 0) {
    if (isBefore(other, n)) {
      store<u32>(before, other)
      before = changetype<usize>(extent(other)) + RIGHT
      other = load<u32>(before)
    } else {
      store<u32>(after, other)
      after = changetype<usize>(extent(other)) + LEFT
      other = load<u32>(after)
    }
  }
  store<u32>(before, 0)
  store<u32>(after, 0)
}

/** Removes an extent, if it is in the set. */
export function remove(root: usize, n: u32): void {
  let link = root
  let other = load<u32>(link)
  while (other != 0 && other != n) {
    link = changetype<usize>(extent(other)) + (isBefore(n, other) ? LEFT : RIGHT)
    other = load<u32>(link)
  }
  if (other == 0) return
  let left = extent(n).left
  let right = extent(n).right
  while (left != 0 && right != 0) {
    if (priority(left) >= priority(right)) {
      store<u32>(link, left)
      link = changetype<usize>(extent(left)) + RIGHT
      left = load<u32>(link)
    } else {
      store<u32>(link, right)
      link = changetype<usize>(extent(right)) + LEFT
      right = load<u32>(link)
    }
  }
  store<u32>(link, left != 0 ? left : right)
}

/** The first extent, 0 if there is none. */
export function first(root: usize): u32 {
  let n = load<u32>(root)
  while (n != 0) {
    const left = extent(n).left
    if (left == 0) break
    n = left
  }
  return n
}

/** The first extent of an order or a later one, 0 if there is none. */
export function firstFrom(root: usize, order: u64): u32 {
  let n = load<u32>(root)
  let found: u32 = 0
  while (n != 0) {
    if (extent(n).order >= order) {
      found = n
      n = extent(n).left
    } else n = extent(n).right
  }
  return found
}

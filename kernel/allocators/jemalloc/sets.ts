/**
 * Sets of extents, by their order and then by address. A set is a treap: its root is the number of an extent, whose
 * record has the children. Priorities are hashes, so the depth is logarithmic.
 */
import { at, baseOf, LEFT, orderOf, RIGHT } from './extents'

// @ts-ignore: decorator
@inline
function priority(n: u32): u32 {
  const x = n * 0x9e37_79b1
  return (x ^ (x >> 15)) * 0x85eb_ca6b
}

/** Whether one extent comes before another. */
// @ts-ignore: decorator
@inline
export function isBefore(one: u32, other: u32): bool {
  const a = orderOf(one)
  const b = orderOf(other)
  if (a != b) return a < b
  const c = baseOf(one)
  const d = baseOf(other)
  return c != d ? c < d : one < other
}

/** Adds an extent. @param root the address of the root */
export function insert(root: usize, n: u32): void {
  let link = root
  let other = load<u32>(link)
  const own = priority(n)
  while (other != 0 && priority(other) >= own) {
    link = at(other) + (isBefore(n, other) ? LEFT : RIGHT)
    other = load<u32>(link)
  }
  store<u32>(link, n)
  // Divides the subtree into the extents before and after the new one.
  let before = at(n) + LEFT
  let after = at(n) + RIGHT
  while (other != 0) {
    if (isBefore(other, n)) {
      store<u32>(before, other)
      before = at(other) + RIGHT
      other = load<u32>(before)
    } else {
      store<u32>(after, other)
      after = at(other) + LEFT
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
    link = at(other) + (isBefore(n, other) ? LEFT : RIGHT)
    other = load<u32>(link)
  }
  if (other == 0) return
  let left = load<u32>(at(n), LEFT)
  let right = load<u32>(at(n), RIGHT)
  while (left != 0 && right != 0) {
    if (priority(left) >= priority(right)) {
      store<u32>(link, left)
      link = at(left) + RIGHT
      left = load<u32>(link)
    } else {
      store<u32>(link, right)
      link = at(right) + LEFT
      right = load<u32>(link)
    }
  }
  store<u32>(link, left != 0 ? left : right)
}

/** The first extent, 0 if there is none. */
export function first(root: usize): u32 {
  let n = load<u32>(root)
  while (n != 0) {
    const left = load<u32>(at(n), LEFT)
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
    if (orderOf(n) >= order) {
      found = n
      n = load<u32>(at(n), LEFT)
    } else n = load<u32>(at(n), RIGHT)
  }
  return found
}

/** The content of a frame, as far back as its window goes, in memory that grows. */

import { MAX_BLOCK } from '../../lib/kernel/layouts/zstd'

/** Copies of sixteen bytes may write beyond the end. */
const BEYOND: usize = 64
/** After a window and this much more, and half of the window, the content moves to the front. */
const LEAST_ROOM: usize = 1_048_576

/** Memory grows by at least this many pages of 64 KiB. */
const LEAST_PAGES: i32 = 16

let first: usize = 0
let size: usize = 0
/** The maximum length of a block's content in this frame. */
export let most: u32 = 0

/** The address of the next byte. */
export let place: usize = 0
/** The bytes before it to which matches may refer: at most a window. */
export let reach: usize = 0

export function beginFrame(window: u32): void {
  if (first == 0) first = (<usize>memory.size()) << 16
  size = window
  most = min<u32>(window, MAX_BLOCK)
  place = first
  reach = 0
}

/** Makes room for a block. @returns whether there is memory */
export function makeRoom(): bool {
  const end = first + size + max<usize>(LEAST_ROOM, size >> 1)
  if (place + MAX_BLOCK > end) {
    memory.copy(first, place - reach, reach)
    place = first + reach
  }
  // checked: rooms.open(first, place - first + MAX_BLOCK + BEYOND)
  const missing = <i32>((place + MAX_BLOCK + BEYOND + 0xffff) >> 16) - memory.size()
  return missing <= 0 || memory.grow(max<i32>(missing, LEAST_PAGES)) >= 0
}

/** Moves on after this many bytes were written. */
export function advance(bytes: usize): void {
  place += bytes
  reach = min<usize>(reach + bytes, size)
}

/** Copies bytes that do not overlap their copy, sixteen at a time: up to fifteen more are overwritten. */
export function copyFrom(from: usize, to: usize, bytes: u32): void {
  for (let end = to + bytes; to < end; to += 16, from += 16) v128.store(to, v128.load(from))
}

/** Copies bytes from `offset` before them, which may be bytes of the copy. */
export function copyMatch(offset: usize, to: usize, bytes: u32): void {
  if (offset >= 16) copyFrom(to - offset, to, bytes)
  else for (let end = to + bytes; to < end; to++) store<u8>(to, load<u8>(to - offset))
}

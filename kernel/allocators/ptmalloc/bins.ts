/**
 * The bins of an arena, lists of free chunks: bin 1 has unsorted ones, small bins one size each, large bins ranges of
 * sizes, the largest first. `arenas.ts` has their heads.
 */
import { BIN_MAP, headOf } from './arenas'
import { BINNED, bytesOf, LARGER, LAST, link, NEXT, setLink, setState, SMALLER, USED } from './chunks'
import { save } from './log'
import { BINS, binOf, leastLarge } from './rules'

export const UNSORTED: u32 = 1
/** The maximum number of sizes of a large bin to search. Only a crafted trace has more. */
const MOST_SIZES: u32 = 4096

/** Links a chunk before another one, which may be the head. */
function insert(chunk: u32, before: u32): void {
  const last = link(before, LAST)
  setLink(chunk, NEXT, before)
  setLink(chunk, LAST, last)
  setLink(last, NEXT, chunk)
  setLink(before, LAST, chunk)
  setState(chunk, BINNED)
}

/** Marks a bin as one that may have chunks. */
function note(arena: usize, bin: u32): void {
  const at = arena + BIN_MAP + (((<usize>bin) >> 5) << 2)
  const bit = (<u32>1) << (bin & 31)
  if ((load<u32>(at) & bit) != 0) return
  save(at)
  store<u32>(at, load<u32>(at) | bit)
}

/** Inserts a chunk at the front of the unsorted bin. */
export function addUnsorted(arena: usize, chunk: u32): void {
  setLink(chunk, SMALLER, 0)
  insert(chunk, link(headOf(arena, UNSORTED), NEXT))
}

/** Inserts a chunk at the front of the small bin of its size. */
export function addSmall(arena: usize, chunk: u32): void {
  const bin = binOf(bytesOf(chunk))
  setLink(chunk, SMALLER, 0)
  insert(chunk, link(headOf(arena, bin), NEXT))
  note(arena, bin)
}

/** Puts a chunk into the bin of its size. */
export function addSorted(arena: usize, chunk: u32): void {
  const bytes = bytesOf(chunk)
  if (bytes < leastLarge) addSmall(arena, chunk)
  else addLarge(arena, chunk, bytes)
}

function addLarge(arena: usize, chunk: u32, bytes: u64): void {
  const bin = binOf(bytes)
  const head = headOf(arena, bin)
  note(arena, bin)
  let at = link(head, NEXT)
  if (at == head) {
    setLink(chunk, SMALLER, chunk)
    setLink(chunk, LARGER, chunk)
  } else if (bytes < bytesOf(link(head, LAST))) {
    joinSizes(chunk, at)
    at = head
  } else {
    for (let i: u32 = 0; i < MOST_SIZES && bytes < bytesOf(at); i++) at = link(at, SMALLER)
    if (bytes == bytesOf(at)) {
      // The first chunk of a size remains the first.
      setLink(chunk, SMALLER, 0)
      at = link(at, NEXT)
    } else {
      joinSizes(chunk, at)
    }
  }
  insert(chunk, at)
}

/** Makes a chunk the first of its size, before the first chunk of the next smaller size. */
function joinSizes(chunk: u32, smaller: u32): void {
  const larger = link(smaller, LARGER)
  setLink(chunk, SMALLER, smaller)
  setLink(chunk, LARGER, larger)
  setLink(smaller, LARGER, chunk)
  setLink(larger, SMALLER, chunk)
}

/** Takes a chunk out of its bin. */
export function unlink(chunk: u32): void {
  const next = link(chunk, NEXT)
  const last = link(chunk, LAST)
  setLink(last, NEXT, next)
  setLink(next, LAST, last)
  setState(chunk, USED)
  const smaller = link(chunk, SMALLER)
  if (smaller != 0) leaveSizes(chunk, smaller, next)
}

function leaveSizes(chunk: u32, smaller: u32, next: u32): void {
  const larger = link(chunk, LARGER)
  setLink(chunk, SMALLER, 0)
  // Heads of bins count as first chunks of a size.
  if (link(next, SMALLER) != 0) {
    setLink(smaller, LARGER, larger)
    setLink(larger, SMALLER, smaller)
  } else if (smaller == chunk) {
    setLink(next, SMALLER, next)
    setLink(next, LARGER, next)
  } else {
    setLink(next, SMALLER, smaller)
    setLink(next, LARGER, larger)
    setLink(smaller, LARGER, next)
    setLink(larger, SMALLER, next)
  }
}

/** The first chunk of a large bin that is large enough, smallest first; 0 if there is none. */
export function bestOf(arena: usize, bin: u32, bytes: u64): u32 {
  const head = headOf(arena, bin)
  const largest = link(head, NEXT)
  if (largest == head || bytesOf(largest) < bytes) return 0
  let chunk = link(largest, LARGER)
  for (let i: u32 = 0; bytesOf(chunk) < bytes; i++) chunk = i < MOST_SIZES ? link(chunk, LARGER) : largest
  const next = link(chunk, NEXT)
  // Not the first chunk of a size if possible, because it would have to be replaced as the first.
  return chunk != link(head, LAST) && bytesOf(next) == bytesOf(chunk) ? next : chunk
}

/** The last chunk of the first non-empty bin from a given one on, 0 if all are empty. */
export function lastFrom(arena: usize, bin: u32): u32 {
  while (bin < BINS - 1) {
    const at = arena + BIN_MAP + (((<usize>bin) >> 5) << 2)
    const bits = load<u32>(at) >> (bin & 31)
    if (bits == 0) {
      bin = (bin | 31) + 1
      continue
    }
    bin += ctz(bits)
    if (bin >= BINS - 1) break
    const head = headOf(arena, bin)
    const chunk = link(head, LAST)
    if (chunk != head) return chunk
    save(at)
    store<u32>(at, load<u32>(at) & ~((<u32>1) << (bin & 31)))
    bin++
  }
  return 0
}

/**
 * Segregated storage: blocks of one size class share spans of whole pages, and the first free place of the first span
 * with one is taken. Larger blocks have pages of their own. Pages are allocated by first fit; an empty span is free.
 */
import { CLASS_ROWS } from '../../lib/kernel/layouts/simulate'
import { giveRoom, takeRoom } from '../live/room'
import { AT, BITS, CLASS, nodeAt, SIZE, USED } from './nodes'
import { FIT_HEAP, fitAllocate, fitRelease, fitResize } from './fits'
import { give, header, page, roundUp } from './settings'
import { firstFrom, insert, remove } from './tree'

/** The sizes of the classes, in increasing order; for each, the bytes of a span and the number of blocks in it. */
export const CLASSES: usize = memory.data(2048)
const BYTES: usize = memory.data(2048)
const PLACES: usize = memory.data(1024)
let classes: u32 = 0

/** After the heap of pages, the trees of spans that have a free place, one for each class. */
const TREES: usize = (<usize>1) << FIT_HEAP
/** The size of a heap, as a logarithm. */
export const SPAN_HEAP: u32 = 11

/** A span has at most this many pages, and blocks. */
const MOST_PAGES: u64 = 64
const MOST_PLACES: u64 = 4096
/** The part of a span that may be unused, as a shift. */
const UNUSED: u64 = 3

/** A large block has no class. */
const LARGE: u32 = 0xffff

/** Begins a simulation with the classes in `CLASSES`. */
export function startSpans(count: u32): void {
  classes = count
  for (let i: usize = 0; i < <usize>count; i++) {
    const size = load<u64>(CLASSES + (i << 3))
    let bytes = roundUp(size, page)
    while (bytes < MOST_PAGES * page && bytes % size > bytes >> UNUSED) bytes += page
    store<u64>(BYTES + (i << 3), bytes)
    store<u32>(PLACES + (i << 2), <u32>min(bytes / size, MOST_PLACES))
  }
}

/** The class whose blocks have this number of bytes; `CLASS_ROWS` if there is none. */
export function kindOf(granted: u64): u32 {
  const kind = classOf(granted)
  return kind < classes && load<u64>(CLASSES + ((<usize>kind) << 3)) == granted ? kind : CLASS_ROWS
}

/** The first class with at least this number of bytes; the number of classes if there is none. */
function classOf(bytes: u64): u32 {
  let low: u32 = 0
  let high = classes
  while (low < high) {
    const middle = (low + high) >> 1
    if (load<u64>(CLASSES + ((<usize>middle) << 3)) < bytes) low = middle + 1
    else high = middle
  }
  return low
}

/** The number of 64-bit words of the map of a span's places. */
function wordsOf(kind: u32): u32 {
  return (load<u32>(PLACES + ((<usize>kind) << 2)) + 63) >> 6
}

function roomOf(kind: u32): u32 {
  return 35 - <u32>clz(wordsOf(kind) * 2 - 1)
}

/** Allocates a block: see `give`. @returns 0 if the heap would be too large, -1 if memory is exhausted, otherwise 1 */
export function spanAllocate(heap: usize, bytes: u64, alignment: u64): i32 {
  let kind = classOf(bytes)
  if (alignment != 0) {
    if (alignment > page || header != 0) kind = classes
    while (kind < classes && (load<u64>(CLASSES + ((<usize>kind) << 3)) & (alignment - 1)) != 0) kind++
  }
  if (kind >= classes) {
    const all = roundUp(header != 0 && alignment != 0 ? bytes + alignment : bytes, page)
    const node = fitAllocate(heap, all, alignment > page ? alignment : 0)
    if (node == 0) return 0
    store<u32>(nodeAt(node), LARGE, CLASS)
    give(load<u64>(nodeAt(node), AT), all, node)
    return 1
  }
  const tree = heap + TREES + ((<usize>kind) << 2)
  const size = load<u64>(CLASSES + ((<usize>kind) << 3))
  let span = firstFrom(load<u32>(tree), 0, 1)
  if (span == 0) {
    const bits = takeRoom(roomOf(kind))
    if (bits == 0) return -1
    span = fitAllocate(heap, load<u64>(BYTES + ((<usize>kind) << 3)), 0)
    if (span == 0) {
      giveRoom(bits, roomOf(kind))
      return 0
    }
    memory.fill(bits, 0, (<usize>wordsOf(kind)) << 3)
    const at = nodeAt(span)
    store<u32>(at, kind, CLASS)
    store<u32>(at, 0, USED)
    store<u32>(at, <u32>bits, BITS)
    store<u32>(tree, insert(load<u32>(tree), span, load<u64>(at, AT), 0))
  }
  const at = nodeAt(span)
  const bits = <usize>load<u32>(at, BITS)
  let word: usize = 0
  while (load<u64>(bits + (word << 3)) == ~(<u64>0)) word++
  const taken = load<u64>(bits + (word << 3))
  const bit = ctz(~taken)
  store<u64>(bits + (word << 3), taken | ((<u64>1) << bit))
  const count = load<u32>(at, USED) + 1
  store<u32>(at, count, USED)
  if (count == load<u32>(PLACES + ((<usize>kind) << 2))) store<u32>(tree, remove(load<u32>(tree), span))
  give(load<u64>(at, AT) + (((<u64>word) << 6) + bit) * size, size, span)
  return 1
}

/** Frees a block. */
export function spanRelease(heap: usize, from: u64, span: u32): void {
  const at = nodeAt(span)
  const kind = load<u32>(at, CLASS)
  if (kind == LARGE) return fitRelease(heap, span)
  const index = (from - load<u64>(at, AT)) / load<u64>(CLASSES + ((<usize>kind) << 3))
  const bits = <usize>load<u32>(at, BITS)
  const word = bits + <usize>((index >> 6) << 3)
  store<u64>(word, load<u64>(word) & ~((<u64>1) << (index & 63)))
  const count = load<u32>(at, USED)
  const tree = heap + TREES + ((<usize>kind) << 2)
  const isFull = count == load<u32>(PLACES + ((<usize>kind) << 2))
  store<u32>(at, count - 1, USED)
  if (count == 1) {
    if (!isFull) store<u32>(tree, remove(load<u32>(tree), span))
    giveRoom(bits, roomOf(kind))
    fitRelease(heap, span)
  } else if (isFull) store<u32>(tree, insert(load<u32>(tree), span, load<u64>(at, AT), 0))
}

/** Resizes a block in place; then `granted` has its bytes. @returns false if that is impossible */
export function spanResize(heap: usize, from: u64, span: u32, bytes: u64): bool {
  const at = nodeAt(span)
  const kind = load<u32>(at, CLASS)
  const wanted = classOf(bytes)
  if (kind != LARGE) {
    if (wanted != kind) return false
    return give(from, load<u64>(CLASSES + ((<usize>kind) << 3)), span)
  }
  if (wanted < classes || !fitResize(heap, span, roundUp(bytes, page))) return false
  return give(from, load<u64>(nodeAt(span), SIZE), span)
}

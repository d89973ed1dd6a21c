/** The lists of free chunks of a checkpoint: caches of threads, fast bins and bins of arenas. */

import { arenaAt, arenaCount, fastList, headOf, numberOf, REMAINDER } from '../allocators/ptmalloc/arenas'
import { addSorted, addUnsorted, UNSORTED } from '../allocators/ptmalloc/bins'
import * as Rules from '../allocators/ptmalloc/rules'
import { arenaOf, bytesOf, link, NEXT, placeOf } from '../allocators/ptmalloc/chunks'
import { addFast } from '../allocators/ptmalloc/free'
import { beginLog } from '../allocators/ptmalloc/log'
import * as Threads from '../allocators/ptmalloc/threads'
import { isEncoding } from './coder'
import { chunks, IN_BIN, IN_CACHE, IN_FAST, orderOf, OWN, tagAt } from './kept-heap'
import { addWord, clearWords, keptNear, keptNumber, wordAt, Words } from './kept-numbers'
import { threadCount } from './threads'

/** The kinds of numbers, which choose contexts. */
const HAS: u32 = 40
const ARENA: u32 = 41
const CACHE: u32 = 42
const BIN: u32 = 43
const COUNT: u32 = 44
const CHUNK: u32 = 45
const REMAINING: u32 = 46

/** A list. The chunk that is put into it first is its end. */
const list = changetype<Words>(memory.data(12))
/** Whether each chunk is already in a list, for the decoder. */
const taken = changetype<Words>(memory.data(12))

/** Codes all lists. @returns false if the payload is damaged, or memory is exhausted */
export function codeLists(): bool {
  clearWords(taken)
  if (!isEncoding) for (let i: u32 = 0; i < chunks.count; i++) if (!addWord(taken, 0)) return false
  let isFine = true
  for (let n: u32 = 0; n < threadCount && isFine; n++) isFine = codeCaches(n)
  for (let n: u32 = 0; n < arenaCount() && isFine; n++) isFine = codeBins(arenaAt(n))
  clearWords(list)
  clearWords(taken)
  return isFine
}

/** Codes the place of a chunk in the order, plus 1; 0 is none. */
function codeOrder(chunk: u32, near: u32, what: u32): u32 {
  const order = keptNear(isEncoding ? orderOf(chunk) : 0, near, what, 0)
  return order > chunks.count ? u32.MAX_VALUE : <u32>order
}

function codeCaches(n: u32): bool {
  const isKnown = keptNumber(isEncoding && Threads.knowsThread(n) ? 1 : 0, HAS, 0) != 0
  if (!isKnown) return true
  const thread = Threads.threadAt(n)
  if (thread == 0) return false
  const own = isEncoding ? <usize>load<u32>(thread, Threads.OWN_ARENA) : 0
  const arena = keptNumber(own == 0 ? 0 : numberOf(own) + 1, ARENA, 0)
  const cache = codeOrder(isEncoding ? load<u32>(thread, Threads.OWN_CACHE) : 0, 0, CACHE)
  if (arena > arenaCount() || cache > chunks.count) return false
  if (cache != 0 && !isEncoding && tagAt(cache - 1) != OWN) return false
  if (!isEncoding) {
    store<u32>(thread, arena == 0 ? 0 : <u32>arenaAt(<u32>arena - 1), Threads.OWN_ARENA)
    store<u32>(thread, cache == 0 ? 0 : wordAt(chunks, cache - 1), Threads.OWN_CACHE)
  }
  let bin: u32 = 0
  while (true) {
    const from = bin
    while (isEncoding && bin < Rules.CACHE_BINS && Threads.cached(thread, bin) == 0) bin++
    bin = from + <u32>min<u64>(keptNumber(bin - from, BIN, 0), Rules.CACHE_BINS - from)
    if (bin == Rules.CACHE_BINS) return true
    list.count = 0
    if (isEncoding) {
      let chunk = Threads.firstCached(thread, bin)
      for (let i = Threads.cached(thread, bin); i > 0; i--) {
        if (!addWord(list, chunk)) return false
        chunk = link(chunk, NEXT)
      }
    }
    if (!codeList(IN_CACHE, thread, 0, bin++)) return false
  }
}

function codeBins(arena: usize): bool {
  const remaining = load<u64>(arena, REMAINDER)
  let remainder: u32 = 0
  for (let bin: u32 = 0; bin < Rules.FAST_BINS; bin++) {
    list.count = 0
    if (isEncoding) {
      for (let chunk = load<u32>(fastList(arena, bin)); chunk != 0; chunk = link(chunk, NEXT)) {
        if (list.count > chunks.count || !addWord(list, chunk)) return false
      }
    }
    if (!codeList(IN_FAST, 0, arena, bin)) return false
  }
  for (let bin = UNSORTED; bin < Rules.BINS; bin++) {
    list.count = 0
    if (isEncoding) {
      const head = headOf(arena, bin)
      for (let chunk = link(head, NEXT); chunk != head; chunk = link(chunk, NEXT)) {
        if (list.count > chunks.count || !addWord(list, chunk)) return false
        if (placeOf(chunk) == remaining) remainder = chunk
      }
    }
    if (bin != UNSORTED) turnSizes()
    if (!codeList(IN_BIN, 0, arena, bin)) return false
  }
  const order = codeOrder(remainder, 0, REMAINING)
  if (order > chunks.count) return false
  if (!isEncoding) store<u64>(arena, order == 0 ? 0 : placeOf(wordAt(chunks, order - 1)), REMAINDER)
  if (!isEncoding) beginLog()
  return true
}

/** Of the large chunks of one size, the first is put into its bin first, and the others come after it. */
function turnSizes(): void {
  for (let i: u32 = 1; i < list.count; i++) {
    const first = wordAt(list, i - 1)
    const other = wordAt(list, i)
    if (bytesOf(first) < Rules.leastLarge || bytesOf(first) != bytesOf(other)) continue
    store<u32>(list.at + ((<usize>(i - 1)) << 2), other)
    store<u32>(list.at + ((<usize>i) << 2), first)
  }
}

/** Codes a list, from its end. */
function codeList(tag: u32, thread: usize, arena: usize, bin: u32): bool {
  const count = keptNumber(list.count, COUNT, tag)
  if (count > chunks.count) return false
  let near: u32 = 0
  for (let left = <u32>count; left > 0; left--) {
    near = codeOrder(isEncoding ? wordAt(list, left - 1) : 0, near, CHUNK)
    if (near == 0 || near > chunks.count) return false
    if (!isEncoding && !put(near - 1, tag, thread, arena, bin)) return false
  }
  return true
}

/** Puts a chunk at the front of a list. @returns false if it cannot be there */
function put(i: u32, tag: u32, thread: usize, arena: usize, bin: u32): bool {
  if (tagAt(i) != tag || wordAt(taken, i) != 0) return false
  store<u32>(taken.at + ((<usize>i) << 2), 1)
  beginLog()
  const chunk = wordAt(chunks, i)
  const bytes = bytesOf(chunk)
  if (tag == IN_CACHE) return Rules.cacheBin(bytes) == bin && Threads.putCached(thread, chunk)
  if (arenaAt(arenaOf(chunk)) != arena) return false
  if (tag == IN_FAST) {
    if (bytes > Rules.mostFast || Rules.fastBin(bytes) != bin) return false
    addFast(arena, chunk)
    return true
  }
  if (bin == UNSORTED) addUnsorted(arena, chunk)
  else if (Rules.binOf(bytes) == bin) addSorted(arena, chunk)
  else return false
  return true
}

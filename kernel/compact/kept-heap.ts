/**
 * The simulated heap of a checkpoint: ptmalloc's arenas, regions and chunks, in the order of their addresses, with the
 * live blocks in them. The reader builds the lists again, so that no payload can make a heap with endless lists.
 */

import * as Arenas from '../allocators/ptmalloc/arenas'
import * as Chunks from '../allocators/ptmalloc/chunks'
import { newChunk } from '../allocators/ptmalloc/heap-chunks'
import { addGap, gapCount, lengthOf as gapLength, LOWEST, OPEN, startOf as gapStart } from '../allocators/ptmalloc/gaps'
import { beginLog } from '../allocators/ptmalloc/log'
import { addMapping, isPlaced, leadOf, THRESHOLD, TRIM, unknownPlace } from '../allocators/ptmalloc/mappings'
import * as Regions from '../allocators/ptmalloc/regions'
import { least, mostThreshold } from '../allocators/ptmalloc/rules'
import { isChunk } from '../allocators/ptmalloc/simulator'
import { blockEnd } from './blocks'
import { blockAt } from './block'
import { isEncoding } from './coder'
import { codeBlock, isBlockAt, leaveBlock } from './kept-blocks'
import { addWord, clearWords, countThing, keptNear, keptNumber, wordAt, Words } from './kept-numbers'

/** The kinds of numbers, which choose contexts. */
const ARENAS: u32 = 20
const ARENA: u32 = 21
const REGIONS: u32 = 22
const BASE: u32 = 23
const LENGTH: u32 = 24
const FIRST: u32 = 25
const CHUNKS: u32 = 26
const BYTES: u32 = 27
const TAG: u32 = 28
const STACK_AT: u32 = 29
const PLACE: u32 = 30
const LEAD: u32 = 31
const GAPS: u32 = 32
const LIMITS: u32 = 33

/** The uses of a chunk. Free chunks are put into lists later. */
const DEAD: u32 = 0
const BLOCK: u32 = 1
export const OWN: u32 = 2
export const IN_CACHE: u32 = 3
export const IN_FAST: u32 = 4
export const IN_BIN: u32 = 5
const BLOCK_WITH_STACK: u32 = 6
const LAST_ONE: u32 = 7

const MOST_ARENAS: u64 = 2048
const MOST_BYTES: u64 = 1 << 46
const MOST_LEAD: u64 = 1 << 27

const WORDS: usize = memory.data(48)
/** The chunks in the order in which they are coded, and the use of each. */
export const chunks = changetype<Words>(WORDS)
const tags = changetype<Words>(WORDS + 12)
/** For the encoder, by the number of a record: the chunk's block, and its place in the order plus 1. */
const owners = changetype<Words>(WORDS + 24)
const orders = changetype<Words>(WORDS + 36)

/** The regions of an arena. */
const CHAIN: usize = memory.data(16_384)
const MOST_REGIONS: u32 = 4095

let lastBytes: u64 = 0
let lastTag: u32 = 0

/** Finds the blocks that have chunks. The others are coded separately. @returns false if memory is exhausted */
export function beginHeap(): bool {
  endHeap()
  lastBytes = 0
  lastTag = 0
  if (!isEncoding) return true
  for (let i = Chunks.endOfRecords() / Chunks.RECORD; i > 0; i--)
    if (!addWord(owners, 0) || !addWord(orders, 0)) return false
  for (let n: u32 = 1; n < blockEnd(); n++) {
    const block = blockAt(n)
    if (block.made == 0) continue
    const chunk = block.handle
    const hasChunk =
      isChunk(chunk) && ownerOf(chunk) == 0 && Regions.blockAt(chunk) != 0 && isBlockAt(n, Regions.blockAt(chunk))
    if (hasChunk) store<u32>(owners.at + ((<usize>(chunk / Chunks.RECORD)) << 2), n)
    else if (!leaveBlock(n)) return false
  }
  return true
}

/** Frees the memory. */
export function endHeap(): void {
  clearWords(chunks)
  clearWords(tags)
  clearWords(owners)
  clearWords(orders)
}

function ownerOf(chunk: u32): u32 {
  return wordAt(owners, chunk / Chunks.RECORD)
}

/** The place of a chunk in the order, plus 1, for the encoder. */
export function orderOf(chunk: u32): u32 {
  return chunk < Chunks.endOfRecords() ? wordAt(orders, chunk / Chunks.RECORD) : 0
}

/** The use of the chunk at a place in the order. */
export function tagAt(i: u32): u32 {
  return wordAt(tags, i)
}

/** Codes arenas, regions, chunks, mappings and gaps. @returns false if the payload is damaged or memory is exhausted */
export function codeHeap(): bool {
  const count = keptNumber(Arenas.arenaCount(), ARENAS, 0)
  if (count == 0 || count > MOST_ARENAS) return false
  for (let n: u32 = 0; n < <u32>count; n++) {
    if (!isEncoding && n > 0 && Arenas.newRecord() == 0) return false
    if (!codeArena(Arenas.arenaAt(n))) return false
    if (!isEncoding) beginLog()
  }
  for (let n: u32 = 0; n < <u32>count; n++) if (!codeLink(Arenas.arenaAt(n) + Arenas.OLDER, <u32>count)) return false
  return codeShared(<u32>count) && codeOthers() && codeArea()
}

/** Codes a word of a simulation's memory. @returns whether it is at most the maximum */
function codeWord(at: usize, context: u32, most: u64): bool {
  const value = keptNumber(isEncoding ? load<u32>(at) : 0, ARENA, context)
  store<u32>(at, <u32>value)
  return value <= most
}

/** Codes the arena to which a word refers, or none. */
function codeLink(at: usize, count: u32): bool {
  const arena = isEncoding ? <usize>load<u32>(at) : 0
  const n = keptNumber(arena == 0 ? 0 : Arenas.numberOf(arena) + 1, ARENA, 1)
  if (n > count) return false
  store<u32>(at, n == 0 ? 0 : <u32>Arenas.arenaAt(<u32>n - 1))
  return true
}

/** Codes the idle arenas, and the arena to share next. */
function codeShared(count: u32): bool {
  if (
    !codeWord(Arenas.COUNTED, 2, 1 << 20) ||
    !codeWord(Arenas.LIMIT, 3, 1 << 20) ||
    !codeLink(Arenas.NEXT_SHARED, count)
  )
    return false
  if (load<u32>(Arenas.NEXT_SHARED) == 0) return false
  store<u64>(Arenas.HINT, keptNumber(load<u64>(Arenas.HINT), ARENA, 4))
  let at: usize = Arenas.IDLE
  // Each arena is in the list only once, so the list ends.
  for (let i: u32 = 0; i <= count; i++) {
    if (!codeLink(at, count)) return false
    const arena = <usize>load<u32>(at)
    if (arena == 0) return true
    at = arena + Arenas.NEXT_IDLE
    if (isEncoding) continue
    if (load<u32>(at) != 0) return false
    // This holds until the next arena is known.
    store<u32>(at, <u32>arena)
  }
  return false
}

function codeArena(arena: usize): bool {
  if (!codeWord(arena + Arenas.THREADS, 5, 1 << 20)) return false
  if (arena == Arenas.MAIN_ARENA) {
    const base = keptNumber(Regions.baseOf(Regions.MAIN), BASE, 0)
    Regions.setBase(Regions.MAIN, base)
    return codeChunks(arena, Regions.MAIN, isEncoding ? Arenas.topOf(arena) : 0, true)
  }
  let count: u32 = 0
  if (isEncoding) {
    for (let r = load<u32>(arena, Arenas.REGION); r != 0 && count < MOST_REGIONS; r = Regions.earlierOf(r)) {
      if (count > 0 && Regions.fenceOf(r) == 0) continue
      store<u32>(CHAIN + ((<usize>count) << 2), r)
      count++
    }
  }
  count = <u32>keptNumber(count, REGIONS, 0)
  if (count > MOST_REGIONS) return false
  let before: u32 = 0
  while (count > 0) {
    count--
    const r: u32 = isEncoding ? load<u32>(CHAIN + ((<usize>count) << 2)) : 0
    const base = keptNumber(isEncoding ? Regions.baseOf(r) : 0, BASE, 1)
    const length = keptNumber(isEncoding ? Regions.lengthOf(r) : 0, LENGTH, 0)
    if (length > MOST_BYTES) return false
    const region = isEncoding ? r : Regions.newRegion(Arenas.numberOf(arena), length, before, base)
    if (region == 0) return false
    const isLast = count == 0
    const end = isEncoding ? (isLast ? Arenas.topOf(arena) : Regions.fenceOf(r)) : 0
    if (!codeChunks(arena, region, end, isLast)) return false
    if (!isEncoding && isLast) store<u32>(arena + Arenas.REGION, region)
    before = region
  }
  return true
}

/** Codes the chunks of a region, of which `end` is the last; an arena's last region ends with its top chunk. */
function codeChunks(arena: usize, region: u32, end: u32, isLast: bool): bool {
  let chunk: u32 = 0
  let count: u64 = 0
  if (end != 0) {
    for (chunk = end, count = 1; Chunks.link(chunk, Chunks.BEFORE) != 0; count++)
      chunk = Chunks.link(chunk, Chunks.BEFORE)
  }
  count = keptNumber(count, CHUNKS, 0)
  if (count == 0) return region == Regions.MAIN
  let offset = keptNumber(isEncoding ? Regions.offsetOf(chunk) : 0, FIRST, region == Regions.MAIN ? 0 : 1)
  let before: u32 = 0
  for (let left = count; left > 0; left--) {
    const bytes = keptNumber(isEncoding ? Chunks.bytesOf(chunk) : 0, BYTES, ((<u32>lastBytes) << 3) | lastTag)
    if (bytes == 0 || bytes > MOST_BYTES || offset > MOST_BYTES) return false
    if (!isEncoding) {
      beginLog()
      if (!Chunks.reserveChunks()) return false
      chunk = newChunk(Regions.startOfRegion(region) + offset, bytes, Chunks.USED, Arenas.numberOf(arena))
      Chunks.setLink(chunk, Chunks.BEFORE, before)
      if (before != 0) Chunks.setLink(before, Chunks.AFTER, chunk)
    }
    if (!codeTag(chunk, left == 1 && isLast ? LAST_ONE : 0)) return false
    offset += bytes
    before = chunk
    if (isEncoding) chunk = Chunks.link(chunk, Chunks.AFTER)
  }
  if (isEncoding) return true
  if (isLast) {
    Chunks.setState(before, Chunks.TOP)
    store<u32>(arena + Arenas.LAST_CHUNK, before)
    if (region != Regions.MAIN && Regions.lengthOf(region) < offset) Regions.setLength(region, offset)
  } else Regions.setFence(region, before)
  return true
}

/** Codes the use of a chunk, and its block. @param known the use if it is known, otherwise 0 */
function codeTag(chunk: u32, known: u32): bool {
  const bytes = Chunks.bytesOf(chunk)
  let tag: u32 = known
  if (known == 0) {
    tag = <u32>keptNumber(isEncoding ? useOf(chunk) : 0, TAG, ((<u32>bytes) << 3) | lastTag)
    if (tag >= LAST_ONE) return false
  }
  if (!countThing() || !addWord(chunks, chunk) || !addWord(tags, tag)) return false
  lastTag = tag
  lastBytes = bytes
  if (isEncoding) store<u32>(orders.at + ((<usize>(chunk / Chunks.RECORD)) << 2), chunks.count)
  if (tag >= IN_CACHE && tag <= IN_BIN && bytes < least) return false
  if (tag == BLOCK_WITH_STACK) {
    const stack = keptNumber(isEncoding ? load<u64>(Chunks.linkAt(chunk, Chunks.STACK)) : 0, STACK_AT, 0)
    if (!isEncoding) store<u64>(Chunks.linkAt(chunk, Chunks.STACK), stack)
  }
  const isBlock = tag == BLOCK || tag == BLOCK_WITH_STACK
  if (!isEncoding && (isBlock || tag == OWN))
    Chunks.setLive(chunk, tag == BLOCK_WITH_STACK ? Chunks.HAS_STACK : Chunks.IS_BLOCK)
  return !isBlock || codeBlock(isEncoding ? ownerOf(chunk) : 0, Regions.blockAt(chunk), <u32>bytes + 1, chunk)
}

function useOf(chunk: u32): u32 {
  if (Chunks.isLive(chunk)) {
    if (ownerOf(chunk) == 0) return OWN
    return load<u8>(Chunks.records + chunk, Chunks.LIVE) == Chunks.HAS_STACK ? BLOCK_WITH_STACK : BLOCK
  }
  const state = Chunks.stateOf(chunk)
  return state == Chunks.CACHED ? IN_CACHE : state == Chunks.FAST ? IN_FAST : state == Chunks.BINNED ? IN_BIN : DEAD
}

/** Codes the chunks that are in no region: mappings, and chunks of which only the block is known. */
function codeOthers(): bool {
  return codeSort(Chunks.MAPPED) && codeSort(Chunks.FOREIGN)
}

function codeSort(state: u8): bool {
  let count: u64 = 0
  const end = isEncoding ? Chunks.endOfRecords() : 0
  for (let chunk: u32 = Chunks.RECORD; chunk < end; chunk += Chunks.RECORD)
    if (Chunks.stateOf(chunk) == state && Chunks.isLive(chunk)) count++
  count = keptNumber(count, CHUNKS, state)
  if (state == Chunks.MAPPED && count > 65_536) return false
  let last: u64 = 0
  let chunk: u32 = 0
  for (; count > 0; count--) {
    if (isEncoding)
      do chunk += Chunks.RECORD
      while (Chunks.stateOf(chunk) != state || !Chunks.isLive(chunk))
    // The address of a mapping may be unknown.
    const isKnown = state == Chunks.FOREIGN || keptNumber(isEncoding && isPlaced(chunk) ? 1 : 0, PLACE, 9) != 0
    if (isKnown) last = keptNear(isEncoding ? Chunks.placeOf(chunk) : 0, last, PLACE, state)
    const bytes = keptNumber(isEncoding ? Chunks.bytesOf(chunk) : 0, BYTES, state)
    const lead = state == Chunks.MAPPED ? keptNumber(isEncoding ? leadOf(chunk) : 0, LEAD, 0) : 0
    if (bytes > MOST_BYTES || lead > MOST_LEAD) return false
    if (!isEncoding) {
      beginLog()
      if (!Chunks.reserveChunks()) return false
      const place = isKnown ? last : unknownPlace()
      chunk = state == Chunks.MAPPED ? addMapping(place, bytes, <u32>lead) : newChunk(place, bytes, Chunks.FOREIGN, 0)
    }
    if (!codeTag(chunk, 0)) return false
    const tag = tagAt(chunks.count - 1)
    if (tag != BLOCK && tag != OWN) return false
  }
  return true
}

function codeArea(): bool {
  store<u64>(LOWEST, keptNumber(load<u64>(LOWEST), GAPS, 0))
  store<u64>(OPEN, keptNumber(load<u64>(OPEN), GAPS, 1))
  const count = keptNumber(gapCount(), GAPS, 2)
  if (count > 1024) return false
  let last = load<u64>(LOWEST)
  for (let i: u32 = 0; i < <u32>count; i++) {
    last = keptNear(isEncoding ? gapStart(i) : 0, last, GAPS, 3)
    const length = keptNumber(isEncoding ? gapLength(i) : 0, GAPS, 4)
    if (!isEncoding) addGap(last, length)
  }
  store<u64>(THRESHOLD, keptNumber(load<u64>(THRESHOLD), LIMITS, 0))
  store<u64>(TRIM, keptNumber(load<u64>(TRIM), LIMITS, 1))
  return load<u64>(THRESHOLD) <= max<u64>(mostThreshold, 131_072) && load<u64>(TRIM) <= MOST_BYTES
}

/**
 * ptmalloc, the allocator of glibc: computes the addresses that it returns from the calls. `allocate` makes a call; if
 * the result is wrong, `settle` (repair.ts) corrects it.
 */
import { CALLOC, MALLOC, MEMALIGN } from '../../../lib/kernel/layouts/allocators'
import { clearArenas } from './arenas'
import { callCalloc, callEnd, callFree, callMalloc, callMemalign, callRealloc, setStack } from './calls'
import * as Chunks from './chunks'
import { clearMap, mapBegins } from './chunk-map'
import { clearGaps } from './gaps'
import { beginLog } from './log'
import { clearMappings } from './mappings'
import { clearRegions } from './regions'
import { callocUsesCache, setRules } from './rules'
import { clearThreads } from './threads'
import { clearWrong } from './wrong'

/** The call to predict: its function, thread and arguments, and the predicted chunk. */
let operation: u32 = MALLOC
export let caller: u32 = 0
export let request: u64 = 0
let detail: u64 = 0
/** The chunk of the block that realloc resizes, 0 for other functions. */
export let resized: u32 = 0
export let guess: u32 = 0
/** Whether the last call can be settled. */
export let isOpen: bool = false

/**
 * Begins a simulation.
 * @param version the minor version of glibc, 23 to 43
 * @param bits of a word, 32 or 64
 * @param cores of the machine, which limit the number of arenas; 0: no limit
 * @param stack the number of bytes mapped for the stack of a thread; 0: none
 * @param heap the start of the main heap, 0 if unknown
 * @param mappings the upper end of the area for mappings, 0 if unknown
 * @param learns whether the first heap of an arena shows if the version is before or after 2.35
 * @returns false if there is no such version, or memory is exhausted
 */
export function start(version: i32, bits: i32, cores: u32, stack: u64, heap: u64, mappings: u64, learns: bool): bool {
  if (!setRules(version, bits)) return false
  clearMap()
  beginLog()
  if (!Chunks.clearChunks() || !clearThreads()) return false
  clearGaps(mappings)
  clearMappings()
  clearRegions(heap)
  clearArenas(cores, learns)
  clearWrong()
  setStack(stack)
  guess = 0
  isOpen = false
  return true
}

/** Begins a call. @returns false if memory is exhausted */
function begin(): bool {
  isOpen = false
  mapBegins()
  beginLog()
  return Chunks.reserveChunks()
}

/** The call was settled. */
export function close(): void {
  isOpen = false
}

/**
 * Predicts the chunk of a new block.
 * @param more the number of elements for calloc (0 if unknown), the alignment for memalign
 * @param old the chunk of the live block that realloc resizes
 * @returns 0 if no prediction is possible
 */
export function allocate(called: u32, thread: u32, more: u64, old: u32, bytes: u64): u32 {
  operation = called
  caller = thread
  detail = more
  resized = old
  request = bytes
  guess = 0
  isOpen = begin()
  if (isOpen) guess = call()
  return guess
}

/** Makes the remembered call. */
export function call(): u32 {
  let chunk: u32 = 0
  if (operation == MALLOC) chunk = callMalloc(caller, request)
  else if (operation == CALLOC) chunk = callCalloc(caller, detail, request)
  else if (operation == MEMALIGN) chunk = callMemalign(caller, detail, request)
  else chunk = callRealloc(caller, resized, request)
  if (chunk != 0 && !Chunks.isLive(chunk)) Chunks.setLive(chunk, Chunks.IS_BLOCK)
  return chunk
}

/** Whether the current call uses the first chunk of this size in the thread's cache, if any. */
export function usesCache(): bool {
  return operation == MALLOC || (operation == CALLOC && callocUsesCache)
}

/** Frees the chunk of a live block. */
export function release(thread: u32, chunk: u32): void {
  if (begin()) callFree(thread, chunk)
}

/** A thread ends. */
export function finish(thread: u32): void {
  if (begin()) callEnd(thread)
}

/** Whether a number identifies the chunk of a live block. */
export function isChunk(chunk: u32): bool {
  return (
    chunk != 0 &&
    chunk < Chunks.endOfRecords() &&
    chunk % Chunks.RECORD == 0 &&
    Chunks.stateOf(chunk) != Chunks.NO_CHUNK &&
    Chunks.isLive(chunk)
  )
}

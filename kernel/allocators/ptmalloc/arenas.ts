/**
 * Arenas: independent heaps with separate bins. The main arena has the main heap. Further threads get new arenas up to
 * a limit, and then share existing ones.
 */
import { BINS, header, arenaHead, arenasPerCore, FAST_BINS, heapRoom, pages, TOP_PAD } from './rules'
import { mapBytes, isUnmapped, knowsArea, seeMapping, unmapBytes } from './gaps'
import { RECORD, setState, takeHeads, TOP } from './chunks'
import { newChunk } from './heap-chunks'
import { set32, set64 } from './log'
import { newRegion, startOfRegion } from './regions'

/**
 * Offsets in an arena: the first chunks of its fast bins, the heads of its bins, and the set of bins that may have
 * chunks.
 */
const FAST_LISTS: usize = 0
const HEADS: usize = 48
export const BIN_MAP: usize = 52
/** The chunk at the end of its heap, and that heap's region. */
export const LAST_CHUNK: usize = 68
export const REGION: usize = 72
/** Whether its fast bins may have chunks. */
export const HAS_FAST: usize = 76
/**
 * The virtual address of the last remainder, the rest of the chunk that was split last, which serves the next small
 * requests.
 */
export const REMAINDER: usize = 80
/** The number of its threads, the arena created before it, and the next arena without threads. */
export const THREADS: usize = 88
export const OLDER: usize = 92
export const NEXT_IDLE: usize = 96
const SIZE: u32 = 128

const MOST: u32 = 2048
const ARENAS: usize = memory.data(262144)
/** The number of records, and the number of arenas as glibc counts them. */
const COUNT: usize = memory.data(32)
export const COUNTED: usize = COUNT + 4
/** The maximum number of arenas, 0 while there is no limit. */
export const LIMIT: usize = COUNT + 8
/** The first arena without threads, and the next one to share. */
export const IDLE: usize = COUNT + 12
export const NEXT_SHARED: usize = COUNT + 16
/** The address of the unused half of a mapping for a heap, which the next heap may use; 0 if none. */
export const HINT: usize = COUNT + 24

/** The smallest heap of an arena. */
const LEAST_HEAP: u64 = 32_768

let cores: u32 = 0
/** Whether the first heap of an arena shows the length of the data at its start. */
export let learnsHeads: bool = false

export const MAIN_ARENA: usize = ARENAS

/**
 * Removes all arenas but the main one.
 * @param coreCount 0: arenas have no limit
 * @param learns whether the first heap of an arena shows how long the data in it is
 */
export function clearArenas(coreCount: u32, learns: bool): void {
  cores = coreCount
  learnsHeads = learns
  store<u32>(COUNT, 0)
  store<u32>(COUNTED, 1)
  store<u32>(LIMIT, 0)
  store<u32>(IDLE, 0)
  store<u32>(NEXT_SHARED, <u32>MAIN_ARENA)
  store<u64>(HINT, 0)
  newRecord()
  // The main thread uses it.
  store<u32>(MAIN_ARENA, 1, THREADS)
}

/** An arena without a heap. @returns 0 if there are too many */
export function newRecord(): usize {
  const number = load<u32>(COUNT)
  if (number == MOST) return 0
  set32(COUNT, number + 1)
  const arena = ARENAS + <usize>(number * SIZE)
  for (let at: usize = 0; at < SIZE; at += 4) set32(arena + at, 0)
  set32(arena + HEADS, takeHeads(BINS))
  return arena
}

export function arenaCount(): u32 {
  return load<u32>(COUNT)
}

/** The number of an arena as stored in chunks. */
export function numberOf(arena: usize): u32 {
  return <u32>(arena - ARENAS) / SIZE
}

export function arenaAt(number: u32): usize {
  return ARENAS + <usize>(number * SIZE)
}

export function headOf(arena: usize, bin: u32): u32 {
  return load<u32>(arena, HEADS) + bin * RECORD
}

/** The chunk at the end of an arena's heap, 0 before it has one. */
export function topOf(arena: usize): u32 {
  return load<u32>(arena, LAST_CHUNK)
}

/** Makes a chunk the one at the end of an arena's heap. */
export function setTop(arena: usize, chunk: u32): void {
  setState(chunk, TOP)
  set32(arena + LAST_CHUNK, chunk)
}

/** The place of the first chunk of a fast bin. */
export function fastList(arena: usize, bin: u32): usize {
  return arena + FAST_LISTS + ((<usize>min(bin, FAST_BINS - 1)) << 2)
}

/** The size of a new heap for this many bytes, 0 if that is too many. */
export function heapLength(bytes: u64): u64 {
  if (bytes + TOP_PAD < LEAST_HEAP) return LEAST_HEAP
  if (bytes + TOP_PAD <= heapRoom) return pages(bytes + TOP_PAD)
  return bytes > heapRoom ? 0 : heapRoom
}

/** Maps memory for a heap, aligned to its size. @returns its address, 0 if that cannot be known */
export function mapHeap(): u64 {
  if (!knowsArea()) return 0
  const hint = load<u64>(HINT)
  if (hint != 0) {
    set64(HINT, 0)
    if (isUnmapped(hint, heapRoom)) {
      seeMapping(hint, heapRoom)
      return hint
    }
  }
  const start = mapBytes(2 * heapRoom)
  if (start == 0) return 0
  const base = (start + heapRoom - 1) & ~(heapRoom - 1)
  if (base == start) set64(HINT, base + heapRoom)
  else unmapBytes(start, base - start)
  unmapBytes(base + heapRoom, heapRoom - (base - start))
  return base
}

/** Notes the actual address of a heap, which may be half of a mapping whose other half is above it. */
export function hintAfter(base: u64): void {
  if (isUnmapped(base + heapRoom, heapRoom)) set64(HINT, base + heapRoom)
}

/** Unmaps the room of a heap. */
export function unmapHeap(base: u64): void {
  if (base == 0) return
  unmapBytes(base, heapRoom)
  if (base + heapRoom == load<u64>(HINT)) set64(HINT, 0)
}

/**
 * Creates an arena.
 * @param base the address of its first heap, 0 if the kernel chooses
 * @returns 0 if there are too many
 */
export function newArena(base: u64): usize {
  const arena = newRecord()
  if (arena == 0) return 0
  const length = heapLength(arenaHead + header)
  const number = numberOf(arena)
  const region = newRegion(number, length, 0, base == 0 ? mapHeap() : base)
  if (region == 0) return 0
  const top = newChunk(startOfRegion(region) + arenaHead, length - arenaHead, TOP, number)
  set32(arena + LAST_CHUNK, top)
  set32(arena + REGION, region)
  set32(arena + OLDER, load<u32>(MAIN_ARENA, OLDER))
  set32(MAIN_ARENA + OLDER, <u32>arena)
  set32(COUNTED, load<u32>(COUNTED) + 1)
  return arena
}

/** The arena for another thread: an idle one, otherwise a new one, otherwise a shared one. */
export function chooseArena(): usize {
  const idle = load<u32>(IDLE)
  if (idle != 0) {
    set32(IDLE, load<u32>(<usize>idle, NEXT_IDLE))
    return idle
  }
  let limit = load<u32>(LIMIT)
  if (limit == 0 && cores != 0 && load<u32>(COUNTED) > arenasPerCore) {
    limit = cores * arenasPerCore
    set32(LIMIT, limit)
  }
  if (limit == 0 || load<u32>(COUNTED) < limit) {
    const made = newArena(0)
    if (made != 0) return made
  }
  const shared = <usize>load<u32>(NEXT_SHARED)
  takeFromIdle(shared)
  shareNext(shared)
  return shared
}

/** A thread begins to use an arena. */
export function enterArena(arena: usize): void {
  set32(arena + THREADS, load<u32>(arena, THREADS) + 1)
}

/** The next arena to share is the one created before this one; after the oldest, the main arena. */
function shareNext(arena: usize): void {
  const older = load<u32>(arena, OLDER)
  set32(NEXT_SHARED, older == 0 ? <u32>MAIN_ARENA : older)
}

/** Notes that a thread uses this arena, so that it is not idle. */
export function claimArena(arena: usize): void {
  takeFromIdle(arena)
  shareNext(arena)
  enterArena(arena)
}

function takeFromIdle(arena: usize): void {
  let at: usize = IDLE
  for (let i: u32 = 0; i < MOST; i++) {
    const idle = <usize>load<u32>(at)
    if (idle == 0) return
    if (idle == arena) {
      set32(at, load<u32>(arena, NEXT_IDLE))
      return
    }
    at = idle + NEXT_IDLE
  }
}

/** Forgets an arena without threads and blocks, which was made before its first address was seen. */
export function forgetArena(arena: usize): void {
  let newer = MAIN_ARENA
  for (let i: u32 = 0; i < MOST && load<u32>(newer, OLDER) != <u32>arena; i++) {
    newer = <usize>load<u32>(newer, OLDER)
    if (newer == 0) return
  }
  takeFromIdle(arena)
  set32(newer + OLDER, load<u32>(arena, OLDER))
  set32(COUNTED, load<u32>(COUNTED) - 1)
  if (load<u32>(NEXT_SHARED) == <u32>arena) shareNext(arena)
}

/** A thread ends. */
export function leaveArena(arena: usize): void {
  const threads = load<u32>(arena, THREADS)
  if (threads == 0) return
  set32(arena + THREADS, threads - 1)
  if (threads > 1) return
  set32(arena + NEXT_IDLE, load<u32>(IDLE))
  set32(IDLE, <u32>arena)
}

/** The number of arenas has reached the limit, because a thread shares one already. */
export function limitArenas(): void {
  if (load<u32>(LIMIT) == 0 && load<u32>(IDLE) == 0) set32(LIMIT, load<u32>(COUNTED))
}

/** Raises the limit, because there are more arenas than assumed. */
export function raiseLimit(): void {
  const limit = load<u32>(LIMIT)
  if (limit != 0 && limit < load<u32>(COUNTED)) set32(LIMIT, load<u32>(COUNTED))
}

/**
 * Arenas for blocks that probably end soon, at the start of a heap of another policy: D. Barrett and B. Zorn, "Using
 * Lifetime Predictors to Improve Memory Allocation Performance" (PLDI 1993). In an arena, blocks follow each other. An
 * arena is reused when none of its blocks is live. Blocks for which no arena has room are in the heap.
 */
import { giveRoom, takeZeros } from '../live/room'
import { addUsed, BASE, give, granule, page, roundUp } from './settings'

/** Per row, whether its block probably ends soon. */
export const PREDICTED: usize = memory.data(4288)
/** Marks the place of a block in an arena; the other bits are the arena's number. */
export const IN_ARENA: u32 = 1 << 31
/** The arenas of all heaps begin here. */
const FIRST: u64 = 2 * BASE

/** The offset of the description of the arenas in a heap of fits.ts. */
const ARENAS: usize = 48
/** The current arena, the number of arenas with live blocks, and the number of arenas used so far. */
const CURRENT: usize = 0
const OCCUPIED: usize = 4
const TOUCHED: usize = 8
/** Per arena: its used bytes, and the number of its live blocks. */
const FIRST_ARENA: usize = 16
const COUNT: usize = 4
const ARENA: u32 = 3

/** The number of arenas of each heap, 0 for none, and the bytes of an arena. */
export let arenas: u32 = 0
let arenaBytes: u64 = 0
let log: u32 = 0
/** A block that ends after more than this number of bytes were allocated lives longer than predicted. */
let threshold: f64 = 0

/** The bytes that have been requested so far. */
let clock: f64 = 0
/**
 * Blocks and requested bytes of five groups: all, ending soon, predicted to end soon, in arenas, and ending soon in
 * arenas.
 */
export const PREDICTIONS: usize = memory.data(8 * 10)
const ALL: usize = PREDICTIONS
const SHORT: usize = PREDICTIONS + 16
const EXPECTED: usize = PREDICTIONS + 32
const PLACED: usize = PREDICTIONS + 48
const RIGHT: usize = PREDICTIONS + 64

/** Sets the arenas of the simulations that follow. @param count 0: there are none */
export function setArenas(count: u32, bytes: u32, newThreshold: f64): void {
  arenas = count
  arenaBytes = bytes
  threshold = newThreshold
  log = 32 - clz<u32>(<u32>FIRST_ARENA + (count << ARENA) - 1)
}

/** Begins a simulation. */
export function startArenas(): void {
  clock = 0
  memory.fill(PREDICTIONS, 0, 8 * 10)
}

/** Makes the arenas of a heap. @returns false if memory is exhausted */
export function makeArenas(heap: usize): bool {
  if (arenas == 0) return true
  const room = takeZeros(log)
  if (room == 0) return false
  store<u32>(heap, <u32>room, ARENAS)
  return true
}

/** Discards the arenas of a heap. */
export function dropArenas(heap: usize): void {
  if (arenas != 0) giveRoom(<usize>load<u32>(heap, ARENAS), log)
}

/** Returns the memory of the arenas of a heap, which have no blocks. */
export function resetArenas(heap: usize): void {
  if (arenas == 0) return
  const room = <usize>load<u32>(heap, ARENAS)
  addUsed(0 - roundUp(<u64>load<u32>(room, TOUCHED) * arenaBytes, page))
  memory.fill(room, 0, (<usize>1) << log)
}

/** The address at which a block would start in an arena; 0 if there is no room. */
function startIn(room: usize, arena: u32, bytes: u64, alignment: u64): u64 {
  const base = FIRST + <u64>arena * arenaBytes
  let at = base + <u64>load<u32>(room + FIRST_ARENA + ((<usize>arena) << ARENA))
  if (alignment != 0) at = roundUp(at, alignment)
  return at + bytes <= base + arenaBytes ? at : 0
}

/**
 * Allocates a block in an arena: see `give`. @param alignment 0 for the default
 * @returns false if no arena has room
 */
export function arenaAllocate(heap: usize, size: u64, alignment: u64): bool {
  const bytes = roundUp(max<u64>(size, 1), granule)
  if (bytes > arenaBytes) return false
  const room = <usize>load<u32>(heap, ARENAS)
  let arena = load<u32>(room, CURRENT)
  let at = startIn(room, arena, bytes, alignment)
  if (at == 0) {
    if (load<u32>(room, OCCUPIED) == arenas) return false
    arena = 0
    while (load<u32>(room + FIRST_ARENA + ((<usize>arena) << ARENA), COUNT) != 0) arena++
    store<u32>(room + FIRST_ARENA + ((<usize>arena) << ARENA), 0)
    at = startIn(room, arena, bytes, alignment)
    if (at == 0) return false
    store<u32>(room, arena, CURRENT)
  }
  const here = room + FIRST_ARENA + ((<usize>arena) << ARENA)
  const count = load<u32>(here, COUNT)
  if (count == 0) store<u32>(room, load<u32>(room, OCCUPIED) + 1, OCCUPIED)
  store<u32>(here, count + 1, COUNT)
  store<u32>(here, <u32>(at + bytes - FIRST - <u64>arena * arenaBytes))
  const touched = load<u32>(room, TOUCHED)
  if (arena >= touched) {
    store<u32>(room, arena + 1, TOUCHED)
    addUsed(roundUp(<u64>(arena + 1) * arenaBytes, page) - roundUp(<u64>touched * arenaBytes, page))
  }
  return give(at, bytes, IN_ARENA | arena)
}

/** Resizes a block in place: see `give`. @returns false if it has to move */
export function arenaResize(row: usize, from: u64, bytes: u64, place: u32, size: u64): bool {
  return load<u8>(PREDICTED + row) != 0 && size <= bytes && give(from, bytes, place)
}

/** Frees a block. @param place the number of its arena, with the mark */
export function arenaRelease(heap: usize, place: u32): void {
  const room = <usize>load<u32>(heap, ARENAS)
  const at = room + FIRST_ARENA + ((<usize>(place & ~IN_ARENA)) << ARENA) + COUNT
  const count = load<u32>(at) - 1
  store<u32>(at, count)
  if (count == 0) store<u32>(room, load<u32>(room, OCCUPIED) - 1, OCCUPIED)
}

function add(at: usize, bytes: u64): void {
  store<f64>(at, load<f64>(at) + 1)
  store<f64>(at, load<f64>(at, 8) + <f64>bytes, 8)
}

/** Counts a block that begins. @returns the time, in allocated bytes */
export function noteBegin(row: usize, place: u32, bytes: u64): f64 {
  clock += <f64>bytes
  add(ALL, bytes)
  if (load<u8>(PREDICTED + row) != 0) add(EXPECTED, bytes)
  if ((place & IN_ARENA) != 0) add(PLACED, bytes)
  return clock
}

/**
 * Counts a block that ends.
 * @param birth the time when it began @param isFreed false if it ended with its process
 */
export function noteEnd(birth: f64, place: u32, bytes: u64, isFreed: bool): void {
  if (!isFreed || clock - birth > threshold) return
  add(SHORT, bytes)
  if ((place & IN_ARENA) != 0) add(RIGHT, bytes)
}

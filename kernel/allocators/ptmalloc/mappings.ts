/** Large blocks: each is a mapping. The size above which blocks are mapped grows when a mapped block is freed. */
import { BYTES, bytesOf, LEAD, MAPPED, placeOf, records } from './chunks'
import { dropChunk, newChunk } from './heap-chunks'
import { extendMapping, mapBytes, unmapBytes } from './gaps'
import { set32, set64 } from './log'
import { alignment, header, mapsNormally, mostThreshold, PAGE, pages, word } from './rules'

/** The size from which blocks are mapped, and the size from which the top chunk shrinks. */
export const THRESHOLD: usize = memory.data(24)
export const TRIM: usize = THRESHOLD + 8
const COUNT: usize = THRESHOLD + 16

const FIRST_THRESHOLD: u64 = 131_072
const MOST_MAPPINGS: u32 = 65_536

export function clearMappings(): void {
  store<u64>(THRESHOLD, FIRST_THRESHOLD)
  store<u64>(TRIM, FIRST_THRESHOLD)
  store<u32>(COUNT, 0)
}

/** Whether a chunk of this size is mapped when no free chunk is large enough. */
// @ts-ignore: decorator
@inline
export function isMapped(bytes: u64): bool {
  return bytes >= load<u64>(THRESHOLD) && load<u32>(COUNT) < MOST_MAPPINGS
}

/** The size from which the chunk at the end of a heap shrinks. */
export function trimThreshold(): u64 {
  return load<u64>(TRIM)
}

/** The address of a mapping at an unknown place. A chunk with this address has its block at address 0. */
// @ts-ignore: decorator
@inline
export function unknownPlace(): u64 {
  return 0 - header
}

/** Whether the address of a mapping is known. */
// @ts-ignore: decorator
@inline
export function isPlaced(chunk: u32): bool {
  return placeOf(chunk) != unknownPlace()
}

/** The bytes of a mapping before the chunk. */
// @ts-ignore: decorator
@inline
export function leadOf(chunk: u32): u64 {
  return <u64>load<u32>(records + chunk, LEAD)
}

/** The bytes of a mapping after the chunk. */
// @ts-ignore: decorator
@inline
function tail(): u64 {
  return mapsNormally ? header : 0
}

/** The length of a mapping. */
// @ts-ignore: decorator
@inline
export function lengthOf(chunk: u32): u64 {
  return leadOf(chunk) + bytesOf(chunk) + tail()
}

/** The length of the mapping for a chunk of this size. */
export function lengthFor(bytes: u64): u64 {
  const lead = alignment - header
  return pages(mapsNormally ? bytes + header + lead : bytes + word + (lead == 0 ? 0 : alignment - 1))
}

/** A new mapping for a chunk. */
export function newMapping(bytes: u64): u32 {
  const length = lengthFor(bytes)
  return placeMapping(mapBytes(length), alignment - header, length)
}

/** A chunk for a mapping. @param start its address, 0 if unknown */
export function placeMapping(start: u64, lead: u64, length: u64): u32 {
  return addMapping(start == 0 ? unknownPlace() : start + lead, length - lead - tail(), <u32>lead)
}

/** The chunk of a mapping whose parts are known. */
export function addMapping(place: u64, bytes: u64, lead: u32): u32 {
  set32(COUNT, load<u32>(COUNT) + 1)
  const chunk = newChunk(place, bytes, MAPPED, 0)
  set32(records + chunk + LEAD, lead)
  return chunk
}

/** Moves the start of a chunk in its mapping, for alignment. */
export function advanceMapping(chunk: u32, bytes: u64): void {
  if (isPlaced(chunk)) set64(records + chunk, placeOf(chunk) + bytes)
  set64(records + chunk + BYTES, bytesOf(chunk) - bytes)
  set32(records + chunk + LEAD, <u32>(leadOf(chunk) + bytes))
}

/** Frees a mapped chunk, which may raise the thresholds. */
export function dropMapping(chunk: u32): void {
  const bytes = bytesOf(chunk)
  // The size has the flag of mapped chunks in it.
  if ((bytes | 2) > load<u64>(THRESHOLD) && (bytes | 2) <= mostThreshold) {
    set64(THRESHOLD, bytes)
    set64(TRIM, 2 * bytes)
  }
  unmap(chunk)
}

function unmap(chunk: u32): void {
  set32(COUNT, load<u32>(COUNT) - 1)
  if (isPlaced(chunk)) unmapBytes(placeOf(chunk) - leadOf(chunk), lengthOf(chunk))
  dropChunk(chunk)
}

/** Resizes a mapping, as mremap does. @returns its chunk, possibly another one */
export function resizeMapping(chunk: u32, bytes: u64): u32 {
  const lead = leadOf(chunk)
  const before = lengthOf(chunk)
  const length = pages(bytes + lead + (mapsNormally ? header : word))
  if (length == before) return chunk
  const known = isPlaced(chunk)
  const start = placeOf(chunk) - lead
  if (length < before) {
    set64(records + chunk + BYTES, length - lead - tail())
    if (known) unmapBytes(start + length, before - length)
    return chunk
  }
  if (known && extendMapping(start + before, length - before)) {
    set64(records + chunk + BYTES, length - lead - tail())
    return chunk
  }
  const moved = known ? mapBytes(length) : 0
  unmap(chunk)
  return placeMapping(moved, lead, length)
}

/** Whether a mapping may be at this address. */
export function mayBeMapping(chunk: u32, place: u64): bool {
  return ((place - leadOf(chunk)) & (PAGE - 1)) == 0
}

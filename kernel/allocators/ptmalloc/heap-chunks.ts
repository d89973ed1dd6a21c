/** Makes, removes, splits and joins chunks, and keeps the map of chunks current. */
import { mapAdded, mapRemoved } from './chunk-map'
import * as Chunks from './chunks'
import { set32, set64 } from './log'

export function newChunk(at: u64, bytes: u64, state: u8, arena: u32): u32 {
  let chunk = load<u32>(Chunks.FREE)
  if (chunk != 0) set32(Chunks.FREE, load<u32>(Chunks.records + chunk, Chunks.NEXT))
  else {
    chunk = load<u32>(Chunks.END)
    set32(Chunks.END, chunk + Chunks.RECORD)
  }
  const record = Chunks.records + chunk
  set64(record + Chunks.AT, at)
  set64(record + Chunks.BYTES, bytes)
  set32(record + Chunks.BEFORE, 0)
  set32(record + Chunks.AFTER, 0)
  set32(record + Chunks.SMALLER, 0)
  set32(record + Chunks.STATE, (<u32>state) | (arena << 16))
  if (state < Chunks.MAPPED) mapAdded(chunk)
  return chunk
}

/** Removes a record; the chunk must be in no list. */
export function dropChunk(chunk: u32): void {
  const record = Chunks.records + chunk
  if (load<u8>(record, Chunks.STATE) < Chunks.MAPPED) mapRemoved(chunk)
  set32(record + Chunks.STATE, Chunks.NO_CHUNK)
  set32(record + Chunks.NEXT, load<u32>(Chunks.FREE))
  set32(Chunks.FREE, chunk)
}

/** Splits a chunk after some bytes. @returns the rest, which is in use */
export function split(chunk: u32, bytes: u64): u32 {
  const rest = newChunk(
    Chunks.placeOf(chunk) + bytes,
    Chunks.bytesOf(chunk) - bytes,
    Chunks.USED,
    Chunks.arenaOf(chunk),
  )
  const after = Chunks.link(chunk, Chunks.AFTER)
  Chunks.setBytes(chunk, bytes)
  Chunks.setLink(rest, Chunks.BEFORE, chunk)
  Chunks.setLink(rest, Chunks.AFTER, after)
  if (after != 0) Chunks.setLink(after, Chunks.BEFORE, rest)
  Chunks.setLink(chunk, Chunks.AFTER, rest)
  return rest
}

/** Joins a chunk and the one after it, which is in no list. */
export function absorb(chunk: u32): void {
  const gone = Chunks.link(chunk, Chunks.AFTER)
  const after = Chunks.link(gone, Chunks.AFTER)
  Chunks.setBytes(chunk, Chunks.bytesOf(chunk) + Chunks.bytesOf(gone))
  Chunks.setLink(chunk, Chunks.AFTER, after)
  if (after != 0) Chunks.setLink(after, Chunks.BEFORE, chunk)
  dropChunk(gone)
}

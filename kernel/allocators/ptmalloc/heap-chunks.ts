/** Makes, removes, splits and joins chunks, and keeps the map of chunks current. */
import { mapAdded, mapRemoved } from './chunk-map'
import {
  AFTER,
  arenaOf,
  AT,
  BEFORE,
  BYTES,
  bytesOf,
  END,
  FREE,
  link,
  MAPPED,
  NEXT,
  NO_CHUNK,
  placeOf,
  RECORD,
  records,
  setBytes,
  setLink,
  SMALLER,
  STATE,
  USED,
} from './chunks'
import { set32, set64 } from './log'

/** A new chunk. */
export function newChunk(at: u64, bytes: u64, state: u8, arena: u32): u32 {
  let chunk = load<u32>(FREE)
  if (chunk != 0) set32(FREE, load<u32>(records + chunk, NEXT))
  else {
    chunk = load<u32>(END)
    set32(END, chunk + RECORD)
  }
  const record = records + chunk
  set64(record + AT, at)
  set64(record + BYTES, bytes)
  set32(record + BEFORE, 0)
  set32(record + AFTER, 0)
  set32(record + SMALLER, 0)
  set32(record + STATE, (<u32>state) | (arena << 16))
  if (state < MAPPED) mapAdded(chunk)
  return chunk
}

/** Removes a record; the chunk must be in no list. */
export function dropChunk(chunk: u32): void {
  const record = records + chunk
  if (load<u8>(record, STATE) < MAPPED) mapRemoved(chunk)
  set32(record + STATE, NO_CHUNK)
  set32(record + NEXT, load<u32>(FREE))
  set32(FREE, chunk)
}

/** Splits a chunk after some bytes. @returns the rest, which is in use */
export function split(chunk: u32, bytes: u64): u32 {
  const rest = newChunk(placeOf(chunk) + bytes, bytesOf(chunk) - bytes, USED, arenaOf(chunk))
  const after = link(chunk, AFTER)
  setBytes(chunk, bytes)
  setLink(rest, BEFORE, chunk)
  setLink(rest, AFTER, after)
  if (after != 0) setLink(after, BEFORE, rest)
  setLink(chunk, AFTER, rest)
  return rest
}

/** Joins a chunk and the one after it, which is in no list. */
export function absorb(chunk: u32): void {
  const gone = link(chunk, AFTER)
  const after = link(gone, AFTER)
  setBytes(chunk, bytesOf(chunk) + bytesOf(gone))
  setLink(chunk, AFTER, after)
  if (after != 0) setLink(after, BEFORE, chunk)
  dropChunk(gone)
}

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { nameInput } from '../../event/error.js'
import { CompactDecoder } from '../../formats/compact/decode.js'
import type { CompactStart } from '../../formats/compact/places.js'
import { HEAD_BYTES, MAGIC, VERSION } from '../../formats/compact/layout.js'
import { countEvents } from '../../formats/compact/count.js'
import { findStart } from '../../formats/compact/seek.js'
import { sniff } from '../../formats/compact/sniff.js'
import type { EventBatch } from '../../event/batch.js'
import { runStage, type Warn } from '../../reading/run-stage.js'
import { DescriptorSource } from './descriptor-source.js'
import { headOf } from './file-status.js'

/** The number of bytes to read at a time: few, because they hold thousands of events. */
const CHUNK_BYTES = 4096

/** Whether there is a compact trace that can be read, not compressed, in a file with this name. */
export function isCompactFile(path: string): boolean {
  if (path === '-' || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  const head = headOf(path, HEAD_BYTES)
  // A file of another version is read from its start, which is refused.
  return head.length === HEAD_BYTES && sniff(head) && head[MAGIC.length] === VERSION && head.at(-1) === 0
}

/**
 * The number of events of a compact trace; undefined if the file is not one, or has no index.
 * @throws TraceError if it is truncated, or its index is damaged
 */
export function compactEvents(path: string): number | undefined {
  if (!isCompactFile(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const { size } = statSync(path)
    return countEvents(size, (offset, length) => readWithin(file, size, offset, length))
  } catch (error) {
    nameInput(error, path)
    throw error
  } finally {
    closeSync(file)
  }
}

/** Bytes of a file of some size from an offset: fewer at its end. */
function readWithin(file: number, size: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(Math.min(length, Math.max(0, size - offset)))
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset))
}

/** A compact trace from a place on. */
export interface CompactPart {
  /** The number of events before the place. */
  readonly before: number
  /** The number of bytes read to find the place. */
  readonly bytesRead: number
  /** Its bytes. */
  open(): Readable & { readonly bytesRead: number }
  /** The events of these bytes. */
  events(bytes: AsyncIterable<Uint8Array>, warn: Warn): AsyncIterable<EventBatch>
}

/**
 * The part of a compact trace that begins at the last place before an event.
 * @param event its number, from 0
 * @param warn is called with the reason why an index cannot be used
 * @returns undefined if this is no file of that format, or if it has no index: then it is read from the start
 */
export function compactPart(path: string, event: number, warn: Warn): CompactPart | undefined {
  if (!isCompactFile(path)) return undefined
  const { size } = statSync(path)
  const file = openSync(path, 'r')
  let bytesRead = 0
  const read = (offset: number, length: number): Uint8Array => {
    const bytes = readWithin(file, size, offset, length)
    bytesRead += bytes.length
    return bytes
  }
  let start: CompactStart | undefined
  try {
    const found = findStart(size, event, read)
    if (found.problem !== undefined) warn(`compact: ${found.problem}: the file is read from its start`)
    start = found.start
  } finally {
    closeSync(file)
  }
  if (start === undefined) return undefined
  const from = start
  return {
    before: from.events,
    bytesRead,
    open: () => new DescriptorSource(path, CHUNK_BYTES, from.bytes),
    events: (bytes, warnings) => runStage(new CompactDecoder(from), bytes, warnings),
  }
}

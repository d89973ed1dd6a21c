import { batchesOf, type EventBatch } from '../event/batch.js'
import type { TraceHeader } from '../event/header.js'
import type { Decoder, Encoder, Stage } from '../event/stage.js'
import type { TraceEvent } from '../event/trace-event.js'

/** The results of a stage until it ended or failed. */
export interface Outcome<Out> {
  out: Out[]
  error?: Error
}

/** The result of decoding bytes. */
export interface Decoded {
  batches: EventBatch[]
  events: TraceEvent[]
  error?: Error
}

/** Runs a stage over inputs, as streams do, and keeps what it gave before an error. */
export function drive<In, Out>(stage: Stage<In, Out>, inputs: Iterable<In>, isCut = false): Outcome<Out> {
  const out: Out[] = []
  const drain = () => {
    for (let result = stage.next(); result !== null; result = stage.next()) out.push(result)
  }
  try {
    for (const input of inputs) {
      stage.feed(input)
      drain()
    }
    if (isCut) stage.endTruncated()
    else stage.end()
    drain()
    return { out }
  } catch (error) {
    return { out, error: error as Error }
  } finally {
    stage.dispose?.()
  }
}

/**
 * Bytes in pieces of `size`. A piece is overwritten once the next one but one is requested: a decoder that still reads
 * it then gives other events.
 */
export function* slices(bytes: Uint8Array, size: number = bytes.length || 1): Generator<Uint8Array> {
  let before: Uint8Array | undefined
  let last: Uint8Array | undefined
  for (let at = 0; at < bytes.length; at += size) {
    before?.fill(0xa5)
    before = last
    last = new Uint8Array(bytes.subarray(at, at + size))
    yield last
  }
}

/** Decodes bytes in pieces of `size`. */
export function decodeAll(decoder: Decoder, bytes: Uint8Array, size?: number, isCut = false): Decoded {
  const { out, error } = drive(decoder, slices(bytes, size), isCut)
  return { batches: out, events: out.flatMap((batch) => [...batch]), ...(error && { error }) }
}

/** Encodes batches. @throws what the encoder throws */
export function encodeAll(encoder: Encoder, batches: Iterable<EventBatch>): Uint8Array {
  const { out, error } = drive(encoder, batches)
  if (error) throw error
  return new Uint8Array(Buffer.concat(out))
}

/** Encodes plain events. @throws what the encoder throws */
export function encodeEvents(encoder: Encoder, events: Iterable<TraceEvent>, header: TraceHeader): Uint8Array {
  return encodeAll(encoder, batchesOf(events, header))
}

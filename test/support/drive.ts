import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import type { Decoder, Encoder, Stage } from '../../lib/event/stage.js'

/** What a stage gave until it ended or failed. */
export interface Outcome<Out> {
  out: Out[]
  error?: Error
}

/** Runs a stage over inputs as the stream shells do, and keeps what came out before an error. */
export function drive<In, Out>(stage: Stage<In, Out>, inputs: Iterable<In>): Outcome<Out> {
  const out: Out[] = []
  const drain = () => {
    for (let result = stage.next(); result !== null; result = stage.next()) out.push(result)
  }
  try {
    for (const input of inputs) {
      stage.feed(input)
      drain()
    }
    stage.end()
    drain()
    return { out }
  } catch (error) {
    return { out, error: error as Error }
  }
}

/** Bytes in pieces of `size`. */
export function* slices(bytes: Uint8Array, size = bytes.length || 1): Generator<Uint8Array> {
  let before: Uint8Array | undefined
  let last: Uint8Array | undefined
  for (let i = 0; i < bytes.length; i += size) {
    // The piece before the one that was fed last is its owner's again: a decoder that still looked at it would be found
    // out.
    before?.fill(0xa5)
    before = last
    // A Buffer's own `slice` would be a view.
    last = new Uint8Array(bytes.subarray(i, i + size))
    yield last
  }
}

export interface Decoded {
  batches: EventBatch[]
  events: TraceEvent[]
  headers: TraceHeader[]
  error?: Error
}

/** Decodes bytes in pieces of `size` and gives all events as objects. */
export function decodeAll(decoder: Decoder, bytes: Uint8Array, size?: number): Decoded {
  const { out, error } = drive(decoder, slices(bytes, size))
  const headers = out.map((batch) => batch.header).filter((header, i, all) => header !== all[i - 1])
  return { batches: out, events: out.flatMap((batch) => [...batch]), headers, ...(error && { error }) }
}

/** Encodes batches and joins the bytes. @throws what the encoder throws */
export function encodeAll(encoder: Encoder, batches: Iterable<EventBatch>): Uint8Array {
  const { out, error } = drive(encoder, batches)
  if (error) throw error
  return new Uint8Array(Buffer.concat(out))
}

/** Encodes plain events. */
export function encodeEvents(encoder: Encoder, events: Iterable<TraceEvent>, header: TraceHeader): Uint8Array {
  return encodeAll(encoder, batchesOf(events, header))
}

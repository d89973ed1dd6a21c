import type { TraceEvent } from '../../../lib/event/batch.js'
import { batchesOf, type EventBatch } from '../../../lib/event/batch.js'
import { stringifyFields, type FieldValue } from '../../../lib/event/json.js'
import { NO_HEADER, type TraceHeader } from '../../../lib/event/header.js'
import { ArrowDecoder } from '../../../lib/formats/arrow/decode.js'
import { ArrowEncoder, type ArrowEncodeOptions } from '../../../lib/formats/arrow/encode.js'
import { decodeAll, encodeAll, type Decoded } from '../../support/drive.js'

/** The stream of batches. */
export function encodeBatches(batches: Iterable<EventBatch>, options: ArrowEncodeOptions = {}): Uint8Array {
  return encodeAll(new ArrowEncoder(options), batches)
}

/** The stream of events. */
export function encode(events: Iterable<TraceEvent>, header: TraceHeader = NO_HEADER): Uint8Array {
  return encodeBatches(batchesOf(events, header))
}

/** What a stream holds. */
export function decode(bytes: Uint8Array, size?: number): Decoded & { warnings: readonly string[] } {
  const decoder = new ArrowDecoder()
  return { ...decodeAll(decoder, bytes, size), warnings: decoder.warnings }
}

/** An event as a row that other programs read: all integers as bigint, bytes in hex, named values as text. */
export function rowOf(event: TraceEvent): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(event).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'number'
        ? BigInt(value)
        : value instanceof Uint8Array
          ? Buffer.from(value).toString('hex')
          : name === 'fields' && typeof value === 'object'
            ? stringifyFields(value as FieldValue)
            : value,
    ]),
  )
}

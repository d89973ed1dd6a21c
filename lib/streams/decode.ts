import type { EventEmitter } from 'node:events'
import { pipeline, Readable, type Transform } from 'node:stream'
import split2 from 'split2'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../event/batch.js'
import { limit, malformed, TraceError } from '../event/error.js'
import { decodeText } from '../event/strings.js'
import type { Format } from '../formats/format.js'
import { FORMATS, sniffFormat } from '../registry.js'
import { parseRecord } from '../wire/ndjson/general.js'
import { MAX_LINE_BYTES } from '../wire/ndjson/layout.js'
import { Sequence } from '../wire/ndjson/sequence.js'
import { generatorStream, peek, runStage, upToCut } from './generator.js'

/** A stream shorter than this is sniffed whole; of a longer one, whatever the first chunks hold. */
const HEAD_BYTES = 64

/** What `decodeAny` can be told. */
export interface DecodeAnyOptions {
  /** The format, where it is known; otherwise the first bytes tell it. */
  format?: Format
  /** Options for the decoder of the format that is found. */
  decode?: object
  /** Called once the format is known. */
  onFormat?: (format: Format) => void
  /** Takes note of a trace that is cut off, which is then no error: the stream ends where the trace does. */
  onCut?: (error: TraceError) => void
}

/**
 * A Transform from the bytes of any format (inflated) to events. Emits `warning` with a text, and `events` with the
 * number of events of each batch.
 * @throws TraceError (as the stream's error) ERR_TRACE_UNKNOWN_FORMAT when the first bytes fit no format
 */
export function decodeAny(options: DecodeAnyOptions = {}): Transform {
  return generatorStream((source, stream) => decodeBytes(source, options, stream))
}

/** What `decodeAny` does, without a stream around it; warnings and numbers of events are emitted on `stream`. */
export async function* decodeBytes(source: AsyncIterable<Uint8Array>, options: DecodeAnyOptions, stream: EventEmitter): AsyncGenerator<EventBatch> {
  const { head, whole, failure } = await peek(source, HEAD_BYTES)
  const format = options.format ?? sniffFormat(head)
  if (format === undefined) throw failure ?? unknownFormat(head)
  options.onFormat?.(format)
  const batches = format.name === 'ndjson' && isRewritten(head) ? readRewritten(whole, stream) : runStage(format.decoder(options.decode), whole, stream)
  for await (const batch of upToCut(batches, options.onCut)) {
    stream.emit('events', batch.count)
    yield batch
  }
}

function unknownFormat(head: Uint8Array): TraceError {
  const names = FORMATS.map((format) => format.title).join(', ')
  const reason = head.length === 0 ? 'the input is empty' : `the input is none of: ${names}`
  return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: 'unknown', offset: 0 })
}

const CANONICAL_EVENT = /^\{"kind":"[a-z-]+"(,"[a-zA-Z]+":("[^"\\]*"|-?\d+|\[("[^"\\]*",?)*\]))*\}$/

/** Whether the first event in NDJSON is not in the canonical form: then somebody rewrote the lines, and most likely all. */
function isRewritten(head: Uint8Array): boolean {
  const lines = Buffer.from(head).toString('latin1').split('\n').slice(0, -1)
  const first = lines.find((line) => !/^\{"kind":"(header|end)"/.test(line))
  return first !== undefined && !CANONICAL_EVENT.test(first)
}

/** The general path for NDJSON: any JSON, a line at a time. */
async function* readRewritten(source: AsyncIterable<Uint8Array>, stream: EventEmitter): AsyncGenerator<EventBatch> {
  const sequence = new Sequence()
  // split2 reads UTF-8 and would replace every byte that is not; one character per byte keeps names as they are.
  const bytesAsText = async function* () {
    for await (const chunk of source) yield Buffer.from(Buffer.from(chunk).toString('latin1'))
  }
  const lines = split2('\n', { maxLength: MAX_LINE_BYTES })
  pipeline(Readable.from(bytesAsText()), lines, () => {})
  let batch = new EventBatch(BATCH_EVENTS, 0, sequence.header)
  const renew = () => (batch = new EventBatch(BATCH_EVENTS, batch.columns, sequence.header))
  try {
    for await (const line of lines as AsyncIterable<string>) {
      const text = decodeText(Buffer.from(line, 'latin1')).trim()
      if (text !== '') {
        const record = parseLine(text, sequence, batch.count)
        if (record.kind === 'event') {
          sequence.checkOpen(batch.count)
          batch.push(record.event)
          sequence.noteUnknown(record.unknown)
        } else {
          if (sequence.worthGiving(batch)) yield sequence.give(batch)
          renew()
          sequence.accept(record)
          renew()
        }
      }
      sequence.lineDone(line.length + 1)
      // A batch goes on when it is full, or when no more lines have come yet.
      if (batch.count === BATCH_EVENTS || batch.strings.byteLength > BATCH_STRING_BYTES || (lines.readableLength === 0 && sequence.worthGiving(batch))) {
        yield sequence.give(batch)
        renew()
      }
    }
    if (sequence.worthGiving(batch)) yield sequence.give(batch)
    renew()
    sequence.finish()
  } catch (error) {
    if (sequence.worthGiving(batch)) yield sequence.give(batch)
    throw error instanceof TraceError || !/maximum buffer/.test((error as Error).message)
      ? error
      : limit(`a line of more than ${MAX_LINE_BYTES} bytes`, sequence.position(0))
  } finally {
    for (const warning of sequence.warnings) stream.emit('warning', warning)
  }
}

function parseLine(text: string, sequence: Sequence, pending: number): ReturnType<typeof parseRecord> {
  try {
    return parseRecord(text)
  } catch (error) {
    throw malformed((error as Error).message, sequence.position(pending))
  }
}

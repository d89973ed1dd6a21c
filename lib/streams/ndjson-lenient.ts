import type { EventEmitter } from 'node:events'
import { pipeline, Readable } from 'node:stream'
import split2 from 'split2'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../event/batch.js'
import { limit, malformed, TraceError, truncated } from '../event/error.js'
import { decodeText } from '../event/strings.js'
import { parseRecord, type WireRecord } from '../formats/ndjson/general.js'
import { MAX_LINE_BYTES } from '../formats/ndjson/layout.js'
import { Sequence } from '../formats/ndjson/sequence.js'

/**
 * Reads NDJSON by the general path: any JSON, a line at a time. Warnings are emitted on `stream`.
 * @throws TraceError after the events before the fault
 */
export async function* readLenient(
  source: AsyncIterable<Uint8Array>,
  stream: EventEmitter,
): AsyncGenerator<EventBatch> {
  const sequence = new Sequence()
  let bytes = 0
  let hasEnded = false
  // split2 reads UTF-8 and would replace every byte that is not; one character per byte keeps names as they are.
  const bytesAsText = async function* () {
    for await (const chunk of source) {
      bytes += chunk.length
      yield Buffer.from(Buffer.from(chunk).toString('latin1'))
    }
    hasEnded = true
  }
  const parse = (text: string, line: string): WireRecord => {
    try {
      return parseRecord(text)
    } catch (error) {
      const at = sequence.position(batch.count)
      // Without anything after it, not even a line feed, it is the beginning of a line.
      const isCut = hasEnded && (at.offset as number) + line.length === bytes
      throw isCut ? truncated('the input ends within a line', at) : malformed((error as Error).message, at)
    }
  }
  const lines = split2('\n', { maxLength: MAX_LINE_BYTES })
  pipeline(Readable.from(bytesAsText()), lines, () => {})
  let batch = new EventBatch(BATCH_EVENTS, 0, sequence.header)
  let columns = 0
  const give = () => {
    columns = batch.columns
    return sequence.give(batch)
  }
  const renew = () => (batch = new EventBatch(BATCH_EVENTS, columns, sequence.header))
  try {
    for await (const line of lines as AsyncIterable<string>) {
      const text = decodeText(Buffer.from(line, 'latin1')).trim()
      if (text !== '') {
        const record = parse(text, line)
        if (record.kind === 'event') {
          sequence.checkOpen(batch.count)
          batch.push(record.event)
          sequence.noteUnknown(record.unknown)
        } else {
          if (sequence.worthGiving(batch)) yield give()
          renew()
          sequence.accept(record)
          renew()
        }
      }
      sequence.lineDone(line.length + 1)
      // A batch is passed on when it is full, or when no more lines have come yet.
      if (
        batch.count === BATCH_EVENTS ||
        batch.strings.byteLength > BATCH_STRING_BYTES ||
        (lines.readableLength === 0 && sequence.worthGiving(batch))
      ) {
        yield give()
        renew()
      }
    }
    if (sequence.worthGiving(batch)) yield give()
    renew()
    sequence.finish()
  } catch (error) {
    if (sequence.worthGiving(batch)) yield give()
    throw error instanceof TraceError || !/maximum buffer/.test((error as Error).message)
      ? error
      : limit(`a line of more than ${MAX_LINE_BYTES} bytes`, sequence.position(0))
  } finally {
    for (const warning of sequence.warnings) stream.emit('warning', warning)
  }
}

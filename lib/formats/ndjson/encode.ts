import { chunkOf } from '../../bytes/chunks.js'
import { Sink } from '../../bytes/sink.js'
import { eventsBefore, mostTexts, type TextSizes } from '../../codec/text-sizes.js'
import { columnOf, type EventBatch, type TraceEvent } from '../../event/batch.js'
import { limit, type TraceError } from '../../event/error.js'
import { eventToJson, fieldToJson } from '../../event/event-json.js'
import { GROUP_FIELDS, type FieldName } from '../../event/fields.js'
import type { GroupColumns } from '../../event/groups.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { Losses } from '../../kernel/losses.js'
import type { Encoder } from '../../event/stage.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { END_TEXT, ndjsonKernel, NO_FIELD } from './kernel.js'
import { BYTES, CARRIED, FIELD_TYPE, JSON_OBJECT, LIST, MAX_LINE_BYTES } from './layout.js'

/** The approximate size of a chunk: several times what a pipe takes, so that writing one overlaps making the next. */
const CHUNK_BYTES = 262_144

/** Smaller pieces are combined. */
const LEAST_CHUNK = 4096

/** The maximum number of bytes made from a batch at once. All of its events may have the same long string. */
const MAX_WAITING = 4 * CHUNK_BYTES

/** A byte of a string becomes at most so many: `\u0000`. So do the quotes and the comma of an item of a list. */
const MOST_ESCAPED = 6
/** The names of all fields of an event, and its numbers, take less. */
const MOST_OTHERS = 2048

/**
 * Events as NDJSON lines in the canonical form: keys in the order of `FIELDS`, no spaces. A header record comes first
 * (and again when the header changes), an end record last unless the input was cut.
 */
export class NdjsonEncoder implements Encoder {
  readonly losses = Losses.ofAll('ndjson', CARRIED)
  readonly consumes = true
  private batch: EventBatch | undefined
  private row = 0
  /** The number of events of the batch that readers take. */
  private writable = 0
  /** What the kernel continues with if it stopped within event `row`. */
  private rest = 0
  /** The chunks that are ready, then the pieces of the next one. */
  private readonly chunks: Uint8Array[] = []
  private readonly out = new Sink(0)
  private header: TraceHeader | undefined
  private events = 0
  /** The number of events of the batches before, of all traces. */
  private before = 0
  private fault: TraceError | undefined

  feed(batch: EventBatch): void {
    this.losses.countBatch(batch)
    if (batch.header !== this.header && !this.begin(batch.header)) return this.refuse(this.before)
    this.batch = batch
    this.row = 0
    this.writable = writableEvents(batch)
    if (this.writable < batch.count) this.refuse(this.before + this.writable)
    this.before += batch.count
  }

  /** Begins another trace. @returns whether readers take its header */
  private begin(header: TraceHeader): boolean {
    const line = headerLine(header)
    if (line.length > MAX_LINE_BYTES + 1) return false
    if (this.header !== undefined) this.writeEnd()
    this.writeHeader(header, line)
    return true
  }

  /** @param events the number of events before the line that readers would not take */
  private refuse(events: number): void {
    this.fault = limit(`a line of more than ${MAX_LINE_BYTES} bytes`, { format: 'ndjson', event: events + 1 })
  }

  end(): void {
    if (this.header === undefined) this.writeHeader(NO_HEADER, headerLine(NO_HEADER))
    this.writeEnd()
  }

  endTruncated(): void {
    // Everything has been delivered, and there is no end record.
  }

  /** @throws TraceError for an event whose line readers would not take */
  next(): Uint8Array | null {
    const { batch, chunks, out } = this
    if (batch !== undefined && chunks.length === 0) this.writeRows(batch)
    if (chunks.length > 0) return chunks.shift() as Uint8Array
    if (out.pos > 0) return out.take()
    if (this.fault !== undefined) throw this.fault
    return null
  }

  private writeHeader(header: TraceHeader, line: Uint8Array): void {
    this.header = header
    this.events = 0
    this.out.append(line)
  }

  private writeEnd(): void {
    this.out.append(Buffer.from(`{"kind":"end","events":${this.events}}\n`))
  }

  /** Writes a batch, or the part of it that has to be delivered before the rest. */
  private writeRows(batch: EventBatch): void {
    const memory = ndjsonKernel()
    const { run, kernel } = memory
    const { groups } = batch
    const { writable } = this
    memory.putStrings(batch.strings)
    let made = 0
    while (this.row < writable && made < MAX_WAITING) {
      const first = this.row
      const last = Math.min(writable, first + KERNEL_EVENTS)
      kernel.columns.put(batch, first, last)
      while (this.row < last && made < MAX_WAITING) {
        const { row } = this
        const to = groups === undefined ? last : endOfLike(groups, row, last)
        this.row = first + run.encode(row - first, to - first, this.rest)
        this.rest = run.rest.value
        const written = kernel.output.subarray(0, run.written.value)
        if (groups !== undefined && this.row > row && groups.mask[row] !== 0)
          made += this.giveGroups(written, batch, row)
        else made += this.give(written)
        if (run.needed.value !== NO_FIELD) made += this.give(valueOf(batch, run.needed.value, this.row))
      }
      this.events += this.row - first
    }
    if (this.row === writable) this.batch = undefined
  }

  /** Adds the fields of groups, which the kernel does not write, and the end of a line. */
  private giveGroups(end: Uint8Array, { groups, strings }: EventBatch, row: number): number {
    const fields: Partial<Record<FieldName, TraceEvent[FieldName]>> = {}
    groups?.read(row, fields, strings)
    const text = GROUP_FIELDS.map(({ name, type }) => {
      const value = fields[name]
      return value === undefined ? '' : fieldToJson(name, type, value)
    })
    return this.give(end.subarray(0, -END_TEXT.length)) + this.give(Buffer.from(`${text.join('')}${END_TEXT}`))
  }

  /** Adds a copy of bytes: as a chunk of its own, unless it would be small or a chunk is being combined. */
  private give(bytes: Uint8Array): number {
    const { chunks, out } = this
    if (out.pos === 0 && bytes.length >= LEAST_CHUNK) {
      chunks.push(chunkOf(bytes))
    } else {
      out.append(bytes)
      if (out.pos >= CHUNK_BYTES) chunks.push(out.take())
    }
    return bytes.length
  }
}

function headerLine(header: TraceHeader): Buffer {
  return Buffer.from(`${JSON.stringify({ kind: 'header', ...header })}\n`)
}

/** The number of events before the first one whose line is too long. */
function writableEvents(batch: EventBatch): number {
  if (mostBytes(mostTexts(batch)) <= MAX_LINE_BYTES) return batch.count
  const isLong = (sizes: TextSizes, i: number) =>
    sizes.bytes > MAX_LINE_BYTES ||
    (mostBytes(sizes) > MAX_LINE_BYTES && Buffer.byteLength(eventToJson(batch.event(i))) > MAX_LINE_BYTES)
  return eventsBefore(batch, isLong)
}

function mostBytes({ bytes }: TextSizes): number {
  return MOST_OTHERS + MOST_ESCAPED * bytes
}

/**
 * The end of the rows that the kernel writes at once: a row with fields of groups is alone; otherwise they end before
 * the next such row.
 */
function endOfLike({ mask }: GroupColumns, row: number, last: number): number {
  if (mask[row] !== 0) return row + 1
  let end = row + 1
  while (end < last && mask[end] === 0) end++
  return end
}

/** The value of a field that refers to the string table, without its opening quote or bracket. */
function valueOf(batch: EventBatch, f: number, row: number): Uint8Array {
  const { strings } = batch
  const id = (batch[columnOf(f)] as Uint32Array)[row]
  switch (FIELD_TYPE[f]) {
    case JSON_OBJECT:
      return strings.view(id)
    case BYTES:
      return Buffer.from(`${Buffer.from(strings.view(id)).toString('base64')}"`, 'latin1')
    case LIST:
      return behindFirst(strings.list(id).map((string) => strings.text(string)))
    default:
      return behindFirst(strings.text(id))
  }
}

/** The JSON without its first byte. JSON.stringify escapes lone surrogates: they stand for bytes that are not UTF-8. */
function behindFirst(value: string | readonly string[]): Uint8Array {
  return Buffer.from(JSON.stringify(value).slice(1))
}

import { Sink } from '../../bytes/sink.js'
import { HI, LO, writeDecimal, writeDecimal32, writeHex } from '../../bytes/u64.js'
import { U64Column, type EventBatch } from '../../event/batch.js'
import { FIELDS } from '../../event/fields.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { Losses } from '../../event/losses.js'
import type { Encoder } from '../../event/stage.js'
import type { StringTable } from '../../event/strings.js'
import { ADDRESS, API, API_NAMES, BYTES, CARRIED, FIELD_TYPE, I32, KEYS, KIND_NAMES, LINE_START, LIST, OUTCOME, OUTCOME_NAMES, STRING, U64 } from './layout.js'

/** Results are given out when they have reached this size: what a pipe takes at once. */
const CHUNK_BYTES = 65_536

/** All that an event can take but its strings: keys, quotes and numbers. */
const EVENT_BYTES = 1024

/**
 * Events as NDJSON lines in the canonical form: keys in the order of `FIELDS`, no blanks. A header record comes first
 * (and again when the header changes), an end record last unless the input was cut.
 */
export class NdjsonEncoder implements Encoder {
  readonly losses = new Losses('ndjson', CARRIED)
  private readonly out = new Sink(2 * CHUNK_BYTES)
  private readonly quoted = new QuotedStrings()
  private batch: EventBatch | undefined
  private row = 0
  private header: TraceHeader | undefined
  private events = 0
  private ending = false

  feed(batch: EventBatch): void {
    this.losses.admit(batch)
    if (batch.header !== this.header) {
      if (this.header !== undefined) this.writeEnd()
      this.writeHeader(batch.header)
    }
    this.batch = batch
    this.row = 0
    this.quoted.begin(batch.strings)
  }

  end(): void {
    if (this.header === undefined) this.writeHeader(NO_HEADER)
    this.writeEnd()
    this.ending = true
  }

  cut(): void {
    this.ending = true
  }

  next(): Uint8Array | null {
    if (this.batch !== undefined) {
      this.row = this.writeRows(this.batch, this.row)
      if (this.row === this.batch.count) this.batch = undefined
    }
    return this.out.pos > 0 && (this.batch === undefined || this.out.pos >= CHUNK_BYTES || this.ending) ? this.out.take() : null
  }

  private writeHeader(header: TraceHeader): void {
    this.header = header
    this.events = 0
    this.out.append(Buffer.from(`${JSON.stringify({ kind: 'header', ...header })}\n`))
  }

  private writeEnd(): void {
    this.out.append(Buffer.from(`{"kind":"end","events":${this.events}}\n`))
  }

  /** Writes events from `row` on until the output is large enough; returns the first row not written. */
  private writeRows(batch: EventBatch, row: number): number {
    const sink = this.out
    const { mask, kind, count } = batch
    const columns = FIELDS.map(({ name }) => (name === 'count' ? batch.elements : batch[name]))
    const words = columns.map((column) => (column instanceof U64Column ? column.words : NO_WORDS))
    const narrow = columns.map((column) => (column instanceof U64Column ? NO_WORDS : column))
    const { quoted } = this
    const first = row
    while (row < count && sink.pos < CHUNK_BYTES) {
      sink.reserve(EVENT_BYTES)
      let out = sink.bytes
      let pos = copy(LINE_START, out, sink.pos)
      pos = copy(KIND_NAMES[kind[row] as number] as Uint8Array, out, pos)
      for (let rest = mask[row] as number; rest !== 0; rest &= rest - 1) {
        const f = 31 - Math.clz32(rest & -rest)
        pos = copy(KEYS[f] as Uint8Array, out, pos)
        switch (FIELD_TYPE[f]) {
          case ADDRESS: {
            const column = words[f] as Uint32Array
            pos = writeHex(out, pos, column[2 * row + LO] as number, column[2 * row + HI] as number)
            out[pos++] = QUOTE
            break
          }
          case U64: {
            const column = words[f] as Uint32Array
            pos = writeDecimal(out, pos, column[2 * row + LO] as number, column[2 * row + HI] as number)
            break
          }
          case API:
            pos = copy(API_NAMES[(narrow[f] as Uint8Array)[row] as number] as Uint8Array, out, pos)
            break
          case OUTCOME:
            pos = copy(OUTCOME_NAMES[(narrow[f] as Uint8Array)[row] as number] as Uint8Array, out, pos)
            break
          case I32: {
            const value = (narrow[f] as Int32Array)[row] as number
            if (value < 0) out[pos++] = MINUS
            pos = writeDecimal32(out, pos, Math.abs(value))
            break
          }
          case STRING:
          case BYTES:
          case LIST: {
            sink.pos = pos
            const id = (narrow[f] as Uint32Array)[row] as number
            if (FIELD_TYPE[f] === STRING) quoted.append(sink, id)
            else if (FIELD_TYPE[f] === BYTES) appendBase64(sink, batch.strings.view(id))
            else quoted.appendList(sink, batch.strings.list(id))
            sink.reserve(EVENT_BYTES)
            out = sink.bytes
            pos = sink.pos
            break
          }
          default:
            pos = writeDecimal32(out, pos, (narrow[f] as Uint32Array)[row] as number)
        }
      }
      out[pos++] = CLOSING_BRACE
      out[pos++] = NEWLINE
      sink.pos = pos
      row++
    }
    this.events += row - first
    return row
  }
}

const NO_WORDS = new Uint32Array(0)
const QUOTE = 0x22
const MINUS = 0x2d
const CLOSING_BRACE = 0x7d
const NEWLINE = 0x0a

/** For short copies a loop beats `set`, which needs an array object for its source. */
function copy(source: Uint8Array, out: Uint8Array, pos: number): number {
  const length = source.length
  for (let i = 0; i < length; i++) out[pos + i] = source[i] as number
  return pos + length
}

function appendBase64(sink: Sink, bytes: Uint8Array): void {
  sink.append(Buffer.from(`${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}"`, 'latin1'))
}

/** The strings of a batch as they stand on the wire, each escaped once however many events have it. */
class QuotedStrings {
  private strings: StringTable | undefined
  private readonly bytes = new Sink(4096)
  /** Per string id, 1 + where its escaped form begins and where it ends; 0 while it has none. */
  private starts = new Int32Array(64)
  private ends = new Int32Array(64)

  /** Starts anew for another batch's table. */
  begin(strings: StringTable): void {
    this.strings = strings
    this.bytes.pos = 0
    if (strings.size > this.starts.length) {
      this.starts = new Int32Array(strings.size * 2)
      this.ends = new Int32Array(strings.size * 2)
    } else {
      this.starts.fill(0)
    }
  }

  /** Appends a string with its closing quote. */
  append(sink: Sink, id: number): void {
    if (this.starts[id] === 0) this.escape(id)
    const start = (this.starts[id] as number) - 1
    const end = this.ends[id] as number
    sink.reserve(end - start)
    const { bytes } = this.bytes
    const out = sink.bytes
    let { pos } = sink
    for (let i = start; i < end; i++) out[pos++] = bytes[i] as number
    sink.pos = pos
  }

  /** Appends the strings of a list and the closing bracket; the opening one is part of the key. */
  appendList(sink: Sink, ids: readonly number[]): void {
    for (let i = 0; i < ids.length; i++) {
      sink.reserve(2)
      if (i > 0) sink.bytes[sink.pos++] = COMMA
      sink.bytes[sink.pos++] = QUOTE
      this.append(sink, ids[i] as number)
    }
    sink.reserve(1)
    sink.bytes[sink.pos++] = CLOSING_BRACKET
  }

  private escape(id: number): void {
    const view = (this.strings as StringTable).view(id)
    this.starts[id] = this.bytes.pos + 1
    if (isPlain(view)) {
      this.bytes.append(view)
      this.bytes.append(CLOSING_QUOTE)
    } else {
      // JSON.stringify escapes lone surrogates, which stand for bytes that are not UTF-8.
      this.bytes.append(Buffer.from(JSON.stringify((this.strings as StringTable).text(id)).slice(1)))
    }
    this.ends[id] = this.bytes.pos
  }
}

const COMMA = 0x2c
const CLOSING_BRACKET = 0x5d
const CLOSING_QUOTE = Uint8Array.of(QUOTE)

/** Whether bytes can stand in a JSON string as they are: printable ASCII without quote and backslash. */
function isPlain(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte < 0x20 || byte >= 0x7f || byte === QUOTE || byte === 0x5c) return false
  }
  return true
}

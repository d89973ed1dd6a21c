import { Sink } from '../../../lib/bytes/sink.js'
import { HI, LO, writeDecimal, writeDecimal32, writeHex } from '../../../lib/bytes/u64.js'
import { U64Column, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { ALL_GROUP_FIELDS, FIELDS, GROUP_FIELDS } from '../../../lib/event/fields.js'
import { NO_HEADER, type TraceHeader } from '../../../lib/event/header.js'
import { Losses } from '../../../lib/kernel/losses.js'
import type { Encoder } from '../../../lib/event/stage.js'
import type { StringTable } from '../../../lib/event/strings.js'
import {
  ADDRESS,
  API,
  API_TEXTS,
  CARRIED,
  FIELD_TYPE,
  I32,
  JSON_OBJECT,
  KEY_TEXTS,
  KIND_TEXTS,
  LIST,
  OUTCOME,
  OUTCOME_TEXTS,
  STRING,
  U32,
  U64,
} from './layout.js'
import type { Text } from './text.js'

/**
 * Results are given out when they have reached this size: some times what a pipe takes, so that writing one overlaps
 * with making the next.
 */
const CHUNK_BYTES = 262_144

/** All that an event can take but its strings: keys, quotes and numbers. */
const EVENT_BYTES = 1024

/**
 * Events as NDJSON lines in the canonical form: keys in the order of `FIELDS`, no spaces. A header record comes first
 * (and again when the header changes), an end record last unless the input was cut.
 */
export class NdjsonEncoder implements Encoder {
  readonly losses = new Losses('ndjson', CARRIED, false, [], ALL_GROUP_FIELDS)
  private readonly out = new Sink(CHUNK_BYTES + 65_536)
  private view = new DataView(this.out.bytes.buffer)
  private readonly quoted = new QuotedStrings()
  private batch: EventBatch | undefined
  private row = 0
  /** The columns of `batch` by field, so that loops need no names. */
  private readonly words: Uint32Array[] = FIELDS.map(() => NO_WORDS)
  private readonly narrow: (Uint8Array | Uint32Array | Int32Array)[] = FIELDS.map(() => NO_WORDS)
  private header: TraceHeader | undefined
  private events = 0
  private ending = false

  feed(batch: EventBatch): void {
    this.losses.countBatch(batch)
    if (batch.header !== this.header) {
      if (this.header !== undefined) this.writeEnd()
      this.writeHeader(batch.header)
    }
    this.batch = batch
    this.row = 0
    this.quoted.begin(batch.strings)
    FIELDS.forEach(({ name }, f) => {
      const column = name === 'count' ? batch.elements : batch[name]
      if (column instanceof U64Column) this.words[f] = column.words
      else this.narrow[f] = column
    })
  }

  end(): void {
    if (this.header === undefined) this.writeHeader(NO_HEADER)
    this.writeEnd()
    this.ending = true
  }

  endTruncated(): void {
    this.ending = true
  }

  next(): Uint8Array | null {
    const { batch, out } = this
    if (batch !== undefined) {
      const first = this.row
      let row = first
      while (row < batch.count && out.pos < CHUNK_BYTES) this.writeRow(batch, row++)
      this.row = row
      this.events += row - first
      if (row === batch.count) this.batch = undefined
    }
    return this.out.pos > 0 && (this.batch === undefined || this.out.pos >= CHUNK_BYTES || this.ending)
      ? this.out.take()
      : null
  }

  private writeHeader(header: TraceHeader): void {
    this.header = header
    this.events = 0
    this.append(Buffer.from(`${JSON.stringify({ kind: 'header', ...header })}\n`))
  }

  private writeEnd(): void {
    this.append(Buffer.from(`{"kind":"end","events":${this.events}}\n`))
  }

  private append(bytes: Uint8Array): void {
    this.room(bytes.length)
    this.out.append(bytes)
  }

  /** Makes room for `n` more bytes, which `view` then sees. */
  private room(n: number): void {
    const { out } = this
    if (out.pos + n <= out.bytes.length) return
    out.reserve(n)
    this.view = new DataView(out.bytes.buffer)
  }

  /** Writes a string with its closing quote; the opening one is part of the key. */
  private writeString(id: number): void {
    const { quoted, out } = this
    const start = quoted.start(id)
    const end = quoted.end(id)
    this.room(end - start + 3)
    const from = quoted.view
    const to = this.view
    for (let i = start, pos = out.pos; i < end; i += 4, pos += 4) to.setInt32(pos, from.getInt32(i))
    out.pos += end - start
  }

  /** Writes the strings of a list and the closing bracket; the opening one is part of the key. */
  private writeList(ids: readonly number[]): void {
    const { out } = this
    for (let i = 0; i < ids.length; i++) {
      this.room(2)
      if (i > 0) out.bytes[out.pos++] = COMMA
      out.bytes[out.pos++] = QUOTE
      this.writeString(ids[i] as number)
    }
    this.room(1)
    out.bytes[out.pos++] = CLOSING_BRACKET
  }

  /**
   * Writes one event. A method of its own, for V8 compiles short calls that are made often better than one long loop.
   */
  private writeRow(batch: EventBatch, row: number): void {
    this.room(EVENT_BYTES)
    const sink = this.out
    const { words, narrow } = this
    let out = sink.bytes
    let { view } = this
    let pos = (KIND_TEXTS[batch.kind[row] as number] as Text).write(view, sink.pos)
    for (let rest = batch.mask[row] as number; rest !== 0; rest &= rest - 1) {
      const f = 31 - Math.clz32(rest & -rest)
      pos = (KEY_TEXTS[f] as Text).write(view, pos)
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
        case U32:
          pos = writeDecimal32(out, pos, (narrow[f] as Uint32Array)[row] as number)
          break
        case I32: {
          const value = (narrow[f] as Int32Array)[row] as number
          if (value < 0) out[pos++] = MINUS
          pos = writeDecimal32(out, pos, Math.abs(value))
          break
        }
        case API:
          pos = (API_TEXTS[batch.api[row] as number] as Text).write(view, pos)
          break
        case OUTCOME:
          pos = (OUTCOME_TEXTS[batch.outcome[row] as number] as Text).write(view, pos)
          break
        default: {
          sink.pos = pos
          const id = (narrow[f] as Uint32Array)[row] as number
          if (FIELD_TYPE[f] === STRING) this.writeString(id)
          else if (FIELD_TYPE[f] === LIST) this.writeList(batch.strings.list(id))
          else if (FIELD_TYPE[f] === JSON_OBJECT) this.append(batch.strings.view(id))
          else this.append(base64(batch.strings.view(id)))
          this.room(EVENT_BYTES)
          out = sink.bytes
          view = this.view
          pos = sink.pos
        }
      }
    }
    if (batch.groups !== undefined) {
      sink.pos = pos
      this.append(Buffer.from(groupTexts(batch.event(row))))
      this.room(EVENT_BYTES)
      out = sink.bytes
      pos = sink.pos
    }
    out[pos++] = CLOSING_BRACE
    out[pos++] = NEWLINE
    sink.pos = pos
  }
}

/** The fields of groups: integers in full, and strings. */
function groupTexts(event: TraceEvent): string {
  return GROUP_FIELDS.map(({ name }) => {
    const value = event[name]
    if (value === undefined) return ''
    return `,"${name}":${typeof value === 'string' ? JSON.stringify(value) : value}`
  }).join('')
}

const NO_WORDS = new Uint32Array(0)
const QUOTE = 0x22
const MINUS = 0x2d
const CLOSING_BRACE = 0x7d
const NEWLINE = 0x0a

/** Bytes in base64 with the closing quote. */
function base64(bytes: Uint8Array): Uint8Array {
  return Buffer.from(`${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}"`, 'latin1')
}

/** The strings of a batch as they stand on the wire, each escaped once however many events have it. */
class QuotedStrings {
  private readonly bytes = new Sink(4096)
  /** The escaped strings; four bytes can be read from any place in them. */
  view = new DataView(this.bytes.bytes.buffer)
  private strings: StringTable | undefined
  /** Per string id, 1 + where its escaped form begins and where it ends; 0 while it has none. */
  private starts = new Int32Array(64)
  private ends = new Int32Array(64)

  /** Starts again for another batch's table. */
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

  /** Where a string begins in `view`. */
  start(id: number): number {
    if (this.starts[id] === 0) this.escape(id)
    return (this.starts[id] as number) - 1
  }

  /** Where it ends, behind its closing quote. */
  end(id: number): number {
    return this.ends[id] as number
  }

  private escape(id: number): void {
    const { bytes } = this
    const text = (this.strings as StringTable).view(id)
    this.starts[id] = bytes.pos + 1
    if (isPlain(text)) {
      bytes.append(text)
      bytes.append(CLOSING_QUOTE)
    } else {
      // JSON.stringify escapes lone surrogates, which stand for bytes that are not UTF-8.
      bytes.append(Buffer.from(JSON.stringify((this.strings as StringTable).text(id)).slice(1)))
    }
    this.ends[id] = bytes.pos
    bytes.reserve(3)
    this.view = new DataView(bytes.bytes.buffer)
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

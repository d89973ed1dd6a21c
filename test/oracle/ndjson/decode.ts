import { Input } from '../../../lib/bytes/input.js'
import { HI, LO, WORD } from '../../../lib/bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch, U64Column } from '../../../lib/event/batch.js'
import { limit, malformed, truncated, type TracePosition } from '../../../lib/event/error.js'
import { FIELDS } from '../../../lib/event/fields.js'
import type { Decoder } from '../../../lib/event/stage.js'
import { decodeText } from '../../../lib/event/strings.js'
import { isWhole, parseRecord } from '../../../lib/formats/ndjson/general.js'
import {
  ADDRESS,
  API,
  API_TEXTS,
  FIELD_TYPE,
  I32,
  JSON_OBJECT,
  KEYS,
  KEY_TEXTS,
  KIND_TEXTS,
  LIST,
  MAX_LINE_BYTES,
  OUTCOME,
  OUTCOME_TEXTS,
  STRING,
  U32,
  U64,
} from './layout.js'
import { Sequence } from '../../../lib/formats/ndjson/sequence.js'
import type { Text } from './text.js'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const BACKSLASH = 0x5c
const CLOSING_BRACKET = 0x5d
const CLOSING_BRACE = 0x7d
const NEWLINE = 0x0a
const SPACE = 0x20

/** The value of each byte as a hex digit, or -1. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte)
  return /[0-9a-fA-F]/.test(char) ? parseInt(char, 16) : -1
})

/** Field codes by a hash of the key's first three letters; 255 where there is none. */
const KEY_TABLE = new Uint8Array(32_768).fill(255)
KEYS.forEach((key, f) => {
  const slot = keyHash(key[2], key[3], key[4])
  if (KEY_TABLE[slot] !== 255) throw new Error('two fields have the same hash')
  KEY_TABLE[slot] = f
})

function keyHash(a: number, b: number, c: number): number {
  return ((a & 31) << 10) | ((b & 31) << 5) | (c & 31)
}

/**
 * NDJSON to events. Lines in the canonical form (no spaces, strings without escapes; keys in any order) are read
 * byte by byte straight into columns; any other line goes through `JSON.parse`.
 *
 * @throws TraceError with line, offset and event number: a line that is no record, one of more than 1 MiB, a header
 *   record without its end record
 */
export class NdjsonDecoder implements Decoder {
  private readonly input = new Input()
  /** The input's bytes as words. */
  private view: DataView = new DataView(new ArrayBuffer(0))
  readonly warnings: string[] = []
  private readonly sequence = new Sequence(this.warnings, (pending) => this.position(pending))
  private line = 1
  private offset = 0
  private events = 0
  private failure: Error | undefined
  /** There is no newline between `input.pos` and this offset in the stream. */
  private searched = 0
  private meanLine = 64
  private batch = new EventBatch(0, 0, this.sequence.header)
  /** The fields of events so far, so that most batches get all their columns at once. */
  private columns = 0
  /** The columns of `batch` by field, so that loops need no names. */
  private readonly words: Uint32Array[] = FIELDS.map(() => new Uint32Array(0))
  private readonly narrow: (Uint8Array | Uint32Array | Int32Array)[] = [...this.words]
  /** What a value scanner found. */
  private lo = 0
  private hi = 0

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
    const { bytes } = this.input
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  end(): void {
    this.input.ended = true
  }

  endTruncated(): void {
    // What is left is no whole line. That the end record is missing need not be said: upstream has failed already.
    this.input.pos = this.input.end
  }

  next(): EventBatch | null {
    if (this.failure !== undefined) throw this.failure
    const { input } = this
    this.newBatch()
    try {
      this.readLines()
    } catch (error) {
      this.failure = error as Error
    }
    if (this.sequence.worthGiving(this.batch)) {
      this.events += this.batch.count
      this.sequence.give(this.batch)
      return this.batch
    }
    if (this.failure !== undefined) throw this.failure
    if (input.left > MAX_LINE_BYTES) throw limit(`a line of more than ${MAX_LINE_BYTES} bytes`, this.position(0))
    return null
  }

  private newBatch(): void {
    const guess = Math.ceil((this.input.left / this.meanLine) * 1.125) + 8
    this.batch = new EventBatch(Math.min(BATCH_EVENTS, guess), this.columns, this.sequence.header)
    this.hoist()
  }

  /** Reads whole lines until the batch is full, another header begins, or the input is used up. */
  private readLines(): void {
    const { input, sequence } = this
    const first = input.offset
    const unread = input.bytes.subarray(input.pos + Math.max(0, this.searched - first), input.end)
    const newline = unread.lastIndexOf(NEWLINE)
    this.searched = first + input.left
    const lines = newline < 0 ? input.pos : unread.byteOffset - input.bytes.byteOffset + newline + 1
    if (newline >= 0) this.searched = 0
    while (input.pos < lines) {
      if (this.full()) return
      const start = input.pos
      let after = this.readCanonical(start)
      if (after < 0) {
        const end = input.bytes.indexOf(NEWLINE, start)
        if (!this.readGeneral(input.bytes.subarray(start, end), true)) return
        after = end + 1
      }
      input.pos = after
      this.lineDone(after - start)
    }
    if (this.batch.count > 64) this.meanLine = (input.offset - first) / this.batch.count
    if (!input.ended) return
    if (input.left > 0) {
      if (this.full() || !this.readGeneral(input.bytes.subarray(input.pos, input.end), false)) return
      this.lineDone(input.left)
      input.pos = input.end
    }
    if (this.batch.count > 0) return
    if (this.offset === 0) throw truncated('the input is empty', this.position(0))
    sequence.finish()
  }

  private position(pending: number): Required<TracePosition> {
    const at = { format: 'ndjson', line: this.line, offset: this.offset, event: this.events + pending + 1 }
    return at as Required<TracePosition>
  }

  private lineDone(bytes: number): void {
    this.line++
    this.offset += bytes
  }

  private full(): boolean {
    return this.batch.count === this.batch.capacity || this.batch.strings.byteLength > BATCH_STRING_BYTES
  }

  /**
   * Reads a line in any form.
   * @param whole it ended with a newline
   * @returns false when the batch must be given out before this line is read (again)
   */
  private readGeneral(line: Uint8Array, whole: boolean): boolean {
    const { sequence, batch } = this
    const text = decodeText(line).trim()
    if (text === '') return true
    let record
    try {
      record = parseRecord(text)
    } catch (error) {
      const at = this.position(batch.count)
      throw whole || isWhole(text)
        ? malformed((error as Error).message, at)
        : truncated('the input ends within a line', at)
    }
    if (record.kind === 'event') {
      sequence.checkOpen(batch.count)
      batch.push(record.event)
      if (batch.columns !== this.columns) this.hoist()
      sequence.noteUnknown(record.unknown)
      return true
    }
    if (sequence.worthGiving(batch)) return false
    sequence.accept(record)
    this.newBatch()
    return true
  }

  private hoist(): void {
    const { batch } = this
    this.columns = batch.columns
    for (let f = 0; f < FIELDS.length; f++) {
      const { name } = FIELDS[f] as (typeof FIELDS)[number]
      const column = name === 'count' ? batch.elements : batch[name]
      if (column instanceof U64Column) this.words[f] = column.words
      else this.narrow[f] = column
    }
  }

  /**
   * Reads the line at `pos`, which ends with a newline, if it is an event in the canonical form.
   * @returns the position after its newline; -1 if it must be read in another way, and nothing was changed that counts
   */
  private readCanonical(pos: number): number {
    const { bytes } = this.input
    const { batch, view, words, narrow } = this
    const row = batch.count
    const kind = findText(KIND_TEXTS, view, pos)
    if (kind < 0) return -1
    pos += KIND_TEXTS[kind].length
    let mask = 0
    while (bytes[pos] === COMMA) {
      const f = KEY_TABLE[keyHash(bytes[pos + 2], bytes[pos + 3], bytes[pos + 4])]
      if (f === 255) return -1
      const key = KEY_TEXTS[f]
      if (!key.matches(view, pos)) return -1
      pos += key.length
      const bit = 1 << f
      if ((batch.columns & bit) === 0) {
        batch.addColumns(bit)
        this.hoist()
      }
      mask |= bit
      switch (FIELD_TYPE[f]) {
        case ADDRESS: {
          pos = this.scanHex(bytes, pos)
          if (pos < 0) return -1
          const column = words[f]
          column[2 * row + LO] = this.lo
          column[2 * row + HI] = this.hi
          break
        }
        case U64: {
          pos = this.scanDecimal(bytes, pos)
          if (pos < 0) return -1
          const column = words[f]
          column[2 * row + LO] = this.lo
          column[2 * row + HI] = this.hi
          break
        }
        case U32:
          pos = this.scanDecimal(bytes, pos)
          if (pos < 0 || this.hi !== 0) return -1
          narrow[f][row] = this.lo
          break
        case I32: {
          const negative = bytes[pos] === MINUS
          pos = this.scanDecimal(bytes, negative ? pos + 1 : pos)
          if (pos < 0 || this.hi !== 0 || this.lo >>> 0 > (negative ? 0x8000_0000 : 0x7fff_ffff)) return -1
          narrow[f][row] = negative ? -this.lo : this.lo
          break
        }
        case API:
        case OUTCOME: {
          const names = FIELD_TYPE[f] === API ? API_TEXTS : OUTCOME_TEXTS
          const code = findText(names, view, pos)
          if (code < 0) return -1
          narrow[f][row] = code
          pos += names[code].length
          break
        }
        case STRING: {
          const end = plainStringEnd(bytes, pos)
          if (end < 0) return -1
          narrow[f][row] = batch.strings.intern(bytes, pos, end)
          pos = end + 1
          break
        }
        case LIST: {
          const ids: number[] = []
          while (bytes[pos] === QUOTE) {
            const end = plainStringEnd(bytes, pos + 1)
            if (end < 0) return -1
            ids.push(batch.strings.intern(bytes, pos + 1, end))
            pos = end + 1
            if (bytes[pos] !== COMMA) break
            if (bytes[++pos] !== QUOTE) return -1
          }
          if (bytes[pos] !== CLOSING_BRACKET) return -1
          pos++
          narrow[f][row] = batch.strings.addList(ids)
          break
        }
        case JSON_OBJECT:
          // What is nested takes a parser.
          return -1
        default: {
          const end = plainStringEnd(bytes, pos)
          // The general path says what is wrong with text that is not base64.
          if (end < 0 || !isBase64(bytes, pos, end)) return -1
          const base64 = Buffer.from(bytes.buffer, bytes.byteOffset + pos, end - pos).toString('latin1')
          narrow[f][row] = batch.strings.intern(Buffer.from(base64, 'base64'))
          pos = end + 1
        }
      }
    }
    if (bytes[pos] !== CLOSING_BRACE || bytes[pos + 1] !== NEWLINE) return -1
    this.sequence.checkOpen(row)
    batch.kind[row] = kind
    batch.mask[row] = mask
    batch.count = row + 1
    return pos + 2
  }

  /** Reads a decimal integer into `lo` and `hi`; -1 if there is none or it is longer than the fast way can tell. */
  private scanDecimal(bytes: Uint8Array, pos: number): number {
    const start = pos
    let value = 0
    let digit = bytes[pos] - 48
    while (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      digit = bytes[++pos] - 48
    }
    const digits = pos - start
    if (digits === 0 || (digits > 1 && bytes[start] === 48)) return -1
    if (digits <= 9) {
      this.lo = value
      this.hi = 0
    } else if (digits <= 15) {
      this.lo = value >>> 0
      this.hi = (value - this.lo) / WORD
    } else {
      return digits > 20 ? -1 : this.scanLongDecimal(bytes, start, pos)
    }
    return pos
  }

  /** 16 to 20 digits, which a double does not hold exactly: multiplies a pair of words. */
  private scanLongDecimal(bytes: Uint8Array, start: number, end: number): number {
    let lo = 0
    let hi = 0
    for (let i = start; i < end; i++) {
      const low = lo * 10 + bytes[i] - 48
      lo = low >>> 0
      hi = hi * 10 + (low - lo) / WORD
    }
    if (hi >= WORD) return -1
    this.lo = lo
    this.hi = hi
    return end
  }

  /** Reads hex digits and the closing quote into `lo` and `hi`; -1 if that is not what stands there. */
  private scanHex(bytes: Uint8Array, pos: number): number {
    const start = pos
    let lo = 0
    let hi = 0
    let digit = HEX[bytes[pos]]
    while (digit >= 0) {
      hi = (hi << 4) | (lo >>> 28)
      lo = (lo << 4) | digit
      digit = HEX[bytes[++pos]]
    }
    if (bytes[pos] !== QUOTE || pos === start || pos - start > 16) return -1
    this.lo = lo
    this.hi = hi
    return pos + 1
  }
}

/** Which of some texts stands at `pos`; -1 if none does. */
function findText(texts: readonly Text[], view: DataView, pos: number): number {
  for (let i = 0; i < texts.length; i++) if (texts[i].matches(view, pos)) return i
  return -1
}

function isBase64(bytes: Uint8Array, pos: number, end: number): boolean {
  if ((end - pos) % 4 !== 0) return false
  let padding = 0
  for (let i = pos; i < end; i++) {
    const byte = bytes[i]
    const lower = byte | 32
    if (byte === 0x3d) padding++
    else if (padding > 0 || !((lower >= 97 && lower <= 122) || (byte >= 47 && byte <= 57) || byte === 43)) return false
  }
  return padding <= 2
}

/** The position of the quote that ends a string without escapes and control characters; -1 if it is another string. */
function plainStringEnd(bytes: Uint8Array, pos: number): number {
  for (;;) {
    const byte = bytes[pos]
    if (byte === QUOTE) return pos
    // A newline stops the scan, so that it never leaves the line.
    if (byte === BACKSLASH || byte < SPACE) return -1
    pos++
  }
}

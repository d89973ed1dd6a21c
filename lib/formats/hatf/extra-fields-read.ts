import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { ALL_FIELDS, APIS, FIELDS, FieldBit, KINDS, Kind, OUTCOMES } from '../../event/fields.js'
import { fieldsFromJson } from '../../event/json-record.js'
import { decodeText, encodeText } from '../../event/strings.js'
import { COLON, MINUS, ZERO } from '../../text/ascii.js'
import { decimal, hex } from '../../text/numbers.js'
import { COMMENT_MARK, EXTRA_FIELDS_MARK, KIND, RECORD_FIELDS, WITHOUT } from './extra-fields.js'

const QUOTE = 34
const COMMA = 44
const OPEN = 91
const BACKSLASH = 92
const CLOSE = 93
const X = 120
const END = 125

const MAX_I32 = 0x7fff_ffff
const MAX_U32 = 0xffff_ffff
const HAS_ATTRIBUTES = FieldBit.attributes

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ascii = new TextDecoder('latin1')

/** The keys that are not fields. Their codes follow the codes of the fields. */
const WITHOUT_KEY = FIELDS.length
const KIND_KEY = FIELDS.length + 1
const FIELD_KEYS = encodeNames(FIELDS.map(({ name }) => name))
const KEYS = [...FIELD_KEYS, ...encodeNames([WITHOUT, KIND])]
const API_NAMES = encodeNames(APIS)
const OUTCOME_NAMES = encodeNames(OUTCOMES)
const KIND_NAMES = encodeNames(KINDS)
/** The codes of the keys by length and first letter. */
const KEYS_BY_SHAPE: number[][] = []
KEYS.forEach((key, code) => {
  const shape = keyShape(key.length, key[0])
  ;(KEYS_BY_SHAPE[shape] ??= []).push(code)
})

function encodeNames(names: readonly string[]): readonly Uint8Array[] {
  const encoder = new TextEncoder()
  return names.map((name) => encoder.encode(name))
}

function keyShape(length: number, first: number): number {
  return length * 32 + (first & 31)
}

/**
 * Reads the output of `ExtraFieldsWriter` directly into a batch. It rejects anything else (spaces, unknown keys, values
 * out of range, fields that the record itself has): this format did not write such bytes, so they remain plain
 * attributes.
 */
export class ExtraFieldsReader {
  /** Results of the last read: the fields that were set, ... */
  set = 0
  /** ... the fields that were listed as absent, ... */
  without = 0
  /** ... and the code of the kind, or -1. */
  kind = -1
  private bytes: Uint8Array = new Uint8Array(0)
  private pos = 0
  private end = 0
  private failed = false
  private batch: EventBatch | undefined
  private readonly small = new Uint32Array(2)
  /** The 64-bit columns of the last batch, by field, created when needed. */
  private readonly words: (Uint32Array | undefined)[] = FIELDS.map(() => undefined)

  /**
   * Reads attributes with extra fields into row i, whose kind is set.
   * @returns whether the bytes were extra fields
   */
  readAttributes(bytes: Uint8Array, start: number, end: number, batch: EventBatch, i: number): boolean {
    const carried = RECORD_FIELDS[batch.kind[i]]
    this.start(bytes, start + EXTRA_FIELDS_MARK.length, end, batch)
    this.object(batch, i, (ALL_FIELDS & ~carried) | HAS_ATTRIBUTES)
    if (this.failed || (this.without & ~(carried & ~HAS_ATTRIBUTES)) !== 0) return false
    return this.kind < 0 || (this.kind === Kind.existing && batch.kind[i] === Kind.alloc)
  }

  /** Reads a comment that holds an event into row i. @returns whether it held one */
  readComment(bytes: Uint8Array, start: number, end: number, batch: EventBatch, i: number): boolean {
    this.start(bytes, start + COMMENT_MARK.length, end, batch)
    this.object(batch, i, ALL_FIELDS)
    return !this.failed && this.kind >= 0 && this.without === 0
  }

  private start(bytes: Uint8Array, pos: number, end: number, batch: EventBatch): void {
    if (batch !== this.batch) {
      this.batch = batch
      this.words.fill(undefined)
    }
    this.bytes = bytes
    this.pos = pos
    this.end = end
    this.set = 0
    this.without = 0
    this.kind = -1
    // The brace stops the readers of numbers.
    this.failed = bytes[end - 1] !== END
  }

  /** Reads members up to the closing brace, which must be the last byte. */
  private object(batch: EventBatch, i: number, allowed: number): void {
    if (this.failed) return
    do {
      const key = this.key()
      if (key === WITHOUT_KEY && this.without === 0) this.without = this.fieldList()
      else if (key === KIND_KEY && this.kind < 0) this.kind = this.nameIn(KIND_NAMES)
      else if (key >= 0 && key < FIELDS.length && ((allowed & ~this.set) >>> key) & 1) {
        this.value(key, batch, i)
        this.set |= 1 << key
      } else this.failed = true
    } while (!this.failed && this.take(COMMA))
    if (!this.take(END) || this.pos !== this.end) this.failed = true
  }

  private value(f: number, batch: EventBatch, i: number): void {
    const { name, type } = FIELDS[f]
    if (((batch.columns >>> f) & 1) === 0) batch.addColumns(1 << f)
    switch (type) {
      case 'u64':
        this.decimal((this.words[f] ??= batch.u64(name).words), 2 * i)
        break
      case 'address':
        this.hex((this.words[f] ??= batch.u64(name).words), 2 * i)
        break
      case 'u32':
        batch[name][i] = this.integer(MAX_U32)
        break
      case 'i32':
        batch[name][i] = this.take(MINUS) ? this.negative() : this.integer(MAX_I32)
        break
      case 'api':
        batch.api[i] = this.nameIn(API_NAMES)
        break
      case 'outcome':
        batch.outcome[i] = this.nameIn(OUTCOME_NAMES)
        break
      case 'string':
        batch[name][i] = this.string(batch)
        break
      case 'json':
        batch.fields[i] = this.string(batch)
        if (!this.failed && !isFields(batch.strings.text(batch.fields[i]))) this.failed = true
        break
      case 'list':
        batch.stack[i] = batch.strings.addList(this.list(batch))
        break
      case 'bytes':
        batch.attributes[i] = this.base64(batch)
    }
  }

  private take(byte: number): boolean {
    if (this.pos >= this.end || this.bytes[this.pos] !== byte) return false
    this.pos++
    return true
  }

  private expect(byte: number): void {
    if (!this.take(byte)) this.failed = true
  }

  /** Reads `"key":` and gives the key's code, or -1. */
  private key(): number {
    this.expect(QUOTE)
    const start = this.pos
    const length = this.plainLength()
    this.expect(QUOTE)
    this.expect(COLON)
    const codes = KEYS_BY_SHAPE[keyShape(length, this.bytes[start])]
    if (codes === undefined) return -1
    for (let k = 0; k < codes.length; k++) if (this.isAt(start, KEYS[codes[k]])) return codes[k]
    return -1
  }

  /** Whether a name starts at `start`. */
  private isAt(start: number, name: Uint8Array): boolean {
    for (let k = 0; k < name.length; k++) if (name[k] !== this.bytes[start + k]) return false
    return true
  }

  /** Skips printable ASCII without quotes and backslashes, and returns its length. */
  private plainLength(): number {
    const { bytes, end, pos } = this
    let p = pos
    for (; p < end; p++) {
      const byte = bytes[p]
      if (byte < 32 || byte > 126 || byte === QUOTE || byte === BACKSLASH) break
    }
    this.pos = p
    return p - pos
  }

  private decimal(words: Uint32Array, index: number): void {
    this.number(decimal(this.bytes, this.pos, words, index))
  }

  private hex(words: Uint32Array, index: number): void {
    this.expect(QUOTE)
    this.expect(ZERO)
    this.expect(X)
    this.number(hex(this.bytes, this.pos, words, index))
    this.expect(QUOTE)
  }

  private integer(max: number): number {
    const { small } = this
    this.decimal(small, 0)
    if (small[HI] !== 0 || small[LO] > max) this.failed = true
    return small[LO]
  }

  /** Continues after a number that ends before `next`. Only the writer's form is accepted, without leading zeros. */
  private number(next: number): void {
    const { bytes, pos } = this
    if (next < 0 || (bytes[pos] === ZERO && next > pos + 1)) this.failed = true
    else this.pos = next
  }

  private negative(): number {
    const value = -this.integer(MAX_I32 + 1)
    if (value === 0) this.failed = true
    return value
  }

  /** Reads a string that must be one of the names, and returns its position among them. */
  private nameIn(names: readonly Uint8Array[]): number {
    this.expect(QUOTE)
    const start = this.pos
    const length = this.plainLength()
    this.expect(QUOTE)
    for (let code = 0; code < names.length; code++) {
      const name = names[code]
      if (name.length === length && this.isAt(start, name)) return code
    }
    this.failed = true
    return 0
  }

  private fieldList(): number {
    let set = 0
    this.expect(OPEN)
    do set |= 1 << this.nameIn(FIELD_KEYS)
    while (!this.failed && this.take(COMMA))
    this.expect(CLOSE)
    return set
  }

  private list(batch: EventBatch): number[] {
    const ids: number[] = []
    this.expect(OPEN)
    if (this.take(CLOSE)) return ids
    do ids.push(this.string(batch))
    while (!this.failed && this.take(COMMA))
    this.expect(CLOSE)
    return ids
  }

  private string(batch: EventBatch): number {
    const start = this.pos
    this.expect(QUOTE)
    this.plainLength()
    if (this.take(QUOTE)) return batch.strings.intern(this.bytes, start + 1, this.pos - 1)
    // Escapes or non-ASCII characters: find the closing quote and let JSON parse the string.
    while (this.pos < this.end && this.bytes[this.pos] !== QUOTE) this.pos += this.bytes[this.pos] === BACKSLASH ? 2 : 1
    this.expect(QUOTE)
    try {
      const json = strict.decode(this.bytes.subarray(start, this.pos))
      const text = JSON.parse(json) as string
      // The writer escapes a text in only one way.
      if (JSON.stringify(decodeText(encodeText(text))) !== json) this.failed = true
      return batch.strings.internText(text)
    } catch {
      this.failed = true
      return 0
    }
  }

  private base64(batch: EventBatch): number {
    this.expect(QUOTE)
    const start = this.pos
    this.plainLength()
    const text = ascii.decode(this.bytes.subarray(start, this.pos))
    this.expect(QUOTE)
    const bytes = Buffer.from(text, 'base64')
    if (bytes.toString('base64') !== text) this.failed = true
    return batch.strings.intern(bytes)
  }
}

/** Whether a text is one that events have as `fields`. */
function isFields(text: string): boolean {
  try {
    return fieldsFromJson(text) === text
  } catch {
    return false
  }
}

import { writeDecimal, writeDecimal32, writeHex, HI, LO } from '../../bytes/u64.js'
import type { Sink } from '../../bytes/sink.js'
import type { EventBatch } from '../../event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES, fieldNames } from '../../event/fields.js'
import { decodeText, type StringTable } from '../../event/strings.js'
import { KIND, WITHOUT } from './extra-fields.js'

const QUOTE = 34
const COMMA = 44
const MINUS = 45
const OPEN = 91
const BACKSLASH = 92
const CLOSE = 93
const END = 125

/** The maximum length of a number with its quotes and comma. */
const MAX_NUMBER = 24

const encoder = new TextEncoder()
const KEYS = FIELDS.map(({ name }) => encoder.encode(`"${name}":`))
const API_NAMES = APIS.map((name) => encoder.encode(`"${name}"`))
const OUTCOME_NAMES = OUTCOMES.map((name) => encoder.encode(`"${name}"`))
const KIND_PAIRS = KINDS.map((name) => encoder.encode(`"${KIND}":"${name}",`))

/** Writes fields of events as JSON. Strings are escaped once per string table. */
export class ExtraFieldsWriter {
  private table: StringTable | undefined
  private readonly strings: (Uint8Array | undefined)[] = []
  private readonly withouts = new Map<number, Uint8Array>()

  /**
   * Appends the JSON object's members and its closing brace.
   * @param set the fields to write
   * @param without the fields to list as absent
   * @param kind whether to write the event's kind
   */
  write(out: Sink, batch: EventBatch, i: number, set: number, without: number, kind: boolean): void {
    if (batch.strings !== this.table) {
      this.table = batch.strings
      this.strings.length = 0
    }
    if (kind) out.append(KIND_PAIRS[batch.kind[i]])
    if (without !== 0) out.append(this.without(without))
    for (let rest = set; rest !== 0; rest &= rest - 1) this.member(out, batch, i, 31 - Math.clz32(rest & -rest))
    out.reserve(1)
    // The brace replaces the comma of the last member.
    if (out.bytes[out.pos - 1] === COMMA) out.pos--
    out.bytes[out.pos++] = END
  }

  private member(out: Sink, batch: EventBatch, i: number, f: number): void {
    const { name, type } = FIELDS[f]
    out.append(KEYS[f])
    out.reserve(MAX_NUMBER)
    const { bytes } = out
    switch (type) {
      case 'u64': {
        const { words } = batch.u64(name)
        out.pos = writeDecimal(bytes, out.pos, words[2 * i + LO], words[2 * i + HI])
        break
      }
      case 'address': {
        const { words } = batch.u64(name)
        bytes[out.pos++] = QUOTE
        bytes[out.pos++] = 48
        bytes[out.pos++] = 120
        out.pos = writeHex(bytes, out.pos, words[2 * i + LO], words[2 * i + HI])
        bytes[out.pos++] = QUOTE
        break
      }
      case 'u32':
        out.pos = writeDecimal32(bytes, out.pos, batch[name][i])
        break
      case 'i32': {
        const value = batch[name][i]
        if (value < 0) bytes[out.pos++] = MINUS
        out.pos = writeDecimal32(bytes, out.pos, Math.abs(value))
        break
      }
      case 'api':
        out.append(API_NAMES[batch.api[i]])
        break
      case 'outcome':
        out.append(OUTCOME_NAMES[batch.outcome[i]])
        break
      case 'string':
      case 'json':
        out.append(this.string(batch.strings, batch[name][i]))
        break
      case 'list':
        this.list(out, batch, i)
        break
      case 'bytes':
        out.append(encoder.encode(`"${Buffer.from(batch.strings.view(batch.attributes[i])).toString('base64')}"`))
    }
    out.reserve(1)
    out.bytes[out.pos++] = COMMA
  }

  private list(out: Sink, batch: EventBatch, i: number): void {
    const ids = batch.strings.list(batch.stack[i])
    out.bytes[out.pos++] = OPEN
    for (let k = 0; k < ids.length; k++) {
      out.append(this.string(batch.strings, ids[k]))
      out.reserve(2)
      if (k < ids.length - 1) out.bytes[out.pos++] = COMMA
    }
    out.reserve(1)
    out.bytes[out.pos++] = CLOSE
  }

  private string(table: StringTable, id: number): Uint8Array {
    return (this.strings[id] ??= quote(table.view(id)))
  }

  private without(set: number): Uint8Array {
    let bytes = this.withouts.get(set)
    if (bytes === undefined) {
      bytes = encoder.encode(`"${WITHOUT}":${JSON.stringify(fieldNames(set))},`)
      this.withouts.set(set, bytes)
    }
    return bytes
  }
}

/** A string as JSON; bytes that are not UTF-8 become escaped lone surrogates. */
function quote(bytes: Uint8Array): Uint8Array {
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte < 32 || byte > 126 || byte === QUOTE || byte === BACKSLASH)
      return encoder.encode(JSON.stringify(decodeText(bytes)))
  }
  const quoted = new Uint8Array(bytes.length + 2)
  quoted[0] = QUOTE
  quoted.set(bytes, 1)
  quoted[bytes.length + 1] = QUOTE
  return quoted
}

import { gap } from '../../bytes/numbers.js'
import { Sink } from '../../bytes/sink.js'
import type { EventBatch } from '../../event/batch.js'
import { FIELDS, Has, Kind } from '../../event/fields.js'
import { stringifyFields, type FieldValue } from '../../event/json.js'
import { decodeText, encodeText } from '../../event/strings.js'
import { SECTION_KEY } from '../mapping.js'
import type { Field, Leaf } from '../model.js'
import { MAX_VALUES } from './layout.js'
import type { Program } from './program.js'
import { isSigned, isStored, RecordState } from './state.js'
import { quoted, signed, unsigned } from './words.js'

const HAS_API = Has.api
const HAS_CODE = Has.code
const HAS_FIELDS = Has.fields
const HAS_OUTCOME = Has.outcome
const HAS_TYPE = Has.type
const OTHER = Kind.other

type Values = Record<string, FieldValue>

/** Reads the records of one type that the decoder's own loop does not. */
export class RecordReader {
  /** What should have stood where `read` stopped. */
  expected = ''
  /** What the record has too much of, if it stopped because of that; else empty. */
  excess = ''
  private readonly state: RecordState
  private readonly number = new BigUint64Array(1)
  private readonly words = new Uint32Array(this.number.buffer)
  private readonly text = new Sink(256)
  /** The value of each leaf that was read last, for repetitions. */
  private readonly latest: bigint[] = []
  private bytes: Uint8Array = new Uint8Array(0)
  private pos = 0
  private left = 0
  private values: { field: number; value: bigint | Uint8Array }[] = []

  constructor(private readonly program: Program) {
    this.state = new RecordState(program.mapping.record.leaves)
  }

  /**
   * Reads a record's words behind its tag, into event i of a batch.
   * @returns the position behind the last, or `~position` of the byte that does not fit: then nothing was changed
   */
  read(bytes: Uint8Array, p: number, batch: EventBatch, i: number): number {
    const { record, section } = this.program.mapping
    const saved = this.state.save()
    const rest = noValues()
    if (section !== null) rest[SECTION_KEY] = section
    this.bytes = bytes
    this.pos = p
    this.left = MAX_VALUES
    this.values = []
    if (!this.fields(record.fields, rest, true) || !this.store(batch, i, rest)) {
      this.state.restore(saved)
      return ~this.pos
    }
    return this.pos
  }

  /** Reads fields; what no field of the event is for goes into `rest`. */
  private fields(fields: readonly Field[], rest: Values, once: boolean): boolean {
    const { keys } = this.program.mapping
    for (const field of fields) {
      if (field.kind === 'leaf') {
        // The tag was read by whoever chose this reader.
        if (field.position === 0) continue
        const value = this.leaf(field)
        if (value === undefined) return false
        if (!this.goesToEvent(field, value, once)) this.keep(field, value, rest)
      } else if (field.kind === 'composite') {
        const inner = field.name === '' ? rest : noValues()
        if (!this.fields(field.fields, inner, once)) return false
        if (inner !== rest && Object.keys(inner).length > 0) rest[keys.get(field) as string] = inner
      } else {
        const elements = this.elements(field.field, this.latest[field.count] as bigint)
        if (elements === undefined) return false
        rest[keys.get(field) as string] = elements
      }
    }
    return true
  }

  private elements(element: Field, count: bigint): FieldValue[] | undefined {
    if (count > MAX_VALUES) return this.tooLarge()
    const elements: FieldValue[] = []
    for (let n = Number(count); n > 0; n--) {
      if (element.kind === 'leaf') {
        const value = this.leaf(element)
        if (value === undefined) return undefined
        elements.push(plain(value))
      } else {
        if (this.left-- === 0) return this.tooLarge()
        const values = noValues()
        if (!this.fields(element.kind === 'composite' ? element.fields : [element], values, false)) return undefined
        elements.push(values)
      }
    }
    return elements
  }

  private tooLarge(): undefined {
    this.excess = `a record of more than ${MAX_VALUES} values`
    return undefined
  }

  /** The value of a leaf, after its interpretation; undefined if it is not there or not what it must be. */
  private leaf(leaf: Leaf): bigint | Uint8Array | undefined {
    if (this.left-- === 0) return this.tooLarge()
    const { interpretation, value: must } = leaf
    let start = this.pos
    if (isStored(leaf)) {
      const p = gap(this.bytes, start)
      if (p < 0) return this.fail(p, leaf)
      start = p
    }
    if (leaf.type === 'string') {
      this.text.pos = 0
      if (interpretation.kind === 'default')
        return encodeText(interpretation.value.kind === 'string' ? interpretation.value.value : '')
      const p = quoted(this.bytes, start, this.text)
      if (p < 0) return this.fail(p, leaf)
      const text = this.text.take()
      if (must?.kind === 'string' && decodeText(text) !== must.value)
        return this.fail(~start, leaf, JSON.stringify(must.value))
      this.pos = p
      return text
    }
    this.number[0] = 0n
    if (isStored(leaf)) {
      const p = isSigned(leaf) ? signed(this.bytes, start, this.words, 0) : unsigned(this.bytes, start, this.words, 0)
      if (p < 0) return this.fail(p, leaf)
      this.pos = p
    }
    const value = this.state.value(leaf, this.number[0])
    if (must?.kind === 'number' && value !== must.value) return this.fail(~start, leaf, String(must.value))
    this.latest[leaf.position] = value
    return value
  }

  private fail(
    p: number,
    { name, type }: Leaf,
    must = type === 'string' ? 'a string in quotes' : 'a number',
  ): undefined {
    this.pos = ~p
    this.expected = `'${name}', ${must}`
    return undefined
  }

  /** Whether a value is one for a field of the event, and fits it. */
  private goesToEvent(leaf: Leaf, value: bigint | Uint8Array, once: boolean): boolean {
    const { field, type, silent } = this.program.mapping.leaves[leaf.position] as Program['mapping']['leaves'][number]
    if (!once || field < 0) return false
    if (silent) return true
    if (type === 'u32' && (value as bigint) > 0xffff_ffffn) return false
    // A negative number is there as two's complement.
    if (type === 'i32' && BigInt.asUintN(64, BigInt.asIntN(32, value as bigint)) !== value) return false
    this.values.push({ field, value })
    return true
  }

  private keep(leaf: Leaf, value: bigint | Uint8Array, rest: Values): void {
    const { role, silent } = this.program.mapping.leaves[leaf.position] as Program['mapping']['leaves'][number]
    if (role === 'value' && !silent) rest[this.program.mapping.keys.get(leaf) as string] = plain(value)
  }

  /** Stores what was read; false if it is too much. */
  private store(batch: EventBatch, i: number, rest: Values): boolean {
    const { kind, given, outcome, api, record } = this.program.mapping
    const hasRest = kind === OTHER || Object.keys(rest).length > 0
    const text = hasRest ? this.textOf(rest) : ''
    if (text === undefined) return false
    const fields = this.values.reduce((set, { field }) => set | (1 << field), given | (hasRest ? HAS_FIELDS : 0))
    batch.addColumns(fields)
    batch.kind[i] = kind
    batch.mask[i] = fields
    if ((given & HAS_OUTCOME) !== 0) batch.outcome[i] = outcome
    if ((given & HAS_API) !== 0) batch.api[i] = api
    if ((given & HAS_CODE) !== 0) batch.code[i] = record.tag as number
    if ((given & HAS_TYPE) !== 0) batch.type[i] = batch.strings.internText(record.name)
    if (hasRest) batch.fields[i] = batch.strings.internText(text)
    for (const { field, value } of this.values) storeValue(batch, i, field, value)
    return true
  }

  private textOf(rest: Values): string | undefined {
    try {
      return stringifyFields(rest)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      this.excess = error.message
      return undefined
    }
  }
}

/** An object without a prototype, for a field may be called `__proto__`. */
function noValues(): Values {
  return Object.create(null) as Values
}

function storeValue(batch: EventBatch, i: number, field: number, value: bigint | Uint8Array): void {
  const { name, type } = FIELDS[field] as (typeof FIELDS)[number]
  if (type === 'u64' || type === 'address') batch.u64(name).values[i] = value as bigint
  else if (type === 'u32' || type === 'i32') batch[name][i] = Number(BigInt.asUintN(32, value as bigint))
  else if (type === 'string' || type === 'bytes') batch[name][i] = batch.strings.intern(value as Uint8Array)
}

/** A value as it is in `fields`. */
function plain(value: bigint | Uint8Array): FieldValue {
  return typeof value === 'bigint' ? value : decodeText(value)
}

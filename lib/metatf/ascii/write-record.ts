import { SPACE, ZERO } from '../../bytes/ascii.js'
import type { Sink } from '../../bytes/sink.js'
import { MAX_DECIMAL } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FIELDS, Has } from '../../event/fields.js'
import { parseJson } from '../../event/json.js'
import { encodeText } from '../../event/strings.js'
import { SECTION_KEY, type LeafMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'
import { MAX_LINE, MAX_VALUES } from './layout.js'
import { isHex, type Program } from './program.js'
import { isStored, RecordState } from './state.js'
import { writeQuoted } from './words.js'

const HAS_FIELDS = Has.fields
const LETTER_X = 0x78
const MAX_U64 = 2n ** 64n - 1n

type Values = Readonly<Record<string, unknown>>

const UNLIKE = 'are not as the DTD has them'
const DIFFERENT = 'have repetitions of other lengths than the DTD'

/** Why an event cannot be written as the record. */
class Misfit extends Error {}

/** Writes the records of one type that the encoder's own loop does not. */
export class RecordWriter {
  private readonly state: RecordState
  private batch!: EventBatch
  private i = 0
  private left = 0
  /** What is lost, to be counted if all goes well. */
  private losses: string[] = []
  /** The value of each leaf that was written last, for repetitions. */
  private readonly latest: bigint[] = []

  constructor(
    private readonly program: Program,
    private readonly out: Sink,
  ) {
    this.state = new RecordState(program.mapping.record.leaves)
  }

  /**
   * Writes the words of event i, the tag too, behind what is in the sink.
   * @param note counts a loss
   * @returns whether it could be written; if not, that was counted, and nothing is written
   * @throws what `note` throws, and then, too, nothing is written
   */
  write(batch: EventBatch, i: number, note: (reason: string) => void): boolean {
    const { record, section, carries } = this.program.mapping
    const { out } = this
    const start = out.pos
    const saved = this.state.save()
    this.batch = batch
    this.i = i
    this.left = MAX_VALUES
    this.losses = []
    try {
      const hasRest = ((batch.mask[i] as number) & carries & HAS_FIELDS) !== 0
      const rest = hasRest ? (parseJson(batch.strings.text(batch.fields[i] as number)) as Values) : {}
      const used = this.fields(record.fields, rest, true) + (section !== null && rest[SECTION_KEY] === section ? 1 : 0)
      this.checkUsed(rest, used)
      if (out.pos - start >= MAX_LINE) throw new Misfit('make a line that is too long')
      for (const loss of this.losses) note(loss)
      return true
    } catch (error) {
      out.pos = start
      this.state.restore(saved)
      if (!(error instanceof Misfit)) throw error
      note(`events whose fields ${error.message}`)
      return false
    }
  }

  /**
   * Writes fields, with their values from the event or from `rest`.
   * @returns how many of the values in `rest` were used
   */
  private fields(fields: readonly Field[], rest: Values, once: boolean): number {
    const { keys } = this.program.mapping
    let used = 0
    for (const field of fields) {
      const key = keys.get(field)
      if (field.kind === 'leaf') {
        if (this.once(field, fields, rest, once)) used++
      } else if (field.kind === 'composite' && key === '') {
        used += this.fields(field.fields, rest, once)
      } else if (field.kind === 'composite') {
        const inner = Object.hasOwn(rest, key as string) ? rest[key as string] : {}
        if (Object.hasOwn(rest, key as string)) used++
        if (!isObject(inner)) throw new Misfit(UNLIKE)
        this.checkUsed(inner, this.fields(field.fields, inner, once))
      } else {
        if (Object.hasOwn(rest, key as string)) used++
        const elements = elementsOf(rest, key as string)
        // The number may be that of other repetitions, too.
        if (this.latest[field.count] !== BigInt(elements.length)) throw new Misfit(DIFFERENT)
        for (const element of elements) this.element(field.field, element)
      }
    }
    return used
  }

  private element(field: Field, element: unknown): void {
    if (this.left-- === 0) throw new Misfit('are too many')
    if (field.kind === 'leaf') {
      this.leaf(field, element)
      return
    }
    if (!isObject(element)) throw new Misfit(UNLIKE)
    this.checkUsed(element, this.fields(field.kind === 'composite' ? field.fields : [field], element, false))
  }

  /** Writes a leaf that is not itself repeated. @returns whether its value was in `rest` */
  private once(leaf: Leaf, around: readonly Field[], rest: Values, once: boolean): boolean {
    const mapping = this.program.mapping.leaves[leaf.position] as LeafMapping
    const { role, silent, field } = mapping
    const key = this.program.mapping.keys.get(leaf)
    const said = key !== undefined && Object.hasOwn(rest, key) ? rest[key] : undefined
    let value: unknown = once && field >= 0 && !(silent && role === 'value') ? this.eventValue(field) : undefined
    const isFromRest = value === undefined && said !== undefined
    value ??= said
    if (role === 'counted') value = countOf(leaf, this.program, around, rest)
    if (leaf.value?.kind === 'number' || leaf.value?.kind === 'string') {
      if (value !== undefined && !isEqual(value, leaf.value.value)) {
        if (role === 'counted') throw new Misfit(UNLIKE)
        this.losses.push(`${leaf.name} other than ${String(leaf.value.value)}`)
      }
      value = leaf.value.value
    }
    if (value === undefined && isStored(leaf)) {
      value = leaf.type === 'string' ? '' : 0n
      // Fields of the event that records always have were counted before.
      if (field < 0 || (this.program.mapping.needs & (1 << field)) === 0)
        this.losses.push(`no ${leaf.name}, written as 0 or empty`)
    }
    this.leaf(leaf, value, role === 'counted')
    return isFromRest
  }

  /** Writes a value. */
  private leaf(leaf: Leaf, value: unknown, mustFit = false): void {
    if (leaf.type === 'string') {
      const text = value instanceof Uint8Array ? value : typeof value === 'string' ? encodeText(value) : undefined
      if (text === undefined && value !== undefined) throw new Misfit(UNLIKE)
      if (isStored(leaf)) {
        this.space()
        writeQuoted(this.out, text as Uint8Array)
      } else if (
        text !== undefined &&
        leaf.interpretation.kind === 'default' &&
        leaf.interpretation.value.kind === 'string'
      ) {
        if (!equalBytes(text, encodeText(leaf.interpretation.value.value)))
          this.losses.push(`${leaf.name} other than its default`)
      }
      return
    }
    const next = this.state.next(leaf)
    const number = value ?? next
    if (typeof number !== 'bigint' || number < 0n || number > MAX_U64) throw new Misfit(UNLIKE)
    const stored = this.state.stored(leaf, number)
    this.latest[leaf.position] = next ?? number
    if (next !== null) {
      if (stored !== null) return
      if (mustFit) throw new Misfit(UNLIKE)
      this.losses.push(`${leaf.name} other than what the DTD makes it`)
      // The reader takes what the DTD says to have been the value.
      this.state.stored(leaf, next)
      return
    }
    this.word(stored as bigint, leaf)
  }

  private word(value: bigint, leaf: Leaf): void {
    const { out } = this
    if (leaf.position > 0) this.space()
    const text = isHex(leaf) ? value.toString(16) : value.toString()
    out.reserve(MAX_DECIMAL + 2)
    if (isHex(leaf)) {
      out.bytes[out.pos++] = ZERO
      out.bytes[out.pos++] = LETTER_X
    }
    for (let i = 0; i < text.length; i++) out.bytes[out.pos++] = text.charCodeAt(i)
  }

  private space(): void {
    this.out.reserve(1)
    this.out.bytes[this.out.pos++] = SPACE
  }

  private eventValue(field: number): bigint | Uint8Array | undefined {
    const { batch, i } = this
    if (((batch.mask[i] as number) >>> field) % 2 === 0) return undefined
    const { name, type } = FIELDS[field] as (typeof FIELDS)[number]
    if (type === 'u64' || type === 'address') return batch.u64(name).values[i] as bigint
    if (type === 'u32' || type === 'i32') return BigInt.asUintN(64, BigInt(batch[name][i] as number))
    if (type === 'string' || type === 'bytes') return batch.strings.view(batch[name][i] as number)
    return undefined
  }

  private checkUsed(values: Values, used: number): void {
    if (Object.keys(values).length > used) this.losses.push('values that the record has no field for')
  }
}

/**
 * The number of elements of the repetitions that a leaf counts, which stand behind it in the same list or in a
 * composite there.
 */
function countOf(leaf: Leaf, program: Program, around: readonly Field[], rest: Values): bigint {
  const counts = new Set(lengths(leaf.position, program, around, rest))
  if (counts.size !== 1) throw new Misfit(DIFFERENT)
  return BigInt([...counts][0] as number)
}

function lengths(position: number, program: Program, fields: readonly Field[], rest: Values): number[] {
  const { keys } = program.mapping
  return fields.flatMap((field) => {
    const key = keys.get(field) as string
    if (field.kind === 'repetition') return field.count === position ? [elementsOf(rest, key).length] : []
    if (field.kind === 'leaf') return []
    if (key === '') return lengths(position, program, field.fields, rest)
    const inner = Object.hasOwn(rest, key) ? rest[key] : {}
    return lengths(position, program, field.fields, isObject(inner) ? inner : {})
  })
}

function elementsOf(rest: Values, key: string): readonly unknown[] {
  const elements = Object.hasOwn(rest, key) ? rest[key] : []
  if (!Array.isArray(elements)) throw new Misfit(UNLIKE)
  return elements
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEqual(value: unknown, must: bigint | string): boolean {
  if (typeof must === 'bigint') return value === must
  return equalBytes(value instanceof Uint8Array ? value : encodeText(String(value)), encodeText(must))
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

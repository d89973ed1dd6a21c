import { HI, LO } from '../../bytes/u64.js'
import { columnOf, type EventBatch, type U64Column } from '../../event/batch.js'
import { FIELDS, Has, type FieldName } from '../../event/fields.js'
import { parseJson } from '../../event/json.js'
import type { Losses } from '../../kernel/losses.js'
import { SECTION_KEY, type RecordMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'
import { isOptional } from './events.js'
import { MAX_BYTES, MAX_VALUES } from './layout.js'
import { ANY, NUMBER, getPair, type Program } from './program.js'
import { Origin, type Values } from './values.js'
import { samePair } from './words.js'

const HAS_FIELDS = Has.fields

/** The width of numbers whose width is another field's value, for there is no telling what else it should be. */
const REFERRED_WIDTH = 8n

/** What a leaf can count: elements, the bytes of other leaves, and those of numbers. */
const LISTS = 0
const BYTES = 1
const NUMBERS = 2

type JsonObject = Readonly<Record<string, unknown>>

/** A list of fields whose values are being added: those before `next` are. */
interface Level {
  readonly fields: readonly Field[]
  next: number
  readonly object: JsonObject | undefined
}

/** Why an event cannot be written at all. */
class Unwritable extends Error {}

/** Turns events into the values of records. */
export class Composer {
  private batch: EventBatch | undefined
  private row = 0
  private mapping: RecordMapping | undefined
  private program: Program | undefined
  private latest = new Uint32Array(0)
  private readonly levels: Level[] = []
  /** How many names of the object at hand are those of fields. */
  private known = 0
  /** What is looked for that a leaf counts. */
  private sought: number = LISTS
  private readonly pair = new Uint32Array(2)
  /** The leaves whose values are absent, and would be in what is read if any metadata was about them. */
  readonly silent: number[] = []

  constructor(
    private readonly losses: Losses,
    private readonly values: Values,
  ) {}

  /**
   * Puts event i into the values, as a record.
   *
   * @returns whether it can be written; if not, that was counted
   * @throws TraceError where losses are errors
   */
  compose(mapping: RecordMapping, program: Program, batch: EventBatch, i: number): boolean {
    this.batch = batch
    this.row = i
    this.mapping = mapping
    this.program = program
    this.levels.length = 0
    this.silent.length = 0
    this.values.clear()
    if (this.latest.length < 2 * program.mode.length) this.latest = new Uint32Array(2 * program.mode.length)
    try {
      this.object(program.record.fields, this.rest(), mapping.section === null ? 0 : 1)
      return true
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error
      this.note(`${program.record.name} with ${error.message}: left out`)
      return false
    }
  }

  /** The event's `fields`. */
  private rest(): JsonObject | undefined {
    const { mask, fields, strings } = this.batch as EventBatch
    if (((mask[this.row] as number) & HAS_FIELDS) === 0) return undefined
    const object = parseJson(strings.text(fields[this.row] as number)) as JsonObject
    const { section } = this.mapping as RecordMapping
    if (section === null || SECTION_KEY in object) return object
    return { ...object, [SECTION_KEY]: section }
  }

  /** Adds the values of one object's fields. */
  private object(fields: readonly Field[], object: JsonObject | undefined, known = 0): void {
    const { known: before } = this
    this.known = known
    this.fields(fields, object)
    if (object !== undefined && Object.keys(object).length > this.known)
      this.note(`fields that ${this.name} does not have`)
    this.known = before
  }

  private fields(fields: readonly Field[], object: JsonObject | undefined): void {
    const level: Level = { fields, next: 0, object }
    this.levels.push(level)
    for (const field of fields) {
      level.next++
      if (field.kind === 'leaf') this.leaf(field, this.own(field, object))
      else if (field.kind === 'repetition') this.repetition(field, this.own(field, object))
      else if (this.key(field) === '') this.fields(field.fields, object)
      else this.object(field.fields, asObject(this.own(field, object)))
    }
    this.levels.pop()
  }

  private repetition({ count, field }: Field & { kind: 'repetition' }, value: unknown): void {
    const items = asList(value)
    if (getPair(this.latest, count) !== BigInt(items.length)) {
      throw new Unwritable(`lists of other lengths than field ${this.leafAt(count).name} says`)
    }
    this.values.rounds += items.length
    for (const item of items) {
      if (field.kind === 'composite') this.object(field.fields, asObject(item))
      else if (field.kind === 'repetition') this.repetition(field, item)
      else this.leaf(field, item)
    }
  }

  /** Adds the value of a leaf; `given` is what `fields` has for it. */
  private leaf(leaf: Leaf, given: unknown): void {
    const { values } = this
    if (values.count >= MAX_VALUES || values.rounds > MAX_VALUES) throw new Unwritable(`more than ${MAX_VALUES} values`)
    const { position: p } = leaf
    const { fixed, isBytes } = this.program as Program
    const { field, role, silent } = (this.mapping as RecordMapping).leaves[p] as RecordMapping['leaves'][number]
    const k = values.count
    if (fixed[p] !== ANY) this.constant(leaf)
    else if (role === 'counted') values.addNumber(p, typeof given === 'bigint' ? given : this.derive(p), Origin.implied)
    else if (field >= 0 && this.column(leaf, field)) return this.remember(p, k)
    else if (given === undefined) {
      values.addAbsent(p)
      if (silent) this.silent.push(p)
      // Fields of events that are missing are counted elsewhere; no bytes are no loss, and neither is what takes no
      // room.
      else if (field < 0 && isBytes[p] !== 1 && !isNothing(leaf)) this.note(`no ${leaf.name}, written as 0 or empty`)
    } else if (isBytes[p] === 1) values.addBytes(p, this.bytes(given))
    else values.addNumber(p, asNumber(given))
    this.remember(p, k)
  }

  private remember(p: number, k: number): void {
    this.latest[2 * p] = this.values.words[2 * k] as number
    this.latest[2 * p + 1] = this.values.words[2 * k + 1] as number
  }

  /** Adds the value that a leaf always has; an event that has another one loses that. */
  private constant({ position: p, name }: Leaf): void {
    const { fixed, fixedWords } = this.program as Program
    const from = fixed[p] as number
    const words = from === NUMBER ? fixedWords : this.latest
    const at = 2 * (from === NUMBER ? p : from)
    this.values.addPair(p, words, at, Origin.implied)
    const { field } = (this.mapping as RecordMapping).leaves[p] as RecordMapping['leaves'][number]
    if (field < 0 || !this.read(field)) return
    if (!samePair(this.pair, 0, words, at)) this.note(`${name} of ${this.name} that is not what it always is there`)
  }

  /** Adds the event's own field. Returns whether it has it. */
  private column(leaf: Leaf, f: number): boolean {
    const { mask, strings } = this.batch as EventBatch
    if ((((mask[this.row] as number) >>> f) & 1) === 0) return false
    if (leaf.type !== 'bytes') {
      this.read(f)
      this.values.addPair(leaf.position, this.pair, 0)
      return true
    }
    const bytes = strings.view(this.string(f))
    const name = FIELDS[f]?.name as FieldName
    if (bytes.length === 0 && isOptional({ field: f, type: 'bytes' })) this.note(`empty ${name}`)
    if (bytes.length > MAX_BYTES) {
      this.note(`${name} of more than ${MAX_BYTES} bytes`)
      return false
    }
    this.values.addBytes(leaf.position, bytes)
    return true
  }

  /** The number in a column of the event, as `pair`. Returns whether it has it. */
  private read(f: number): boolean {
    const batch = this.batch as EventBatch
    const { row, pair } = this
    if ((((batch.mask[row] as number) >>> f) & 1) === 0) return false
    const column = batch[columnOf(f)]
    const words = (column as U64Column).words
    if (words !== undefined) {
      pair[LO] = words[2 * row + LO] as number
      pair[HI] = words[2 * row + HI] as number
    } else {
      const value = (column as Int32Array | Uint32Array)[row] as number
      pair[LO] = value
      pair[HI] = value < 0 ? -1 : 0
    }
    return true
  }

  private string(f: number): number {
    return ((this.batch as EventBatch)[columnOf(f)] as Uint32Array)[this.row] as number
  }

  /** The number of what leaf c counts. */
  private derive(c: number): bigint {
    // Bytes can be given another width by metadata, and numbers can do with any; lists cannot.
    for (const counted of [LISTS, BYTES, NUMBERS]) {
      this.sought = counted
      for (let i = this.levels.length - 1; i >= 0; i--) {
        const { fields, next, object } = this.levels[i] as Level
        const found = this.counted(c, fields, next, object)
        if (found >= 0n) return found
      }
    }
    return 0n
  }

  /**
   * How much there is of what leaf c counts, if that is among these fields, from the one with index `next` on; else -1.
   */
  private counted(c: number, fields: readonly Field[], next: number, object: JsonObject | undefined): bigint {
    for (let i = next; i < fields.length; i++) {
      const field = fields[i] as Field
      const key = this.key(field)
      const value = object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined
      let found = -1n
      if (field.kind === 'leaf') found = this.measured(c, field, value)
      else if (field.kind === 'composite')
        found = this.counted(c, field.fields, 0, key === '' ? object : asObject(value))
      else found = this.countedIn(c, field, value)
      if (found >= 0n) return found
    }
    return -1n
  }

  private countedIn(c: number, { count, field }: Field & { kind: 'repetition' }, value: unknown): bigint {
    const items = asList(value)
    if (count === c && this.sought === LISTS) return BigInt(items.length)
    if (items.length === 0) return -1n
    // All elements must be alike, which `repetition` and the writer check.
    const [item] = items
    if (field.kind === 'leaf') return this.measured(c, field, item)
    if (field.kind === 'repetition') return this.countedIn(c, field, item)
    return this.counted(c, field.fields, 0, asObject(item))
  }

  /** The width of a leaf if it is the value of leaf c, else -1. */
  private measured(c: number, { width, type, position }: Leaf, value: unknown): bigint {
    if (width?.kind !== 'reference' || width.position !== c) return -1n
    if (this.sought !== (type === 'bytes' ? BYTES : NUMBERS)) return -1n
    if (type !== 'bytes') return REFERRED_WIDTH
    const { field } = (this.mapping as RecordMapping).leaves[position] as RecordMapping['leaves'][number]
    const { mask, strings } = this.batch as EventBatch
    if (field >= 0 && (((mask[this.row] as number) >>> field) & 1) === 1) {
      const { length } = strings.view(this.string(field))
      return length > MAX_BYTES ? 0n : BigInt(length)
    }
    return value === undefined ? 0n : BigInt(this.bytes(value).length)
  }

  private bytes(value: unknown): Uint8Array {
    if (typeof value !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value))
      throw new Unwritable('bytes that are not in base64')
    const bytes = Buffer.from(value, 'base64')
    if (bytes.length > MAX_BYTES) throw new Unwritable(`a field of more than ${MAX_BYTES} bytes`)
    return bytes
  }

  /** What an object has for a field. */
  private own(field: Field, object: JsonObject | undefined): unknown {
    const key = this.key(field)
    if (object === undefined || key === '' || !Object.hasOwn(object, key)) return undefined
    this.known++
    return object[key]
  }

  private key(field: Field): string {
    return (this.mapping as RecordMapping).keys.get(field) ?? ''
  }

  private get name(): string {
    return (this.program as Program).record.name
  }

  private leafAt(p: number): Leaf {
    return (this.program as Program).record.leaves[p] as Leaf
  }

  private note(reason: string): void {
    this.losses.note(reason, this.batch as EventBatch, this.row)
  }
}

/** Whether the DTD has nothing stored for a leaf. */
function isNothing({ width }: Leaf): boolean {
  return width?.kind === 'constant' && width.bytes === 0
}

function asObject(value: unknown): JsonObject | undefined {
  if (value === undefined) return undefined
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) throw new Unwritable('a value where an object should be')
  return value as JsonObject
}

function asList(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new Unwritable('a value where a list should be')
  return value
}

function asNumber(value: unknown): bigint {
  if (typeof value !== 'bigint') throw new Unwritable('a value where an integer should be')
  if (BigInt.asUintN(64, value) !== value) throw new Unwritable(`the integer ${value}, which has more than 64 bits`)
  return value
}

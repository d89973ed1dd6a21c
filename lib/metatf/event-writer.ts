import { Sink } from '../bytes/sink.js'
import { HI, LO } from '../bytes/u64.js'
import { columnOf, EventBatch } from '../event/batch.js'
import { parseJson } from '../event/json.js'
import type { Losses } from '../kernel/losses.js'
import type { Chooser } from './record-choice.js'
import { NUMBER, type Layout } from './layout.js'
import { SECTION_KEY, type RecordMapping } from './mapping.js'
import { getPair, setPair } from './pairs.js'

/** The origin of a value: the event, none (so any value without bytes suffices), or a requirement of the record. */
export const Origin = { given: 0, absent: 1, implied: 2 } as const

type Values = Readonly<Record<string, unknown>>

/** The reason why an event cannot be written as its record. */
export class Unwritable extends Error {}

/**
 * The object that generated code for writing records of either form works on, with functions for everything not done
 * inline.
 */
export abstract class EventWriter {
  readonly sink = new Sink()
  batch: EventBatch = new EventBatch(0, 0, { format: '' })
  /** The next event, and the number of events to write. */
  row = 0
  end = 0
  /** Whether a window of waiting records is full. */
  isFull = false
  /** The layout of the current record. */
  layout: Layout | undefined
  /** By kind, the record for all of its events, or -1 if there are several or none. */
  readonly byKind: Int16Array
  /** By record, the fields that would be lost, and those that the event must have. */
  readonly losing: Int32Array
  readonly needed: Int32Array
  /** The number of earlier attempts to write the event in the row `triedRow`, whose losses are counted only once. */
  protected tries = 0
  protected triedRow = -1
  protected readonly pair = new Uint32Array(2)

  constructor(
    protected readonly mappings: readonly RecordMapping[],
    protected readonly chooser: Chooser,
    protected readonly losses: Losses,
  ) {
    this.byKind = chooser.byKind
    this.losing = Int32Array.from(mappings, ({ kind, carries }) => chooser.carried[kind] & ~carries)
    this.needed = Int32Array.from(mappings, ({ needs }) => needs)
  }

  /**
   * Lets generated code write the first `count` events of a batch.
   * @param loopFor the loop that writes the record at a position of the mapping
   * @param onFull called when a loop stops because a window of records is full
   */
  write(
    batch: EventBatch,
    count: number,
    loopFor: (position: number) => (run: EventWriter) => void,
    onFull?: () => void,
  ): void {
    this.begin(batch, count)
    while (this.row < count) {
      const position = this.choose(this.row)
      if (position < 0) {
        this.row++
        continue
      }
      try {
        loopFor(position)(this)
      } catch (error) {
        this.undo()
        if (!(error instanceof Unwritable)) throw error
        this.leaveOut(error)
      }
      if (this.isFull) onFull?.()
    }
  }

  /** Begins with a batch, of which this many events are to be written. */
  protected begin(batch: EventBatch, count: number): void {
    this.batch = batch
    this.row = 0
    this.end = count
    this.triedRow = -1
  }

  /** The record that event i is written as, or -1 if there is none, which is counted. */
  choose(i: number): number {
    return this.chooser.choose(this.batch, i)
  }

  /** Counts the losses of event i when it is written as that record. */
  compare(i: number, position: number): void {
    this.chooser.compare(this.batch, i, this.mappings[position])
  }

  /** The `fields` of event i. */
  rest(i: number, position: number): Values {
    const { fields, strings } = this.batch
    const object = parseJson(strings.text(fields[i])) as Values
    const { section } = this.mappings[position]
    return section === null || SECTION_KEY in object ? object : { ...object, [SECTION_KEY]: section }
  }

  /** The number of event i in a column, in the form that it has in `fields`. */
  columnNumber(field: number, i: number): bigint {
    const column = this.batch[columnOf(field)]
    if ('words' in column) return column.values[i]
    return BigInt.asUintN(64, BigInt((column as Int32Array)[i]))
  }

  /** Writes a number from `fields`, or its absence. Returns the position after it. */
  given(layout: Layout, p: number, at: number, value: unknown): number {
    if (value === undefined) return this.absent(layout, p, at)
    if (typeof value !== 'bigint') throw new Unwritable('a value where an integer should be')
    if (BigInt.asUintN(64, value) !== value) throw new Unwritable(`the integer ${value}, which has more than 64 bits`)
    setPair(this.pair, 0, value)
    return this.put(layout, p, at, this.pair[LO], this.pair[HI])
  }

  /** Writes the fixed value of a leaf; another value in the event is a loss. */
  constant(layout: Layout, p: number, at: number, given: unknown): number {
    const { fixed, fixedWords, latest, record } = layout
    const from = fixed[p]
    const words = from === NUMBER ? fixedWords : latest
    const value = getPair(words, from === NUMBER ? p : from)
    if (given !== undefined && given !== value)
      this.note(`${record.leaves[p].name} of ${record.name} that is not what it always is there`)
    setPair(this.pair, 0, value)
    return this.put(layout, p, at, this.pair[LO], this.pair[HI], Origin.implied)
  }

  unknown(values: Values, known: number): void {
    if (Object.keys(values).length > known) this.note(`fields that ${this.name} does not have`)
  }

  mismatch({ record }: Layout, count: number): never {
    throw new Unwritable(`lists of other lengths than field ${record.leaves[count].name} says`)
  }

  /** Counts the current event, which cannot be written, and continues with the next. */
  private leaveOut({ message }: Unwritable): void {
    this.note(`${this.name} with ${message}: left out`)
    this.row++
  }

  /** Undoes the current record. */
  protected undo(): void {
    this.layout?.undo()
    this.triedRow = -1
  }

  /** Writes the number of elements or bytes: that in `fields`, if there is one, or the actual number. */
  length(layout: Layout, p: number, at: number, given: unknown, counted: number): number {
    if (typeof given === 'bigint') setPair(this.pair, 0, given)
    else setPair(this.pair, 0, BigInt(counted))
    return this.put(layout, p, at, this.pair[LO], this.pair[HI], Origin.implied)
  }

  tooMany(): never {
    throw new Unwritable(`more than ${this.maxValues} values`)
  }

  /** Writes a number, if there is room for it. Returns the position after it. */
  abstract put(layout: Layout, p: number, at: number, lo: number, hi: number, origin?: number): number

  protected abstract readonly maxValues: number

  /** Writes the absence of a number. */
  protected abstract absent(layout: Layout, p: number, at: number): number

  protected get name(): string {
    return (this.layout as Layout).record.name
  }

  protected note(reason: string): void {
    if (this.triedRow !== this.row) this.losses.countEvent(reason, this.batch, this.row)
  }
}

/** The value of a name in an object of `fields`, or undefined. */
export function own(object: Values, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** A value of `fields` that must be an object, if present. */
export function object(value: unknown): Values | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Values
  throw new Unwritable('a value where an object should be')
}

/** A value of `fields` that must be a list; an empty list if absent. */
export function list(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw new Unwritable('a value where a list should be')
}

import type { EventBatch } from '../event/batch.js'
import { synchronous } from '../event/synchronous.js'
import type { Synchronous } from './expression.js'
import { rowsFrom, selectRows } from '../kernel/select.js'
import { expressionError, type TraceError } from '../event/error.js'
import { ALL_FIELDS, EVERY_FIELD, type ApiName, type KindName } from '../event/fields.js'
import { NO_HEADER, withMarks, type TraceHeader } from '../event/header.js'
import { checkOptions, ofOption, type OptionNames } from '../event/options.js'
import type { BatchTransform } from '../event/stage.js'
import type { TraceEvent } from '../event/trace-event.js'
import * as Criteria from './predicates/predicates.js'
import { SpacesError } from '../blocks/address-spaces.js'
import { BEGINS_HERE, ENDS_HERE, Lifetimes } from '../blocks/lifetimes.js'
import { hasFates } from './fates/predicate.js'
import type { Fate, FateOptions } from './fates/survey.js'
import { MissingFields } from './missing-fields.js'
import { TEMPORARY_DEFINITIONS } from './option-values.js'
import { freeWarnings, makeAllocation, makeFree } from './repair/changes.js'
import { NameTest, type NamePattern } from './predicates/match.js'
import { GROUP_OPTIONS, groupCriteria, type GroupCriteria } from './predicates/group-fields.js'
import { LostEvents, type Criterion } from './predicates/lost-events.js'
import { byRanges } from './predicates/row-filter.js'
import { rangeWords, type Range } from './predicates/ranges.js'

/** One value, or several of which any suffices. */
export type OneOrMore<T> = T | readonly T[]

/**
 * Which events to keep: those that meet every criterion given; within one criterion, any of its values suffices. An
 * event that does not have the field never meets a criterion on it. Ranges are inclusive. There may be 65,536 values or
 * ranges of one field; adjacent ones count as one.
 *
 * A `lost` event, where the recorder lost others, is dropped only by criteria on events, kinds and the time, CPU,
 * thread, process or heap that it has: what was lost may have met the others. So is the event with which a recording
 * ends early. A filter warns if kinds drop them.
 */
export interface FilterOptions extends FateOptions, GroupCriteria {
  readonly thread?: OneOrMore<bigint | number>
  /** `'none'`: events without a process. In a recording with several processes, these belong to the first. */
  readonly process?: OneOrMore<bigint | number | 'none'>
  readonly heap?: OneOrMore<bigint | number>
  readonly cpu?: OneOrMore<bigint | number>
  readonly kind?: OneOrMore<KindName>
  readonly api?: OneOrMore<ApiName>
  /** Bytes requested. Frees have no size: see `lifetimes`. */
  readonly size?: OneOrMore<Range>
  /** The event's address; for a realloc, the new one. */
  readonly address?: OneOrMore<Range>
  /** In the unit of the trace's header. */
  readonly time?: OneOrMore<Range>
  /** Numbers of events, the first one that reaches this filter being 1. */
  readonly events?: OneOrMore<Range>
  readonly function?: OneOrMore<NamePattern>
  readonly file?: OneOrMore<NamePattern>
  readonly module?: OneOrMore<NamePattern>
  readonly type?: OneOrMore<NamePattern>
  /** Some frame of the stack. */
  readonly stack?: OneOrMore<NamePattern>
  /**
   * A custom condition: called with each event that meets the other criteria, as a plain object, and its number, from
   * 1. It decides nothing about `lost` events. Slow; the other criteria are fast.
   */
  readonly where?: (event: TraceEvent, n: number) => Synchronous
  /** Keep the events that do not meet all criteria instead. */
  readonly invert?: boolean
  /**
   * Keep blocks, not events: all later events of every block with an allocation that meets the criteria (with `invert`:
   * the inverted criteria), and no free or realloc of any other block. A realloc that is the first event of its block
   * to meet the criteria begins it: it becomes an allocation, unless it is of NULL. Where another block, which is not
   * kept, begins at the address of a kept one, that has no free: a free stands in place of the event, and a warning
   * says how many. A free of NULL concerns no block, and is not kept; a failed realloc is kept if its block is. Other
   * events that neither begin nor end a block, such as comments, are kept if they meet the criteria. Memory grows with
   * the number of kept blocks that are live.
   */
  readonly lifetimes?: boolean
}

const OPTIONS: OptionNames<FilterOptions> = {
  ...GROUP_OPTIONS,
  thread: true,
  process: true,
  heap: true,
  cpu: true,
  kind: true,
  api: true,
  size: true,
  address: true,
  time: true,
  events: true,
  function: true,
  file: true,
  module: true,
  type: true,
  stack: true,
  leaked: 'boolean',
  temporary: 'boolean',
  temporaryBy: TEMPORARY_DEFINITIONS,
  liveAt: true,
  where: 'function',
  invert: 'boolean',
  lifetimes: 'boolean',
}

/**
 * The numbers, from 0, of the events that a filter needs to see. Others are not kept, and do not affect the result.
 * @returns undefined if it needs all
 */
export function neededEvents(options: FilterOptions): { readonly first: number; readonly end: number } | undefined {
  if (options.events === undefined || options.invert === true || needsSurvey(options)) return undefined
  const bounds = rangeWords([options.events].flat())
  const first = Number(bounds[0] ?? 1n) - 1
  // Later events of kept blocks are kept.
  const end = options.lifetimes === true ? Infinity : Number(bounds.at(-1) ?? 0n)
  return { first: Math.max(0, first), end: Number.isSafeInteger(end) ? end : Infinity }
}

/** Options that keep blocks whole: all events of a block are in one process, and a leaked block has no free. */
const KEEPS_BLOCKS: ReadonlySet<keyof FilterOptions> = new Set(['process', 'leaked', 'invert', 'lifetimes'])

/**
 * Keeps some of the events. A filter that may separate the events of a block says so in the header (`filtered`). Its
 * warnings name the required fields that no event has. Batches whose events are all kept are passed on unchanged, and
 * those without kept events are dropped, except that a batch with a new header is always passed on, even without
 * events.
 */
export class Filter implements BatchTransform {
  readonly consumes = true
  readonly warnings: string[] = []
  private readonly predicates: readonly Criteria.Predicate[]
  private readonly lost: LostEvents
  private readonly invert: boolean
  private readonly lifetimes: Lifetimes | undefined
  private readonly missing: MissingFields
  private readonly tests: NameTest[] = []
  /** Whether a kept block may lose other events. */
  private readonly tearsBlocks: boolean
  private input: EventBatch | null = null
  /** The header of the current trace, as received and as passed on. */
  private header: TraceHeader | undefined
  private marked: TraceHeader = NO_HEADER
  private rows = new Int32Array(0)
  private keptCount = 0
  /** The row of the current batch at which the function of `where` failed, or blocks cannot be distinguished. */
  private fault: { readonly row: number; readonly error: TraceError } | undefined
  /** The fault of the first pass. */
  private readonly unclear: SpacesError | undefined
  private labels = new Uint32Array(0)
  /** The numbers of all rows. */
  private numbers = new Int32Array(0)
  /** The rows of the result that are reallocs and must become allocations. */
  private begun: number[] = []
  /** The rows that must become frees, and the number of all such events so far. */
  private overlapping: number[] = []
  private overlaps = 0

  /**
   * @param fates the results of a first pass over the same events, by a `FateSurvey` with these options
   * @param before the number of events before the first batch that is fed
   * @throws RangeError for an unknown option, for a value that no event can have, such as an unknown kind or an empty
   *   range, or for too many values
   */
  constructor(
    options: FilterOptions = {},
    fates?: readonly Fate[],
    private before = 0,
  ) {
    checkOptions(options, OPTIONS, 'filter')
    if (fates === undefined && needsSurvey(options))
      throw new RangeError('leaked, temporary and liveAt need two passes over the events: use filterFile()')
    // Predicates that follow blocks must see all rows, so they come first.
    const criteria = criteriaOf(options, this.tests)
    this.unclear = fates?.[0]?.unclear
    this.predicates = [
      ...(fates === undefined ? [] : [hasFates(fates, options.invert !== true)]),
      ...criteria.map(({ test }) => test),
      ...(options.where === undefined ? [] : [this.meets(options.where)]),
    ]
    this.invert = options.invert ?? false
    this.lost = new LostEvents(criteria, this.invert)
    this.lifetimes = options.lifetimes === true ? new Lifetimes(true) : undefined
    const given = (Object.keys(options) as (keyof FilterOptions)[]).filter((name) => options[name] !== undefined)
    this.missing = new MissingFields(
      EVERY_FIELD.map(({ name }) => name).filter(
        (name) => (given as readonly string[]).includes(name) && !(name === 'process' && takesNoProcess(options)),
      ),
    )
    this.tearsBlocks = this.lifetimes === undefined && given.some((name) => !KEEPS_BLOCKS.has(name))
  }

  /** The rows of the last batch that were kept, in order. Valid until the next batch; do not change them. */
  get kept(): Int32Array {
    return this.rows.subarray(0, this.keptCount)
  }

  feed(batch: EventBatch): void {
    this.input = batch
  }

  dispose(): void {
    this.lifetimes?.dispose()
  }

  /** @throws TraceError when `where` throws, or blocks cannot be distinguished, after all events before that one */
  next(): EventBatch | null {
    if (this.fault !== undefined) throw this.fault.error
    const { input, unclear } = this
    if (input === null) return null
    this.input = null
    const end = unclear?.event === undefined ? Infinity : unclear.event - 1 - this.before
    const batch = end < input.count ? rowsFrom(input, 0, end) : input
    if (unclear !== undefined && batch !== input) this.fault = { row: end, error: unclear }
    this.missing.look(batch)
    const n = this.select(batch)
    this.keptCount = n
    this.before += batch.count
    const announces = batch.header !== this.header
    if (announces) this.begin(batch.header)
    if (n === 0 && !announces) return null
    const { begun, overlapping } = this
    if (n === batch.count && this.marked === batch.header && begun.length + overlapping.length === 0) return batch
    const kept = selectRows(batch, this.rows, n, ALL_FIELDS, this.marked)
    for (const row of begun) makeAllocation(kept, row)
    for (const row of overlapping) makeFree(kept, row)
    this.overlaps += overlapping.length
    return kept
  }

  end(): void {
    const names = { function: 'stack', file: 'stack', module: 'stack' } as const
    this.warnings.push(...this.missing.warnings('so no event matches it', 'filter on', undefined, names))
    this.warnings.push(...this.tests.flatMap(({ doubt }) => doubt ?? []))
    this.endTruncated()
  }

  endTruncated(): void {
    this.warnings.push(...this.lost.warnings(), ...freeWarnings(this.overlaps))
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.marked =
      this.tearsBlocks && header.filtered !== true ? withMarks(header, { ...header, filtered: true }) : header
  }

  /** Puts the rows to keep into `rows`, in order, and returns their number. */
  private select(batch: EventBatch): number {
    const { count } = batch
    if (this.rows.length < count) {
      this.rows = new Int32Array(count)
      this.labels = new Uint32Array(count)
      this.numbers = Int32Array.from(this.rows, (_, i) => i)
    }
    const { rows } = this
    rows.set(this.numbers.subarray(0, count))
    let n = count
    for (const predicate of this.predicates) {
      if (n === 0) break
      n = predicate(batch, rows, n, this.before)
    }
    let end = this.fault?.row ?? count
    const hasLost = this.lost.find(batch)
    if (this.lifetimes === undefined && !hasLost) return this.invert ? complement(rows, n, end) : n
    const { labels } = this
    labels.fill(this.invert ? 1 : 0, 0, count)
    label(labels, rows, n, this.invert ? 0 : 1)
    if (hasLost) this.lost.label(batch, labels, this.before)
    try {
      this.lifetimes?.follow(batch, labels)
    } catch (error) {
      if (!(error instanceof SpacesError)) throw error
      if (error.row < end) {
        end = error.row
        this.fault = { row: end, error: error.at({ format: batch.header.format, event: this.before + end + 1 }) }
      }
    }
    this.begun = []
    this.overlapping = []
    return keepLabelled(rows, labels, end, this.begun, this.overlapping)
  }

  /** The predicate of `where`. Where it fails, no row from there on is kept. */
  private meets(where: NonNullable<FilterOptions['where']>): Criteria.Predicate {
    return (batch, rows, n, before) => {
      let kept = 0
      for (let j = 0; j < n; j++) {
        const row = rows[j]
        const number = before + row + 1
        try {
          if (synchronous(where(batch.event(row), number))) rows[kept++] = row
        } catch (error) {
          this.fault = { row, error: expressionError(error, number) }
          break
        }
      }
      return kept
    }
  }
}

/** Whether the criteria need a first pass over the events. */
export function needsSurvey({ leaked, temporary, liveAt }: FilterOptions): boolean {
  return leaked === true || temporary === true || liveAt !== undefined
}

/** The rows below `count` that are not among the ascending `rows[0..n)`, in place; returns their number. */
function complement(rows: Int32Array, n: number, count: number): number {
  const selected = rows.slice(0, n)
  let kept = 0
  let j = 0
  for (let i = 0; i < count; i++) {
    if (j < n && selected[j] === i) j++
    else rows[kept++] = i
  }
  return kept
}

// The loops over rows are separate functions, because V8 optimizes a short function sooner than a method with several
// loops, and only once.

/** Labels the events of `rows[0..n)`. */
function label(labels: Uint32Array, rows: Int32Array, n: number, value: number): void {
  for (let j = 0; j < n; j++) labels[rows[j]] = value
}

/**
 * Puts the rows below `end` that have a label into `rows`.
 * @param begun takes the positions in `rows` of events at which blocks begin
 * @param overlapping takes the positions of events that end blocks without a free
 * @returns the number of rows
 */
function keepLabelled(
  rows: Int32Array,
  labels: Uint32Array,
  end: number,
  begun: number[],
  overlapping: number[],
): number {
  let n = 0
  for (let i = 0; i < end; i++) {
    const label = labels[i]
    rows[n] = i
    if (label >= ENDS_HERE) (label >= BEGINS_HERE ? begun : overlapping).push(n)
    if (label !== 0) n++
  }
  return n
}

/** Whether an event without a process meets the criterion on it. */
function takesNoProcess({ process }: FilterOptions): boolean {
  return process === Criteria.NO_PROCESS || (Array.isArray(process) && process.includes(Criteria.NO_PROCESS))
}

/** The criteria of some options, the cheapest ones first. @param tests takes those of names */
function criteriaOf(options: FilterOptions, tests: NameTest[]): Criterion[] {
  const criteria: Criterion[] = []
  const add = <T>(
    name: keyof FilterOptions,
    option: OneOrMore<T> | undefined,
    make: (values: readonly T[]) => Criteria.Predicate,
  ) => {
    if (option === undefined) return
    const values = Array.isArray(option) ? (option as readonly T[]) : [option as T]
    criteria.push({ name, test: ofOption('filter', name, () => make(values)) })
  }
  add('events', options.events, Criteria.isNumbered)
  add('kind', options.kind, Criteria.isKind)
  add('api', options.api, Criteria.isApi)
  add('cpu', options.cpu, Criteria.onCpu)
  for (const field of ['thread', 'heap'] as const)
    add(field, options[field], (values: readonly (bigint | number)[]) => Criteria.hasValue(field, values))
  add('process', options.process, Criteria.isOfProcess)
  for (const field of ['size', 'address', 'time'] as const)
    add(field, options[field], (ranges: readonly Range[]) => byRanges(field, ranges))
  for (const field of ['function', 'file', 'module', 'type', 'stack'] as const)
    add(field, options[field], (patterns: readonly NamePattern[]) => {
      const names = new NameTest(patterns)
      tests.push(names)
      return Criteria.isNamed(field, names)
    })
  return [...criteria, ...groupCriteria(options)]
}

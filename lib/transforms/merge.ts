import { BATCH_STRING_BYTES, EventBatch } from '../event/batch.js'
import { malformed } from '../event/error.js'
import { fieldSet, FieldBit, Kind } from '../event/fields.js'
import * as Header from '../event/header.js'
import { checkOptions, wholeNumber, type OptionNames } from '../event/options.js'
import { plural } from '../event/message-text.js'
import { MERGE_WINDOW } from './option-values.js'
import { KWayMerger } from '../order/k-way-merge.js'
import * as OrderCheck from '../order/order-check.js'
import { SortKeys, type SequenceOrigin } from '../order/sort-keys.js'
import { dropField, partsOfOne } from './merge-parts.js'
import { microsToNanos } from './time-unit.js'

/** With many inputs the windows are smaller, so that their total is this size, but none is smaller than the minimum. */
const ALL_WINDOWS = 16 * MERGE_WINDOW
const LEAST_WINDOW = 64

/** The same for the memory of the strings of a window's events: for each input, for all, and the minimum. */
const WINDOW_BYTES = 16 * BATCH_STRING_BYTES
const ALL_WINDOW_BYTES = 8 * WINDOW_BYTES
const LEAST_WINDOW_BYTES = BATCH_STRING_BYTES

export interface MergeOptions {
  /** The field that determines the order. */
  readonly by: OrderCheck.MergeOrder
  /**
   * The maximum number of events by which an event may be late in its input and still be put in order. Default
   * `MERGE_WINDOW`; with more than 16 inputs fewer, down to 64. The number is also lower if the names and call stacks
   * of these events take more than 4 MiB, or 32 MiB for all inputs.
   */
  readonly window?: number
}

/** What these may be. */
export const MERGE_OPTIONS: OptionNames<MergeOptions> = { by: OrderCheck.MERGE_ORDERS, window: wholeNumber() }

const { index: HAS_INDEX, process: HAS_PROCESS } = FieldBit
const LAST_OF_BLOCKS = Kind.existing
const HAS_SEQUENCE = FieldBit.sequence
const TIMES = fieldSet('time', 'endTime')

/**
 * Merges several traces into one by time or sequence number. Equal values keep the order of the inputs. Events without
 * the field stay after their predecessor in their own input; before the first event with the field, they count as zero.
 * An event that comes later in its input than the window allows is passed on immediately, out of order.
 *
 * The merged trace has one header: format, time unit and layout where the inputs agree, nanoseconds where they do not.
 * mpatrol's indices count the blocks of a single trace, so they are dropped with several inputs, unless all are parts
 * of one trace. Parts that are numbered are put together exactly by `PartMerger`.
 *
 * Not a `Stage`, because it has several inputs: feed or end the input that `wants` names until it is -1, take the
 * results of `next` until it is null, and repeat. At the end, both report that nothing is left. Memory: for each input
 * one batch and the window, which is smaller for large events.
 */
export class Merger {
  /** Warnings, as sentences, complete when everything has been delivered. Those about one input begin with its name. */
  readonly warnings: string[] = []
  private readonly interleaver: KWayMerger
  private readonly audit: OrderCheck.OrderChecker
  private readonly inputs: readonly Input[]
  /** The number of inputs that have neither delivered a header nor ended. */
  private unseen: number
  /** Batches that arrived before all headers were known. */
  private waiting: { input: number; batch: EventBatch }[] = []
  /** Whether the inputs are parts of one trace. */
  private parts: ReturnType<typeof partsOfOne>
  /** The header of the merged trace, once it is known. */
  private header: Header.TraceHeader | undefined
  private state: 'new' | 'begun' | 'done' = 'new'
  private indices = 0
  private overflows = 0

  /**
   * @param names of the inputs, for messages
   * @param options `by` is the field that determines the order
   */
  constructor(names: readonly string[], options: MergeOptions) {
    checkOptions(options, MERGE_OPTIONS, 'merge')
    const { by, window } = options
    const origin: SequenceOrigin = {}
    this.inputs = names.map((name) => ({
      name,
      keys: new SortKeys(by, origin),
      header: undefined,
      ended: false,
      isWhole: true,
      told: new Set(),
      events: 0,
      hasFirst: false,
    }))
    this.unseen = names.length
    const share = (least: number, most: number, all: number) =>
      Math.max(least, Math.min(most, Math.floor(all / names.length)))
    this.interleaver = new KWayMerger(
      names.length,
      window ?? share(LEAST_WINDOW, MERGE_WINDOW, ALL_WINDOWS),
      share(LEAST_WINDOW_BYTES, WINDOW_BYTES, ALL_WINDOW_BYTES),
    )
    this.audit = new OrderCheck.OrderChecker(by)
  }

  /** The results so far: the number of events, and how well they were ordered. */
  get statistics(): Readonly<OrderCheck.OrderStatistics> {
    return this.audit.statistics
  }

  /**
   * Feeds the next batch of an input.
   * @throws TraceError when its times cannot be converted to the unit of the merged trace
   */
  feed(input: number, batch: EventBatch): void {
    const state = this.inputs[input]
    if (state.header === undefined) {
      state.header = batch.header
      this.unseen--
    }
    if (this.header !== undefined) this.pass(input, batch)
    else this.waiting.push({ input, batch })
    this.settle()
  }

  /**
   * Marks an input as complete.
   * @param isWhole false if it failed before its end, so that nothing is said of all of its events
   */
  end(input: number, isWhole = true): void {
    const state = this.inputs[input]
    if (state.ended) return
    state.ended = true
    state.isWhole = isWhole
    if (state.header === undefined) this.unseen--
    if (this.header !== undefined) this.interleaver.end(input)
    this.settle()
  }

  /** An input that must be fed or ended before `next` can deliver anything; -1 if there is none. */
  wants(): number {
    if (this.unseen > 0) return this.inputs.findIndex(({ header, ended }) => header === undefined && !ended)
    return this.interleaver.wants()
  }

  /**
   * The next events; null when an input is wanted, or at the end. A merged trace without events becomes one empty
   * batch.
   */
  next(): EventBatch | null {
    this.settle()
    if (this.header === undefined || this.state === 'done') return null
    let batch = this.interleaver.next(this.header)
    if (batch !== null) {
      this.audit.take(batch)
      const clashes = this.inputs.length > 1 && this.parts === undefined
      if (clashes && (batch.columns & HAS_INDEX) !== 0) this.indices += dropField(batch, HAS_INDEX)
      if (this.parts === 'numbered') dropField(batch, HAS_SEQUENCE)
    } else if (this.interleaver.wants() < 0) {
      if (this.state === 'new') batch = new EventBatch(0, 0, this.header)
      else this.finish()
    }
    if (batch !== null) this.state = 'begun'
    return batch
  }

  /** Decides on the header as soon as the headers of all inputs are known. */
  private settle(): void {
    if (this.header !== undefined || this.unseen > 0) return
    const headers = this.inputs.flatMap(({ header }) => header ?? [])
    this.header = mergeHeaders(headers)
    this.parts = partsOfOne(headers)
    if (this.parts === 'unnumbered' && this.audit.by === 'time' && this.inputs.length > 1) {
      this.warnings.push(
        'the inputs are parts of one trace, without numbers: events of equal time may change places; split with ' +
          '--number',
      )
    }
    const { waiting } = this
    this.waiting = []
    for (const { input, batch } of waiting) this.pass(input, batch)
    this.inputs.forEach(({ ended }, input) => {
      if (ended) this.interleaver.end(input)
    })
  }

  private pass(input: number, source: EventBatch): void {
    const state = this.inputs[input]
    const { timeUnit } = this.header as Header.TraceHeader
    if (source.header !== state.header) this.tell(state, 'more than one trace: they are merged as if they were one')
    if (source.header.timeUnit === undefined && timeUnit !== undefined && (source.columns & TIMES) !== 0) {
      this.tell(state, `its times have no unit: taken for ${timeUnit}`)
    }
    let batch = source
    const unit = source.header.timeUnit ?? timeUnit
    if (unit !== timeUnit) {
      const at = { format: source.header.format, event: state.events + 1 }
      if (unit === 'ns') throw malformed(`a trace in ns begins where those before are in ${timeUnit}`, at)
      const converted = microsToNanos(source)
      batch = converted.batch
      this.overflows += converted.overflows
    }
    state.events += batch.count
    if (!state.hasFirst && Header.namesProcess(source.header)) state.hasFirst = hasFirstProcess(batch)
    this.interleaver.feed(input, batch, state.keys.of(batch))
  }

  /** Warns of an input, once for each text. */
  private tell({ name, told }: Input, text: string): void {
    if (told.has(text)) return
    told.add(text)
    this.warnings.push(`${name}: ${text}`)
  }

  private finish(): void {
    this.state = 'done'
    const { by } = this.audit
    const what = by === 'time' ? 'time' : 'sequence number'
    for (const { name, keys, events, isWhole } of this.inputs) {
      if (this.inputs.length > 1 && isWhole && events > 0 && keys.keyed === 0)
        this.warnings.push(`${name}: no event has a ${what}: they come first, in their own order`)
    }
    const firsts = this.inputs.flatMap(({ header, hasFirst }) => (hasFirst ? [header?.layout?.['process']] : []))
    if (this.parts === undefined && new Set(firsts).size > 1) {
      this.warnings.push(
        'the first processes of the traces have no numbers, so that their blocks at one address are taken for one ' +
          'block: use --process-offset 1000 --number-processes, or --end-to-end',
      )
    }
    if (this.indices > 0)
      this.warnings.push(`allocation indices of different traces clash: left out of ${plural(this.indices, 'event')}`)
    if (this.overflows > 0) this.warnings.push(`times too large for ns, set to the largest value: ${this.overflows}`)
    this.warnings.push(...OrderCheck.orderWarnings(this.audit.statistics))
  }
}

interface Input {
  name: string
  keys: SortKeys
  /** Its first header. */
  header: Header.TraceHeader | undefined
  ended: boolean
  /** Whether it ended with its last event. */
  isWhole: boolean
  /** The warnings about it so far. */
  told: Set<string>
  events: number
  /** Whether it has blocks of a process that its header names, and the events do not. */
  hasFirst: boolean
}

function hasFirstProcess({ mask, kind, count }: EventBatch): boolean {
  for (let i = 0; i < count; i++) if ((mask[i] & HAS_PROCESS) === 0 && kind[i] <= LAST_OF_BLOCKS) return true
  return false
}

/**
 * The header of a trace merged from several: the format if all have the same one, otherwise `merged` with a list of
 * them; the finest unit of time; and, for a single format, the layout entries that are equal in all. It is marked as
 * filtered if any of them is, or if one is a part of a trace that may lack events of its blocks: whether all parts are
 * there is not known. Numbered parts of one trace are put together by `PartMerger`.
 */
export function mergeHeaders(headers: readonly Header.TraceHeader[]): Header.TraceHeader {
  const [first, ...others] = headers
  if (first === undefined) return Header.NO_HEADER
  const units = headers.map((header) => header.timeUnit)
  const timeUnit = units.find((unit) => unit === 'ns') ?? units.find((unit) => unit !== undefined)
  const marks = headers.some(Header.lacksEvents) ? { filtered: true as const } : {}
  const formats = [...new Set(headers.flatMap(Header.formatsOf))]
  const entries =
    formats.length > 1
      ? mergedLayout(formats, headers)
      : Object.entries(first.layout ?? {}).filter(([key, value]) =>
          others.every(({ layout }) => layout?.[key] === value),
        )
  const layout = entries.length > 0 ? { layout: Object.fromEntries(entries) } : {}
  const format = formats.length > 1 ? Header.MERGED : first.format
  return Header.withMarks({ format, ...(timeUnit !== undefined && { timeUnit }), ...layout }, marks)
}

/** What remains known of traces of several formats: these, and whether addresses are the programs'. */
function mergedLayout(
  formats: readonly string[],
  headers: readonly Header.TraceHeader[],
): [string, string | boolean][] {
  const listed: [string, string] = ['formats', formats.join(',')]
  return formats.includes('heaptrack') ? [listed, ['raw', !headers.some(Header.hasInventedAddresses)]] : [listed]
}

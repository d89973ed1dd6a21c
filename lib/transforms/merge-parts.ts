import { doubleAt } from '../bytes/u64.js'
import { batchesOf, EventBatch } from '../event/batch.js'
import { earlyEnd } from '../event/early-end.js'
import { malformed, type TraceError } from '../event/error.js'
import { ALL_FIELDS, FieldBit, Kind } from '../event/fields.js'
import { withMarks, type TraceHeader } from '../event/header.js'
import { plural } from '../event/message-text.js'
import { KWayMerger } from '../order/k-way-merge.js'
import { NumberKeys } from '../order/number-keys.js'
import { selectRows } from '../kernel/select.js'

const HAS_SEQUENCE = FieldBit.sequence
const { free: FREE, lost: LOST, other: OTHER, 'process-end': PROCESS_END } = Kind

/**
 * Whether traces are parts of one trace that was split.
 * @param headers the first header of each; undefined for inputs that have none
 * @returns `numbered` if the parts can be merged exactly, `unnumbered` if not, undefined for other traces
 */
export function partsOfOne(headers: readonly (TraceHeader | undefined)[]): 'numbered' | 'unnumbered' | undefined {
  const parts = headers.filter((header) => header !== undefined).map(({ part }) => part)
  const [first] = parts
  if (first === undefined || parts.some((part) => part?.of !== first.of)) return undefined
  return parts.every((part) => part?.first !== undefined) ? 'numbered' : 'unnumbered'
}

/**
 * Removes a field from all events of a batch that has not been delivered yet.
 * @returns the number of events that had it
 */
export function dropField(batch: EventBatch, has: number): number {
  const { mask, count } = batch
  let dropped = 0
  for (let i = 0; i < count; i++) {
    if ((mask[i] & has) === 0) continue
    mask[i] = mask[i] & ~has
    dropped++
  }
  batch.columns &= ~has
  return dropped
}

/**
 * Merges numbered parts of a trace (see `TracePart`) into the trace that was split, exactly as it was: its headers, all
 * events in their order, and without the numbers. What is in several parts is one event again: the end of a process,
 * lost events, and the early end of a recording. Frees that splitting has written, which have no numbers, are left out.
 * Where parts are missing, each trace has a last event that says how many events it lost, unless it was filtered, as
 * its header says. It is fed like `Merger`.
 *
 * Memory: for each input one batch.
 */
export class PartMerger {
  /** Warnings, as sentences, complete when everything has been delivered. */
  readonly warnings: string[] = []
  private readonly inputs: readonly Input[]
  /** The trace being merged: its number, its header, and the merger of its parts. */
  private trace = 0
  private header: TraceHeader | undefined
  private interleaver: KWayMerger | undefined
  private isEmpty = true
  private isDone = false
  /** The greatest number so far. */
  private last = 0
  private events = 0
  private missing = 0
  /** As many of them had an event that says so. */
  private lost = 0
  private firstMissing = 0
  private late = 0
  private fault: TraceError | undefined

  /** @param inputs their number */
  constructor(inputs: number) {
    this.inputs = Array.from({ length: inputs }, () => ({ keys: new NumberKeys(), queue: [], ended: false }))
  }

  /** Feeds the next batch of an input. @throws TraceError when it belongs to another trace */
  feed(input: number, batch: EventBatch): void {
    const { queue } = this.inputs[input]
    const trace = batch.header.part?.trace ?? 0
    if (batch.header.part?.first === undefined || trace < this.trace)
      throw malformed('it holds more than numbered parts of one trace', { format: batch.header.format })
    queue.push(batch)
    this.pass(input)
  }

  /** Marks an input as complete. */
  end(input: number): void {
    this.inputs[input].ended = true
    this.pass(input)
  }

  /** An input that must be fed or ended before `next` can deliver anything; -1 if there is none. */
  wants(): number {
    return this.interleaver?.wants() ?? this.inputs.findIndex(({ queue, ended }) => queue.length === 0 && !ended)
  }

  /**
   * The next events; null when an input is wanted, or at the end. A trace without events becomes one empty batch.
   * @throws TraceError when two events have the same number, after the events before the second one
   */
  next(): EventBatch | null {
    if (this.fault !== undefined) throw this.fault
    while (this.interleaver !== undefined || this.beginTrace()) {
      const interleaver = this.interleaver as KWayMerger
      const header = this.header as TraceHeader
      const batch = interleaver.next(header)
      if (batch !== null) {
        this.isEmpty = false
        const merged = this.check(batch, interleaver.keys)
        dropField(merged, HAS_SEQUENCE)
        if (merged.count > 0) return merged
        if (this.fault !== undefined) throw this.fault
        continue
      }
      if (interleaver.wants() >= 0) return null
      this.interleaver = undefined
      const lost = this.missing - this.lost
      if (lost > 0 && header.filtered !== true) {
        this.lost = this.missing
        return batchesOf([{ kind: 'lost', count: BigInt(lost) }], header)[0]
      }
      if (this.isEmpty) return new EventBatch(0, 0, header)
    }
    return null
  }

  /** Begins the next trace as soon as every input has reached one. */
  private beginTrace(): boolean {
    const { inputs } = this
    if (this.isDone || this.wants() >= 0) return false
    const heads = inputs.flatMap(({ queue }) => queue[0]?.header ?? [])
    if (heads.length === 0) {
      this.finish()
      return false
    }
    this.trace = Math.min(...heads.map(traceOf))
    const headers = heads.filter((header) => traceOf(header) === this.trace)
    const isFiltered = headers.some(({ filtered }) => filtered)
    this.header = withMarks(headers[0], isFiltered ? { filtered: true } : {})
    this.interleaver = new KWayMerger(inputs.length)
    this.isEmpty = true
    inputs.forEach((_, input) => this.pass(input))
    return true
  }

  /** Passes on an input's batches of the current trace. */
  private pass(input: number): void {
    const { queue, keys, ended } = this.inputs[input]
    const { interleaver } = this
    if (interleaver === undefined) return
    while (queue[0] !== undefined && traceOf(queue[0].header) === this.trace) {
      const batch = queue.shift() as EventBatch
      interleaver.feed(input, batch, keys.of(batch))
    }
    if (ended || queue.length > 0) interleaver.end(input)
  }

  /** Detects missing and repeated numbers. @returns the batch without repeated ends of processes, and written frees */
  private check(batch: EventBatch, keys: Uint32Array): EventBatch {
    const { kind, mask, count, header } = batch
    let { last } = this
    const repeated = new Set<number>()
    for (let i = 0; i < count; i++) {
      const number = doubleAt(keys, i)
      if ((mask[i] & HAS_SEQUENCE) === 0) {
        // Splitting wrote this free, because a block of another part begins there.
        if (kind[i] === FREE) repeated.add(i)
        continue
      }
      if (number === last && isShared(batch, i)) {
        repeated.add(i)
        continue
      }
      if (number === last) {
        this.fault = malformed(`event ${number} of the trace that was split comes twice: give each part once`, {
          format: header.format,
          event: this.events + i - repeated.size + 1,
        })
        batch.count = i
        break
      }
      if (number < last) {
        this.late++
        // Its number was counted as missing.
        this.missing = Math.max(0, this.missing - 1)
        continue
      }
      if (number > last + 1) {
        if (this.missing === 0) this.firstMissing = last + 1
        this.missing += number - last - 1
      }
      last = number
    }
    this.last = last
    this.events += batch.count - repeated.size
    if (repeated.size === 0) return batch
    const rows = Int32Array.from({ length: batch.count }, (_, row) => row).filter((row) => !repeated.has(row))
    return selectRows(batch, rows, rows.length, ALL_FIELDS, header)
  }

  private finish(): void {
    this.isDone = true
    const { missing, firstMissing, late } = this
    if (missing > 0) {
      const of = 'of the trace that was split'
      const what = plural(missing, `event ${of} is`, `events ${of} are`)
      this.warnings.push(`${what} missing, the first is event ${firstMissing}: give all parts to restore the trace`)
    }
    if (late > 0) {
      const what = plural(late, 'event is', 'events are')
      this.warnings.push(`${what} out of order, for a part was put in another order: sort it by sequence first`)
    }
  }
}

interface Input {
  readonly keys: NumberKeys
  /** Batches that have not been passed on yet. */
  readonly queue: EventBatch[]
  ended: boolean
}

function traceOf({ part }: TraceHeader): number {
  return part?.trace ?? 0
}

/** Whether splitting puts an event into several parts. */
function isShared(batch: EventBatch, i: number): boolean {
  const kind = batch.kind[i]
  return kind === PROCESS_END || kind === LOST || (kind === OTHER && earlyEnd(batch, i, i + 1) === i)
}

import { tooManyBlocks } from '../../blocks/live-set.js'
import type { BatchInfos, EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { hasInventedAddresses } from '../../event/header.js'
import type { Suppression } from '../../names/suppression.js'
import { finishProfile, MAX_STACKS } from '../profile/collector.js'
import { suppressLeaks } from '../profile/suppress.js'
import { minus, NOTHING, plus } from '../statistics/amounts.js'
import { StatisticsCollector, type RowObserver } from '../statistics/collector.js'
import { MOST_SIZES } from './churn.js'
import { Clock } from './clock.js'
import { Generations, sliceShift } from './generations.js'
import { ReportKernel } from './kernel.js'
import { Levels } from './levels.js'
import { RecorderNotes } from './notes.js'
import { Problems } from './problems.js'
import { Report } from './report.js'

const HAS_TIME = FieldBit.time
/** The fields with names, by which traces are filtered. */
const NAMES = ['function', 'file', 'module', 'type', 'stack'] as const

/**
 * Collects everything that a report shows about a stream of batches, in one pass. Memory grows with the number of
 * blocks that are live at a time and with the distinct stacks, as for a profile: by 50 to 180 bytes more for each
 * block.
 *
 * @example
 * const collector = new ReportCollector()
 * for await (const batch of openTrace('app.mtrc')) collector.add(batch)
 * const { summary, timeline } = collector.finish().data({ name: 'app.mtrc' })
 */
export class ReportCollector implements RowObserver {
  /** As in `Stage`. */
  readonly countsInfos = true
  private readonly collector = new StatisticsCollector({ sites: MAX_STACKS })
  private readonly kernel = new ReportKernel()
  private readonly clock = new Clock()
  private readonly levels = new Levels()
  private readonly generations = new Generations()
  private readonly problems = new Problems()
  private readonly notes = new RecorderNotes()
  /** The time of the last event that had one. */
  private time: bigint | undefined
  /** Whether the addresses of a trace are not the program's. */
  private hasInvented = false
  /** The fields that events have, as bits. */
  private columns = 0
  /** The number of events observed. */
  private observed = 0
  /** Whether the trace has infos; the events and frees before it; and the frees of all traces with infos. */
  private hasInfos = false
  private before = { events: 0, freed: NOTHING }
  private infosFreed = NOTHING
  /** Whether the kernel has generations, and the logarithm of the size of their slices. */
  private hasGenerations = false
  private shift = 0

  constructor() {
    this.collector.observer = this
  }

  /** Takes the events of a batch. A batch with another header begins another trace: no block outlives its trace. */
  add(batch: EventBatch): void {
    const { collector, clock, notes } = this
    notes.begin(batch.header)
    this.columns |= batch.columns
    let from = 0
    do {
      const left = clock.until(collector.count)
      const to = Math.min(batch.count, from + left)
      const before = collector.count
      collector.add(batch, from, to)
      notes.add(batch, from, to, before, this.time, collector.times.counts)
      this.noteTime(batch, from, to)
      if (to - from === left) this.look()
      from = to
    } while (from < batch.count)
  }

  observe(batch: EventBatch, from: number, to: number): void {
    const { collector, kernel } = this
    const shift = sliceShift(this.observed + to - from)
    if (collector.kernel.run.goneCount.value > 0) this.useSlices(shift)
    if (!kernel.observe(batch, from, to, collector.kernel, collector.sites.size, shift)) throw tooManyBlocks()
    this.problems.take(kernel, batch, from, this.observed, collector.sites.keys)
    this.hasInvented ||= hasInventedAddresses(batch.header)
    this.observed += to - from
  }

  observeInfos(batch: EventBatch, infos: BatchInfos, from: number, to: number): void {
    this.problems.takeInfos(batch, infos, from, to, this.observed, this.collector.sites.keys)
    this.hasInfos = true
    this.hasInvented = true
    this.observed += to - from
  }

  endTrace(): void {
    const { collector, kernel } = this
    this.endInfos()
    this.problems.endTrace()
    const shift = sliceShift(this.observed)
    this.useSlices(shift)
    if (kernel.run.endTrace(collector.kernel.run.numbers.value, shift) === 0) throw tooManyBlocks()
    kernel.refresh()
    this.takeGenerations()
  }

  /** Takes what only the statistics know of a trace with infos. */
  private endInfos(): void {
    const { collector, kernel, before } = this
    const { freed } = collector.now()
    if (this.hasInfos) {
      this.infosFreed = plus(this.infosFreed, minus(freed, before.freed))
      // The trace has no pages.
      const { event } = collector.kernel.peak(collector.kernel.run.PEAK_BYTES.value)
      if (event > before.events) kernel.run.keepPages()
    }
    this.before = { events: this.observed, freed }
    this.hasInfos = false
  }

  /** Prepares for generations in slices of this size. */
  private useSlices(shift: number): void {
    if (shift !== this.shift) this.takeGenerations()
    this.shift = shift
    this.hasGenerations = true
  }

  private takeGenerations(): void {
    const { kernel, generations, shift } = this
    if (!this.hasGenerations) return
    generations.take(kernel, shift)
    kernel.run.clearGenerations()
    this.hasGenerations = false
  }

  /**
   * The report on everything that was added. Ends the use of the collector.
   * @param complete whether the input was read to its end
   * @param rules suppress leaks in the totals, of sites, and in the tree of stacks. If absent, none may be suppressed
   */
  finish(complete = true, rules?: readonly Suppression[]): Report {
    const { collector, kernel, clock, levels, generations, problems, notes, hasInvented } = this
    if (clock.moments.at(-1)?.event !== collector.count) this.look()
    // The level at the end is always kept, even if it is not a regular moment.
    if (levels.all.at(-1)?.event !== collector.count) {
      levels.all.push({ event: collector.count, bytes: collector.sites.levels() })
    }
    const { profile: all, stacks } = finishProfile(collector, 'end', complete, MOST_SIZES)
    const { profile, samples: suppressed } =
      rules === undefined ? { profile: all, samples: new Set<number>() } : suppressLeaks(all, rules)
    const sources = { collector, kernel, clock, levels, generations, problems, notes, hasInvented, profile, stacks }
    const fields = NAMES.filter((name) => (this.columns & FieldBit[name]) !== 0)
    return new Report({ ...sources, suppressed, fields, infosFreed: this.infosFreed })
  }

  /** Keeps the figures at this moment. */
  private look(): void {
    const { collector, kernel, clock, levels } = this
    const { allocated, live } = collector.now()
    const event = collector.count
    kernel.run.snapshot(clock.moments.length)
    const isJoined = clock.keep({
      event,
      time: this.time,
      allocatedBlocks: allocated.blocks,
      allocatedBytes: allocated.bytes,
      liveBytes: live.bytes,
      pages: Number(kernel.run.touched.value),
    })
    if (isJoined) kernel.run.joinColumns()
    if (levels.wants(event)) levels.keep({ event, bytes: collector.sites.levels() })
  }

  private noteTime({ mask, time, columns }: EventBatch, from: number, to: number): void {
    if ((columns & HAS_TIME) === 0 || !this.collector.times.counts) return
    for (let i = to - 1; i >= from; i--) {
      if ((mask[i] & HAS_TIME) === 0) continue
      this.time = time.values[i]
      return
    }
  }
}

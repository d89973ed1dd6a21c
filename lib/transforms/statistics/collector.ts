import { HI, LO } from '../../bytes/u64.js'
import { BATCH_EVENTS, type BatchInfos, type EventBatch } from '../../event/batch.js'
import { APIS, fieldSet, FieldBit, Kind, KINDS } from '../../event/fields.js'
import { formatsOf, hasInventedAddresses, lacksEvents, type TraceHeader } from '../../event/header.js'
import { checkOptions, wholeNumber } from '../../event/options.js'
import { earlyEnd } from '../../event/early-end.js'
import { lostEvents } from '../../event/lost-events.js'
import { weightedEvents } from '../../event/weights.js'
import { LiveSet, tooManyBlocks } from '../../blocks/live-set.js'
import { RESIDENT_PRESENT, RESIDENT_SIZE } from '../../kernel/layouts/totals.js'
import { mismatchesOf, setFamilies } from './allocator-families.js'
import { readKernelTotals, type Figures } from './kernel-totals.js'
import { histogramAt } from './histogram.js'
import { StatisticsKernel } from './kernel.js'
import { KeyCounts } from './key-counts.js'
import { Outcomes } from './outcomes.js'
import { residentSetOf } from './resident-set.js'
import type { ProcessStatistics, Statistics, ValueCount } from './result.js'
import { SiteTable } from './site-table.js'
import { SiteThreads } from './site-threads.js'
import { SizeTable } from './size-table.js'
import { sharesByProcess, ThreadTable } from './thread-table.js'
import { timelineOf } from './timeline.js'
import { Times } from './times.js'
import { mpatrolFigures, Reserves } from './totals.js'

const { api: HAS_API, process: HAS_PROCESS, cpu: HAS_CPU } = FieldBit
const { realloc: REALLOC, reserve: RESERVE } = Kind
/** The fields that the kernel reads. */
const COUNTED = fieldSet('api', 'cpu', 'time', 'size', 'usable', 'present')
const COUNTED_OF_INFOS = fieldSet('time', 'size', 'present')
/** The maximum number of formats that are named. */
const MAX_FORMATS = 16

/** Examines all events after they have been counted. */
export interface RowObserver {
  /**
   * Processes events `from` to `to` of a batch. The kernel of the statistics has their rows from 0 on: their effects on
   * the live set, and the rows of their sites, threads and processes.
   */
  observe(batch: EventBatch, from: number, to: number): void
  /** Processes events of a batch with infos, of which the kernel has no rows: no event says which block it is about. */
  observeInfos(batch: EventBatch, infos: BatchInfos, from: number, to: number): void
  /** Handles the end of a trace, whose blocks are still in the live set. */
  endTrace(): void
}

/** Options of a statistics collector. */
export interface CollectorOptions {
  /** The maximum number of sites with their own row; 65,536 if absent. */
  readonly sites?: number
  /** A site has a row for each thread that allocated blocks there: for profiles, see `sites`. */
  readonly byThread?: boolean
}

/**
 * Collects the statistics of a stream of batches in one pass. Memory grows with the number of blocks that are live at a
 * time, and with the numbers of distinct sites, sizes, threads, processes and CPUs, each up to `MAX_KEYS`.
 *
 * @example
 * const collector = new StatisticsCollector()
 * for await (const batch of openTrace('app.mtrc')) collector.add(batch)
 * const { peakBytes } = collector.finish()
 */
export class StatisticsCollector {
  /** Set this before the first batch. */
  observer: RowObserver | undefined
  readonly kernel = new StatisticsKernel()
  private readonly liveSet = new LiveSet(0, this.kernel.run)
  private readonly outcomes = new Outcomes()
  readonly sites: SiteTable
  readonly sizes = new SizeTable(this.kernel)
  readonly threads = new ThreadTable(this.kernel)
  readonly siteThreads = new SiteThreads(this.kernel, this.threads)
  readonly times = new Times()
  private readonly processes = new KeyCounts()
  private readonly cpus = new KeyCounts()
  private readonly kinds = new Float64Array(KINDS.length)
  private readonly apis = new Float64Array(APIS.length)
  private readonly reserves = new Reserves()
  private readonly formats = new Set<string>()
  private header: TraceHeader | undefined
  private traces = 0
  private isFiltered = false
  private endsEarly = false
  /** The number of events with a weight other than one. */
  private weighted = 0
  /** The number of events that the recorder lost, as far as the trace says it. */
  private lost = 0n
  private isIdentified = true
  private events = 0
  private leakedBlocks = 0
  private leakedBytes = 0n

  constructor(options: CollectorOptions = {}) {
    checkOptions(options, { sites: wholeNumber(1), byThread: 'boolean' }, 'StatisticsCollector')
    this.sites = new SiteTable(this.kernel, options.sites, options.byThread)
    setFamilies(this.kernel)
  }

  /**
   * Takes the events of a batch, or those from `from` to `to`. A batch with another header begins another trace: no
   * block outlives its trace.
   * @throws RangeError when there is no memory for the blocks
   * @throws SpacesError with the number of the event at which blocks cannot be distinguished: those before it count
   */
  add(batch: EventBatch, from = 0, to = batch.count): void {
    const { infos } = batch
    if (batch.header !== this.header) this.beginTrace(batch.header)
    if (infos === undefined) {
      this.liveSet.followParts(batch, this.events, (first, end) => this.addRows(batch, first, end), from, to)
      return
    }
    for (let first = from; first < to; first += BATCH_EVENTS)
      this.addInfoRows(batch, infos, first, Math.min(first + BATCH_EVENTS, to))
  }

  /** The number of events so far. */
  get count(): number {
    return this.events
  }

  /** The main figures so far. */
  now(): Figures {
    return readKernelTotals(this.kernel)
  }

  /** Counts the events of which the kernel has the rows. */
  private addRows(batch: EventBatch, from: number, to: number): void {
    const { kernel, liveSet, sites, threads } = this
    kernel.refresh()
    sites.assign(batch, from, to, liveSet, threads.assign(batch, from, to))
    kernel.columns.put(batch, from, to, COUNTED)
    const isDone = kernel.run.count(to - from, sites.size, threads.size, this.times.counts)
    kernel.refresh()
    if (isDone === 0) throw tooManyBlocks()
    this.takeOthers(batch, from, to)
    this.observer?.observe(batch, from, to)
  }

  /** The same for events with infos. */
  private addInfoRows(batch: EventBatch, infos: BatchInfos, from: number, to: number): void {
    const { kernel, sites, threads } = this
    const { numbers, most } = infos
    const { run } = kernel
    new Uint32Array(run.memory.buffer, run.INFOS.value, BATCH_EVENTS).set(numbers.subarray(from, to))
    sites.assignInfos(batch, from, to)
    kernel.columns.put(batch, from, to, COUNTED_OF_INFOS)
    const isDone = run.countInfos(to - from, sites.size, threads.size, most, this.times.counts)
    kernel.refresh()
    if (isDone === 0) throw tooManyBlocks()
    this.takeOthers(batch, from, to)
    this.observer?.observeInfos(batch, infos, from, to)
  }

  /** Processes what is counted outside the kernel. */
  private takeOthers(batch: EventBatch, from: number, to: number): void {
    this.times.add(batch, from, to, this.events)
    this.countColumns(batch, from, to)
    this.events += to - from
    const { run } = this.kernel
    const { outcomes, reserves } = this
    const n = run.otherRows.value
    const rows = new Uint32Array(run.memory.buffer, run.OTHERS.value, n)
    const effects = new Uint8Array(run.memory.buffer, run.EFFECTS.value, BATCH_EVENTS)
    for (let j = 0; j < n; j++) {
      const row = rows[j]
      const i = from + row
      const kind = batch.kind[i]
      if (kind === RESERVE) reserves.take(batch, i)
      else if (kind === REALLOC) outcomes.realloc(batch, i, effects[row])
      else outcomes.failure(kind, effects[row])
    }
  }

  /**
   * The statistics of everything that was added. Ends the use of the collector.
   * @param complete whether the input was read to its end
   * @param listed whether the sites are listed (otherwise `sites` has them), and the number of listed sizes
   */
  finish(complete = true, listed: { sites: boolean; sizes: number } = { sites: true, sizes: Infinity }): Statistics {
    this.endTrace()
    const { kernel, sites, sizes, threads, siteThreads, cpus, processes, reserves } = this
    const { run } = kernel
    run.settle(sites.size, threads.size)
    const figures = readKernelTotals(kernel)
    const { allocated, freed } = figures
    const overhead = sites.totalOverhead()
    const time = this.times.result()
    const lifetimeInTime = histogramAt(kernel, run.LIFE_TIME.value)
    const cpuCounts = cpus
      .entries()
      .map(({ key, count }): ValueCount => ({ value: BigInt.asIntN(32, key), events: count }))
    const hasCpus = cpuCounts.length > 0
    const resident = kernel.number(run.RESIDENT.value)
    const { unfreed } = figures
    const leaked = { blocks: this.leakedBlocks + unfreed.blocks, bytes: this.leakedBytes + unfreed.bytes }
    const peakBytes = kernel.peak(run.PEAK_BYTES.value)
    const residentSet = residentSetOf(kernel, peakBytes.event)
    const temporary = { heaptrack: kernel.amount(run.HEAPTRACK.value), memray: kernel.amount(run.MEMRAY.value) }
    const handoffs = { overflowed: siteThreads.lacksHandoffs }
    const ofThreads = threads.result()
    const ofProcesses = sharesByProcess(ofThreads)
    const full = { sites, sizes, threads, processes, cpus, siteThreads, handoffs }
    return {
      complete,
      filtered: this.isFiltered,
      ...(this.endsEarly && { endsEarly: true }),
      ...(this.weighted > 0 && { weighted: this.weighted }),
      identified: this.isIdentified,
      exact: reserves.isExact,
      traces: this.traces,
      formats: [...this.formats],
      events: this.events,
      blockEvents: Number(run.blockEvents.value),
      kinds: named(KINDS, this.kinds),
      ...(this.lost > 0n && { lostEvents: Number(this.lost) }),
      apis: named(APIS, this.apis),
      allocated,
      freed,
      leaked,
      peakBytes,
      peakBlocks: kernel.peak(run.PEAK_BLOCKS.value),
      temporary,
      reallocs: this.outcomes.reallocs,
      faults: { ...this.outcomes.faults, overlaps: figures.overlaps },
      sizes: sizes.result(figures.largest, { allocated, atPeak: peakBytes, leaked, temporary }, listed.sizes),
      lifetimes: {
        events: histogramAt(kernel, run.LIFE_EVENTS.value),
        bytes: histogramAt(kernel, run.LIFE_BYTES.value),
        ...(lifetimeInTime.count > 0 && { time: lifetimeInTime }),
      },
      ...(time && { time }),
      sites: listed.sites ? sites.result(hasCpus, time !== undefined, siteThreads.bySite()) : [],
      threads: ofThreads,
      processes: processes.entries().map(({ key, count }): ProcessStatistics => {
        const command = threads.command(key)
        return { value: key, events: count, ...ofProcesses?.get(key), ...(command !== undefined && { command }) }
      }),
      cpus: cpuCounts,
      ...(overhead && { overhead }),
      ...(hasCpus && { crossCpuFrees: kernel.number(run.CROSS_CPU.value) }),
      mismatches: mismatchesOf(kernel),
      ...(resident > 0 && {
        resident: {
          blocks: resident,
          present: kernel.sum(run.RESIDENT.value + RESIDENT_PRESENT),
          size: kernel.sum(run.RESIDENT.value + RESIDENT_SIZE),
        },
      }),
      ...(residentSet && { residentSet }),
      mpatrol: mpatrolFigures(figures, reserves),
      full: (Object.keys(full) as (keyof typeof full)[]).filter((name) => full[name].overflowed),
      timeline: timelineOf(kernel, this.events),
    }
  }

  private beginTrace(header: TraceHeader): void {
    this.endTrace()
    this.header = header
    this.traces++
    this.isFiltered ||= lacksEvents(header)
    this.isIdentified &&= !hasInventedAddresses(header)
    for (const format of formatsOf(header)) if (this.formats.size < MAX_FORMATS) this.formats.add(format)
    this.times.begin(header)
    this.kernel.run.beginTrace()
  }

  private endTrace(): void {
    const { kernel, sites, threads } = this
    this.observer?.endTrace()
    kernel.run.addInfos(sites.size, threads.size)
    const { live, allocated } = readKernelTotals(kernel)
    const { blocks, bytes } = live
    this.leakedBlocks += blocks
    this.leakedBytes += bytes
    if (blocks > 0) kernel.run.endTrace(sites.size, threads.size)
    this.times.endTrace({ events: this.events, allocations: allocated.blocks, bytes: allocated.bytes })
    this.liveSet.clear()
    kernel.refresh()
  }

  /** Counts for events of all kinds, column by column. */
  private countColumns(batch: EventBatch, from: number, to: number): void {
    const { kind, mask, columns, groups } = batch
    if (groups !== undefined) this.weighted += weightedEvents(groups, from, to)
    const { kinds, apis } = this
    const lostBefore = kinds[Kind.lost]
    const othersBefore = kinds[Kind.other]
    for (let i = from; i < to; i++) kinds[kind[i]] = kinds[kind[i]] + 1
    if (kinds[Kind.other] > othersBefore) this.endsEarly ||= earlyEnd(batch, from, to) >= 0
    if (kinds[Kind.lost] > lostBefore) this.lost += lostEvents(batch, from, to)
    if ((columns & HAS_API) !== 0) {
      const { api } = batch
      for (let i = from; i < to; i++) {
        if ((mask[i] & HAS_API) !== 0) apis[api[i]] = apis[api[i]] + 1
      }
    }
    if ((columns & HAS_PROCESS) !== 0) {
      const { words } = batch.process
      for (let i = from; i < to; i++) {
        if ((mask[i] & HAS_PROCESS) !== 0) this.processes.add(words[2 * i + LO], words[2 * i + HI])
      }
    }
    if ((columns & HAS_CPU) !== 0) {
      for (let i = from; i < to; i++) if ((mask[i] & HAS_CPU) !== 0) this.cpus.add(batch.cpu[i] >>> 0, 0)
    }
  }
}

/** Counts by name, without those that are zero. */
function named<Name extends string>(names: readonly Name[], counts: Float64Array): Partial<Record<Name, number>> {
  const entries = names.map((name, code) => [name, counts[code]]).filter(([, count]) => count !== 0)
  return Object.fromEntries(entries) as Partial<Record<Name, number>>
}

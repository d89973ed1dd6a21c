import { HI, LO, WORD } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { APIS, Has, Kind, KINDS } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { Change, Ledger } from '../ledger.js'
import { BLOCK_WORDS, CLOCK, clockHigh, CPU, EVENT, FAMILIES, Flag, FLAGS, SITE, SIZE, storeClock, THREAD, TIME } from './block.js'
import { Histogram } from './histogram.js'
import { KeyCounts, NONE } from './keys.js'
import { Outcomes } from './outcomes.js'
import { PeakMoment } from './peak.js'
import { API_FAMILIES, type ApiFamily, type Mismatch, type Statistics, type ValueCount } from './result.js'
import { HAS_SITE } from './site-keys.js'
import { SiteTable } from './site-table.js'
import { SizeTable } from './size-table.js'
import { Sum } from './sums.js'
import { ThreadTable } from './thread-table.js'
import { Timeline } from './timeline.js'
import { NewPeak, Totals } from './totals.js'

const HAS_API = Has.api
const HAS_PROCESS = Has.process
const HAS_CPU = Has.cpu
const HAS_TIME = Has.time
const HAS_SIZE = Has.size
const HAS_TYPE = Has.type
const HAS_USABLE = Has.usable
const HAS_PRESENT = Has.present
const { realloc: REALLOC, existing: EXISTING, reserve: RESERVE } = Kind
const { began: BEGAN, ended: ENDED, reused: REUSED } = Change
const FAMILY_COUNT = API_FAMILIES.length + 1
/** Formats are named up to this many. */
const MAX_FORMATS = 16

/**
 * Takes the statistics of a stream of batches in one pass. Memory grows with the number of blocks that are live at a time,
 * and with the numbers of distinct sites, sizes, threads, processes and CPUs, each up to `MAX_KEYS`.
 *
 * @example
 * const collector = new StatisticsCollector()
 * for await (const batch of batches) collector.add(batch)
 * const { peakBytes } = collector.finish()
 */
export class StatisticsCollector {
  private readonly ledger = new Ledger(BLOCK_WORDS)
  private readonly totals = new Totals()
  private readonly outcomes = new Outcomes()
  private readonly sites = new SiteTable()
  private readonly sizes = new SizeTable()
  private readonly threads = new ThreadTable()
  private readonly timeline = new Timeline()
  private readonly processes = new KeyCounts()
  private readonly cpus = new KeyCounts()
  private readonly lifeEvents = new Histogram()
  private readonly lifeBytes = new Histogram()
  private readonly lifeTime = new Histogram()
  private readonly peakBytes = new PeakMoment()
  private readonly peakBlocks = new PeakMoment()
  private readonly kinds = new Float64Array(KINDS.length)
  private readonly apis = new Float64Array(APIS.length)
  /** Blocks by the family that allocated them and that which freed them, where these differ. */
  private readonly mismatches = new Float64Array(FAMILY_COUNT * FAMILY_COUNT)
  private readonly temporaryBytes = new Sum()
  private readonly usable = new Sum()
  private readonly residentPresent = new Sum()
  private readonly residentSize = new Sum()
  private readonly formats = new Set<string>()
  private header: TraceHeader | undefined
  private traces = 0
  /** All events before the batch in hand. */
  private events = 0
  private blockEvents = 0
  private temporary = 0
  private resident = 0
  private crossCpu = 0
  private leakedBlocks = 0
  private leakedBytes = 0n

  /** Takes the events of a batch. A batch with another header begins another trace: no block outlives its trace. */
  add(batch: EventBatch): void {
    if (batch.header !== this.header) this.beginTrace(batch.header)
    this.sites.begin(batch)
    this.timeline.add(batch)
    this.countColumns(batch)
    const { kind: kinds, mask: masks, count } = batch
    const { ledger, threads, outcomes } = this
    for (let i = 0; i < count; i++) {
      const mask = masks[i] as number
      const kind = kinds[i] as number
      const thread = threads.count(batch, i, mask)
      if (kind > EXISTING) {
        if (kind === RESERVE) this.reserve(batch, i, mask)
        continue
      }
      const event = ++this.blockEvents
      const previous = threads.follow(thread, event)
      const change = ledger.take(batch, i)
      if (kind === REALLOC) outcomes.realloc(batch, i, change)
      else if ((change & (BEGAN | ENDED)) === 0) outcomes.failure(kind, change)
      if ((change & ENDED) !== 0) this.ended(batch, i, mask, thread, previous, (change & BEGAN) !== 0)
      if ((change & BEGAN) !== 0) this.began(batch, i, mask, thread, change)
    }
    this.events += count
  }

  /**
   * The statistics of all that was added; the collector is not used any more.
   * @param complete whether the input was read to its end
   */
  finish(complete = true): Statistics {
    this.endTrace()
    const { totals, sites, sizes, threads, cpus, processes, lifeTime } = this
    const mpatrol = totals.mpatrol()
    const overhead = sites.totalOverhead()
    const time = this.timeline.result(this.events, totals.allocations, totals.allocated.value)
    const lifetimeInTime = lifeTime.result()
    const hasCpus = cpus.entries().length > 0
    const full = { sites, sizes, threads, processes, cpus }
    return {
      complete,
      exact: this.isExact(),
      traces: this.traces,
      formats: [...this.formats],
      events: this.events,
      blockEvents: this.blockEvents,
      kinds: named(KINDS, this.kinds),
      apis: named(APIS, this.apis),
      allocated: mpatrol.allocated,
      freed: mpatrol.freed,
      leaked: { blocks: this.leakedBlocks, bytes: this.leakedBytes },
      peakBytes: this.peakBytes.result(),
      peakBlocks: this.peakBlocks.result(),
      temporary: { blocks: this.temporary, bytes: this.temporaryBytes.value },
      reallocs: this.outcomes.reallocs,
      faults: this.outcomes.faultCounts(),
      sizes: sizes.result(totals.largest),
      lifetimes: {
        events: this.lifeEvents.result(),
        bytes: this.lifeBytes.result(),
        ...(lifetimeInTime.count > 0 && { time: lifetimeInTime }),
      },
      ...(time && { time }),
      sites: sites.result(hasCpus),
      threads: threads.result(),
      processes: processes.entries().map(({ key, count }): ValueCount => ({ value: key, events: count })),
      cpus: cpus.entries().map(({ key, count }): ValueCount => ({ value: BigInt.asIntN(32, key), events: count })),
      ...(overhead && { overhead }),
      ...(hasCpus && { crossCpuFrees: this.crossCpu }),
      mismatches: this.mismatchList(),
      ...(this.resident > 0 && { resident: { blocks: this.resident, present: this.residentPresent.value, size: this.residentSize.value } }),
      mpatrol,
      full: (Object.keys(full) as (keyof typeof full)[]).filter((name) => full[name].overflowed),
    }
  }

  private isExact(): boolean {
    const { totals, lifeEvents, lifeBytes, lifeTime, usable, residentPresent } = this
    const sums = [totals.allocated, totals.reserved, totals.internal, lifeEvents, lifeBytes, lifeTime, usable, residentPresent]
    return sums.every(({ isExact }) => isExact)
  }

  private beginTrace(header: TraceHeader): void {
    this.endTrace()
    this.header = header
    this.traces++
    if (this.formats.size < MAX_FORMATS) this.formats.add(header.format)
    this.timeline.begin(header)
  }

  private endTrace(): void {
    const { blocks, bytes } = this.totals.endTrace()
    this.leakedBlocks += blocks
    this.leakedBytes += bytes
    if (blocks > 0) this.sites.endTrace()
    this.timeline.endTrace()
    this.ledger.clear()
  }

  /** What is counted for each event of any kind, column by column. */
  private countColumns(batch: EventBatch): void {
    const { kind, mask, count, columns } = batch
    const { kinds, apis } = this
    for (let i = 0; i < count; i++) kinds[kind[i] as number] = (kinds[kind[i] as number] as number) + 1
    if ((columns & HAS_API) !== 0) {
      const { api } = batch
      for (let i = 0; i < count; i++) {
        if (((mask[i] as number) & HAS_API) !== 0) apis[api[i] as number] = (apis[api[i] as number] as number) + 1
      }
    }
    if ((columns & HAS_PROCESS) !== 0) {
      const { words } = batch.process
      for (let i = 0; i < count; i++) {
        if (((mask[i] as number) & HAS_PROCESS) !== 0) this.processes.add(words[2 * i + LO] as number, words[2 * i + HI] as number)
      }
    }
    if ((columns & HAS_CPU) !== 0) {
      for (let i = 0; i < count; i++) if (((mask[i] as number) & HAS_CPU) !== 0) this.cpus.add((batch.cpu[i] as number) >>> 0, 0)
    }
  }

  private reserve(batch: EventBatch, i: number, mask: number): void {
    const isSized = (mask & HAS_SIZE) !== 0
    const isInternal = (mask & HAS_TYPE) !== 0 && batch.strings.text(batch.type[i] as number) === 'internal'
    const lo = isSized ? (batch.size.words[2 * i + LO] as number) : 0
    const hi = isSized ? (batch.size.words[2 * i + HI] as number) : 0
    this.totals.reserve(lo, hi, isInternal)
  }

  /** A block ended; its words are in the ledger's `ended`. */
  private ended(batch: EventBatch, i: number, mask: number, thread: number, previous: number, goesOn: boolean): void {
    const block = this.ledger.ended
    const lo = block[SIZE] as number
    const hi = block[SIZE + 1] as number
    const site = block[SITE] as number
    const flags = block[FLAGS] as number
    this.totals.free(lo, hi)
    this.sites.vanish(site, lo, hi)
    this.threads.free(thread, block[THREAD] as number)
    const family = (mask & HAS_API) !== 0 ? (FAMILIES[batch.api[i] as number] as number) : 0
    if (family !== 0 && (flags & Flag.family) !== 0 && family !== (flags & Flag.family)) {
      const pair = (flags & Flag.family) * FAMILY_COUNT + family
      this.mismatches[pair] = (this.mismatches[pair] as number) + 1
    }
    if ((mask & HAS_PRESENT) !== 0) {
      this.resident++
      this.residentPresent.add(batch.present.words[2 * i + LO] as number, batch.present.words[2 * i + HI] as number)
      this.residentSize.add(lo, hi)
    }
    if (goesOn) return
    this.died(block)
    if (previous === (block[EVENT] as number) + (block[EVENT + 1] as number) * WORD) {
      this.temporary++
      this.temporaryBytes.add(lo, hi)
      this.sites.countTemporary(site)
    }
    if ((mask & HAS_CPU) !== 0 && (flags & Flag.cpu) !== 0 && (batch.cpu[i] as number) >>> 0 !== block[CPU]) {
      this.crossCpu++
      this.sites.countCrossCpu(site)
    }
    if ((mask & HAS_TIME) !== 0 && (flags & Flag.time) !== 0) {
      const low = (batch.time.words[2 * i + LO] as number) - (block[TIME] as number)
      const high = (batch.time.words[2 * i + HI] as number) - (block[TIME + 1] as number) - (low < 0 ? 1 : 0)
      // Where time runs backwards there is no lifetime.
      if (high >= 0) this.lifeTime.add(low < 0 ? low + WORD : low, high)
    }
  }

  /** How long the block lived, in events and in bytes allocated meanwhile. */
  private died(block: Uint32Array): void {
    const events = this.blockEvents - ((block[EVENT] as number) + (block[EVENT + 1] as number) * WORD)
    this.lifeEvents.add(events >>> 0, events < WORD ? 0 : Math.floor(events / WORD))
    const clock = this.totals.allocated
    const low = clock.lo - (block[CLOCK] as number)
    const high = clock.hi - clockHigh(block)
    // The clock in a block's words has 80 bits; beyond them, lives are as long as can be told.
    if (low < 0) this.lifeBytes.add(low + WORD, Math.max(0, high - 1))
    else this.lifeBytes.add(low, high)
  }

  /** A block began; its words in the ledger are to be filled. */
  private began(batch: EventBatch, i: number, mask: number, thread: number, change: number): void {
    const { ledger, totals, sites } = this
    const { words, at, ended } = ledger
    const goesOn = (change & ENDED) !== 0
    if ((change & REUSED) !== 0) this.vanished(ledger.overwritten)
    const isSized = (mask & HAS_SIZE) !== 0
    const lo = isSized ? (batch.size.words[2 * i + LO] as number) : 0
    const hi = isSized ? (batch.size.words[2 * i + HI] as number) : 0
    const site = (mask & HAS_SITE) !== 0 ? sites.row(batch, i) : goesOn ? (ended[SITE] as number) : NONE
    const records = totals.allocation(lo, hi)
    if (records !== 0) {
      const event = this.events + i + 1
      if ((records & NewPeak.bytes) !== 0) this.peakBytes.mark(totals, batch, i, event)
      if ((records & NewPeak.blocks) !== 0) this.peakBlocks.mark(totals, batch, i, event)
    }
    sites.allocation(site, lo, hi)
    this.sizes.add(lo, hi)
    this.threads.allocation(thread, lo, hi)
    if ((mask & HAS_USABLE) !== 0 && isSized) {
      const usableLo = batch.usable.words[2 * i + LO] as number
      const usableHi = batch.usable.words[2 * i + HI] as number
      this.usable.add(usableLo, usableHi)
      sites.took(site, lo, hi, usableLo, usableHi)
    }
    words[at + SIZE] = lo
    words[at + SIZE + 1] = hi
    words[at + SITE] = site
    words[at + THREAD] = thread
    const family = (mask & HAS_API) !== 0 ? (FAMILIES[batch.api[i] as number] as number) : 0
    if (goesOn) {
      // A block that was resized lives on from its first allocation.
      words[at + EVENT] = ended[EVENT] as number
      words[at + EVENT + 1] = ended[EVENT + 1] as number
      words[at + CLOCK] = ended[CLOCK] as number
      words[at + CLOCK + 1] = ended[CLOCK + 1] as number
      words[at + FLAGS] = family !== 0 ? ((ended[FLAGS] as number) & ~Flag.family) | family : (ended[FLAGS] as number)
      words[at + CPU] = ended[CPU] as number
      words[at + TIME] = ended[TIME] as number
      words[at + TIME + 1] = ended[TIME + 1] as number
      return
    }
    words[at + EVENT] = this.blockEvents
    if (this.blockEvents >= WORD) words[at + EVENT + 1] = Math.floor(this.blockEvents / WORD)
    words[at + FLAGS] = family
    storeClock(words, at, totals.allocated)
    if ((mask & HAS_CPU) !== 0) {
      words[at + FLAGS] = (words[at + FLAGS] as number) | Flag.cpu
      words[at + CPU] = batch.cpu[i] as number
    }
    if ((mask & HAS_TIME) !== 0 && this.timeline.counts) {
      words[at + FLAGS] = (words[at + FLAGS] as number) | Flag.time
      words[at + TIME] = batch.time.words[2 * i + LO] as number
      words[at + TIME + 1] = batch.time.words[2 * i + HI] as number
    }
  }

  /** A live block whose address was given out again is no more. */
  private vanished(block: Uint32Array): void {
    const lo = block[SIZE] as number
    const hi = block[SIZE + 1] as number
    this.outcomes.overlap(lo, hi)
    this.totals.vanish(lo, hi)
    this.sites.vanish(block[SITE] as number, lo, hi)
  }

  private mismatchList(): Mismatch[] {
    const list: Mismatch[] = []
    this.mismatches.forEach((count, pair) => {
      if (count === 0) return
      const family = (number: number) => API_FAMILIES[number - 1] as ApiFamily
      list.push({ allocatedBy: family(Math.floor(pair / FAMILY_COUNT)), freedBy: family(pair % FAMILY_COUNT), count })
    })
    return list.toSorted((a, b) => b.count - a.count)
  }
}

/** Counts by name, without those that are zero. */
function named<Name extends string>(names: readonly Name[], counts: Float64Array): Partial<Record<Name, number>> {
  const entries = names.map((name, code) => [name, counts[code]]).filter(([, count]) => count !== 0)
  return Object.fromEntries(entries) as Partial<Record<Name, number>>
}

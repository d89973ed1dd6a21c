import type { EventBatch } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import type { TimelinePart } from '../../lib/transforms/statistics/result.js'
import { ResidentOracle } from '../transforms/statistics/resident-oracle.js'
import { Counts, grow, Histogram, nothing, Row, Rows, ThreadRow } from './oracle-rows.js'
import { FAMILIES, isNull, nameOf, processOf, threadOf, type Name } from './oracle-names.js'
import { type PlainEvent, plainEvents } from './plain-events.js'

/** The ends of blocks by which double frees are told from frees of unknown blocks. */
const REMEMBERED = 262_144

interface Block {
  readonly size: bigint
  readonly by: PlainEvent
  /** The rows of its site, its size and its thread. */
  readonly rows: readonly Row[]
  /**
   * When its life began: the number of the block event, its time, and the bytes allocated until then; 'before' if the
   * trace does not have its beginning.
   */
  readonly born: { readonly event: number; readonly time: bigint | undefined; readonly bytes: bigint } | 'before'
  /** The number of the block event that allocated or resized it. */
  readonly event: number
  /** The number of calls of its process then, and of allocations by its thread. */
  readonly call: number
  readonly own: number
}

/** What docs/statistics.md says of the figures, in plain code: one map of blocks, and sums. */
export class Oracle {
  private header: TraceHeader | undefined
  private traces = 0
  private events = 0
  private blockEvents = 0
  private readonly kinds = new Counts()
  private readonly apis = new Counts()
  private readonly live = new Map<Name, Block>()
  private liveBytes = 0n
  private readonly allocated = nothing()
  private readonly freed = nothing()
  private readonly leaked = nothing()
  private peakBytes = { ...nothing(), event: 0, allocatedBytes: 0n, time: undefined as bigint | undefined }
  private peakBlocks = this.peakBytes
  private readonly temporary = { heaptrack: nothing(), memray: nothing() }
  private readonly reallocs = new Counts()
  private readonly faults = new Counts()
  private readonly overlaps = nothing()
  private readonly allocatedSizes = new Histogram()
  private readonly lifetimes = { events: new Histogram(), bytes: new Histogram(), time: new Histogram() }
  /** The numbers of the last ends of blocks. */
  private readonly ended = new Map<Name, number>()
  private ends = 0
  private readonly sites = new Rows(() => new Row())
  private readonly sizes = new Rows(
    () => new Row(),
    61_440,
    (size) => BigInt(size) < 4096n,
  )
  private readonly threads = new Rows(() => new ThreadRow())
  /** By site and thread, as soon as a second thread allocates or frees a block, and all that came before. */
  private readonly siteThreads = new Rows(() => new Row())
  private readonly actors = new Set<string>()
  private readonly handoffs = new Rows(() => new Row())
  private readonly processes = new Rows(() => new ThreadRow())
  private readonly cpus = new Counts()
  private crossCpuFrees = 0
  private readonly mismatches = new Counts()
  private readonly resident = { blocks: 0, present: 0n, size: 0n }
  private readonly residentSet = new ResidentOracle()
  private readonly reserved = nothing()
  private readonly internal = nothing()
  private readonly calls = new Map<bigint | undefined, number>()
  private readonly allocations = new Counts()
  private readonly times: { first: bigint; last: bigint }[] = []
  private time: { first: bigint; last: bigint } | undefined
  private readonly timeline: TimelinePart[] = []
  private part: TimelinePart | undefined
  private event = {} as PlainEvent

  /**
   * @param peak the event after which blocks are those at the peak
   * @param partEvents the number of events of each part of the timeline
   */
  constructor(
    private readonly peak: number,
    private readonly partEvents: number,
  ) {}

  add(batch: EventBatch): void {
    if (batch.header !== this.header) {
      this.endTrace()
      this.traces++
      this.residentSet.begin(this.peakBytes.event)
      if (this.part !== undefined) Object.assign(this.part, { minBytes: 0n, minBlocks: 0 })
    }
    this.header = batch.header
    for (const event of plainEvents(batch)) this.take(event)
  }

  private take(event: PlainEvent): void {
    const { process, thread, time, cpu, size = 0n } = event
    this.event = event
    this.events++
    if (this.part === undefined) this.part = this.newPart()
    const { part } = this
    this.kinds.count(event.kind)
    this.apis.count(event.api)
    if (cpu !== undefined) this.cpus.count(String(cpu))
    this.threads.of(threadOf(process, thread)).events++
    this.processes.of(processOf(process)).events++
    if (time !== undefined) {
      this.time ??= { first: time, last: time }
      if (time < this.time.first) this.time.first = time
      if (time > this.time.last) this.time.last = time
    }
    if (event.kind === 'alloc' || event.kind === 'existing') {
      this.blockEvents++
      if (isNull(event)) this.faults.count('failedAllocations')
      else this.begin(nameOf(event, event.address))
    } else if (event.kind === 'free') {
      this.blockEvents++
      this.free(event)
    } else if (event.kind === 'realloc') {
      this.blockEvents++
      this.realloc(event)
    } else if (event.kind === 'reserve') {
      grow(event.type === 'internal' ? this.internal : this.reserved, size)
    } else if (event.kind === 'process-end') {
      for (const [name, block] of this.live) if (block.by.process === process) this.leak(name, block)
      this.residentSet.end(String(process))
    }
    this.level()
    if (event.kind === 'other' && event.present !== undefined) {
      const { events: number, liveBytes: live, peakBytes } = this
      this.residentSet.take(String(process), { bytes: event.present, live, event: number, time }, peakBytes.event)
    }
    const { level } = this.residentSet
    if (level > (part.resident ?? 0n)) part.resident = level
    if (this.events === this.peak) {
      for (const block of this.live.values()) for (const { atPeak } of block.rows) grow(atPeak, block.size)
    }
  }

  private free(event: PlainEvent): void {
    const name = nameOf(event, event.address)
    if (isNull(event)) this.faults.count('nullFrees')
    else if (this.live.has(name)) this.end(name, false)
    else this.unknown(name)
  }

  /** A free of a block that is not live. */
  private unknown(name: Name): void {
    const last = this.ended.get(name)
    const isDouble = last !== undefined && this.ends - last < REMEMBERED
    this.faults.count(isDouble ? 'doubleFrees' : 'unknownFrees')
    this.call(this.event.process)
  }

  private realloc(event: PlainEvent): void {
    const { outcome, size } = event
    let { address = 0n, oldAddress = 0n } = event
    if (outcome === 'allocated') oldAddress = 0n
    if (outcome === 'none') {
      if (event.oldAddress === undefined) oldAddress = address
      else if (event.address === undefined) address = oldAddress
    }
    const isFreed = outcome === 'freed' || (outcome !== 'none' && address === 0n && (size ?? 0n) === 0n)
    const old = nameOf(event, oldAddress)
    const wasLive = this.live.has(old)
    if (address !== 0n && outcome !== 'freed') {
      if (oldAddress === 0n) {
        this.reallocs.count('allocated')
        this.begin(nameOf(event, address))
        return
      }
      if (!wasLive) {
        this.reallocs.count('unknown')
        this.begin(nameOf(event, address))
        return
      }
      if (outcome === 'none' || (outcome === undefined && oldAddress === address)) this.reallocs.count('inPlace')
      else this.reallocs.count('moved')
      const born = this.end(old, true)
      this.begin(nameOf(event, address), born)
    } else if (!isFreed) this.reallocs.count('failed')
    else if (oldAddress === 0n) this.reallocs.count('nothing')
    else if (wasLive) {
      this.reallocs.count('freed')
      this.end(old, false)
    } else {
      this.reallocs.count('unknown')
      this.call(event.process)
    }
  }

  private begin(name: Name, born?: Block['born']): void {
    const { event } = this
    const { process, thread, site, size = 0n, usable } = event
    const reused = this.live.get(name)
    if (reused !== undefined) {
      grow(this.overlaps, reused.size)
      this.remove(name, reused)
    }
    const actor = threadOf(process, thread)
    // A block that was there before is no call.
    const isCall = event.kind !== 'existing'
    if (isCall) this.allocations.count(actor)
    const call = isCall ? this.call(process) : -1
    const siteRow = this.sites.of(site)
    this.actors.add(actor)
    const shareRow = this.siteThreads.of(this.sites.has(site) ? `${site}\n${actor}` : 'others')
    const owners = [this.threads.of(actor), this.processes.of(processOf(process))]
    const rows = [siteRow, this.sizes.of(String(size)), ...owners, shareRow]
    for (const row of rows) row.begin(size)
    if (usable !== undefined) {
      siteRow.overhead.hits++
      siteRow.overhead.requested += size
      siteRow.overhead.allocated += usable
    }
    grow(this.allocated, size)
    this.liveBytes += size
    this.allocatedSizes.add(size)
    this.live.set(name, {
      size,
      by: event,
      rows,
      born: born ?? (isCall ? { event: this.blockEvents, time: event.time, bytes: this.allocated.bytes } : 'before'),
      event: this.blockEvents,
      call,
      own: isCall ? (this.allocations.get(actor) as number) : -Infinity,
    })
    const now = {
      blocks: this.live.size,
      bytes: this.liveBytes,
      event: this.events,
      allocatedBytes: this.allocated.bytes,
      time: event.time,
    }
    if (now.bytes > this.peakBytes.bytes) this.peakBytes = now
    if (now.blocks > this.peakBlocks.blocks) this.peakBlocks = now
  }

  /** A block is freed, or resized. @returns when its life began */
  private end(name: Name, isResized: boolean): Block['born'] {
    const block = this.live.get(name) as Block
    const { event } = this
    const { process, thread, cpu, time, present, api } = event
    const { size, rows, by, born } = block
    this.remove(name, block)
    this.ended.set(name, this.ends++)
    grow(this.freed, size)
    const actor = threadOf(process, thread)
    this.actors.add(actor)
    const row = this.threads.of(actor)
    row.frees++
    const add = (definition: 'heaptrack' | 'memray') => {
      grow(this.temporary[definition], size)
      for (const { temporary } of rows) grow(temporary[definition], size)
    }
    if (this.calls.get(process) === block.call) add('heaptrack')
    this.call(process)
    const isForeign = thread !== by.thread || process !== by.process
    const own = this.allocations.get(threadOf(process, thread)) ?? 0
    if (!isForeign && own - block.own <= 1) add('memray')
    if (isForeign) {
      row.freedOfOthers++
      rows[0].foreignFrees++
      const site = this.sites.has(by.site) ? by.site : 'others'
      grow(this.handoffs.of(`${site}\n${threadOf(by.process, by.thread)} to ${actor}`).allocated, size)
    }
    if (cpu !== undefined && by.cpu !== undefined && cpu !== by.cpu) {
      this.crossCpuFrees++
      rows[0].crossCpuFrees++
    }
    if (api !== undefined && by.api !== undefined) {
      const families = [FAMILIES[by.api], FAMILIES[api]]
      if (families[0] !== families[1]) this.mismatches.count(families.join(' '))
    }
    if (present !== undefined) {
      this.resident.blocks++
      this.resident.present += present
      this.resident.size += size
    }
    if (!isResized && born !== 'before') {
      this.lifetimes.events.add(BigInt(this.blockEvents - born.event))
      this.lifetimes.bytes.add(this.allocated.bytes - born.bytes)
      if (time !== undefined && born.time !== undefined && time >= born.time) this.lifetimes.time.add(time - born.time)
    }
    return born
  }

  /** A block is no longer live. */
  private remove(name: Name, { size, rows, by, event }: Block): void {
    this.live.delete(name)
    this.liveBytes -= size
    const { time = by.time } = this.event
    for (const row of rows) {
      grow(row.live, -size, -1)
      row.lived += BigInt(this.blockEvents - event)
      if (time !== undefined && by.time !== undefined && time > by.time) row.livedTime += time - by.time
    }
  }

  /** A block is never freed. */
  private leak(name: Name, block: Block): void {
    for (const { leaked } of block.rows) grow(leaked, block.size)
    grow(this.leaked, block.size)
    this.remove(name, block)
  }

  /** The number of a call that allocates or frees a block. */
  private call(process: bigint | undefined): number {
    const number = (this.calls.get(process) ?? 0) + 1
    this.calls.set(process, number)
    return number
  }

  /** No block outlives its trace. */
  private endTrace(): void {
    for (const [name, block] of this.live) this.leak(name, block)
    this.ended.clear()
    if (this.time !== undefined) this.times.push(this.time)
    this.time = undefined
  }

  private newPart(): TimelinePart {
    const [bytes, blocks] = [this.liveBytes, this.live.size]
    return {
      event: 0,
      live: nothing(),
      minBytes: bytes,
      maxBytes: bytes,
      minBlocks: blocks,
      maxBlocks: blocks,
      allocated: { blocks: -this.allocated.blocks, bytes: -this.allocated.bytes },
      frees: -this.freed.blocks,
      ...(this.residentSet.level > 0n && { resident: this.residentSet.level }),
    }
  }

  /** The level after an event. */
  private level(): void {
    const part = this.part as TimelinePart
    const [bytes, blocks] = [this.liveBytes, this.live.size]
    part.event = this.events
    if (this.event.time !== undefined) part.time = this.event.time
    part.live = { blocks, bytes }
    if (bytes < part.minBytes) part.minBytes = bytes
    if (bytes > part.maxBytes) part.maxBytes = bytes
    part.minBlocks = Math.min(part.minBlocks, blocks)
    part.maxBlocks = Math.max(part.maxBlocks, blocks)
    if (this.events % this.partEvents === 0) this.endPart()
  }

  private endPart(): void {
    const { part } = this
    if (part === undefined) return
    grow(part.allocated, this.allocated.bytes, this.allocated.blocks)
    part.frees += this.freed.blocks
    this.timeline.push(part)
    this.part = undefined
  }

  /** The figures by their names in `Statistics`; lists are maps by the name of the row. */
  finish() {
    this.endPart()
    this.endTrace()
    const { traces, events, blockEvents, kinds, apis, allocated, freed, leaked, peakBytes, peakBlocks } = this
    const { temporary, reallocs, faults, overlaps, lifetimes, sites, sizes, threads, times } = this
    const span = times.reduce((sum, { first, last }) => sum + last - first, 0n)
    return {
      traces,
      events,
      blockEvents,
      kinds,
      apis,
      allocated,
      freed,
      leaked,
      peakBytes,
      peakBlocks,
      temporary,
      reallocs,
      faults,
      overlaps,
      sizes: this.allocatedSizes.result(),
      exactSizes: sizes,
      lifetimes: {
        events: lifetimes.events.result(),
        bytes: lifetimes.bytes.result(),
        time: lifetimes.time.result(),
      },
      time: times[0] && { ...times[0], span },
      sites,
      threads,
      siteThreads: this.actors.size > 1 ? this.siteThreads : new Rows(() => new Row()),
      handoffs: this.handoffs,
      processes: this.processes,
      cpus: this.cpus,
      crossCpuFrees: this.crossCpuFrees,
      mismatches: this.mismatches,
      resident: this.resident,
      residentSet: this.residentSet.result(this.peakBytes.event).residentSet,
      reserved: this.reserved,
      internal: this.internal,
      timeline: this.timeline,
    }
  }
}

import { Intervals } from '../../bytes/intervals.js'
import { HI, LO, wide } from '../../bytes/u64.js'
import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { gatherRows } from '../../event/gather.js'
import type { TraceHeader } from '../../event/header.js'
import { checkOptions, wholeNumber, type OptionNames } from '../../event/options.js'
import type { BatchTransform } from '../../event/stage.js'
import { MAX_SIZE, type FaultName } from '../option-values.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { LiveSet } from '../../blocks/live-set.js'
import { allowedFaults, Extent } from '../verify.js'
import { FREED_BY, makeAllocation, setTime } from './changes.js'
import { Monotonic } from './monotonic.js'
import { Window } from './window.js'

const { time: HAS_TIME, sequence: HAS_SEQUENCE, thread: HAS_THREAD } = FieldBit
const { free: FREE, realloc: REALLOC, 'process-end': PROCESS_END } = Kind

/** The changes that a repair can make, each counted separately. */
export const REPAIRS = {
  'free-moved': 'frees moved before the reuse of their address',
  'free-added': 'frees added, of blocks whose address was reused',
  'free-dropped': 'frees of blocks that are not live, left out',
  'realloc-dropped': 'reallocs of blocks that are not live which leave none, left out',
  'realloc-replaced': 'reallocs of blocks that are not live, made allocations',
  'allocation-dropped': 'allocations of an absurd size, left out',
  'size-set': 'sizes of 0, set to 1',
  'time-set': 'times that went backwards, set to that of the event before',
  'sequence-set': 'sequence numbers that did not rise, counted on',
} as const

/** The name of a change. */
export type RepairName = keyof typeof REPAIRS

/** The largest window, in events. */
export const MAX_REPAIR_WINDOW = 2 ** 24

export interface RepairOptions {
  /** The number of events ahead in which a late free is searched, at most 16,777,216. Default 16,384. */
  readonly window?: number
  /** Larger allocations, in bytes, are removed. Default `MAX_SIZE`. */
  readonly maxSize?: bigint
  /** Faults to ignore and leave as they are. */
  readonly allow?: readonly FaultName[]
}

const OPTIONS: OptionNames<RepairOptions> = {
  window: wholeNumber(1, MAX_REPAIR_WINDOW),
  maxSize: 'bigint',
  allow: true,
}

/** The words kept for each block: its start, the thread that allocated it, and whether that thread is known. */
const [START_HI, START_LO, THREAD_HI, THREAD_LO, HAS_ALLOCATOR, WORDS] = [0, 1, 2, 3, 4, 5]

/** The tag of an interval whose key is an index. */
const INDEXED = 1

/** A value to set in the next batch once its rows have been copied. */
interface Patch {
  readonly row: number
  apply(batch: EventBatch, row: number): void
}

/**
 * Repairs a trace so that a `Verifier` finds nothing in it any more, and counts the changes.
 *
 * A free is often recorded late: another thread receives the same address, and its allocation is recorded first. So
 * where an allocation meets a live block, the free of that block is searched for among the next events (see
 * `Window.lateFree`) and moved before the allocation. Everything else that is impossible is removed, added or set; see
 * `REPAIRS`.
 *
 * Memory grows with the window and with the number of live blocks, 100 to 200 bytes for each.
 */
export class Repair implements BatchTransform {
  private readonly tally = new Map<RepairName, number>()
  private readonly liveSet = new LiveSet(WORDS)
  private readonly intervals = new Intervals()
  private readonly extent: Extent
  private readonly last = new Monotonic()
  private readonly window: Window
  private readonly allowed: ReadonlySet<FaultName>
  private header: TraceHeader | undefined
  private incoming: EventBatch | null = null
  /** The first batch of another trace, which waits for the end of this one. */
  private waiting: EventBatch | null = null
  private isEnding = false
  private hasAnnounced = false

  /** The next batch: its sources, and the source and row of each event. */
  private sources: EventBatch[] = []
  private readonly from = new Int32Array(BATCH_EVENTS)
  private readonly rows = new Int32Array(BATCH_EVENTS)
  private count = 0
  private patches: Patch[] = []
  /** Events that were added to the next batch. */
  private added: EventBatch | undefined

  /** @throws RangeError when the window is not a whole number of events, or too large */
  constructor(options: RepairOptions = {}) {
    checkOptions(options, OPTIONS, 'repair')
    const { window = 16_384, maxSize = MAX_SIZE, allow } = options
    this.allowed = allowedFaults(allow)
    this.extent = new Extent(maxSize)
    this.window = new Window(window, this.liveSet)
  }

  /** The number of times that each change was made, without changes that were not needed. */
  get changes(): ReadonlyMap<RepairName, number> {
    return this.tally
  }

  feed(batch: EventBatch): void {
    this.incoming = batch
  }

  end(): void {
    this.isEnding = true
    this.window.join()
  }

  endTruncated(): void {
    this.end()
  }

  dispose(): void {
    this.liveSet.dispose()
  }

  /** @throws SpacesError when blocks cannot be distinguished, after the events before that one */
  next(): EventBatch | null {
    const { window } = this
    this.admit()
    while (this.count < BATCH_EVENTS) {
      const isAllIn = window.enter()
      const isOver = window.unclear !== undefined || (isAllIn && (this.isEnding || this.waiting !== null))
      if (!isOver && !window.isFull) break
      const place = window.first()
      if (place < 0) break
      this.step(place)
    }
    if (this.count > 0 || (!this.hasAnnounced && this.header !== undefined)) return this.take()
    if (window.unclear !== undefined) throw window.unclear
    if (this.waiting === null) return null
    // Begins the next trace, after the whole previous one has been written.
    this.begin(this.waiting.header)
    window.feed(this.waiting)
    this.waiting = null
    return this.next()
  }

  /** Passes the input to the window, unless it starts another trace. */
  private admit(): void {
    const batch = this.incoming
    if (batch === null) return
    this.incoming = null
    if (this.header === undefined) this.begin(batch.header)
    if (batch.header === this.header) {
      this.window.feed(batch)
    } else {
      this.waiting = batch
      this.window.join()
    }
  }

  private begin(header: TraceHeader): void {
    this.header = header
    this.hasAnnounced = false
    this.liveSet.clear()
    this.intervals.clear()
    this.last.clear()
    this.window.clear()
  }

  /**
   * Adds at most one event to the output: the one at this place, which is the first, or a free that must precede it.
   */
  private step(place: number): void {
    const { window, liveSet } = this
    const batch = window.batch(place)
    const i = window.row(place)
    const intent = window.identify(place)
    const begins = (intent & BlockEffect.began) !== 0
    if (begins && this.makeRoom(batch, i)) return
    window.leave()
    if (begins) {
      this.block(batch, i)
      return
    }
    if (batch.kind[i] === PROCESS_END) {
      this.apply()
      for (let left = 1; left < liveSet.gone.length; left += 2) this.vacate(liveSet.gone[left])
    } else if (intent === BlockEffect.ended) {
      const effect = this.apply()
      if ((effect & BlockEffect.unknown) === 0) {
        this.vacate(liveSet.ended[0])
      } else if (!this.allows(effect)) {
        this.changed(batch.kind[i] === FREE ? 'free-dropped' : 'realloc-dropped')
        return
      }
    }
    this.emit(batch, i)
  }

  /** Ends a live block that overlaps the one that event i begins. @returns whether there was one */
  private makeRoom(batch: EventBatch, i: number): boolean {
    const { liveSet, extent, intervals } = this
    const { isIndexed, ends, begins } = liveSet.keys
    const fault = this.faultOf(batch, i)
    if (fault === 'absurd-size') return false
    if (fault === 'zero-size') extent.grow()
    const live = liveSet.find(isIndexed, ends[LO], ends[HI])
    if (live !== 0) {
      if (batch.kind[i] !== REALLOC) {
        if (this.allowed.has('live-address')) return false
        this.release(isIndexed, begins[LO], begins[HI], batch, i)
        return true
      }
      // A realloc's own block does not obstruct it.
      this.vacate(live)
    }
    const { startHi, startLo, endHi, endLo } = extent
    if ((startHi | startLo) === 0 || !intervals.overlap(startHi, startLo, endHi, endLo)) return false
    const found = { startHi: intervals.startHi, startLo: intervals.startLo }
    const isSame = found.startHi === startHi && found.startLo === startLo
    if (this.allowed.has(isSame ? 'live-address' : 'overlap')) return false
    this.release(intervals.tag === INDEXED, intervals.keyLo, intervals.keyHi, batch, i)
    intervals.remove(found.startHi, found.startLo)
    return true
  }

  /** The extent of the block that event i begins, and the fault of its size. */
  private faultOf(batch: EventBatch, i: number): ReturnType<Extent['take']> {
    const fault = this.extent.take(batch, i, this.liveSet.keys, 0)
    return fault !== undefined && this.allowed.has(fault) ? undefined : fault
  }

  /** Handles an event that begins a block where there is room for it. */
  private block(batch: EventBatch, i: number): void {
    const { liveSet, extent, intervals } = this
    const { isIndexed, begins } = liveSet.keys
    const [beginsLo, beginsHi] = [begins[LO], begins[HI]]
    const fault = this.faultOf(batch, i)
    if (fault === 'absurd-size') {
      this.changed('allocation-dropped')
      return
    }
    if (
      isIndexed &&
      (beginsLo | beginsHi) === 0 &&
      liveSet.find(isIndexed, beginsLo, beginsHi) === 0 &&
      !this.allowed.has('unknown-free')
    ) {
      // Such a realloc cannot become an allocation, because no block has the index 0.
      this.changed('realloc-dropped')
      return
    }
    const effect = this.apply()
    if ((effect & BlockEffect.ended) !== 0) this.vacate(liveSet.ended[0])
    if (fault === 'zero-size') {
      extent.grow()
      this.changed('size-set')
      this.patch((to, row) => to.size.values.fill(1n, row, row + 1))
    }
    const { startHi, startLo, endHi, endLo } = extent
    if ((startHi | startLo) !== 0)
      intervals.put(startHi, startLo, endHi, endLo, beginsHi >>> 0, beginsLo >>> 0, isIndexed ? INDEXED : 0)
    const { words } = liveSet
    const at = WORDS * liveSet.begun[0]
    words[at + START_HI] = startHi
    words[at + START_LO] = startLo
    const isTold = (batch.mask[i] & HAS_THREAD) !== 0
    words[at + HAS_ALLOCATOR] = isTold ? 1 : 0
    words[at + THREAD_HI] = isTold ? batch.thread.words[2 * i + HI] : 0
    words[at + THREAD_LO] = isTold ? batch.thread.words[2 * i + LO] : 0
    if ((effect & BlockEffect.unknown) !== 0 && !this.allows(effect)) {
      this.changed('realloc-replaced')
      this.patch(makeAllocation)
    }
    this.emit(batch, i)
  }

  /** Ends a live block that obstructs event i: by its own free if that follows soon, otherwise by an added one. */
  private release(isIndexed: boolean, lo: number, hi: number, batch: EventBatch, i: number): void {
    const { window, liveSet } = this
    const at = WORDS * liveSet.find(isIndexed, lo, hi)
    const { words } = liveSet
    const thread = at !== 0 && words[at + HAS_ALLOCATOR] === 1 ? words[at + THREAD_LO] : undefined
    const place = window.lateFree(isIndexed, lo, hi, thread, words[at + THREAD_HI], batch, i)
    if (place >= 0) {
      const source = window.batch(place)
      const row = window.row(place)
      window.identify(place)
      window.take(place)
      this.apply()
      this.vacate(liveSet.ended[0])
      this.changed('free-moved')
      this.emit(source, row, true)
      return
    }
    const added = (this.added ??= new EventBatch(BATCH_EVENTS, 0, batch.header))
    const { process, thread: caller, cpu, time, endTime, sequence, api } = batch.event(i)
    const kernel = api === undefined ? undefined : FREED_BY[api]
    const key = wide(lo >>> 0, hi >>> 0)
    const { keys } = liveSet
    const address = key ^ (BigInt(keys.spaces[0] >>> 0) << 32n)
    added.push({
      kind: 'free',
      ...(kernel !== undefined && { api: kernel }),
      ...(process !== undefined && { process }),
      ...(caller !== undefined && { thread: caller }),
      ...(cpu !== undefined && { cpu }),
      ...(sequence !== undefined && { sequence }),
      ...(time !== undefined && { time }),
      ...(endTime !== undefined && { endTime }),
      ...(isIndexed ? { index: key } : { address }),
    })
    keys.setFree(isIndexed, lo, hi)
    this.apply()
    this.vacate(liveSet.ended[0])
    this.changed('free-added')
    this.emit(added, added.count - 1)
  }

  /** Applies row 0 of the keys to the live set. @returns the effect */
  private apply(): number {
    this.liveSet.apply(1)
    return this.liveSet.effects[0]
  }

  /** Whether a free of a block that is not live is kept unchanged. */
  private allows(effect: number): boolean {
    return this.allowed.has((effect & BlockEffect.again) !== 0 ? 'double-free' : 'unknown-free')
  }

  /** Releases the place of a block. @param number the block's, in the live set; 0 for none */
  private vacate(number: number): void {
    const { words } = this.liveSet
    const hi = words[WORDS * number + START_HI]
    const lo = words[WORDS * number + START_LO]
    if (number !== 0 && (hi !== 0 || lo !== 0)) this.intervals.remove(hi, lo)
  }

  /**
   * Adds an event to the output, with the time and the sequence number that its place allows.
   * @param isMoved whether it comes from further ahead and gets the time of the previous event
   */
  private emit(batch: EventBatch, i: number, isMoved = false): void {
    const { last, sources } = this
    const mask = batch.mask[i]
    const row = this.count++
    let source = sources.length - 1
    if (sources[source] !== batch) {
      source = sources.lastIndexOf(batch)
      if (source < 0) source = sources.push(batch) - 1
    }
    this.from[row] = source
    this.rows[row] = i
    const isOrdered = isMoved || !this.allowed.has('time-backwards')
    if (isOrdered && (mask & HAS_TIME) !== 0 && (isMoved || !last.admitsTime(batch, i))) {
      const { timeHi, timeLo } = last
      if (!isMoved) this.changed('time-set')
      this.patchRow(row, (to) => setTime(to, row, timeLo, timeHi, isMoved))
    }
    if (isOrdered && (mask & HAS_SEQUENCE) !== 0 && !last.admitsSequence(batch, i, isMoved)) {
      const { sequence } = last
      this.changed('sequence-set')
      this.patchRow(row, (to) => to.sequence.fill(sequence, row, row + 1))
    }
  }

  /** Registers a change for the event that is emitted next. */
  private patch(apply: Patch['apply']): void {
    this.patchRow(this.count, apply)
  }

  private patchRow(row: number, apply: Patch['apply']): void {
    this.patches.push({ row, apply })
  }

  private changed(name: RepairName): void {
    this.tally.set(name, (this.tally.get(name) ?? 0) + 1)
  }

  /** The rows of the output as a batch. */
  private take(): EventBatch {
    const batch = gatherRows(this.header as TraceHeader, this.sources, this.from, this.rows, this.count)
    for (const { row, apply } of this.patches) apply(batch, row)
    this.sources = []
    this.count = 0
    this.patches = []
    this.added = undefined
    this.hasAnnounced = true
    return batch
  }
}

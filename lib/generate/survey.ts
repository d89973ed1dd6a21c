import { doubleAt, HI, LO, WORD } from '../bytes/u64.js'
import { widened } from '../bytes/widened.js'
import { BlockEffect } from '../blocks/block-effect.js'
import { LiveSet } from '../blocks/live-set.js'
import type { EventBatch } from '../event/batch.js'
import { FieldBit, Kind } from '../event/fields.js'
import { refuseUnidentified, type TraceHeader } from '../event/header.js'
import { BoundedKeys, FIRST, OTHERS } from '../blocks/bounded-keys.js'
import { HAS_SITE, SiteKeys } from '../transforms/statistics/site-keys.js'
import { codeOf, coarser, FINEST } from './codes.js'
import { KindTable } from './kind-table.js'
import { NumberList } from './lists.js'
import { RowTable, WORDS } from './row-table.js'
import type { TraceModel } from './trace-model.js'
import * as Model from './trace-model.js'

const { began: BEGAN, ended: ENDED } = BlockEffect
const { api: HAS_API, thread: HAS_THREAD, time: HAS_TIME, size: HAS_SIZE, alignment: HAS_ALIGNMENT } = FieldBit
const { realloc: REALLOC, 'process-end': PROCESS_END } = Kind

/** The allocations of a phase, at first. */
const PHASE = 64
/** The number of phases down to which phases become longer, before lifetimes become less exact. */
const PHASES = 64
/** The bits of a lifetime down to which lifetimes become less exact, before threads and sites are given up. */
const BITS = 3
/** Sizes have at most this high word. */
const MOST_HI = Math.floor(Model.MOST_VALUE / WORD)

/**
 * Makes the model of a trace: counts its blocks by phase, thread, site, function, size, lifetime and ending. The events
 * of several traces in a stream follow each other as in one trace. A model has one process: the live blocks of a
 * process or a trace that ends are freed then, and stay if nothing is allocated after that.
 *
 * When there are more than 131,072 rows, or 1,024 phases, phases become twice as long, then lifetimes less exact, and
 * at last threads and sites are given up. So memory grows with the live blocks only: 16 bytes for each, and what
 * `LiveSet` takes.
 */
export class TraceSurvey {
  private readonly live = new LiveSet(0)
  private readonly sites = new SiteKeys({ rows: Model.MOST_SITES })
  private readonly threads = new BoundedKeys(Model.MOST_MODEL_THREADS - 1)
  private readonly kinds = new KindTable()
  private rows = new RowTable()
  private phaseLength = PHASE
  private lifetimeBits = FINEST
  private isRough = false
  private events = 0
  /** The number of allocations so far. */
  private allocations = 0
  /** The time at the beginning of each phase, and the last one, in nanoseconds. */
  private starts = new NumberList()
  private time = 0
  private isTimed = false
  /** By live block: when it began, and its kind. */
  private births = new Float64Array(64)
  private kind = new Int32Array(64)
  /** The highest number of a block in this trace. */
  private highest = 0
  /** The blocks of processes and traces that ended after the last allocation: when each began, and its kind. */
  private gone: number[] = []
  private header: TraceHeader | undefined
  /** The blocks whose sizes are too large for a model, which has them with fewer bytes. */
  limitedSizes = 0
  /** The blocks whose alignments are too large for a model, or no powers of two: it has them without. */
  lostAlignments = 0

  /** Whether there are more threads than a model has: the last one stands for all further ones. */
  get hasFurtherThreads(): boolean {
    return this.threads.overflowed
  }

  /** Takes the next events. @throws RangeError for a trace without identity of blocks */
  add(batch: EventBatch): void {
    if (batch.header !== this.header) this.begin(batch.header)
    this.live.followParts(batch, this.events, (from, to) => this.addRows(batch, from, to))
    this.events += batch.count
  }

  /** The model of what was added. */
  finish(): TraceModel {
    this.settle()
    this.live.dispose()
    const { words, counts, size } = this.rows
    const order = Array.from({ length: size }, (_, row) => row).toSorted(
      (a, b) => words[WORDS * a] - words[WORDS * b] || a - b,
    )
    const used = [...new Set(order.map((row) => words[WORDS * row + 1]))]
    const numbers = new Map(used.map((kind, i) => [kind, i]))
    const column = (word: number) => order.map((row) => words[WORDS * row + word])
    return {
      format: Model.MODEL_FORMAT,
      version: Model.MODEL_VERSION,
      phaseLength: this.phaseLength,
      lifetimeBits: this.lifetimeBits,
      threads: this.threads.overflowed ? Model.MOST_MODEL_THREADS : Math.max(1, this.threads.size - FIRST),
      sites: Math.min(Model.MOST_SITES, this.sites.size - FIRST),
      gaps: this.gaps(),
      kinds: this.kinds.result(used),
      rows: {
        phase: column(0),
        kind: column(1).map((kind) => numbers.get(kind) as number),
        lifetime: column(2),
        ending: column(3),
        count: order.map((row) => counts[row]),
      },
    }
  }

  private begin(header: TraceHeader): void {
    refuseUnidentified(header, 'lifetimes are not known', 'them')
    this.endTrace()
    this.header = header
  }

  /** The blocks that are still live end with their trace. */
  private endTrace(): void {
    for (let block = 1; block <= this.highest; block++) this.part(block)
    this.highest = 0
    this.live.clear()
  }

  /** Nothing follows: the blocks that are still live stay. */
  private settle(): void {
    for (let block = 1; block <= this.highest; block++) {
      const birth = this.births[block]
      if (birth > 0) this.note(birth, this.kind[block], 0, Model.Ending.stays)
    }
    this.leave(Model.Ending.stays)
    this.live.clear()
  }

  private addRows(batch: EventBatch, from: number, to: number): void {
    const { live } = this
    if ((batch.columns & HAS_SITE) !== 0) this.sites.begin(batch)
    const { effects, ended, begun, gone } = live
    const { kind, mask } = batch
    let left = 0
    for (let row = 0; row < to - from; row++) {
      const effect = effects[row]
      const i = from + row
      if (kind[i] === PROCESS_END) for (; gone[left] === row; left += 2) this.part(gone[left + 1])
      if ((effect & (BEGAN | ENDED)) === 0) continue
      if ((mask[i] & HAS_TIME) !== 0) this.see(batch, i)
      const thread = this.thread(batch, i)
      const old = ended[row]
      const block = begun[row]
      if ((effect & ENDED) !== 0 && old > 0) this.end(old, kind[i] === REALLOC && block > 0 ? -1 : thread)
      if ((effect & BEGAN) !== 0 && block > 0) {
        // The block that was there before ends unseen.
        if (block < this.births.length && this.births[block] > 0) this.end(block, thread)
        this.start(block, this.kindOf(batch, i, thread, kind[i] === REALLOC && (effect & ENDED) !== 0 && old > 0))
      }
    }
  }

  /** Notes the time of an event. Times that go back are not used. */
  private see(batch: EventBatch, i: number): void {
    const unit = batch.header.timeUnit === 'us' ? 1000 : 1
    const time = doubleAt(batch.time.words, i) * unit
    if (!this.isTimed || time > this.time) this.time = time
    this.isTimed = true
  }

  /** The number of the thread of an event, from 1; those beyond the limit share the last one. */
  private thread(batch: EventBatch, i: number): number {
    if ((batch.mask[i] & HAS_THREAD) === 0) return 1
    const { words } = batch.thread
    const row = this.threads.row(words[2 * i + LO], words[2 * i + HI])
    return row === OTHERS ? Model.MOST_MODEL_THREADS : row - FIRST + 1
  }

  private kindOf(batch: EventBatch, i: number, thread: number, isResized: boolean): number {
    const mask = batch.mask[i]
    const { words } = batch.size
    const isLimited = (mask & HAS_SIZE) !== 0 && words[2 * i + HI] > MOST_HI
    if (isLimited) this.limitedSizes++
    const hi = (mask & HAS_SIZE) === 0 ? 0 : isLimited ? MOST_HI : words[2 * i + HI]
    const lo = (mask & HAS_SIZE) === 0 ? 0 : words[2 * i + LO]
    const site = (mask & HAS_SITE) === 0 ? 0 : Math.max(0, this.sites.row(batch, i) - FIRST + 1)
    const api = isResized ? Model.RESIZE : (mask & HAS_API) === 0 ? -1 : batch.api[i]
    return this.kinds.kind(thread, site, api, lo, hi, (mask & HAS_ALIGNMENT) === 0 ? 0 : this.alignment(batch, i))
  }

  /** The alignment that an event asks for; 0 for one that a model cannot have. */
  private alignment(batch: EventBatch, i: number): number {
    const alignment = doubleAt(batch.alignment.words, i)
    if (alignment === 0 || (alignment <= Model.MOST_ALIGNMENT && Number.isInteger(Math.log2(alignment))))
      return alignment
    this.lostAlignments++
    return 0
  }

  /** The process or the trace of a block has ended. */
  private part(block: number): void {
    const birth = this.births[block] ?? 0
    if (birth === 0) return
    this.births[block] = 0
    this.gone.push(birth, this.kind[block])
  }

  /** Notes the blocks of processes and traces that have ended. */
  private leave(ending: typeof Model.Ending.stays | typeof Model.Ending.free): void {
    const { gone } = this
    for (let at = 0; at < gone.length; at += 2) {
      const lifetime = ending === Model.Ending.stays ? 0 : codeOf(this.allocations - gone[at], this.lifetimeBits)
      this.note(gone[at], gone[at + 1], lifetime, ending)
    }
    this.gone = []
  }

  private start(block: number, kind: number): void {
    if (this.gone.length > 0) this.leave(Model.Ending.free)
    if (this.allocations === this.starts.length * this.phaseLength) this.starts.push(this.time)
    while (block >= this.births.length) {
      this.births = widened(this.births, 2 * this.births.length)
      this.kind = widened(this.kind, 2 * this.kind.length)
    }
    this.highest = Math.max(this.highest, block)
    this.births[block] = ++this.allocations
    this.kind[block] = kind
    if (this.allocations >= Model.MOST_PHASES * this.phaseLength) this.halve()
  }

  /** @param thread the thread that frees the block, -1 for a realloc */
  private end(block: number, thread: number): void {
    const birth = this.births[block] ?? 0
    if (birth === 0) return
    this.births[block] = 0
    const kind = this.kind[block]
    const isOwn = thread === this.kinds.thread(kind)
    const ending = thread < 0 ? Model.Ending.realloc : isOwn ? Model.Ending.free : Model.BY_THREAD + thread
    this.note(birth, kind, codeOf(this.allocations - birth, this.lifetimeBits), ending)
  }

  private note(birth: number, kind: number, lifetime: number, ending: number): void {
    const phase = Math.floor((birth - 1) / this.phaseLength)
    const rough = this.isRough ? this.kinds.roughened(kind) : kind
    this.rows.count(phase, rough, lifetime, this.isRough ? Math.min(ending, Model.Ending.free) : ending, 1)
    while (this.rows.size > Model.MOST_ROWS && this.coarsen()) continue
  }

  /** Gives up some exactness. @returns false if there is none left */
  private coarsen(): boolean {
    const phases = Math.ceil(this.allocations / this.phaseLength)
    if (phases > PHASES) this.halve()
    else if (this.lifetimeBits > BITS) this.blur()
    else if (phases > 1) this.halve()
    else if (this.lifetimeBits > 0) this.blur()
    else if (!this.isRough) {
      this.isRough = true
      this.rebuild((words, at) => {
        words[at + 1] = this.kinds.roughened(words[at + 1])
        words[at + 3] = Math.min(words[at + 3], Model.Ending.free)
      })
    } else return false
    return true
  }

  /** Makes phases twice as long. */
  private halve(): void {
    this.phaseLength *= 2
    const starts = new NumberList()
    for (let phase = 0; phase < this.starts.length; phase += 2) starts.push(this.starts.at(phase))
    this.starts = starts
    this.rebuild((words, at) => (words[at] = words[at] >> 1))
  }

  /** Makes lifetimes half as exact. */
  private blur(): void {
    const bits = this.lifetimeBits--
    this.rebuild((words, at) => (words[at + 2] = coarser(words[at + 2], bits)))
  }

  private rebuild(change: (words: Int32Array, at: number) => void): void {
    const { words, counts, size } = this.rows
    this.rows = new RowTable()
    for (let row = 0, at = 0; row < size; row++, at += WORDS) {
      change(words, at)
      const [a, b, c, d] = words.subarray(at, at + WORDS) as unknown as [number, number, number, number]
      this.rows.count(a, b, c, d, counts[row])
    }
  }

  /** The mean time between the allocations of each phase. */
  private gaps(): number[] {
    if (!this.isTimed) return []
    const { starts, phaseLength, allocations } = this
    return Array.from({ length: starts.length }, (_, phase) => {
      const isLast = phase + 1 === starts.length
      const span = (isLast ? this.time : starts.at(phase + 1)) - starts.at(phase)
      return Math.min(Model.MOST_VALUE, span / (isLast ? allocations - phase * phaseLength : phaseLength))
    })
  }
}

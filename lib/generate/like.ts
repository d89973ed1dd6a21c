import { widened } from '../bytes/widened.js'
import { leastOf, widthOf } from './codes.js'
import { Deaths } from './deaths.js'
import { NO_API, type CallSource, type EventWriter } from './event-writer.js'
import { NumberList } from './lists.js'
import type { Random } from './random.js'
import { BY_THREAD, Ending, RESIZE, type TraceModel } from './trace-model.js'
import { Api } from '../event/fields.js'

/** About the number of allocations that are put into random order at a time. */
const ORDERED = 65_536
/** The number of reallocs that may wait for blocks that they end; further ones are reallocs of the null pointer. */
const MOST_RESIZES = 4 * ORDERED
/** The calls of a step. */
const CALLS = 1024
/** The time between two calls of a trace without times, in nanoseconds. */
const GAP = 100

/** Calls with the joint distributions of a model. */
export class LikeCalls implements CallSource {
  private readonly deaths = new Deaths()
  /** The columns of the model, and where the rows of each phase begin. */
  private readonly kind: Int32Array
  private readonly lifetime: Int32Array
  private readonly ending: Int32Array
  private readonly count: Float64Array
  private readonly phases: number[]
  private readonly thread: Int32Array
  private readonly site: Int32Array
  private readonly api: Int32Array
  private readonly size: Float64Array
  private readonly sizes: Float64Array
  private readonly alignment: Int32Array
  /** The current phase, which is generated in several rounds if it is long, and its current round. */
  private phase = 0
  private round = 0
  private rounds = 1
  /** By group of rows (see `shuffle`), the fraction of a block that its rows so far have left over. */
  private readonly fractions: Float64Array
  /** The rows of the next allocations, in their order, and the next one. */
  private order = new Int32Array(0)
  private ordered = 0
  private next = 0
  /** By block: the row of the model with its ending. */
  private rowOf = new Int32Array(64)
  /** The rows of reallocs that wait for a block, and the first one that still does. */
  private readonly resizes = new NumberList()
  private resized = 0
  /** Blocks that a realloc is to end, blocks that stay, and those that end after the last allocation. */
  private readonly resizable = new NumberList()
  private readonly staying = new NumberList()
  private tail: number[] | undefined
  private ended = 0

  /**
   * @param isEndless whether the model is used again after its end; the blocks that stay are freed before
   * @param scale the number of copies of the program, whose calls alternate
   */
  constructor(
    private readonly model: TraceModel,
    private readonly random: Random,
    private readonly scale: number,
    private readonly isEndless: boolean,
  ) {
    const { kinds, rows } = model
    this.fractions = Float64Array.from({ length: 4 }, () => random.unit())
    this.kind = Int32Array.from(rows.kind)
    this.lifetime = Int32Array.from(rows.lifetime)
    this.ending = Int32Array.from(rows.ending)
    this.count = Float64Array.from(rows.count)
    this.thread = Int32Array.from(kinds.thread)
    this.site = Int32Array.from(kinds.site)
    this.api = Int32Array.from(kinds.api)
    this.size = Float64Array.from(kinds.size)
    this.sizes = Float64Array.from(kinds.sizes)
    this.alignment = Int32Array.from(kinds.alignment)
    this.phases = [0]
    for (let row = 0; row < rows.phase.length; row++)
      for (let phase = this.phases.length; phase <= rows.phase[row]; phase++) this.phases.push(row)
    this.phases.push(rows.phase.length)
  }

  step(writer: EventWriter): boolean {
    if (this.tail !== undefined) return this.finish(writer)
    for (let calls = 0; calls < CALLS; calls++) {
      const row = this.following(writer)
      if (row < 0) return true
      this.allocate(writer, row)
      for (let block = this.deaths.take(); block >= 0; block = this.deaths.take()) this.end(writer, block)
      this.deaths.advance()
    }
    return true
  }

  /** The row of the next allocation; -1 at the end. A realloc comes when a block waits for one. */
  private following(writer: EventWriter): number {
    const { resizes } = this
    for (;;) {
      const waiting = resizes.length - this.resized
      if (waiting > 0 && (this.resizable.length > 0 || waiting > MOST_RESIZES)) return resizes.at(this.resized++)
      if (this.next < this.ordered) return this.order[this.next++]
      if (this.arrange(writer)) continue
      // No block is left that they could resize.
      if (waiting > 0) return resizes.at(this.resized++)
      this.tail = this.deaths.drain()
      for (let block = this.resizable.pop(); block !== undefined; block = this.resizable.pop()) this.tail.push(block)
      this.ended = 0
      return -1
    }
  }

  private allocate(writer: EventWriter, row: number): void {
    const kind = this.kind[row]
    const thread = this.thread[kind]
    const site = this.site[kind]
    const api = this.api[kind]
    const sizes = this.sizes[kind]
    const size = this.size[kind] + (sizes === 1 ? 0 : Math.floor(this.random.unit() * sizes))
    const resized = api === RESIZE ? this.resizable.pop() : undefined
    let block: number
    if (resized === undefined) {
      const called = api === RESIZE ? Api.realloc : api < 0 ? NO_API : api
      block = writer.alloc(thread, called, size, site, this.alignment[kind])
    } else {
      block = resized
      writer.realloc(thread, block, size, site)
    }
    if (block >= this.rowOf.length) this.rowOf = widened(this.rowOf, 2 ** (32 - Math.clz32(block)))
    this.rowOf[block] = row
    if (this.ending[row] === Ending.stays) this.staying.push(block)
    else this.deaths.add(block, this.deaths.now + this.lives(row))
  }

  /** A lifetime, as the number of allocations. */
  private lives(row: number): number {
    const { lifetimeBits } = this.model
    const code = this.lifetime[row]
    const width = widthOf(code, lifetimeBits)
    if (width === 1 && this.scale === 1) return code
    return Math.floor((leastOf(code, lifetimeBits) + this.random.unit() * width) * this.scale)
  }

  /** Ends a block, or has the next realloc end it. */
  private end(writer: EventWriter, block: number): void {
    if (this.ending[this.rowOf[block]] === Ending.realloc) this.resizable.push(block)
    else this.free(writer, block)
  }

  /** Frees a block, by its own thread unless it is known that another one does. */
  private free(writer: EventWriter, block: number): void {
    const row = this.rowOf[block]
    const ending = this.ending[row]
    writer.free(ending > BY_THREAD ? ending - BY_THREAD : this.thread[this.kind[row]], block)
  }

  /** Puts the allocations of the next round into random order. @returns false if there is none */
  private arrange(writer: EventWriter): boolean {
    this.next = this.ordered = 0
    if (this.resized === this.resizes.length) this.resized = this.resizes.length = 0
    if (this.round === 0) {
      if (this.phase + 1 === this.phases.length) return false
      this.beginPhase(writer)
    }
    this.shuffle()
    if (++this.round === this.rounds) {
      this.round = 0
      this.phase++
    }
    return true
  }

  private beginPhase(writer: EventWriter): void {
    const { model, scale, phase } = this
    const from = this.phases[phase]
    const to = this.phases[phase + 1]
    let allocations = 0
    let events = 0
    for (let row = from; row < to; row++) {
      const count = this.count[row]
      allocations += count
      // A realloc that ends a block is the event that begins the next one.
      events += this.ending[row] < Ending.free ? count : 2 * count
    }
    this.rounds = Math.max(1, Math.ceil((allocations * scale) / ORDERED))
    writer.gap = model.gaps.length === 0 ? GAP : ((model.gaps[phase] ?? 0) * allocations) / Math.max(1, events)
  }

  /**
   * Makes the order of one round: each row has its part of the round's allocations. Parts are rounded so that the sums
   * of each group are exact, because as many reallocs are needed as there are blocks that end by one.
   */
  private shuffle(): void {
    const { random, scale, rounds, fractions } = this
    const to = this.phases[this.phase + 1]
    let n = 0
    for (let row = this.phases[this.phase]; row < to; row++) {
      const isResize = this.api[this.kind[row]] === RESIZE
      const group = (isResize ? 2 : 0) + (this.ending[row] === Ending.realloc ? 1 : 0)
      const blocks = fractions[group] + (this.count[row] * scale) / rounds
      const times = Math.floor(blocks)
      fractions[group] = blocks - times
      if (n + times > this.order.length) this.order = widened(this.order, 2 * (n + times))
      this.order.fill(row, n, n + times)
      n += times
    }
    const { order, resizes } = this
    for (let left = n; left > 1; left--) {
      const other = random.below(left)
      const row = order[left - 1]
      order[left - 1] = order[other]
      order[other] = row
    }
    this.ordered = 0
    for (let i = 0; i < n; i++) {
      const row = order[i]
      if (this.api[this.kind[row]] === RESIZE) resizes.push(row)
      else order[this.ordered++] = row
    }
  }

  /** Frees the blocks that end after the last allocation, and, if another run follows, those that remain. */
  private finish(writer: EventWriter): boolean {
    const blocks = this.tail as number[]
    for (let calls = 0; calls < CALLS; calls++) {
      const block = this.ended < blocks.length ? blocks[this.ended++] : this.isEndless ? this.staying.pop() : undefined
      if (block === undefined) {
        this.tail = undefined
        this.phase = this.round = 0
        return this.isEndless && this.model.rows.count.length > 0
      }
      this.free(writer, block)
    }
    return true
  }
}

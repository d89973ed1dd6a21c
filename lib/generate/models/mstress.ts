import { Api } from '../../event/fields.js'
import type { CallSource, EventWriter } from '../event-writer.js'
import { NumberList } from '../lists.js'
import type { Random } from '../random.js'

/** The calls of the first thread, and how many threads have each a multiple of it. */
const CALLS = 2500
const MULTIPLES = 8
/** Blocks have up to 2^4 words, and those that a thread keeps up to 2^6. */
const SHIFTS = 5
const KEPT_SHIFTS = 7
const WORD = 8
/** The places of the buffer in which threads exchange blocks. */
const TRANSFERS = 1000
/** The number of times that the array of blocks grows, and the rounds after which the exchanged blocks are freed. */
const ARRAY_STEP = 100_000
const ROUNDS = 10

/**
 * Threads that come and go and exchange blocks, after mstress of mimalloc-bench (Leijen): each thread allocates blocks,
 * keeps some until it ends, frees some of the others, and swaps some with a buffer that all threads share. A few blocks
 * are 100, 1,000 or 10,000 times as large.
 */
export class Mstress implements CallSource {
  private running: Worker[] = []
  private readonly shared = new Float64Array(TRANSFERS).fill(-1)
  private readonly calls: number
  private round = 0
  private lastThread = 0

  constructor(
    private readonly random: Random,
    private readonly threads: number,
    scale: number,
  ) {
    this.calls = Math.max(1, Math.round(CALLS * scale))
  }

  step(writer: EventWriter): boolean {
    const { random, shared } = this
    if (this.running.length === 0) this.begin(writer)
    const place = random.below(this.running.length)
    const worker = this.running[place]
    if (worker.step(writer, random, shared)) return true
    this.running[place] = this.running.at(-1) as Worker
    this.running.pop()
    return true
  }

  /** Starts the threads of the next round. */
  private begin(writer: EventWriter): void {
    if (this.round > 0 && this.round % ROUNDS === 0)
      for (let i = 0; i < TRANSFERS; i++) {
        const block = this.shared[i]
        if (block < 0 || !this.random.chance(50)) continue
        writer.free(1, block)
        this.shared[i] = -1
      }
    this.round++
    if (this.lastThread === 0) this.lastThread = 1
    this.running = Array.from(
      { length: this.threads },
      (_, i) => new Worker(++this.lastThread, this.calls * ((i % MULTIPLES) + 1)),
    )
  }
}

/** One thread of a round. */
class Worker {
  private readonly data = new NumberList()
  private readonly kept = new NumberList()
  private keep: number
  /** The blocks of its two arrays, once they are allocated. */
  private keptArray = -1
  private dataArray = -1
  private room = 0
  /** The next of the kept and the other blocks to free, at the end. */
  private ending = -1

  constructor(
    private readonly thread: number,
    private calls: number,
  ) {
    this.keep = Math.floor(calls / 2)
  }

  /** @returns false after its last call */
  step(writer: EventWriter, random: Random, shared: Float64Array): boolean {
    const { data, kept, thread } = this
    if (this.keptArray < 0) this.keptArray = writer.alloc(thread, Api.calloc, WORD * Math.max(1, this.keep))
    if (this.calls === 0 && this.keep === 0) return this.end(writer)
    if (this.keep === 0 || (this.calls > 0 && random.chance(50))) {
      this.calls--
      if (data.length === this.room) this.widen(writer)
      data.push(this.items(writer, random, SHIFTS))
    } else {
      kept.push(this.items(writer, random, KEPT_SHIFTS))
      this.keep--
    }
    if (random.chance(66) && data.length > 0) writer.free(thread, data.take(random.below(data.length)))
    if (random.chance(25) && data.length > 0) {
      const place = random.below(data.length)
      const other = random.below(TRANSFERS)
      const given = data.take(place)
      const taken = shared[other]
      shared[other] = given
      if (taken >= 0) data.push(taken)
    }
    return true
  }

  private items(writer: EventWriter, random: Random, shifts: number): number {
    let words = 2 ** random.below(shifts)
    if (random.chance(1)) words *= random.chance(1) ? 10_000 : random.chance(10) ? 1000 : 100
    return writer.alloc(this.thread, Api.calloc, WORD * words)
  }

  private widen(writer: EventWriter): void {
    this.room += ARRAY_STEP
    if (this.dataArray < 0) this.dataArray = writer.alloc(this.thread, Api.realloc, WORD * this.room)
    else writer.realloc(this.thread, this.dataArray, WORD * this.room)
  }

  private end(writer: EventWriter): boolean {
    const { data, kept, thread } = this
    if (this.ending < 0) this.ending = 0
    if (this.ending < kept.length) writer.free(thread, kept.at(this.ending++))
    else if (this.ending < kept.length + data.length) writer.free(thread, data.at(this.ending++ - kept.length))
    else {
      writer.free(thread, this.keptArray)
      if (this.dataArray >= 0) writer.free(thread, this.dataArray)
      return false
    }
    return true
  }
}

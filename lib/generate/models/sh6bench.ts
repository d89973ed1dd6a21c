import { Api } from '../../event/fields.js'
import type { CallSource, EventWriter } from '../event-writer.js'
import type { Random } from '../random.js'
import { checkBlocks } from './names.js'

/** The places for blocks of each thread, and the largest block. */
const PLACES = 16_384
const MOST = 1000

/** The sizes of one pass: three halves of the one before it, each followed by its halves; small ones more often. */
const SIZES = sizesOfPass()

function sizesOfPass(): Int32Array {
  const sizes: number[] = []
  for (let first = 1; first < MOST; first = Math.floor((first * 3) / 2) + 1)
    for (let size = first; size > 0; size = Math.floor(size / 2))
      for (let times = size < 100 ? 250 : 50; times > 0; times--) sizes.push(size)
  return Int32Array.from(sizes)
}

/**
 * Small blocks, more often the smaller they are, after sh6bench of MicroQuill's SmartHeap: when all places have a
 * block, those before a fifth of the places are freed in the order of allocation, those after it in the reverse
 * order, and the fifth stays until the next time, when it is the turn of the next one.
 */
export class Sh6bench implements CallSource {
  private readonly runs: Pass[]

  constructor(
    private readonly random: Random,
    threads: number,
    scale: number,
  ) {
    const places = Math.max(10, Math.round(PLACES * scale))
    checkBlocks(threads * places)
    this.runs = Array.from({ length: threads }, (_, i) => new Pass(i + 1, places))
  }

  step(writer: EventWriter): boolean {
    const { runs } = this
    runs[runs.length === 1 ? 0 : this.random.below(runs.length)].step(writer)
    return true
  }
}

/** One thread. */
class Pass {
  private readonly blocks: Int32Array
  private size = 0
  /** The next place to fill. */
  private at = 0
  /** The places that stay. */
  private from = 0
  private to = 0
  /** The next place to free: first up to `from`, then down to `to`; -1 while places are filled. */
  private freeing = -1
  private isDown = false

  constructor(
    private readonly thread: number,
    private readonly places: number,
  ) {
    this.blocks = new Int32Array(places)
  }

  step(writer: EventWriter): void {
    if (this.freeing >= 0) return this.release(writer)
    this.blocks[this.at++] = writer.alloc(this.thread, Api.malloc, SIZES[this.size])
    this.size = (this.size + 1) % SIZES.length
    if (this.at === this.from && this.to > this.from) this.at = this.to
    if (this.at < this.places) return
    this.from = this.to >= this.places ? 0 : this.to
    this.to = Math.min(this.from + Math.floor(this.places / 5), this.places)
    this.freeing = this.from > 0 ? 0 : this.places - 1
    this.isDown = this.from === 0
    this.settle()
  }

  private release(writer: EventWriter): void {
    writer.free(this.thread, this.blocks[this.freeing])
    this.freeing += this.isDown ? -1 : 1
    if (!this.isDown && this.freeing === this.from) {
      this.isDown = true
      this.freeing = this.places - 1
    }
    this.settle()
  }

  /** Goes on with filling when all is freed. */
  private settle(): void {
    if (!this.isDown || this.freeing >= this.to) return
    this.freeing = -1
    this.at = this.from === 0 ? this.to : 0
  }
}

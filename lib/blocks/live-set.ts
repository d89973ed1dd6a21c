import { BATCH_EVENTS as ROWS, type EventBatch } from '../event/batch.js'
import { KernelColumns } from '../kernel/instance.js'
import { loadKernel, releaseKernel, tableAt } from '../kernel/load.js'
import type { SpacesError } from './address-spaces.js'
import { BlockKeys, KEY_FIELDS } from './block-keys.js'
import type { ListedLiveExports, LiveExports } from '../kernel/live.js'

const NOTHING = new Uint8Array(0)
const NO_NUMBERS = new Int32Array(0)

/**
 * The live set of a trace: its live blocks, with some words of the caller's for each. A block is identified by its key
 * (see `BlockKeys`), and has a number from 1 while it is live; numbers are reused. The set itself is kernel/live.ts.
 *
 * `follow` takes up to a batch of events, and returns the effect of each in columns. The result for an event is valid
 * at that event: read the words of a block that ended before writing the words of a later event's block, which may have
 * the same number.
 *
 * Memory grows with the number of blocks that are live at once. For each there are 4 * `width` bytes, with room for at
 * most twice as many blocks as there were, and 20 bytes of a table that is 5/16 to 5/8 full (1/8 to 1/4, up to 16,384
 * blocks); tables that it has outgrown take no more than the current one.
 */
export class LiveSet<Run extends LiveExports = LiveExports> {
  /** Per row, the effect of the event: a set of `BlockEffect` bits; 0 for events that are not about a block. */
  effects = NOTHING
  /** The number of the block that the event ended or, with `failed`, left unchanged; 0 for none. */
  ended = NO_NUMBERS
  /**
   * The number of the block that the event began, 0 for none. With `reused`, it is the number of the block that was
   * live there, which keeps its words.
   */
  begun = NO_NUMBERS
  /**
   * For each block that ended with its process, at an event of the kind `process-end`: the row of that event, and the
   * number of the block. In the order of the rows.
   */
  gone = NO_NUMBERS
  /**
   * The words of block n, `words[n * width .. (n + 1) * width)`, which are arbitrary when the block begins. Replaced
   * when the number of blocks grows.
   */
  words: Uint32Array
  /** The columns that the kernel reads. */
  private columns: KernelColumns | undefined
  /** The number of blocks for which the words have room. */
  private room = 64

  /**
   * @param width the number of words that are kept for each block
   * @param run a kernel that has the live set in it
   * @param keys identify the blocks of the rows
   */
  constructor(
    readonly width: number,
    protected readonly run: Run = loadKernel<Run>('live'),
    readonly keys = new BlockKeys(),
  ) {
    this.words = new Uint32Array(this.room * width)
    // Random, so that no trace can be crafted with keys that collide.
    this.run.seed(Math.floor(Math.random() * 2 ** 32), Math.floor(Math.random() * 2 ** 32))
    this.clear()
  }

  /** The number of live blocks. */
  get size(): number {
    return this.run.live.value
  }

  /** Ends the use of the live set. */
  dispose(): void {
    releaseKernel(this.run)
  }

  /** Forgets all blocks: another trace begins. */
  clear(): void {
    this.keys.clear()
    if (this.run.clear() === 0) throw tooManyBlocks()
    this.look()
  }

  /**
   * Applies events `from` to `to` of a batch, at most `BATCH_EVENTS`: rows from 0 on of the columns then have the
   * effect of each.
   * @throws RangeError when there are more events, or there is no memory for the blocks
   * @throws SpacesError when blocks cannot be distinguished; the events before that one were applied
   */
  follow(batch: EventBatch, from = 0, to = batch.count): void {
    const unclear = this.followClear(batch, from, to)
    if (unclear !== undefined) throw unclear
  }

  /**
   * As `follow`, but if blocks cannot be distinguished at an event, applies the events before it.
   * @returns the error for that event
   */
  followClear(batch: EventBatch, from: number, to: number): SpacesError | undefined {
    const unclear = this.readClear(batch, from, to)
    this.apply((unclear?.row ?? to) - from)
    return unclear
  }

  /**
   * Applies the events `from` to `to` of a batch in parts of at most `BATCH_EVENTS`.
   * @param before the number of events before event `from`, for the error
   * @param take takes the events of a part, to which rows from 0 on belong
   * @throws RangeError when there is no memory for the blocks
   * @throws SpacesError with the number of the event at which blocks cannot be distinguished, after those before it
   */
  followParts(
    batch: EventBatch,
    before: number,
    take: (from: number, to: number) => void,
    from = 0,
    to = batch.count,
  ): void {
    for (let first = from; first < to; first += ROWS) {
      const last = Math.min(first + ROWS, to)
      const unclear = this.followClear(batch, first, last)
      const end = unclear?.row ?? last
      take(first, end)
      if (unclear !== undefined) throw unclear.at({ format: batch.header.format, event: before + end - from + 1 })
    }
  }

  /**
   * The first half: finds out which blocks the events concern, for `keys`.
   * @returns the error for the first event whose blocks cannot be distinguished; those before it were read
   * @throws RangeError when there are more events than `BATCH_EVENTS`
   */
  readClear(batch: EventBatch, from: number, to: number): SpacesError | undefined {
    if (to - from > ROWS) throw new RangeError(`${ROWS} events can be followed at a time, not ${to - from}`)
    // Memory may have grown for other data of the kernel.
    this.look()
    const unclear = this.keys.readSpaces(batch, from, to)
    const end = unclear?.row ?? to
    this.columns ??= new KernelColumns(this.run)
    this.columns.put(batch, from, end, KEY_FIELDS)
    this.run.intend(end - from)
    return unclear
  }

  /** The second half: applies the rows that were read. @throws RangeError when there is no memory for the blocks */
  apply(rows: number): void {
    const { run } = this
    if (this.keys.hasProcesses && run.watch() === 0) throw tooManyBlocks()
    const done = run.follow(rows)
    this.lookAfter()
    if (done < rows) throw tooManyBlocks()
    const numbers = run.numbers.value
    if (numbers >= this.room) this.widen(numbers + 1)
  }

  /** The number of a live block by its key, 0 if it is not live. */
  find(isIndexed: boolean, lo: number, hi: number): number {
    const number = this.run.find(lo, hi, isIndexed)
    this.look()
    return number
  }

  /**
   * Adds the live blocks to another live set, with the same keys.
   * @throws RangeError when there is no memory for the blocks
   */
  addTo(this: LiveSet<ListedLiveExports>, other: LiveSet): void {
    const { run } = this
    let slot = 0
    do {
      slot = run.list(slot, ROWS)
      const rows = run.listed.value
      for (const [name, bytes] of [
        ['INTENTS', rows],
        ['BEGINS', 8 * rows],
      ] as const)
        new Uint8Array(other.run.memory.buffer, other.run[name].value, bytes).set(
          new Uint8Array(run.memory.buffer, run[name].value, bytes),
        )
      other.apply(rows)
    } while (slot > 0)
  }

  /** Re-creates the views of results. */
  protected lookAfter(): void {
    this.look()
    const { run } = this
    const gone = run.goneCount.value
    this.gone = gone === 0 ? NO_NUMBERS : new Int32Array(run.memory.buffer, tableAt(run, run.gone), 2 * gone)
  }

  /** Re-creates the views after growth (the old ones have length 0). */
  private look(): void {
    if (this.effects.length > 0) return
    const { run, keys } = this
    const { buffer } = run.memory
    this.columns = undefined
    keys.spaces = new Int32Array(buffer, run.SPACES.value, ROWS)
    keys.intents = new Uint8Array(buffer, run.INTENTS.value, ROWS)
    keys.ends = new Int32Array(buffer, run.ENDS.value, 2 * ROWS)
    keys.begins = new Int32Array(buffer, run.BEGINS.value, 2 * ROWS)
    this.effects = new Uint8Array(buffer, run.EFFECTS.value, ROWS)
    this.ended = new Int32Array(buffer, run.ENDED.value, ROWS)
    this.begun = new Int32Array(buffer, run.BEGUN.value, ROWS)
  }

  private widen(blocks: number): void {
    const { words } = this
    this.room = Math.max(2 * this.room, blocks)
    this.words = new Uint32Array(this.room * this.width)
    this.words.set(words)
  }
}

/** The error for a trace that needs more than the 4 GiB that a kernel can have. */
export function tooManyBlocks(): RangeError {
  return new RangeError('more blocks are live at once than there is memory for')
}

import type { SpacesError } from '../../blocks/address-spaces.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { BlockFate, BlockFates } from '../../blocks/block-fates.js'
import { siteOfBlock, UNNAMED } from '../../blocks/block-sites.js'
import { numberAt, setNumber } from '../../bytes/u64.js'
import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { hasInventedAddresses, type TraceHeader } from '../../event/header.js'
import { checkOptions } from '../../event/options.js'
import type { Stage } from '../../event/stage.js'
import { Sum } from '../statistics/sums.js'
import { BLOCK_ROWS, BlockRows, RowBit, UNIT_CODE } from './columns.js'
import { FREE, LIVE, OVERLAP, REALLOC, RESIZE, RowWriter, type StreamMoment } from './row-writer.js'
import { HAS_SITE } from '../statistics/site-keys.js'
import { Origins } from './origins.js'
import { StackNumbers } from './stack-numbers.js'
import * as Word from './words.js'

/** The bits of columns that not all rows have. */
const {
  address: ADDRESS_BIT,
  api: API_BIT,
  firstSize: FIRST_SIZE_BIT,
  process: PROCESS_BIT,
  sinceTime: SINCE_TIME_BIT,
  size: SIZE_BIT,
  thread: THREAD_BIT,
  time: TIME_BIT,
} = RowBit
const { began: BEGAN, ended: ENDED, reused: REUSED } = BlockEffect
const { existing: LAST_OF_BLOCKS, existing: EXISTING, 'process-end': PROCESS_END } = Kind
const { address: HAS_ADDRESS, size: HAS_SIZE, time: HAS_TIME, api: HAS_API } = FieldBit
const { process: HAS_PROCESS, thread: HAS_THREAD, oldAddress: HAS_OLD_ADDRESS } = FieldBit

export interface BlockTableOptions {
  /** Write a row for each size of a block, so also when a realloc resizes it. Default false. */
  readonly spans?: boolean
}

/**
 * The table of blocks: a row for each block, when it ends or its trace does. The identity and end of blocks, temporary
 * blocks and the peak are the same as in the statistics. A truncated trace ends at the fault.
 *
 * Rows share the memory of later ones: read them before the next call. Memory grows with the number of live blocks (150
 * to 380 bytes each), with the sites of these (and whole stacks, where rows have them), and with the number of all
 * distinct stacks (some 45 bytes for each frame that they do not have in common).
 */
export class BlockTable implements Stage<EventBatch, BlockRows> {
  readonly consumes = true
  private readonly liveSet = new BlockFates(Word.WIDTH)
  private readonly origins: Origins
  private readonly rows: BlockRows
  private readonly hasSpans: boolean
  private batch: EventBatch | undefined
  /** The next event of the batch, and the end of the events that the live set has followed. */
  private at = 0
  private followed = 0
  private first = 0
  /** The next of the blocks that end with their process. */
  private gone = 0
  private header: TraceHeader | undefined
  /** The number of events before the current batch. */
  private events = 0
  /** The highest number of a block in this trace. */
  private highest = 0
  /** The reason why no more events can be followed, once those before have their rows. */
  private failure: SpacesError | undefined
  /** At the end of a trace, the next block to examine; 0 before. */
  private leaving = 0
  private isOver = false
  private readonly moment: StreamMoment = {
    trace: 0,
    unit: -1,
    isIdentified: true,
    event: 0,
    blockEvents: 0,
    peak: 0,
    fate: 0,
    allocated: new Sum(),
  }
  private readonly writer: RowWriter

  /**
   * @param numbers the numbers of stacks, which other tables may share
   * @param isWhole whether rows have `stack` and `site`, where there is a stack: these take most of the memory
   * @throws RangeError for unknown options
   */
  constructor(
    options: BlockTableOptions = {},
    readonly numbers: StackNumbers = new StackNumbers(),
    isWhole = true,
  ) {
    checkOptions(options, { spans: 'boolean' }, 'BlockTable')
    this.hasSpans = options.spans ?? false
    this.origins = new Origins(numbers, isWhole)
    this.rows = new BlockRows(this.origins.strings)
    this.writer = new RowWriter(this.rows, this.origins, this.moment)
  }

  feed(batch: EventBatch): void {
    this.batch = batch
    this.at = this.followed = 0
  }

  end(): void {
    this.isOver = true
  }

  endTruncated(): void {
    this.isOver = true
  }

  /** @throws RangeError when there is no memory for the blocks */
  dispose(): void {
    this.liveSet.dispose()
  }

  /** @throws SpacesError when blocks cannot be distinguished, after the rows of the events before that one */
  next(): BlockRows | null {
    const { rows } = this
    rows.count = 0
    while (rows.count < BLOCK_ROWS - 1 && this.goOn()) continue
    rows.strings = this.origins.strings
    if (rows.count > 0) return rows
    if (this.failure !== undefined) throw this.failure
    return null
  }

  /** Takes the next step. @returns false if there is nothing to do, or no room for the rows of another event */
  private goOn(): boolean {
    const { batch } = this
    if (this.leaving > 0) return this.leave()
    if (batch === undefined) return this.isOver && this.header !== undefined && this.beginLeaving()
    if (batch.header !== this.header) {
      if (this.header !== undefined) return this.beginLeaving()
      this.begin(batch.header)
    }
    if (this.at === batch.count) {
      this.events += batch.count
      this.batch = undefined
      return true
    }
    if (this.at === this.followed) {
      if (this.failure !== undefined) return this.stop()
      // Rows refer to the sites, so this requires that there are no rows.
      if (this.origins.isDue && this.rows.count > 0) return false
      if (this.origins.isDue) this.sweep()
      this.first = this.at
      const end = Math.min(this.at + BATCH_EVENTS, batch.count)
      const unclear = this.liveSet.followClear(batch, this.first, end)
      this.followed = unclear?.row ?? end
      this.failure = unclear?.at({ format: batch.header.format, event: this.events + this.followed + 1 })
      this.gone = 0
      this.origins.begin(batch)
    }
    this.take(batch)
    return true
  }

  /** Ends the trace before the event that cannot be followed, as a truncated one. */
  private stop(): true {
    this.batch = undefined
    this.isOver = true
    return true
  }

  private begin(header: TraceHeader): void {
    this.header = header
    const { moment } = this
    moment.unit = header.timeUnit === undefined ? -1 : UNIT_CODE[header.timeUnit]
    moment.isIdentified = !hasInventedAddresses(header)
    moment.trace++
  }

  private beginLeaving(): true {
    this.leaving = 1
    return true
  }

  /** Writes the blocks that are live at the end of a trace. */
  private leave(): true {
    const { rows } = this
    for (; this.leaving <= this.highest && rows.count < BLOCK_ROWS; this.leaving++)
      if (this.isLive(this.leaving)) this.writer.write(this.liveSet.words, this.leaving, LIVE)
    if (this.leaving <= this.highest) return true
    this.leaving = this.highest = 0
    this.header = undefined
    this.liveSet.clear()
    return true
  }

  private isLive(block: number): boolean {
    return (this.liveSet.words[block * Word.WIDTH + Word.FLAGS] & Word.ALIVE) !== 0
  }

  private sweep(): void {
    const { origins, liveSet } = this
    origins.beginSweep()
    for (let block = 1; block <= this.highest; block++) {
      const at = block * Word.WIDTH + Word.SITE
      if (this.isLive(block)) liveSet.words[at] = origins.move(liveSet.words[at])
    }
    origins.endSweep()
  }

  /** Processes the followed events, as long as there is room for the rows of another one. */
  private take(batch: EventBatch): void {
    const { rows, liveSet, moment, writer } = this
    const { effects, ended, begun, fates, words } = liveSet
    const { kind } = batch
    // A realloc may write two rows: for its block, and for a block that was live at its new address.
    for (; this.at < this.followed && rows.count < BLOCK_ROWS - 1; this.at++) {
      const { at } = this
      moment.event = this.events + at + 1
      if (kind[at] === PROCESS_END && !this.endProcess(batch)) return
      if (kind[at] > LAST_OF_BLOCKS) continue
      moment.blockEvents++
      const row = at - this.first
      const effect = effects[row]
      if ((effect & (BEGAN | ENDED)) === 0) continue
      const old = ended[row]
      moment.fate = fates[row]
      if ((effect & BEGAN) === 0) {
        writer.write(words, old, kind[at] === Kind.free ? FREE : REALLOC, batch, at)
        this.lose(old)
        continue
      }
      const block = begun[row]
      const isResized = (effect & ENDED) !== 0
      if (isResized) {
        if (this.hasSpans) writer.write(words, old, RESIZE, batch, at)
        this.keepPeak(old)
        this.lose(old)
      }
      if ((effect & REUSED) !== 0) {
        writer.write(words, block, OVERLAP, batch, at)
        this.lose(block)
      }
      this.begins(block, isResized ? old : 0, batch)
      if ((fates[row] & BlockFate.highest) !== 0) moment.peak = moment.event
    }
  }

  /** Writes the blocks that end with their process at the current event. @returns false if there was no room for all */
  private endProcess(batch: EventBatch): boolean {
    const { at, rows, liveSet } = this
    const { gone, words } = liveSet
    const row = at - this.first
    for (; gone[this.gone] === row && rows.count < BLOCK_ROWS - 1; this.gone += 2) {
      const block = gone[this.gone + 1]
      this.writer.write(words, block, LIVE, batch, at)
      this.lose(block)
    }
    return gone[this.gone] !== row
  }

  /** Handles a block that has ended or was resized. */
  private lose(block: number): void {
    const { words } = this.liveSet
    const at = block * Word.WIDTH
    words[at + Word.FLAGS] = words[at + Word.FLAGS] & ~Word.ALIVE
  }

  /**
   * Keeps a block's size at the last maximum of live bytes, unless each size has a row. Call this before resizing it.
   */
  private keepPeak(block: number): void {
    const { words } = this.liveSet
    const at = block * Word.WIDTH
    if (this.hasSpans || numberAt(words, at + Word.SINCE) > this.moment.peak) return
    setNumber(words, at + Word.PEAK, this.moment.peak)
    words[at + Word.PEAK_SIZE] = words[at + Word.SIZE]
    words[at + Word.PEAK_SIZE + 1] = words[at + Word.SIZE + 1]
    words[at + Word.FLAGS] = words[at + Word.FLAGS] | Word.AT_PEAK
  }

  /** Handles an event that begins or resizes a block. @param old the previous block, 0 for none */
  private begins(block: number, old: number, batch: EventBatch): void {
    const { words } = this.liveSet
    const { at: i, moment } = this
    const { event, allocated } = moment
    const mask = batch.mask[i]
    const at = block * Word.WIDTH
    if (block !== old && old !== 0) words.copyWithin(at, old * Word.WIDTH, (old + 1) * Word.WIDTH)
    if (block > this.highest) this.highest = block
    let flags = old === 0 ? (batch.kind[i] === EXISTING ? Word.UNBORN : 0) : words[at + Word.FLAGS] & ~Word.OF_LAST
    setNumber(words, at + Word.SINCE, event)
    if ((mask & HAS_ADDRESS) !== 0) {
      flags |= ADDRESS_BIT
      Word.copy(words, at + Word.ADDRESS, batch.address, i)
    } else if (old !== 0 && (mask & HAS_OLD_ADDRESS) !== 0) {
      // A realloc in place may have only one address.
      flags |= ADDRESS_BIT
      Word.copy(words, at + Word.ADDRESS, batch.oldAddress, i)
    }
    if ((mask & HAS_SIZE) !== 0) {
      flags |= SIZE_BIT
      Word.copy(words, at + Word.SIZE, batch.size, i)
    } else {
      words[at + Word.SIZE] = words[at + Word.SIZE + 1] = 0
    }
    if ((mask & HAS_PROCESS) !== 0) {
      flags |= PROCESS_BIT
      Word.copy(words, at + Word.PROCESS, batch.process, i)
    }
    if ((mask & HAS_THREAD) !== 0) {
      flags |= THREAD_BIT
      Word.copy(words, at + Word.THREAD, batch.thread, i)
    }
    if ((mask & HAS_API) !== 0) {
      flags |= API_BIT
      words[at + Word.API] = batch.api[i]
    }
    if ((mask & HAS_TIME) !== 0) {
      flags |= SINCE_TIME_BIT
      Word.copy(words, at + Word.SINCE_TIME, batch.time, i)
    }
    const sizeLo = words[at + Word.SIZE]
    const sizeHi = words[at + Word.SIZE + 1]
    allocated.add(sizeLo, sizeHi)
    if (old === 0) {
      setNumber(words, at + Word.BIRTH, event)
      setNumber(words, at + Word.NUMBER, moment.blockEvents)
      words[at + Word.CLOCK] = allocated.lo
      setNumber(words, at + Word.CLOCK + 1, allocated.hi)
      if ((flags & SINCE_TIME_BIT) !== 0) {
        flags |= TIME_BIT
        words[at + Word.TIME] = words[at + Word.SINCE_TIME]
        words[at + Word.TIME + 1] = words[at + Word.SINCE_TIME + 1]
      }
      if ((flags & SIZE_BIT) !== 0) flags |= FIRST_SIZE_BIT
      words[at + Word.FIRST_SIZE] = sizeLo
      words[at + Word.FIRST_SIZE + 1] = sizeHi
      words[at + Word.REALLOCS] = 0
    } else words[at + Word.REALLOCS] = words[at + Word.REALLOCS] + 1
    const named = old === 0 || (mask & HAS_SITE) !== 0 ? this.origins.of(batch, i) : UNNAMED
    words[at + Word.SITE] = siteOfBlock(named, old !== 0, words[at + Word.SITE])
    words[at + Word.FLAGS] = flags | Word.ALIVE
  }
}

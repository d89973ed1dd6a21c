import { doubleAt, WORD } from '../../bytes/u64.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { LiveSet } from '../../blocks/live-set.js'
import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { Api, FieldBit, Kind } from '../../event/fields.js'
import { refuseUnidentified, type TraceHeader } from '../../event/header.js'
import { checkOptions, wholeNumber, type OptionNames } from '../../event/options.js'
import type { Stage } from '../../event/stage.js'
import { EPOCH_EVENTS, HEAD_BYTES, MOST_ALIGNMENT, MOST_SIZE, NONE, Op, ORDERS, type OrderName } from './layout.js'
import type { OpList } from './op-list.js'
import { PeakSizes } from './peak-sizes.js'
import type { PreparedReplay, SkippedCounts } from './result.js'
import { Schedule } from './schedule.js'
import { Slots } from './slots.js'
import { checksum, headWords, NO_SUM, tailWords } from './tables.js'
import { ThreadLists } from './thread-lists.js'

/** Options for the preparation of a trace. */
export interface PrepareOptions {
  /**
   * The order that threads keep: `epochs` of 1,000 events (default), each of which begins when the one before is over;
   * `lifetimes`, so that blocks are freed after they were allocated; or the `total` order of the trace.
   */
  readonly order?: OrderName
  /** The number of events of an epoch, if these are the order. Default 1,000. */
  readonly epoch?: number
  /** Whether the operations have the times of the trace, so that it can be replayed at its pace. Default false. */
  readonly times?: boolean
}

const OPTIONS: OptionNames<PrepareOptions> = { order: ORDERS, epoch: wholeNumber(1), times: 'boolean' }

const { began: BEGAN, ended: ENDED, unknown: UNKNOWN, again: AGAIN } = BlockEffect
const { reused: REUSED, nothing: NOTHING, failed: FAILED } = BlockEffect
const { size: HAS_SIZE, api: HAS_API, time: HAS_TIME, alignment: HAS_ALIGNMENT } = FieldBit
const { existing: EXISTING, free: FREE, realloc: REALLOC } = Kind
const { 'thread-destroy': THREAD_DESTROY, 'process-end': PROCESS_END } = Kind
/**
 * The words of a block: its slot, the thread that allocated it, the number of the thread's operations until then, its
 * size, and the epoch.
 */
const [SLOT, THREAD, POSITION, SIZE, EPOCH, WIDTH] = [0, 1, 2, 4, 6, 7]
/** malloc aligns blocks for any object. */
const PLAIN_ALIGNMENT = 16

/**
 * Makes operations of events, for the driver that executes them against an allocator: a file of operations, which
 * docs/operations.md describes. Blocks have slots in place of addresses. A slot belongs to one live block at a time,
 * and there are about as many slots as blocks live at once.
 *
 * Memory grows with the live blocks (50 to 150 bytes for each), and by up to 70 KB for each thread. If the trace is
 * truncated, the file has the operations before the fault, and is complete.
 */
export class Preparation implements Stage<EventBatch, Uint8Array> {
  readonly consumes = true
  private readonly live = new LiveSet(WIDTH)
  private readonly slots = new Slots()
  private readonly threads = new ThreadLists((words) => this.flush(words))
  private readonly schedule: Schedule
  /** What is finished; the first `taken` were given out. */
  private readonly chunks: Uint8Array[] = []
  private taken = 0
  private header: TraceHeader | undefined
  private batch: EventBatch | undefined
  private error: Error | undefined
  /** Whether the file is complete. */
  isOver = false
  /** The number of the first event that is not replayed exactly, from 1; 0 if there is none. */
  firstSkipped = 0
  private row = 0
  private at = HEAD_BYTES
  private sum = NO_SUM
  private events = 0
  private readonly counts = { malloc: 0, calloc: 0, memalign: 0, realloc: 0, free: 0 }
  private readonly skipped = {
    unknown: 0,
    again: 0,
    reused: 0,
    left: 0,
    existing: 0,
    failed: 0,
    absurd: 0,
    unaligned: 0,
    later: 0,
  }
  private blocks = 0
  private bytes = 0
  private peakBlocks = 0
  private peakBytes = 0
  private readonly sizes = new PeakSizes()

  /** @throws RangeError for options that are unknown or out of range */
  constructor(options: PrepareOptions = {}) {
    checkOptions(options, OPTIONS, 'prepareReplay()')
    const { order = 'epochs', epoch = EPOCH_EVENTS, times = false } = options
    if (options.epoch !== undefined && order !== 'epochs')
      throw new RangeError("prepareReplay(): epoch needs order: 'epochs'")
    this.schedule = new Schedule(order, epoch, times)
    const head = headWords()
    this.sum = checksum(this.sum, head)
    this.chunks.push(bytesOf(head))
  }

  feed(batch: EventBatch): void {
    this.batch = batch
  }

  /** @throws TraceError when blocks cannot be told apart @throws RangeError for a trace without identity of blocks */
  next(): Uint8Array | null {
    const { batch } = this
    this.batch = undefined
    if (batch !== undefined) this.take(batch)
    const chunk = this.chunks[this.taken]
    if (chunk !== undefined) {
      this.taken++
      return chunk
    }
    this.chunks.length = this.taken = 0
    if (this.error !== undefined) throw this.error
    return null
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.threads.close()
    const { slots, schedule, peakBytes, peakBlocks } = this
    const figures = { slots: slots.count, epochs: schedule.epoch, peakBytes, peakBlocks }
    this.chunks.push(bytesOf(tailWords(this.threads.all, figures, this.at, this.sum)))
  }

  endTruncated(): void {
    this.end()
  }

  dispose(): void {
    this.live.dispose()
  }

  /** The figures so far. */
  result(): PreparedReplay {
    const { events, counts, skipped, threads, slots, schedule, peakBlocks, peakBytes, blocks, bytes } = this
    return {
      events,
      calls: { ...counts },
      skipped: { ...skipped },
      threads: Math.max(1, threads.all.length),
      processes: Math.max(1, threads.processes),
      slots: slots.count,
      epochs: schedule.epoch,
      peak: { blocks: peakBlocks, bytes: peakBytes },
      peakSizes: this.sizes.result(),
      final: { blocks, bytes },
      duration: this.header?.timeUnit === undefined ? null : schedule.duration,
    }
  }

  private flush(words: Uint32Array): number {
    const { at } = this
    this.at += 4 * words.length
    this.sum = checksum(this.sum, words)
    this.chunks.push(bytesOf(words))
    return at
  }

  private take(batch: EventBatch): void {
    if (this.header === undefined) {
      refuseUnidentified(batch.header, 'it cannot be replayed')
      this.header = batch.header
    }
    if (batch.header !== this.header) {
      this.row = 0
      this.skip('later', batch.count)
      return
    }
    const { live } = this
    for (let from = 0; from < batch.count && this.error === undefined; from += BATCH_EVENTS) {
      const to = Math.min(from + BATCH_EVENTS, batch.count)
      const unclear = live.followClear(batch, from, to)
      const end = unclear?.row ?? to
      this.follow(batch, from, end)
      this.events += end - from
      if (unclear !== undefined) this.error = unclear.at({ format: batch.header.format, event: this.events + 1 })
    }
  }

  private follow(batch: EventBatch, from: number, to: number): void {
    const { effects } = this.live
    const { kind, mask } = batch
    let gone = 0
    for (let i = from; i < to; i++) {
      if ((mask[i] & HAS_TIME) !== 0) this.schedule.noteTime(batch, i)
      this.row = i - from
      const effect = effects[i - from]
      if (effect !== 0) this.replay(batch, i, i - from, effect)
      else if (kind[i] === THREAD_DESTROY) {
        const list = this.threads.end(batch, i)
        if (list !== undefined) this.slots.shareAll(list)
      } else if (kind[i] === PROCESS_END) {
        gone = this.endProcess(gone)
        for (const list of this.threads.endProcess(batch, i)) this.slots.shareAll(list)
      }
    }
  }

  /**
   * Frees what was live when a process ended, at the current row.
   * @param from the first of the ended blocks that may belong to this row @returns the first that does not
   */
  private endProcess(from: number): number {
    const { gone, words } = this.live
    let at = from
    for (; at < gone.length && gone[at] === this.row; at += 2) {
      const block = WIDTH * gone[at + 1]
      const slot = words[block + SLOT]
      if (slot === NONE) continue
      this.skip('left')
      const list = this.schedule.prepare(this.threads.current, this.threads.all.length)
      this.leaveLive(this.use(list, block))
      this.free(list, slot)
    }
    return at
  }

  /** Adds the operations of an event about a block. */
  private replay(batch: EventBatch, i: number, row: number, effect: number): void {
    const { counts, slots } = this
    const { ended, begun, words } = this.live
    const kind = batch.kind[i]
    if ((effect & FAILED) !== 0) {
      this.skip('failed')
      return
    }
    if ((effect & NOTHING) !== 0) {
      if (kind !== FREE) return
      const list = this.enter(batch, i)
      list.add(Op.free, 0, NONE)
      list.calls++
      counts.free++
      return
    }
    if ((effect & UNKNOWN) !== 0) {
      this.skip((effect & AGAIN) !== 0 ? 'again' : 'unknown')
      if ((effect & BEGAN) === 0) return
    }
    const list = this.enter(batch, i)
    let old = NONE
    let oldSize = 0
    if ((effect & ENDED) !== 0) {
      const block = WIDTH * ended[row]
      old = words[block + SLOT]
      if (old === NONE) this.skipEnd(words[block + SIZE])
      else {
        oldSize = this.use(list, block)
        this.leaveLive(oldSize)
      }
    }
    const block = WIDTH * begun[row]
    if ((effect & REUSED) !== 0) {
      this.skip('reused')
      if (words[block + SLOT] !== NONE) {
        const slot = words[block + SLOT]
        this.leaveLive(this.use(list, block))
        this.free(list, slot)
      }
    }
    const size = (effect & BEGAN) === 0 ? -1 : sizeOf(batch, i)
    if (size < 0 || size > MOST_SIZE || kind === EXISTING) {
      if (old !== NONE) this.free(list, old)
      if (size < 0) return
      words[block + SLOT] = NONE
      words[block + SIZE] = size > MOST_SIZE ? 1 : 0
      this.skipEnd(words[block + SIZE])
      return
    }
    let slot = old
    if (slot === NONE) {
      slot = slots.take(list)
      if (slots.thread >= 0 && slots.epoch >= list.epoch) list.wait(slots.thread, slots.position)
    }
    this.call(batch, i, list, size, old, oldSize, slot)
    words[block + SLOT] = slot
    words[block + THREAD] = list.number
    words[block + POSITION] = list.ops
    words[block + POSITION + 1] = Math.floor(list.ops / WORD)
    words[block + SIZE] = size
    words[block + SIZE + 1] = Math.floor(size / WORD)
    words[block + EPOCH] = list.epoch
    this.bytes += size
    this.sizes.count(size, 1)
    if (++this.blocks > this.peakBlocks) this.peakBlocks = this.blocks
    if (this.bytes > this.peakBytes) {
      this.peakBytes = this.bytes
      this.sizes.notePeak()
    }
  }

  /** Adds the call that allocates a block. */
  private call(
    batch: EventBatch,
    i: number,
    list: OpList,
    size: number,
    old: number,
    oldSize: number,
    slot: number,
  ): void {
    const { counts } = this
    const mask = batch.mask[i]
    const api = (mask & HAS_API) !== 0 ? batch.api[i] : Api.malloc
    list.calls++
    if (batch.kind[i] === REALLOC || api === Api.realloc) {
      list.addSized(Op.realloc, size, old)
      list.addSized(Op.to, oldSize, slot)
      counts.realloc++
    } else if (api === Api.calloc) {
      list.addSized(Op.calloc, size, slot)
      counts.calloc++
    } else {
      const alignment = (mask & HAS_ALIGNMENT) !== 0 ? alignmentOf(batch, i) : PLAIN_ALIGNMENT
      const power = Math.log2(alignment)
      if (power > MOST_ALIGNMENT || !Number.isInteger(power)) this.skip('unaligned')
      if (api === Api.memalign || alignment > PLAIN_ALIGNMENT) {
        list.addAligned(size, Math.min(MOST_ALIGNMENT, Math.max(3, Math.ceil(power))), slot)
        counts.memalign++
      } else {
        list.addSized(Op.malloc, size, slot)
        counts.malloc++
      }
    }
  }

  private free(list: OpList, slot: number): void {
    list.add(Op.free, 0, slot)
    list.calls++
    this.counts.free++
    this.slots.give(list, slot)
  }

  /** The list of the thread of an event, with room for its operations, in the epoch of the event. */
  private enter(batch: EventBatch, i: number): OpList {
    return this.schedule.prepare(this.threads.of(batch, i), this.threads.all.length)
  }

  /**
   * Orders a thread, which is to use a block, after the call that allocated the block. @returns the size of the block
   */
  private use(list: OpList, block: number): number {
    const { words } = this.live
    if (words[block + THREAD] !== list.number && words[block + EPOCH] >= list.epoch)
      list.wait(words[block + THREAD], words[block + POSITION + 1] * WORD + words[block + POSITION])
    return words[block + SIZE + 1] * WORD + words[block + SIZE]
  }

  private leaveLive(size: number): void {
    this.blocks--
    this.bytes -= size
    this.sizes.count(size, -1)
  }

  /** Counts a block without a slot that begins or ends. @param isAbsurd 1 if it is too large */
  private skipEnd(isAbsurd: number): void {
    this.skip(isAbsurd === 1 ? 'absurd' : 'existing')
  }

  private skip(why: keyof SkippedCounts, events = 1): void {
    this.skipped[why] += events
    if (this.firstSkipped === 0) this.firstSkipped = this.events + this.row + 1
  }
}

function sizeOf(batch: EventBatch, i: number): number {
  return (batch.mask[i] & HAS_SIZE) === 0 ? 0 : doubleAt(batch.size.words, i)
}

function alignmentOf(batch: EventBatch, i: number): number {
  return Math.max(1, doubleAt(batch.alignment.words, i))
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}

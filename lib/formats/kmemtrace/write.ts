import { chunkOf } from '../../bytes/chunks.js'
import { HI, LO, WORD } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit, fieldSet } from '../../event/fields.js'
import type { Losses } from '../../kernel/losses.js'
import { OUTPUT_BYTES } from '../../kernel/layouts/kmemtrace.js'
import { formOf, kmemtraceKernel } from './kernel.js'
import { EventId, callSiteAt, coreSize, type KmemtraceLayout } from './layout.js'
import { zerosOf, type RecordList } from './to-records.js'

const { address: HAS_ADDRESS, oldAddress: HAS_OLD_ADDRESS, size: HAS_SIZE, usable: HAS_USABLE } = FieldBit
const { callSite: HAS_CALL_SITE, gfpFlags: HAS_GFP_FLAGS, node: HAS_NODE, sequence: HAS_SEQUENCE } = FieldBit
const { cpu: HAS_CPU, time: HAS_TIME, attributes: HAS_ATTRIBUTES } = FieldBit
const { alloc: ALLOC } = EventId

const BLOCK_FIELDS = fieldSet('api', 'address', 'callSite', 'size', 'usable', 'gfpFlags', 'node')

const NOTHING = new Uint8Array(0)
/** The number of events passed to the kernel at a time, for which there is always room. */
const PART = Math.floor(OUTPUT_BYTES / 56)
/** The maximum number of events to convert one by one before the kernel is called again. */
const MOST_WANTED = 256
/** A mask of all bits. */
const ALL = -1

/**
 * Writes events: common ones by the kernel, others from a `RecordList`. The output is in the kernel's memory, and stays
 * valid until `write` of any encoder is called again.
 */
export class RecordWriter {
  private readonly form: number
  private readonly little: boolean
  private readonly timed: boolean
  private readonly wide: boolean
  private readonly callSiteAt: number
  private readonly core: number
  /** The columns that the kernel uses. */
  private readonly columns: number
  private readonly watched: number
  /** The position of the next byte. */
  private pos = 0
  private bytes: Uint8Array = NOTHING
  private view: DataView = new DataView(NOTHING.buffer)
  /**
   * The reason why an event could not be written in strict mode. It is thrown after all earlier events were written.
   */
  fault: unknown
  /** The next event of the batch to convert, and one past the last. */
  private event = 0
  private events = 0
  /**
   * Whether the fields that the batch loses have been counted. Until then, the kernel only writes events without
   * losses.
   */
  private isCounted = false
  /** The next of the converted records. */
  private record = 0
  /** All-zero records that are still to be written. */
  private zeros = 0
  /** The sequence number that was written last. */
  private sequence = 0
  private none = new Uint32Array(0)

  /** @param cpu the CPU for events without one in `ftrace` records, or for all events of a `relay` stream */
  constructor(
    layout: KmemtraceLayout,
    private readonly cpu: number | undefined,
    private readonly losses: Losses,
  ) {
    this.form = formOf(layout)
    this.little = layout.byteOrder === 'little'
    this.timed = layout.layout === 'ftrace'
    this.wide = layout.wordSize === 8
    this.callSiteAt = callSiteAt(layout)
    this.core = coreSize(layout)
    this.watched = !this.timed && cpu !== undefined ? HAS_CPU : 0
    this.columns = BLOCK_FIELDS | (this.timed ? HAS_CPU | HAS_TIME : HAS_SEQUENCE | this.watched)
  }

  begin(batch: EventBatch, recordList: RecordList): void {
    this.event = 0
    this.events = this.losses.beginBatch(batch)
    this.isCounted = false
    recordList.count = 0
    this.record = 0
    if (this.events < batch.count) this.count(batch)
  }

  /**
   * Counts the fields that the batch loses, unless that has been done. Call this before counting other losses of the
   * batch.
   * @returns the number of its events that will be written
   */
  count(batch: EventBatch): number {
    if (!this.isCounted) {
      this.isCounted = true
      this.events = Math.min(this.events, this.losses.countFields(batch))
      if (this.events < batch.count) this.fault = this.losses.errorFor(batch, this.events)
    }
    return this.events
  }

  /**
   * Continues to write records, as long as there is room for output.
   * @returns the output; empty only if everything has been written
   */
  write(batch: EventBatch, recordList: RecordList): Uint8Array {
    const { run, columns, output } = kmemtraceKernel()
    const { form, cpu = 0, watched } = this
    const micros = this.timed && batch.header.timeUnit === 'us'
    if (this.bytes !== output) {
      this.bytes = output
      this.view = new DataView(output.buffer, output.byteOffset)
    }
    this.pos = 0
    // The range of events that the kernel has.
    let first = 0
    let last = 0
    let wanted = 1
    while (this.writeRecords(batch, recordList) && this.event < this.events) {
      if (this.event >= last) {
        // A part that does not fit is not begun, because it would be copied twice.
        if (last > 0 && this.pos > 0) break
        first = this.event
        last = Math.min(this.events, first + PART)
        columns.put(batch, first, last, this.columns)
      }
      const row = this.event - first
      const next = run.encode(
        form,
        row,
        last - first,
        this.pos,
        OUTPUT_BYTES,
        this.sequence,
        cpu,
        watched,
        micros,
        !this.isCounted,
      )
      if (next > row) {
        this.pos = run.written.value
        recordList.wasLost = false
        this.sequence = run.sequence.value
        this.event = first + next
        wanted = 1
      }
      if (this.pos >= OUTPUT_BYTES) break
      if (this.event < last && !this.isCounted) {
        last = Math.min(last, this.count(batch))
      } else if (this.event < last) {
        // Unusual events mostly follow each other.
        this.find(batch, recordList, Math.min(wanted, last - this.event))
        wanted = Math.min(2 * wanted, MOST_WANTED)
      }
    }
    return chunkOf(this.bytes.subarray(0, this.pos))
  }

  /** The whole batch has been written. */
  isDone(recordList: RecordList): boolean {
    return this.event === this.events && this.record === recordList.count && this.zeros === 0
  }

  /** Converts the next `n` events to records. */
  private find(batch: EventBatch, recordList: RecordList, n: number): void {
    const from = this.event
    this.event += n
    try {
      recordList.fill(batch, from, this.event)
    } catch (error) {
      this.fault = error
      this.event = this.events
    }
  }

  /**
   * Writes the converted records.
   * @returns whether all have been written
   */
  private writeRecords(batch: EventBatch, recordList: RecordList): boolean {
    const { rows, ids, fields: masks, count } = recordList
    if (this.record === count && this.zeros === 0) return true
    const { bytes, view, little, timed, wide, callSiteAt: siteAt } = this
    const { columns, sequence, cpu } = batch
    // Masking absent values is twice as fast as testing each word, so every column must have values to mask.
    const none = this.nothing(batch.count)
    const callSite = (columns & HAS_CALL_SITE) !== 0 ? batch.callSite.words : none
    const address = (columns & HAS_ADDRESS) !== 0 ? batch.address.words : none
    const oldAddress = batch.oldAddress.words
    const size = (columns & HAS_SIZE) !== 0 ? batch.size.words : none
    const usable = batch.usable.words
    const gfpFlags = (columns & HAS_GFP_FLAGS) !== 0 ? batch.gfpFlags : none
    const node = (columns & HAS_NODE) !== 0 ? batch.node : none
    // The positions of the low and the high word of a 64-bit number.
    const low = little ? 0 : 4
    const high = 4 - low
    this.writeZeros()
    let last = this.sequence
    let start = this.pos
    let r = this.record
    while (r < count && start < OUTPUT_BYTES) {
      const row = rows[r]
      if (row < 0) {
        this.zeros = zerosOf(batch, -1 - row)
        this.pos = start
        this.writeZeros()
        start = this.pos
        r++
        continue
      }
      const id = ids[r]
      const fields = masks[r]
      const lo = 2 * row + LO
      const hi = 2 * row + HI
      bytes[start] = id
      bytes[start + 1] = id >>> 8
      if (timed) {
        view.setInt32(start + 4, (fields & HAS_CPU) !== 0 ? cpu[row] : (this.cpu ?? 0), little)
        if ((fields & HAS_TIME) !== 0) this.writeTime(batch, row, start + 8)
        else bytes.fill(0, start + 8, start + 16)
      } else {
        last = (fields & HAS_SEQUENCE) !== 0 ? sequence[row] : (last + 1) | 0
        view.setInt32(start + 4, last, little)
      }
      const known = (fields & HAS_CALL_SITE) !== 0 ? ALL : 0
      const from = (fields & HAS_OLD_ADDRESS) !== 0 ? oldAddress : address
      const somewhere = (fields & (HAS_ADDRESS | HAS_OLD_ADDRESS)) !== 0 ? ALL : 0
      let p = start + siteAt
      if (wide) {
        view.setInt32(p + low, callSite[lo] & known, little)
        view.setInt32(p + high, callSite[hi] & known, little)
        view.setInt32(p + 8 + low, from[lo] & somewhere, little)
        view.setInt32(p + 8 + high, from[hi] & somewhere, little)
        p += 16
      } else {
        view.setInt32(p, callSite[lo] & known, little)
        view.setInt32(p + 4, from[lo] & somewhere, little)
        p += 8
      }
      if ((id & 0xff) === ALLOC) {
        const sized = (fields & HAS_SIZE) !== 0 ? ALL : 0
        // If the allocated size is unknown, it is the requested one.
        const measured = (fields & HAS_USABLE) !== 0
        const room = measured ? usable : size
        const roomy = measured ? ALL : sized
        if (wide) {
          view.setInt32(p + low, size[lo] & sized, little)
          view.setInt32(p + high, size[hi] & sized, little)
          view.setInt32(p + 8 + low, room[lo] & roomy, little)
          view.setInt32(p + 8 + high, room[hi] & roomy, little)
          p += 16
        } else {
          view.setInt32(p, size[lo] & sized, little)
          view.setInt32(p + 4, room[lo] & roomy, little)
          p += 8
        }
        view.setInt32(p, gfpFlags[row] & ((fields & HAS_GFP_FLAGS) !== 0 ? ALL : 0), little)
        // All bits set is -1: on the node of the CPU that allocates.
        view.setInt32(p + 4, node[row] | ((fields & HAS_NODE) !== 0 ? 0 : ALL), little)
        p += 8
      }
      if ((fields & HAS_ATTRIBUTES) !== 0) {
        const attributes = batch.strings.view(batch.attributes[row])
        bytes.set(attributes, p)
        p += attributes.length
      }
      view.setUint16(start + 2, p - start, little)
      start = p
      r++
    }
    this.pos = start
    this.sequence = last
    this.record = r
    if (r < count || this.zeros > 0) return false
    recordList.count = 0
    this.record = 0
    return true
  }

  /** Zeros instead of a column without storage. */
  private nothing(count: number): Uint32Array {
    if (this.none.length < 2 * count) this.none = new Uint32Array(2 * count)
    return this.none
  }

  /** Writes all-zero records, as long as there is room for output. */
  private writeZeros(): void {
    if (this.zeros === 0) return
    const { bytes, pos, core } = this
    const n = Math.min(this.zeros, Math.ceil((OUTPUT_BYTES - pos) / core))
    bytes.fill(0, pos, pos + n * core)
    this.pos += n * core
    this.zeros -= n
  }

  /** Writes an event's time in nanoseconds. */
  private writeTime(batch: EventBatch, row: number, p: number): void {
    const { view, little } = this
    let lo = batch.time.words[2 * row + LO]
    let hi = batch.time.words[2 * row + HI]
    if (batch.header.timeUnit === 'us') {
      const thousand = lo * 1000
      lo = thousand >>> 0
      hi = hi * 1000 + Math.floor(thousand / WORD)
      if (hi >= WORD) lo = hi = WORD - 1
    }
    view.setUint32(p + (little ? 0 : 4), lo, little)
    view.setUint32(p + (little ? 4 : 0), hi, little)
  }
}

import type { Sink } from '../../../lib/bytes/sink.js'
import { HI, LO, WORD } from '../../../lib/bytes/u64.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { FieldBit } from '../../../lib/event/fields.js'
import {
  EventId,
  MAX_RECORD,
  callSiteAt,
  coreSize,
  type KmemtraceLayout,
} from '../../../lib/formats/kmemtrace/layout.js'
import { zerosOf, type RecordList } from './to-records.js'

const HAS_ADDRESS = FieldBit.address
const HAS_OLD_ADDRESS = FieldBit.oldAddress
const HAS_SIZE = FieldBit.size
const HAS_USABLE = FieldBit.usable
const HAS_CALL_SITE = FieldBit.callSite
const HAS_GFP_FLAGS = FieldBit.gfpFlags
const HAS_NODE = FieldBit.node
const HAS_SEQUENCE = FieldBit.sequence
const HAS_CPU = FieldBit.cpu
const HAS_TIME = FieldBit.time
const HAS_ATTRIBUTES = FieldBit.attributes
const { alloc: ALLOC } = EventId

/** Results are given out when they have about this many bytes. */
const OUTPUT_BYTES = 65_536
/** A mask of all bits. */
const ALL = -1

/** How large the sink of a `RecordWriter` must be: so large that it never grows. */
export const SINK_BYTES = OUTPUT_BYTES + MAX_RECORD

/** Writes the records of events. */
export class RecordWriter {
  private readonly view: DataView
  private readonly little: boolean
  private readonly timed: boolean
  private readonly wide: boolean
  private readonly callSiteAt: number
  private readonly core: number
  /** The next record to write. */
  private record = 0
  /** All-zero records that are still to be written. */
  private zeros = 0
  /** The sequence number that was written last. */
  private sequence = 0
  private none = new Uint32Array(0)

  /**
   * @param cpu what `ftrace` records of events without a CPU say
   * @param sink of `SINK_BYTES`, to be emptied between two calls of `write`
   */
  constructor(
    layout: KmemtraceLayout,
    private readonly cpu: number,
    private readonly sink: Sink,
  ) {
    this.view = new DataView(sink.bytes.buffer)
    this.little = layout.byteOrder === 'little'
    this.timed = layout.layout === 'ftrace'
    this.wide = layout.wordSize === 8
    this.callSiteAt = callSiteAt(layout)
    this.core = coreSize(layout)
  }

  /**
   * Writes the records of a batch, from where the last call stopped, as far as there is room for output.
   * @returns whether all are written
   */
  write(batch: EventBatch, { rows, ids, fields: masks, count }: RecordList): boolean {
    const { sink, view, little, timed, wide, callSiteAt: siteAt } = this
    const { bytes } = sink
    const { columns, sequence, cpu } = batch
    // Masking what is absent is twice as fast as asking for each word; so every column must have something to mask.
    const none = this.nothing(batch.count)
    const callSite = (columns & HAS_CALL_SITE) !== 0 ? batch.callSite.words : none
    const address = (columns & HAS_ADDRESS) !== 0 ? batch.address.words : none
    const oldAddress = batch.oldAddress.words
    const size = (columns & HAS_SIZE) !== 0 ? batch.size.words : none
    const usable = batch.usable.words
    const gfpFlags = (columns & HAS_GFP_FLAGS) !== 0 ? batch.gfpFlags : none
    const node = (columns & HAS_NODE) !== 0 ? batch.node : none
    // Where the low and the high word of a 64-bit number stand.
    const low = little ? 0 : 4
    const high = 4 - low
    this.writeZeros()
    let last = this.sequence
    let start = sink.pos
    let r = this.record
    while (r < count && start < OUTPUT_BYTES) {
      const row = rows[r]
      if (row < 0) {
        this.zeros = zerosOf(batch, -1 - row)
        sink.pos = start
        this.writeZeros()
        start = sink.pos
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
        view.setInt32(start + 4, (fields & HAS_CPU) !== 0 ? cpu[row] : this.cpu, little)
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
        // Where nothing says how much was really allocated, it is as much as was asked for.
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
    sink.pos = start
    this.sequence = last
    const done = r === count && this.zeros === 0
    this.record = done ? 0 : r
    return done
  }

  /** Zeros in the place of a column that has no storage. */
  private nothing(count: number): Uint32Array {
    if (this.none.length < 2 * count) this.none = new Uint32Array(2 * count)
    return this.none
  }

  /** Writes all-zero records, as far as there is room for output. */
  private writeZeros(): void {
    if (this.zeros === 0) return
    const { sink, core } = this
    const n = Math.min(this.zeros, Math.ceil((OUTPUT_BYTES - sink.pos) / core))
    sink.bytes.fill(0, sink.pos, sink.pos + n * core)
    sink.pos += n * core
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

import { HI, LO, WORD } from '../../../lib/bytes/u64.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../../lib/event/batch.js'
import { FieldBit, Kind, fieldSet } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { areFeatures } from '../../../lib/formats/kmemtrace/features.js'
import {
  ALLOC_APIS,
  EventId,
  FREE_APIS,
  HEAD,
  TYPES,
  allocSize,
  callSiteAt,
  coreSize,
  type KmemtraceLayout,
} from '../../../lib/formats/kmemtrace/layout.js'

const HAS_API = FieldBit.api
const HAS_ATTRIBUTES = FieldBit.attributes
const HAS_CODE = FieldBit.code
const HAS_COUNT = FieldBit.count
const KIND_ALLOC = Kind.alloc
const KIND_FREE = Kind.free
const KIND_LOST = Kind.lost
const KIND_OTHER = Kind.other
const { alloc: ALLOC, free: FREE } = EventId

const CORE_FIELDS = fieldSet('address', 'callSite')
const ALLOC_FIELDS = fieldSet('size', 'usable', 'gfpFlags', 'node')

/** How many bytes an event is taken to need before any was read. */
const TYPICAL_BYTES = 36

/** Reads records into the columns of batches. */
export class RecordReader {
  /** What is wrong with the record at the position that `read` returned, if something is. */
  fault: string | undefined
  /** The batch takes no more records. */
  full = false
  /** All-zero records that no event tells of yet, and all there were. */
  zeros = 0
  allZeros = 0
  /** The offset of the first of them; -1 if there is none. */
  firstZero = -1
  /** The offset of the first record behind which are bytes that are no features, and its row; -1 if there is none. */
  stray = -1
  strayRow = -1
  private readonly little: boolean
  private readonly timed: boolean
  private readonly wide: boolean
  private readonly callSiteAt: number
  private readonly core: number
  private readonly alloc: number
  /** Fields that every record has, and those of a batch. */
  private readonly shared: number
  private readonly columns: number
  /** Bytes and events so far. */
  private bytesRead = 0
  private eventsRead = 0

  /**
   * @param header the header of all batches
   * @param cpu the CPU that all records are of, where they do not say it
   */
  constructor(
    layout: KmemtraceLayout,
    private readonly header: TraceHeader,
    private readonly cpu: number | undefined,
  ) {
    this.little = layout.byteOrder === 'little'
    this.timed = layout.layout === 'ftrace'
    this.wide = layout.wordSize === 8
    this.callSiteAt = callSiteAt(layout)
    this.core = coreSize(layout)
    this.alloc = allocSize(layout)
    this.shared =
      CORE_FIELDS |
      (this.timed ? fieldSet('cpu', 'time') : fieldSet('sequence')) |
      (cpu === undefined ? 0 : FieldBit.cpu)
    this.columns = this.shared | ALLOC_FIELDS | HAS_API
  }

  /** A batch for what `left` bytes may hold. */
  newBatch(left: number): EventBatch {
    const { bytesRead, eventsRead } = this
    const expected = Math.ceil((left * (eventsRead || 1)) / (bytesRead || TYPICAL_BYTES))
    const capacity = Math.max(16, Math.min(expected + (expected >>> 4), BATCH_EVENTS))
    return new EventBatch(capacity, this.columns, this.header)
  }

  /** Counts all-zero records at this offset. */
  addZeros(n: number, offset: number): void {
    if (this.allZeros === 0) this.firstZero = offset
    this.zeros += n
    this.allZeros += n
  }

  /** Tells of the all-zero records so far by an event, if there are any; the batch must have room. */
  tellZeros(batch: EventBatch): void {
    if (this.zeros === 0) return
    const i = batch.count
    batch.addColumns(HAS_COUNT)
    batch.kind[i] = KIND_LOST
    batch.elements.words[2 * i + LO] = this.zeros
    batch.elements.words[2 * i + HI] = Math.floor(this.zeros / WORD)
    let fields = HAS_COUNT
    if (this.cpu !== undefined) {
      batch.cpu[i] = this.cpu
      fields |= FieldBit.cpu
    }
    batch.mask[i] = fields
    batch.count = i + 1
    this.zeros = 0
  }

  /**
   * Reads whole records into a batch, until they end, the batch is full, or one has a `fault`.
   * @param end one past the last byte that is there
   * @param base the stream's offset of `bytes[0]`
   * @returns the position of the first record that was not read
   */
  read(batch: EventBatch, bytes: Uint8Array, from: number, end: number, base: number): number {
    const { little, timed, wide, core, alloc, cpu, callSiteAt: siteAt } = this
    const { kind: kinds, mask, api, gfpFlags, node } = batch
    const head = timed ? batch.cpu : batch.sequence
    const time = batch.time.words
    const callSite = batch.callSite.words
    const address = batch.address.words
    const size = batch.size.words
    const usable = batch.usable.words
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    // Where the low and the high word of a 64-bit number stand.
    const low = little ? 0 : 4
    const high = 4 - low
    const shortFields = this.shared
    const freeFields = shortFields | HAS_API
    const allocFields = freeFields | ALLOC_FIELDS
    let capacity = batch.capacity
    const first = batch.count
    let i = first
    let start = from
    while (end - start >= HEAD && i < capacity) {
      const event = bytes[start]
      const type = bytes[start + 1]
      const length = view.getUint16(start + 2, little)
      const mandatory = event === ALLOC ? alloc : core
      if (length < mandatory) {
        if (length === 0 && event === 0 && type === 0) {
          if (end - start < core) break
          if (isZero(bytes, start, start + core)) {
            this.addZeros(1, base + start)
            start += core
            continue
          }
        }
        this.fault = `a record of ${length} bytes, where ${mandatory} are the least`
        break
      }
      if (this.zeros > 0) {
        batch.count = i
        this.tellZeros(batch)
        i = batch.count
        continue
      }
      if (end - start < length) break

      head[i] = view.getInt32(start + HEAD, little)
      if (timed) {
        time[2 * i + LO] = view.getUint32(start + 8 + low, little)
        time[2 * i + HI] = view.getUint32(start + 8 + high, little)
      } else if (cpu !== undefined) {
        batch.cpu[i] = cpu
      }
      let at = start + siteAt
      if (wide) {
        callSite[2 * i + LO] = view.getUint32(at + low, little)
        callSite[2 * i + HI] = view.getUint32(at + high, little)
        address[2 * i + LO] = view.getUint32(at + 8 + low, little)
        address[2 * i + HI] = view.getUint32(at + 8 + high, little)
      } else {
        callSite[2 * i + LO] = view.getUint32(at, little)
        address[2 * i + LO] = view.getUint32(at + 4, little)
      }
      let fields = shortFields
      if (event === ALLOC) {
        at = start + core
        if (wide) {
          size[2 * i + LO] = view.getUint32(at + low, little)
          size[2 * i + HI] = view.getUint32(at + high, little)
          usable[2 * i + LO] = view.getUint32(at + 8 + low, little)
          usable[2 * i + HI] = view.getUint32(at + 8 + high, little)
          at += 16
        } else {
          size[2 * i + LO] = view.getUint32(at, little)
          usable[2 * i + LO] = view.getUint32(at + 4, little)
          at += 8
        }
        gfpFlags[i] = view.getUint32(at, little)
        node[i] = view.getInt32(at + 4, little)
        kinds[i] = KIND_ALLOC
        api[i] = ALLOC_APIS[type]
        fields = allocFields
      } else if (event === FREE) {
        kinds[i] = KIND_FREE
        api[i] = FREE_APIS[type]
        fields = freeFields
      } else {
        kinds[i] = KIND_OTHER
      }
      if (type >= TYPES || event > FREE) {
        batch.addColumns(HAS_CODE)
        batch.code[i] = event | (type << 8)
        fields = (fields & ~HAS_API) | HAS_CODE
      }
      if (length > mandatory) {
        batch.addColumns(HAS_ATTRIBUTES)
        batch.attributes[i] = batch.strings.intern(bytes, start + mandatory, start + length)
        fields |= HAS_ATTRIBUTES
        if (event <= FREE && this.stray < 0 && !areFeatures(bytes, start + mandatory, start + length, little)) {
          this.stray = base + start
          this.strayRow = i
        }
        if (batch.strings.byteLength > BATCH_STRING_BYTES) capacity = i + 1
      }
      mask[i] = fields
      i++
      start += length
    }
    batch.count = i
    this.full = i >= capacity
    this.bytesRead += start - from
    this.eventsRead += i - first
    return start
  }
}

/** Whether all of `bytes[start..end)` is zero. */
export function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== 0) return false
  return true
}

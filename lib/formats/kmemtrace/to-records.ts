import { doubleAt, HI } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { APIS, FieldBit, Kind } from '../../event/fields.js'
import { NO_HEADER } from '../../event/header.js'
import type { Losses } from '../../kernel/losses.js'
import { areFeatures } from './features.js'
import type { KmemtraceLayout } from './layout.js'
import * as Layout from './layout.js'
import { Parts, reallocParts } from '../../blocks/realloc.js'

const { api: HAS_API, address: HAS_ADDRESS, oldAddress: HAS_OLD_ADDRESS, size: HAS_SIZE, cpu: HAS_CPU } = FieldBit
const { sequence: HAS_SEQUENCE, time: HAS_TIME, count: HAS_COUNT, code: HAS_CODE } = FieldBit
const { attributes: HAS_ATTRIBUTES } = FieldBit
const { alloc: KIND_ALLOC, free: KIND_FREE, realloc: KIND_REALLOC, existing: KIND_EXISTING, lost: KIND_LOST } = Kind
const { other: KIND_OTHER } = Kind
const { alloc: ALLOC, free: FREE } = Layout.EventId

/** The losses to count for functions without a type, by the code of `Api`. */
const ALLOC_NOTES = APIS.map((name) => `api ${name}, written as ${Layout.DEFAULT_ALLOC}`)
const FREE_NOTES = APIS.map((name) => `api ${name}, written as ${Layout.DEFAULT_FREE}`)

const NO_ALLOC_API = `no api, written as ${Layout.DEFAULT_ALLOC}`
const NO_FREE_API = `no api, written as ${Layout.DEFAULT_FREE}`

/** The result of `typeOf` for an event without a record. */
const LEFT_OUT = -1
/** The longest time in microseconds that 64 bits hold in nanoseconds. */
const MAX_US = (2n ** 64n - 1n) / 1000n
const MAX_US_HIGH = Number(MAX_US >> 32n)

/** A `lost` event with a larger count than this is not written: more than 100 MB of zeros is not plausible. */
const MAX_ZEROS = 4_194_304

/** Finds the records for events, and counts what they cannot represent. The records to write are in typed arrays. */
export class RecordList {
  /** The number of records. */
  count = 0
  /** Per record, its event; `-1 - i` means the all-zero records of `lost` event i. */
  rows = new Int32Array(0)
  /** Per record, its event id, and type id * 256. */
  ids = new Uint16Array(0)
  /** Per record, the fields to write. If they include `oldAddress`, it is written instead of `address`. */
  fields = new Uint32Array(0)
  /** Whether the last record is an all-zero one, which will form one event with those that follow. */
  wasLost = false
  private readonly timed: boolean

  /** @param cpu the CPU that a `relay` stream represents */
  constructor(
    private readonly layout: KmemtraceLayout,
    private readonly cpu: number | undefined,
    private readonly losses: Losses,
  ) {
    this.timed = layout.layout === 'ftrace'
  }

  /**
   * Finds the records for the events `from` to `to` of a batch.
   * @throws TraceError in strict mode, when an event cannot be written; the records of the events before it are
   *   available
   */
  fill(batch: EventBatch, from: number, to: number): void {
    if (this.rows.length < 2 * (to - from)) {
      this.rows = new Int32Array(2 * (to - from))
      this.ids = new Uint16Array(2 * (to - from))
      this.fields = new Uint32Array(2 * (to - from))
    }
    this.count = 0
    for (let i = from; i < to; i++) {
      const kind = batch.kind[i]
      if (kind === KIND_REALLOC) this.addRealloc(batch, i)
      else if (kind === KIND_LOST) this.addLost(batch, i)
      else this.addOne(batch, i, kind)
    }
  }

  /** Handles an event that becomes one record, or none. */
  private addOne(batch: EventBatch, i: number, kind: number): void {
    const fields = batch.mask[i] & ~HAS_OLD_ADDRESS
    let id: number = kind === KIND_FREE ? FREE : ALLOC
    let type: number
    if (kind === KIND_OTHER) {
      type = this.typeOfOther(batch, i)
      if (type !== LEFT_OUT) id = batch.code[i] & 0xff
    } else if (kind === KIND_ALLOC || kind === KIND_FREE || kind === KIND_EXISTING) {
      type = this.typeOf(batch, i, id)
      if (kind === KIND_EXISTING && type !== LEFT_OUT)
        this.losses.countEvent('existing blocks, written as allocs', batch, i)
    } else {
      // The other kinds were counted when the batch was admitted.
      return
    }
    if (type !== LEFT_OUT) this.add(batch, i, id, type, fields)
  }

  private addRealloc(batch: EventBatch, i: number): void {
    const { parts, reason } = reallocParts(batch, i)
    this.losses.countEvent(reason, batch, i)
    // Two records cannot share attributes, nor a number unless the next one is reserved for the second: see `PerCpu`.
    const fields = batch.mask[i] & ~(HAS_ATTRIBUTES | (this.cpu === undefined ? HAS_SEQUENCE : 0))
    const known = (fields & HAS_ADDRESS) !== 0
    if ((parts & Parts.free) !== 0) this.add(batch, i, FREE, 0, fields)
    const rest = parts === Parts.both ? fields & ~HAS_SEQUENCE : fields
    if ((parts & Parts.alloc) !== 0) this.add(batch, i, ALLOC, 0, known ? rest & ~HAS_OLD_ADDRESS : rest)
  }

  private addLost(batch: EventBatch, i: number): void {
    const { losses } = this
    const fields = batch.mask[i]
    const count = (fields & HAS_COUNT) !== 0 ? zerosOf(batch, i) : 0
    if (count === 0) losses.countEvent('lost events without a count', batch, i)
    else if (count > MAX_ZEROS) losses.countEvent(`lost events with a count above ${MAX_ZEROS}`, batch, i)
    else {
      this.checkCpu(batch, i, fields)
      if (this.wasLost) losses.countEvent('lost events in a row, which are one', batch, i)
      this.wasLost = true
      this.rows[this.count++] = -1 - i
    }
  }

  /** Adds a record, after checking all fields that may not fit its layout. */
  private add(batch: EventBatch, i: number, event: number, type: number, fields: number): void {
    const { losses } = this
    if (this.layout.wordSize === 4 && isTooWide(batch, i, event, fields)) {
      losses.countEvent('events with values of more than 32 bits', batch, i)
      return
    }
    if (event === ALLOC && (fields & HAS_SIZE) === 0) losses.countEvent('no size, written as 0', batch, i)
    if (this.timed && (fields & HAS_TIME) !== 0 && batch.header.timeUnit === 'us' && isTooLong(batch, i)) {
      losses.countEvent('time of more than 2^64 ns, written as 2^64 - 1', batch, i)
    }
    this.checkCpu(batch, i, fields)
    if ((fields & HAS_ATTRIBUTES) !== 0 && !this.canAttach(batch, i, event)) fields &= ~HAS_ATTRIBUTES
    this.wasLost = false
    const r = this.count++
    this.rows[r] = i
    this.ids[r] = event | (type << 8)
    this.fields[r] = fields
  }

  /** The type id to write for an allocation or a free, or `LEFT_OUT`. */
  private typeOf(batch: EventBatch, i: number, event: number): number {
    const { losses } = this
    const fields = batch.mask[i]
    if ((fields & HAS_ADDRESS) === 0) {
      losses.countEvent(`${event === FREE ? 'frees' : 'allocs'} without an address`, batch, i)
      return LEFT_OUT
    }
    if ((fields & HAS_CODE) !== 0) {
      const code = batch.code[i]
      if (code <= 0xffff && (code & 0xff) === event && isOwn(batch)) {
        if ((fields & HAS_API) !== 0) losses.countEvent('api of events with a code', batch, i)
        if (code >>> 8 < Layout.TYPES) losses.countEvent('codes that stand for an api', batch, i)
        return code >>> 8
      }
      losses.countEvent('codes that are not those of kmemtrace', batch, i)
    }
    if ((fields & HAS_API) === 0) {
      losses.countEvent(event === FREE ? NO_FREE_API : NO_ALLOC_API, batch, i)
      return 0
    }
    const api = batch.api[i]
    const type = (event === FREE ? Layout.TYPE_OF_FREE : Layout.TYPE_OF_ALLOC)[api]
    if (type !== Layout.NO_TYPE) return type
    losses.countEvent((event === FREE ? FREE_NOTES : ALLOC_NOTES)[api], batch, i)
    return 0
  }

  /** The type id of a record of a kind that the model does not have, or `LEFT_OUT`. */
  private typeOfOther(batch: EventBatch, i: number): number {
    const code = (batch.mask[i] & HAS_CODE) !== 0 ? batch.code[i] : 0
    // Another format's code means something else here.
    if (code <= 0xffff && (code & 0xff) > FREE && isOwn(batch)) return code >>> 8
    this.losses.countEvent('other events without a code of kmemtrace', batch, i)
    return LEFT_OUT
  }

  private checkCpu(batch: EventBatch, i: number, fields: number): void {
    const { cpu, timed } = this
    if (timed || cpu === undefined || (fields & HAS_CPU) === 0 || batch.cpu[i] === cpu) return
    this.losses.countEvent(`cpu other than ${cpu}`, batch, i)
  }

  /** Whether an event's attributes can be written after its record. */
  private canAttach(batch: EventBatch, i: number, event: number): boolean {
    const { layout, losses } = this
    const bytes = batch.strings.view(batch.attributes[i])
    if (bytes.length === 0) {
      losses.countEvent('empty attributes', batch, i)
      return false
    }
    if ((event === ALLOC ? Layout.allocSize(layout) : Layout.coreSize(layout)) + bytes.length > Layout.MAX_RECORD) {
      losses.countEvent(`attributes that make a record longer than ${Layout.MAX_RECORD} bytes`, batch, i)
      return false
    }
    if (event > FREE || isOwn(batch) || areFeatures(bytes, 0, bytes.length, layout.byteOrder === 'little')) return true
    losses.countEvent('attributes that are not features of kmemtrace', batch, i)
    return false
  }
}

/** The number of all-zero records of a `lost` event. */
export function zerosOf({ elements: { words } }: EventBatch, i: number): number {
  return doubleAt(words, i)
}

/** Whether codes and attributes have kmemtrace's meanings, which is assumed for events without a header. */
function isOwn({ header }: EventBatch): boolean {
  return header.format === Layout.FORMAT || header.format === NO_HEADER.format
}

/** Whether a time in microseconds is too long in nanoseconds. Few are long enough for a check of all bits. */
function isTooLong({ time: { words, values } }: EventBatch, i: number): boolean {
  return words[2 * i + HI] >= MAX_US_HIGH && values[i] > MAX_US
}

/** Whether a value does not fit the words of a 32-bit machine. */
function isTooWide(batch: EventBatch, i: number, event: number, fields: number): boolean {
  const high = (bit: number, words: Uint32Array) => ((fields & bit) !== 0 ? words[2 * i + HI] : 0)
  const isOld = (fields & HAS_OLD_ADDRESS) !== 0
  const address = isOld ? high(HAS_OLD_ADDRESS, batch.oldAddress.words) : high(HAS_ADDRESS, batch.address.words)
  const sizes = event === ALLOC ? high(HAS_SIZE, batch.size.words) | high(FieldBit.usable, batch.usable.words) : 0
  return (address | high(FieldBit.callSite, batch.callSite.words) | sizes) !== 0
}

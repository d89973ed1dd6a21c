import { HI, LO, WORD } from '../../../lib/bytes/u64.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { APIS, FieldBit, Kind } from '../../../lib/event/fields.js'
import { NO_HEADER } from '../../../lib/event/header.js'
import type { Losses } from '../../../lib/kernel/losses.js'
import { areFeatures } from '../../../lib/formats/kmemtrace/features.js'
import {
  DEFAULT_ALLOC,
  DEFAULT_FREE,
  EventId,
  FORMAT,
  MAX_RECORD,
  NO_TYPE,
  TYPE_OF_ALLOC,
  TYPES,
  TYPE_OF_FREE,
  allocSize,
  coreSize,
  type KmemtraceLayout,
} from '../../../lib/formats/kmemtrace/layout.js'
import { Parts, reallocParts } from '../../../lib/blocks/realloc.js'

const HAS_API = FieldBit.api
const HAS_ADDRESS = FieldBit.address
const HAS_OLD_ADDRESS = FieldBit.oldAddress
const HAS_SIZE = FieldBit.size
const HAS_CPU = FieldBit.cpu
const HAS_SEQUENCE = FieldBit.sequence
const HAS_TIME = FieldBit.time
const HAS_COUNT = FieldBit.count
const HAS_CODE = FieldBit.code
const HAS_ATTRIBUTES = FieldBit.attributes
const KIND_ALLOC = Kind.alloc
const KIND_FREE = Kind.free
const KIND_REALLOC = Kind.realloc
const KIND_EXISTING = Kind.existing
const KIND_LOST = Kind.lost
const KIND_OTHER = Kind.other
const { alloc: ALLOC, free: FREE } = EventId

/** An event is usual if it has all the first fields (a free needs no size) and none of the others. */
const USUAL_FREE = HAS_ADDRESS | HAS_API
const USUAL_ALLOC = USUAL_FREE | HAS_SIZE
const UNUSUAL = HAS_CODE | HAS_ATTRIBUTES | HAS_OLD_ADDRESS

/** What is counted for functions that no type stands for, by the code of `Api`. */
const ALLOC_NOTES = APIS.map((name) => `api ${name}, written as ${DEFAULT_ALLOC}`)
const FREE_NOTES = APIS.map((name) => `api ${name}, written as ${DEFAULT_FREE}`)

const NO_ALLOC_API = `no api, written as ${DEFAULT_ALLOC}`
const NO_FREE_API = `no api, written as ${DEFAULT_FREE}`

/** What `typeOf` gives for an event that has no record. */
const LEFT_OUT = -1
/** The longest time in microseconds that 64 bits hold in nanoseconds. */
const MAX_US = (2n ** 64n - 1n) / 1000n
const MAX_US_HIGH = Number(MAX_US >> 32n)

/** A `lost` event with a larger count than this is not written: no one means more than 100 MB of zeros. */
const MAX_ZEROS = 4_194_304

/**
 * Finds the records for events, and counts what of them has no place there. What is to be written is in typed arrays.
 */
export class RecordList {
  /** How many records there are. */
  count = 0
  /** Per record, the event that it is of; `-1 - i` stands for the all-zero records of `lost` event i. */
  rows = new Int32Array(0)
  /** Per record, its event id, and type id * 256. */
  ids = new Uint16Array(0)
  /** Per record, the fields to write. With `oldAddress` that is written in place of `address`. */
  fields = new Uint32Array(0)
  /** Something of every event has to be looked at. */
  private readonly careful: boolean
  /** The record that was written last is an all-zero one: it and those that follow will be one event. */
  wasLost = false
  private readonly timed: boolean

  /** @param cpu the CPU that a `relay` stream stands for */
  constructor(
    private readonly layout: KmemtraceLayout,
    private readonly cpu: number | undefined,
    private readonly losses: Losses,
  ) {
    this.timed = layout.layout === 'ftrace'
    this.careful = layout.wordSize === 4 || (!this.timed && cpu !== undefined)
  }

  /**
   * Finds the records for the first `n` events of a batch.
   * @throws TraceError in strict mode, when an event cannot be written; the records of the events before it are there
   */
  fill(batch: EventBatch, n: number): void {
    if (this.rows.length < 2 * n) {
      this.rows = new Int32Array(2 * n)
      this.ids = new Uint16Array(2 * n)
      this.fields = new Uint32Array(2 * n)
    }
    this.count = 0
    const { rows, ids } = this
    const masks = this.fields
    const { kind: kinds, mask, api } = batch
    const careful = this.careful || (this.timed && batch.header.timeUnit === 'us')
    for (let i = 0; i < n; i++) {
      const kind = kinds[i]
      const fields = mask[i]
      if (!careful && kind <= KIND_FREE) {
        // Most events are done with here.
        const alloc = kind === KIND_ALLOC
        const usual = alloc ? USUAL_ALLOC : USUAL_FREE
        const type = (fields & HAS_API) === 0 ? NO_TYPE : (alloc ? TYPE_OF_ALLOC : TYPE_OF_FREE)[api[i]]
        if ((fields & (usual | UNUSUAL)) === usual && type !== NO_TYPE) {
          this.wasLost = false
          const r = this.count++
          rows[r] = i
          ids[r] = (alloc ? ALLOC : FREE) | (type << 8)
          masks[r] = fields
          continue
        }
      }
      if (kind === KIND_REALLOC) this.addRealloc(batch, i)
      else if (kind === KIND_LOST) this.addLost(batch, i)
      else this.addOne(batch, i, kind)
    }
  }

  /** An event that is one record, or none. */
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
    // Two records cannot share attributes, nor a number, unless the next one is kept for the second: see `PerCpu`.
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

  /** Adds a record, after a look at everything that its layout may not have room for. */
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
        if (code >>> 8 < TYPES) losses.countEvent('codes that stand for an api', batch, i)
        return code >>> 8
      }
      losses.countEvent('codes that are not those of kmemtrace', batch, i)
    }
    if ((fields & HAS_API) === 0) {
      losses.countEvent(event === FREE ? NO_FREE_API : NO_ALLOC_API, batch, i)
      return 0
    }
    const api = batch.api[i]
    const type = (event === FREE ? TYPE_OF_FREE : TYPE_OF_ALLOC)[api]
    if (type !== NO_TYPE) return type
    losses.countEvent((event === FREE ? FREE_NOTES : ALLOC_NOTES)[api], batch, i)
    return 0
  }

  /** The type id of a record of a sort that the model has no name for, or `LEFT_OUT`. */
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

  /** Whether an event's attributes can be written behind its record. */
  private canAttach(batch: EventBatch, i: number, event: number): boolean {
    const { layout, losses } = this
    const bytes = batch.strings.view(batch.attributes[i])
    if (bytes.length === 0) {
      losses.countEvent('empty attributes', batch, i)
      return false
    }
    if ((event === ALLOC ? allocSize(layout) : coreSize(layout)) + bytes.length > MAX_RECORD) {
      losses.countEvent(`attributes that make a record longer than ${MAX_RECORD} bytes`, batch, i)
      return false
    }
    if (event > FREE || isOwn(batch) || areFeatures(bytes, 0, bytes.length, layout.byteOrder === 'little')) return true
    losses.countEvent('attributes that are not features of kmemtrace', batch, i)
    return false
  }
}

/** How many all-zero records a `lost` event stands for. */
export function zerosOf({ elements: { words } }: EventBatch, i: number): number {
  return words[2 * i + HI] * WORD + words[2 * i + LO]
}

/** Whether codes and attributes are those of kmemtrace: events that came without a header are believed. */
function isOwn({ header }: EventBatch): boolean {
  return header.format === FORMAT || header.format === NO_HEADER.format
}

/** Whether a time in microseconds is too long in nanoseconds. Few are long enough to ask for all bits. */
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

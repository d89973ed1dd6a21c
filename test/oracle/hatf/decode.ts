import * as Code from '../../../lib/kernel/layouts/hatf.js'
import { Input } from '../../../lib/bytes/input.js'
import { BATCH_EVENTS, BATCH_STRING_BYTES, EventBatch } from '../../../lib/event/batch.js'
import { malformed, truncated, type TraceError } from '../../../lib/event/error.js'
import { FieldBit, Kind, fieldSet } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import type { Decoder } from '../../../lib/event/stage.js'
import { COMMENT_MARK, EXTRA_FIELDS_MARK, hasMark, parseHeaderComment } from '../../../lib/formats/hatf/extra-fields.js'
import { ExtraFieldsReader } from '../../../lib/formats/hatf/extra-fields-read.js'
import { FieldStates, readField } from './fields.js'
import { carryRows, firstHeldRow, foldRealloc } from './fold.js'
import { HEAD, metadataLength } from '../../../lib/formats/hatf/layout.js'

/** What the decoder can be told. */
export interface HatfDecodeOptions {
  /**
   * Take the alloc and free records that a realloc made out of the stream, so that they do not count twice. Default
   * true.
   */
  fold?: boolean
}

const {
  F_SIZE: SIZE,
  F_ADDRESS: ADDRESS,
  F_TIME: TIME,
  F_THREAD: THREAD,
  F_HEAP: HEAP,
  F_ATTRIBUTES: ATTRIBUTES,
} = Code
const {
  TAG_FREE: FREE,
  TAG_REALLOC_NONE: REALLOC_NONE,
  TAG_REALLOC_FREED: REALLOC_FREED,
  TAG_CREATE_THREAD: CREATE_THREAD,
} = Code
/** Above it are comments and metadata. */
const LAST_DATA = Code.TAG_DESTROY_THREAD

const HAS_ATTRIBUTES = FieldBit.attributes
const HAS_HEAP = FieldBit.heap
const HAS_TEXT = FieldBit.text
const HAS_THREAD = FieldBit.thread
const HAS_TIME = FieldBit.time

const ALLOC_FIELDS = fieldSet('size', 'address')
const REALLOC_ONLY = fieldSet('oldAddress', 'outcome')
const REALLOC_FIELDS = ALLOC_FIELDS | REALLOC_ONLY
/** Kind and fields by tag, without the fields that only some streams have. */
const KIND_OF_TAG = Uint8Array.of(
  Kind.alloc,
  Kind.free,
  Kind.realloc,
  Kind.realloc,
  Kind.realloc,
  Kind.realloc,
  Kind['heap-create'],
  Kind['heap-destroy'],
  Kind['thread-create'],
  Kind['thread-destroy'],
)
const FIELDS_OF_TAG = Int32Array.of(
  ALLOC_FIELDS,
  FieldBit.address,
  REALLOC_FIELDS,
  REALLOC_FIELDS,
  REALLOC_FIELDS,
  REALLOC_FIELDS,
  0,
  0,
  0,
  0,
)

/** Why `fill` stopped. */
const USED_UP = 0
const FULL = 1
const NEW_HEADER = 2
const FAULT = 3
/** It did not. */
const GO_ON = -1

const SMALLEST_CAPACITY = 16
/** Bytes per event assumed until some were read: those of an alloc record without metadata. */
const FIRST_MEAN = 9

/** Reads HATF 1.0, with or without what `HatfEncoder` adds when it keeps attributes. */
export class HatfDecoder implements Decoder {
  private readonly fold: boolean
  private readonly input = new Input()
  private readonly fields = new FieldStates()
  private readonly extras = new ExtraFieldsReader()
  private header: TraceHeader = { format: 'hatf' }
  /** The header that a comment just gave. */
  private nextHeader: TraceHeader | undefined
  /** The header is still to be given out, be it with an empty batch: at the end, if not before. */
  private owesHeader = false
  private hasGiven = false
  /** The batch being filled; it may begin with rows that were held back from the one before. */
  private batch: EventBatch | undefined
  private columns = ALLOC_FIELDS
  private delivered = 0
  private fault: ((event: number) => TraceError) | undefined
  private isOver = false

  constructor(options: HatfDecodeOptions = {}) {
    this.fold = options.fold ?? true
  }

  /** How many bytes of whole records were read. */
  get consumed(): number {
    return this.input.offset
  }

  feed(chunk: Uint8Array): void {
    this.input.feed(chunk)
  }

  /** @throws TraceError when a record is malformed, or the stream ends inside one */
  next(): EventBatch | null {
    for (;;) {
      if (this.fault !== undefined) throw this.fault(this.delivered + 1)
      if (this.isOver || (this.input.left === 0 && !this.input.ended)) return null
      const batch = this.open()
      const stop = this.fill(batch)
      const given = this.close(batch, stop)
      if (given !== null) return given
      if (stop === USED_UP && this.fault === undefined) return null
    }
  }

  end(): void {
    this.input.ended = true
  }

  endTruncated(): void {
    this.input.pos = this.input.end
    this.input.ended = true
  }

  /** A batch with room for about as many events as there is input. */
  private open(): EventBatch {
    const { batch, input, delivered } = this
    const mean = delivered > SMALLEST_CAPACITY ? input.offset / delivered : FIRST_MEAN
    const room = SMALLEST_CAPACITY + Math.ceil((input.left / mean) * 1.125)
    if (batch !== undefined && (batch.capacity === BATCH_EVENTS || batch.capacity - batch.count >= room)) return batch
    const opened = new EventBatch(Math.min(BATCH_EVENTS, room + (batch?.count ?? 0)), this.columns, this.header)
    if (batch !== undefined) carryRows(batch, 0, opened)
    return (this.batch = opened)
  }

  /** Decides how much of a batch goes out, and notes what comes after it. */
  private close(batch: EventBatch, stop: number): EventBatch | null {
    const isEnd = stop === USED_UP && this.input.ended
    if (isEnd) {
      this.isOver = true
      if (this.input.left > 0) this.fail(truncated, 'the stream ends inside a record')
    }
    const count = batch.count
    const first = this.fold && !isEnd && stop <= FULL ? firstHeldRow(batch) : count
    const isHeaderDue = this.owesHeader && stop !== USED_UP && stop !== FULL
    const isLastChance = isEnd && (this.owesHeader || (!this.hasGiven && this.fault === undefined))
    let given: EventBatch | null = null
    if (first > 0 || isHeaderDue || isLastChance) {
      this.columns = batch.columns
      this.batch = undefined
      if (first < count) {
        this.batch = new EventBatch(count - first, batch.columns, this.header)
        carryRows(batch, first, this.batch)
        batch.count = first
      }
      this.delivered += first
      this.hasGiven = true
      this.owesHeader = false
      given = batch
    }
    if (stop === NEW_HEADER) {
      this.header = this.nextHeader as TraceHeader
      this.owesHeader = true
      this.batch = undefined
    }
    return given
  }

  /** Reads records into a batch until the input is used up, the batch is full or something else comes up. */
  private fill(batch: EventBatch): number {
    const { input, fields, fold } = this
    const { bytes, end } = input
    const { lengths, width } = fields
    const { kind: kinds, mask: masks, capacity } = batch
    const size = batch.size.words
    const address = batch.address.words
    let { touched, lengthBytes } = fields
    let { thread, heap, time, optional } = this.optionalColumns(batch)
    let pos = input.pos
    let n = batch.count
    let stop = GO_ON
    while (pos < end && n < capacity) {
      const tag = bytes[pos]
      if (tag > LAST_DATA) {
        input.pos = pos
        batch.count = n
        stop = this.fillOther(batch, tag)
        if (stop !== GO_ON) return stop
        pos = input.pos
        n = batch.count
        lengthBytes = fields.lengthBytes
        if (fields.touched !== touched) {
          touched = fields.touched
          ;({ thread, heap, time, optional } = this.optionalColumns(batch))
        }
        continue
      }
      // Nothing may be read before all is there: reading moves delta and stride on.
      let after = pos + lengths[tag]
      if (after > end) break
      let attributeBytes = width[ATTRIBUTES]
      if (lengthBytes !== 0) {
        attributeBytes = bytes[after - 1]
        if (lengthBytes === 2) attributeBytes |= bytes[after - 2] << 8
        after += attributeBytes
        if (after > end) break
      }
      let at = pos + 1
      let set = FIELDS_OF_TAG[tag] | optional
      if (tag <= REALLOC_FREED) {
        if (tag !== FREE) {
          readField(fields, SIZE, bytes, at, size, 2 * n)
          at += width[SIZE]
          if (tag >= REALLOC_NONE) {
            if ((batch.columns & REALLOC_ONLY) !== REALLOC_ONLY) batch.addColumns(REALLOC_ONLY)
            batch.outcome[n] = tag - REALLOC_NONE
            readField(fields, ADDRESS, bytes, at, batch.oldAddress.words, 2 * n)
            at += width[ADDRESS]
          }
        }
        readField(fields, ADDRESS, bytes, at, address, 2 * n)
        at += width[ADDRESS]
      }
      if (optional !== 0) {
        if ((optional & HAS_THREAD) !== 0) {
          readField(fields, THREAD, bytes, at, thread, 2 * n)
          at += width[THREAD]
        }
        if (tag >= CREATE_THREAD) set &= ~HAS_HEAP
        else if ((optional & HAS_HEAP) !== 0) {
          readField(fields, HEAP, bytes, at, heap, 2 * n)
          at += width[HEAP]
        }
        if ((optional & HAS_TIME) !== 0) readField(fields, TIME, bytes, at, time, 2 * n)
      }
      kinds[n] = KIND_OF_TAG[tag]
      masks[n] = set
      if (attributeBytes !== 0) {
        this.readAttributes(batch, n, after - attributeBytes, after)
        if (batch.strings.byteLength > BATCH_STRING_BYTES) stop = FULL
      }
      n++
      pos = after
      if (fold && tag > REALLOC_NONE && tag <= REALLOC_FREED) {
        batch.count = n
        foldRealloc(batch)
        n = batch.count
      }
      if (stop !== GO_ON) break
    }
    input.pos = pos
    batch.count = n
    if (stop !== GO_ON) return stop
    return n === capacity && pos < end ? FULL : USED_UP
  }

  /** The set of those of thread, heap and time that the stream has by now, and the batch's columns for them. */
  private optionalColumns(batch: EventBatch) {
    const { touched } = this.fields
    const optional =
      (touched & (1 << THREAD) ? HAS_THREAD : 0) |
      (touched & (1 << HEAP) ? HAS_HEAP : 0) |
      (touched & (1 << TIME) ? HAS_TIME : 0)
    if ((optional & ~batch.columns) !== 0) batch.addColumns(optional)
    return { thread: batch.thread.words, heap: batch.heap.words, time: batch.time.words, optional }
  }

  private readAttributes(batch: EventBatch, row: number, start: number, end: number): void {
    const { extras } = this
    const { bytes } = this.input
    const set = batch.mask[row]
    if (hasMark(bytes, start, end, EXTRA_FIELDS_MARK) && extras.readAttributes(bytes, start, end, batch, row)) {
      batch.mask[row] = (set & ~extras.without) | extras.set
      if (extras.kind >= 0) batch.kind[row] = extras.kind
      return
    }
    if ((batch.columns & HAS_ATTRIBUTES) === 0) batch.addColumns(HAS_ATTRIBUTES)
    batch.attributes[row] = batch.strings.intern(bytes, start, end)
    batch.mask[row] = set | HAS_ATTRIBUTES
  }

  /** Reads the metadata or comment record at `input.pos`. */
  private fillOther(batch: EventBatch, tag: number): number {
    const { input, fields } = this
    const { bytes, pos } = input
    if (tag > Code.TAG_METADATA) return this.fail(malformed, `unknown tag ${tag}`)
    if (input.left < HEAD) return USED_UP
    if (tag === Code.TAG_COMMENT) {
      const end = pos + HEAD + ((bytes[pos + 2] << 8) | bytes[pos + 3])
      return end > input.end ? USED_UP : this.readComment(batch, pos + HEAD, end)
    }
    const length = metadataLength(bytes, pos)
    if (input.left < length) return USED_UP
    const reason = fields.apply(bytes, pos)
    if (reason !== '') return this.fail(malformed, reason)
    input.pos = pos + length
    return GO_ON
  }

  private readComment(batch: EventBatch, start: number, end: number): number {
    const { extras, input } = this
    const { bytes } = input
    const row = batch.count
    input.pos = end
    let isEvent = false
    if (hasMark(bytes, start, end, COMMENT_MARK)) {
      this.nextHeader = parseHeaderComment(bytes, start, end)
      if (this.nextHeader !== undefined) return NEW_HEADER
      isEvent = extras.readComment(bytes, start, end, batch, row)
    }
    if (isEvent) {
      batch.kind[row] = extras.kind
      batch.mask[row] = extras.set
    } else {
      batch.addColumns(HAS_TEXT)
      batch.kind[row] = Kind.comment
      batch.mask[row] = HAS_TEXT
      batch.text[row] = batch.strings.add(bytes, start, end)
    }
    batch.count = row + 1
    return batch.strings.byteLength > BATCH_STRING_BYTES ? FULL : GO_ON
  }

  /** Notes a fault at `input.pos`, to be thrown once all events before it are out. */
  private fail(make: typeof malformed, reason: string): typeof FAULT {
    const { offset } = this.input
    this.fault = (event) => make(reason, { format: 'hatf', offset, event })
    return FAULT
  }
}

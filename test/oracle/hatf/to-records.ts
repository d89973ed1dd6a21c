import * as Code from '../../../lib/kernel/layouts/hatf.js'
import type { Sink } from '../../../lib/bytes/sink.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { FieldBit, Kind, Outcome, fieldNames, fieldSet } from '../../../lib/event/fields.js'
import type { Losses } from '../../../lib/kernel/losses.js'
import { outcomeOf } from '../../../lib/blocks/realloc.js'
import { COMMENT_MARK, EXTRA_FIELDS_MARK, RECORD_FIELDS, hasMark } from '../../../lib/formats/hatf/extra-fields.js'
import { ExtraFieldsWriter } from '../../../lib/formats/hatf/extra-fields-write.js'
import { MAX_BYTES } from '../../../lib/formats/hatf/layout.js'
import { Given, copyWords, type Records } from './records.js'

const HAS_ADDRESS = FieldBit.address
const HAS_ATTRIBUTES = FieldBit.attributes
const HAS_HEAP = FieldBit.heap
const HAS_OLD_ADDRESS = FieldBit.oldAddress
const HAS_OUTCOME = FieldBit.outcome
const HAS_SIZE = FieldBit.size
const HAS_TEXT = FieldBit.text
const HAS_THREAD = FieldBit.thread
const HAS_TIME = FieldBit.time
const KIND_EXISTING = Kind.existing
const KIND_REALLOC = Kind.realloc
const OPTIONAL = fieldSet('thread', 'heap', 'time')

/** Tags by the code of the kind of event; -1 where there is no record. Reallocs get theirs from the outcome. */
const TAGS = new Int8Array(RECORD_FIELDS.length).fill(-1)
TAGS[Kind.alloc] = Code.TAG_ALLOC
TAGS[Kind.existing] = Code.TAG_ALLOC
TAGS[Kind.free] = Code.TAG_FREE
TAGS[Kind.realloc] = Code.TAG_REALLOC_NONE
TAGS[Kind['heap-create']] = Code.TAG_CREATE_HEAP
TAGS[Kind['heap-destroy']] = Code.TAG_DESTROY_HEAP
TAGS[Kind['thread-create']] = Code.TAG_CREATE_THREAD
TAGS[Kind['thread-destroy']] = Code.TAG_DESTROY_THREAD
TAGS[Kind.comment] = Code.TAG_COMMENT

/** Tags by the code of a realloc's outcome. */
const REALLOC_TAGS = Uint8Array.of(
  Code.TAG_REALLOC_NONE,
  Code.TAG_REALLOC_MOVED,
  Code.TAG_REALLOC_ALLOCATED,
  Code.TAG_REALLOC_FREED,
)

/** The most records that an event can take: a realloc that moved, with its alloc and its free. */
export const MAX_RECORDS = 3

/** With so many bytes of attributes and comments a window of records is full, however few there are. */
export const WINDOW_BYTES = 1 << 20

/** Turns events into HATF records: reallocs into all of their records, fields without a place into attributes. */
export class RecordMaker {
  private readonly extras: ExtraFieldsWriter | undefined
  /** Which of thread, heap and time an event had so far: records carry those from there on. */
  private carried = 0
  private readonly zeroNotes = new Map<number, readonly string[]>()

  /** @param attributes whether fields and events without a place are kept in attributes and comments */
  constructor(
    private readonly losses: Losses,
    attributes: boolean,
  ) {
    this.extras = attributes ? new ExtraFieldsWriter() : undefined
  }

  /**
   * Adds events of a batch to the records, which must have room for them.
   * @param from @param to the first event, and the one after the last
   * @param full how many records make a window; it is full, too, with `WINDOW_BYTES` of attributes and comments
   * @returns the event after the last that was added: the window is full, if that is not `to`
   * @throws TraceError where losses are errors; the records then hold the events before that one
   */
  toRecords(batch: EventBatch, from: number, to: number, records: Records, full: number): number {
    const { data } = records
    let i = from
    while (i < to && records.count < full && data.pos < WINDOW_BYTES) {
      const { count: before } = records
      const dataBefore = data.pos
      try {
        this.event(batch, i++, records)
      } catch (error) {
        records.count = before
        data.pos = dataBefore
        throw error
      }
    }
    return i
  }

  private event(batch: EventBatch, i: number, records: Records): void {
    const kind = batch.kind[i]
    const mask = batch.mask[i]
    const tag = TAGS[kind]
    if (tag === Code.TAG_COMMENT || tag < 0) {
      this.comment(batch, i, records)
      return
    }
    const fields = RECORD_FIELDS[kind]
    const given = mask & fields
    this.carried |= given & OPTIONAL
    if (kind === KIND_REALLOC) this.realloc(batch, i, records, given)
    else this.record(batch, i, records, tag, given)
    const rest = mask & (~fields | HAS_ATTRIBUTES)
    const without = fields & ~mask & ~HAS_ATTRIBUTES & (~OPTIONAL | this.carried)
    if ((rest | without) !== 0 || kind === KIND_EXISTING) this.attributes(batch, i, records, rest, without)
  }

  /** Adds a record with those of the event's fields that are `given`, and zeros else. */
  private record(batch: EventBatch, i: number, records: Records, tag: number, given: number): void {
    const r = records.count++
    records.tag[r] = tag
    records.given[r] =
      ((given & HAS_THREAD) !== 0 ? Given.thread : 0) |
      ((given & HAS_HEAP) !== 0 ? Given.heap : 0) |
      ((given & HAS_TIME) !== 0 ? Given.time : 0)
    copyWords(records.size, r, batch.size, i, (given & HAS_SIZE) !== 0)
    copyWords(records.address, r, batch.address, i, (given & HAS_ADDRESS) !== 0)
    copyWords(records.oldAddress, r, batch.oldAddress, i, (given & HAS_OLD_ADDRESS) !== 0)
    copyWords(records.thread, r, batch.thread, i, (given & HAS_THREAD) !== 0)
    copyWords(records.heap, r, batch.heap, i, (given & HAS_HEAP) !== 0)
    copyWords(records.time, r, batch.time, i, (given & HAS_TIME) !== 0)
    records.dataEnd[r] = records.data.pos
  }

  /** Adds a realloc record, and before it the records of the alloc and the free that it made. */
  private realloc(batch: EventBatch, i: number, records: Records, given: number): void {
    const outcome = (given & HAS_OUTCOME) !== 0 ? batch.outcome[i] : outcomeOf(batch, i)
    if (outcome === Outcome.moved || outcome === Outcome.allocated) {
      this.record(batch, i, records, Code.TAG_ALLOC, given & ~HAS_OLD_ADDRESS)
    }
    if (outcome === Outcome.moved || outcome === Outcome.freed) {
      const r = records.count
      this.record(batch, i, records, Code.TAG_FREE, given & OPTIONAL)
      copyWords(records.address, r, batch.oldAddress, i, (given & HAS_OLD_ADDRESS) !== 0)
    }
    this.record(batch, i, records, REALLOC_TAGS[outcome], given)
  }

  /**
   * Adds the attributes of the last record.
   * @param rest the fields without a place, and attributes
   * @param without the fields that the record has but the event does not
   */
  private attributes(batch: EventBatch, i: number, records: Records, rest: number, without: number): void {
    const existing = batch.kind[i] === KIND_EXISTING
    const { data } = records
    const start = data.pos
    const raw = (rest & HAS_ATTRIBUTES) !== 0 ? batch.strings.view(batch.attributes[i]) : undefined
    // Attributes that would be taken for extra fields, or for none at all, are wrapped up in extra fields.
    const wrap =
      raw !== undefined &&
      (raw.length === 0 ? this.extras !== undefined : hasMark(raw, 0, raw.length, EXTRA_FIELDS_MARK))
    if (this.extras === undefined) {
      if (existing) this.losses.countEvent('existing blocks, written as allocations', batch, i)
      if (without !== 0) this.noteZeros(batch, i, without & ~HAS_OUTCOME)
      if (raw?.length === 0) this.losses.countEvent('empty attributes', batch, i)
      if (wrap) this.writeExtras(data, batch, i, HAS_ATTRIBUTES, 0)
      else if (raw !== undefined) data.append(raw)
    } else if (wrap || existing || without !== 0 || rest !== (rest & HAS_ATTRIBUTES)) {
      this.writeExtras(data, batch, i, rest, without)
    } else if (raw !== undefined) {
      data.append(raw)
    }
    if (data.pos - start > MAX_BYTES) {
      this.losses.countEvent(`attributes longer than ${MAX_BYTES} bytes`, batch, i)
      data.pos = start
    }
    records.dataEnd[records.count - 1] = data.pos
  }

  /** Counts the fields that a reader will see as 0 although the event does not have them. */
  private noteZeros(batch: EventBatch, i: number, set: number): void {
    let notes = this.zeroNotes.get(set)
    if (notes === undefined) {
      notes = fieldNames(set).map((name) => `events without ${name}, written as 0`)
      this.zeroNotes.set(set, notes)
    }
    for (const note of notes) this.losses.countEvent(note, batch, i)
  }

  private writeExtras(data: Sink, batch: EventBatch, i: number, set: number, without: number): void {
    data.append(EXTRA_FIELDS_MARK)
    const writer = this.extras ?? new ExtraFieldsWriter()
    writer.write(data, batch, i, set, without, this.extras !== undefined && batch.kind[i] === KIND_EXISTING)
  }

  /** Adds a comment record: a comment, or any event that has no record of its own. */
  private comment(batch: EventBatch, i: number, records: Records): void {
    const mask = batch.mask[i]
    const isComment = batch.kind[i] === Kind.comment
    if (!isComment && this.extras === undefined) return
    const { data } = records
    const start = data.pos
    const text = isComment && (mask & HAS_TEXT) !== 0 ? batch.strings.view(batch.text[i]) : undefined
    const marked = text !== undefined && hasMark(text, 0, text.length, COMMENT_MARK)
    if (marked || (this.extras !== undefined && (text === undefined || mask !== HAS_TEXT))) {
      const writer = this.extras ?? new ExtraFieldsWriter()
      data.append(COMMENT_MARK)
      writer.write(data, batch, i, this.extras === undefined ? mask & HAS_TEXT : mask, 0, true)
    } else if (text !== undefined) {
      data.append(text)
    } else {
      this.losses.countEvent('comments without text, written as empty ones', batch, i)
    }
    if (data.pos - start > MAX_BYTES) {
      data.pos = start
      this.losses.countEvent(`comments and events without a record, longer than ${MAX_BYTES} bytes: left out`, batch, i)
      return
    }
    this.record(batch, i, records, Code.TAG_COMMENT, 0)
  }
}

import { Sink } from '../../bytes/sink.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind, fieldNames } from '../../event/fields.js'
import type { Losses } from '../../kernel/losses.js'
import { COMMENT_MARK, EXTRA_FIELDS_MARK, hasMark } from './extra-fields.js'
import { ExtraFieldsWriter } from './extra-fields-write.js'
import { MAX_BYTES } from './layout.js'

const { attributes: HAS_ATTRIBUTES, outcome: HAS_OUTCOME, text: HAS_TEXT } = FieldBit
const KIND_EXISTING = Kind.existing

/**
 * Creates the attributes and comments of records, and counts losses and additions that only show there. The kernel
 * creates the records themselves.
 */
export class RecordData {
  /** The attributes and comments of all records, concatenated. */
  readonly data = new Sink(256)
  private readonly extras: ExtraFieldsWriter | undefined
  private readonly zeroNotes = new Map<number, readonly string[]>()

  /** @param attributes whether to keep fields and events that HATF cannot represent in attributes and comments */
  constructor(
    private readonly losses: Losses,
    attributes: boolean,
  ) {
    this.extras = attributes ? new ExtraFieldsWriter() : undefined
  }

  /**
   * Adds the attributes of an event's record.
   * @param rest the fields that the record cannot represent, including attributes
   * @param without the fields that the record has but the event does not
   * @throws TraceError where losses are errors
   */
  attributes(batch: EventBatch, i: number, rest: number, without: number): void {
    const existing = batch.kind[i] === KIND_EXISTING
    const { data } = this
    const start = data.pos
    const raw = (rest & HAS_ATTRIBUTES) !== 0 ? batch.strings.view(batch.attributes[i]) : undefined
    // Attributes that would be mistaken for extra fields, or for none at all, are wrapped in extra fields.
    const wrap =
      raw !== undefined &&
      (raw.length === 0 ? this.extras !== undefined : hasMark(raw, 0, raw.length, EXTRA_FIELDS_MARK))
    if (this.extras === undefined) {
      if (existing) this.losses.countEvent('existing blocks, written as allocations', batch, i)
      if (without !== 0) this.noteZeros(batch, i, without & ~HAS_OUTCOME)
      if (raw?.length === 0) this.losses.countEvent('empty attributes', batch, i)
      if (wrap) this.writeExtras(batch, i, HAS_ATTRIBUTES, 0)
      else if (raw !== undefined) data.append(raw)
    } else if (wrap || existing || without !== 0 || rest !== (rest & HAS_ATTRIBUTES)) {
      this.writeExtras(batch, i, rest, without)
    } else if (raw !== undefined) {
      data.append(raw)
    }
    if (data.pos - start > MAX_BYTES) {
      this.losses.countEvent(`attributes longer than ${MAX_BYTES} bytes`, batch, i)
      data.pos = start
    }
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

  private writeExtras(batch: EventBatch, i: number, set: number, without: number): void {
    this.data.append(EXTRA_FIELDS_MARK)
    const writer = this.extras ?? new ExtraFieldsWriter()
    writer.write(this.data, batch, i, set, without, this.extras !== undefined && batch.kind[i] === KIND_EXISTING)
  }

  /**
   * Adds the text of a comment record: of a comment, or of any event that has no record of its own.
   * @returns whether to write a record at all
   * @throws TraceError where losses are errors
   */
  comment(batch: EventBatch, i: number): boolean {
    const mask = batch.mask[i]
    const isComment = batch.kind[i] === Kind.comment
    const { data } = this
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
      return false
    }
    return true
  }
}

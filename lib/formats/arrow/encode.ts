import type { EventBatch } from '../../event/batch.js'
import { eventRowsFrom, MAX_TEXTS } from '../../codec/event-rows.js'
import { eventsBefore, type TextSizes } from '../../codec/text-sizes.js'
import { limit, type TraceError } from '../../event/error.js'
import { ALL_GROUP_FIELDS } from '../../event/fields.js'
import { wholeGroups } from '../../event/groups.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import type { Encoder } from '../../event/stage.js'
import { Losses } from '../../kernel/losses.js'
import { EVENT_COLUMNS, GROUP_COLUMNS, GROUPED } from '../../event/table.js'
import { writtenTable, type WrittenTable } from './columns.js'
import { BatchWriter } from './write-batch.js'
import { CARRIED, MAX_HEADER, MAX_ROWS } from './layout.js'
import { Names } from './names.js'
import { codeDictionaries, dictionaryMessage, endMark, schemaMessage } from './write-messages.js'

export interface ArrowEncodeOptions {
  /**
   * Give the fields of all groups columns from the start. By default, a second schema follows if later events have
   * other groups than the first ones; few programs read a second schema. Default false.
   */
  groups?: boolean
}

/** The table of events, with the fields of groups in a set. */
function eventTable(groups: number): WrittenTable {
  return writtenTable([...EVENT_COLUMNS, ...GROUP_COLUMNS.filter(({ f }) => (groups >>> (f - GROUPED)) & 1)])
}

/** Without fields of groups. */
const EVENTS = eventTable(0)

/**
 * Events as an Arrow IPC stream. Each batch becomes a record batch, so a live pipe flows. Its columns are copied once,
 * into the chunk that is given out. A message with a dictionary precedes each batch with new names.
 *
 * The schema has the header of the first trace. The first record batch of each later trace has the header of that
 * trace. The fields of groups have columns from the first batch on in which some event has one. If the schema was
 * written before, another one follows, which continues the trace.
 */
export class ArrowEncoder implements Encoder {
  readonly losses = Losses.ofAll('arrow', CARRIED)
  readonly consumes = true
  /** The set of fields of groups that have columns. */
  private groups: number
  private table: WrittenTable
  private names = new Names()
  private writer: BatchWriter
  /** Whether the schema was written, which happens at the first events or at the end. */
  private hasBegun = false
  private readonly chunks: Uint8Array[] = []
  private header: TraceHeader | undefined
  /** The header that the next record batch must carry. */
  private announced: TraceHeader | undefined
  private batch: EventBatch | undefined
  private row = 0
  /** The number of events of the batch that readers take. */
  private writable = 0
  /** The number of events of the batches before. */
  private before = 0
  private fault: TraceError | undefined

  constructor({ groups = false }: ArrowEncodeOptions = {}) {
    this.groups = groups ? ALL_GROUP_FIELDS : 0
    this.table = groups ? eventTable(ALL_GROUP_FIELDS) : EVENTS
    this.writer = new BatchWriter(this.table, this.names)
  }

  feed(batch: EventBatch): void {
    this.losses.countBatch(batch)
    const { header } = batch
    if (header !== this.header && Buffer.byteLength(JSON.stringify(header)) > MAX_HEADER)
      return this.refuse(`a header of more than ${MAX_HEADER} bytes`, 0)
    if (this.hasBegun && header !== this.header) this.announced = header
    // A first trace without events.
    else if (this.header !== undefined && header !== this.header) {
      this.begin(this.header)
      this.announced = header
    }
    this.header = header
    this.batch = batch
    this.row = 0
    this.writable = batch.strings.memory > MAX_TEXTS ? eventsBefore(batch, isLarge) : batch.count
    if (batch.count > 0) this.prepare(batch, header)
    if (this.writable < batch.count)
      this.refuse(`texts of more than ${MAX_TEXTS} bytes, or a stack of more than ${MAX_ROWS} frames`, this.writable)
    this.before += batch.count
  }

  /** @param events the number of events of the batch before the one that readers would not take */
  private refuse(reason: string, events: number): void {
    this.fault = limit(reason, { format: 'arrow', event: this.before + events + 1 })
  }

  /** Makes sure that a schema with the columns of a batch was written. */
  private prepare({ groups, count }: EventBatch, header: TraceHeader): void {
    const wanted = groups === undefined ? 0 : wholeGroups(groups.used(count))
    if ((wanted & ~this.groups) !== 0) {
      this.groups |= wanted
      this.table = eventTable(this.groups)
      this.names = new Names()
      this.writer = new BatchWriter(this.table, this.names)
      if (this.hasBegun) {
        // There is no end mark before it: a program that reads one schema must not take the first events for the whole
        // trace.
        this.begin(header, this.announced === undefined)
        this.announced = undefined
      }
    }
    if (!this.hasBegun) this.begin(header)
  }

  end(): void {
    if (!this.hasBegun) this.begin(this.header ?? NO_HEADER)
    this.chunks.push(endMark())
  }

  endTruncated(): void {
    if (!this.hasBegun && this.header !== undefined) this.begin(this.header)
    // Everything has been delivered. The missing end mark reports the truncation.
  }

  /** @throws TraceError for a header, texts or a stack that readers would not take */
  next(): Uint8Array | null {
    const { batch, chunks } = this
    if (chunks.length === 0 && batch !== undefined) this.writeRows(batch)
    if (chunks.length === 0 && this.fault !== undefined) throw this.fault
    return chunks.shift() ?? null
  }

  private begin(header: TraceHeader, continues = false): void {
    this.hasBegun = true
    const messages = [schemaMessage(this.table, header, continues), ...codeDictionaries(this.table)]
    this.chunks.push(new Uint8Array(Buffer.concat(messages)))
  }

  private writeRows(batch: EventBatch): void {
    const { writable } = this
    if (this.row < writable || this.announced !== undefined) {
      const rows = eventRowsFrom(batch, this.row, writable)
      const record = this.writer.write(rows, this.announced)
      const names = this.names.takeChanged()
      if (names !== undefined) this.chunks.push(dictionaryMessage(this.table.nameDictionary, names))
      this.chunks.push(record)
      this.announced = undefined
      this.row += rows.count
    }
    if (this.row === writable) this.batch = undefined
  }
}

/** Whether readers do not take an event with these strings. */
function isLarge({ distinct, items }: TextSizes): boolean {
  return distinct > MAX_TEXTS || items > MAX_ROWS
}

import { recycleChunk } from '../../bytes/chunks.js'
import { InputReader } from '../../bytes/input.js'
import { BATCH_EVENTS, columnOf, EventBatch } from '../../event/batch.js'
import { limit, malformed, truncated, type TracePosition } from '../../event/error.js'
import { eventColumn, partOf } from '../../codec/event-rows.js'
import { GroupColumns, type GroupColumn } from '../../event/groups.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { showValue } from '../../event/message-text.js'
import type { Decoder } from '../../event/stage.js'
import type { Storage } from '../../event/storage.js'
import { GROUPED } from '../../event/table.js'
import { Dictionaries } from './dictionaries.js'
import { ArrowFault, ArrowLimit } from './fault.js'
import { DICTIONARY_BATCH, RECORD_BATCH, SCHEMA } from './layout.js'
import { MessageReader, type ArrowMessage } from './messages.js'
import { Parts } from './parts.js'
import { BatchReader, type Rows } from './read-batch.js'
import { headerIn, readSchema } from './schema.js'

/** The maximum number of names of unknown columns that are reported. */
const MAX_TOLD = 100

/**
 * An Arrow IPC stream to events. The bytes of a record batch are copied once, from the input chunks. The columns of
 * batches are views of them, if the stream has the types that heapflow writes. The columns of other streams may have
 * other types: integers of any width, names with or without a dictionary, compressed buffers.
 *
 * @throws TraceError with the offset of the message and the number of the first event that it would have given: a
 *   message that is damaged, too large, or not of events; a stream without its end mark
 */
export class ArrowDecoder extends InputReader implements Decoder {
  readonly warnings: string[] = []
  private readonly messages = new MessageReader(this.input)
  private reader: BatchReader | undefined
  private dictionaries = new Dictionaries([])
  private header: TraceHeader = NO_HEADER
  private delivered: TraceHeader | undefined
  private rows: Rows | undefined
  /** The fault of the row after `rows`. */
  private fault: ArrowFault | undefined
  private row = 0
  /** The memory of the columns of `rows`, which may be recycled with them. */
  private body: Uint8Array<ArrayBuffer> | undefined
  private events = 0

  endTruncated(): void {
    this.messages.drop()
  }

  next(): EventBatch | null {
    for (;;) {
      if (this.rows !== undefined) return this.give(this.rows)
      if (this.fault !== undefined) throw malformed(this.fault.message, this.position(this.messages.offset))
      if (this.header !== this.delivered && this.header !== NO_HEADER) return this.giveHeader()
      if (!this.readMessage()) return null
    }
  }

  /** @returns whether there was one */
  private readMessage(): boolean {
    const { messages, input } = this
    try {
      const message = messages.next()
      if (message !== undefined) {
        this.take(message)
        return true
      }
    } catch (error) {
      const at = this.position(messages.offset)
      if (error instanceof ArrowLimit) throw limit(error.message, at)
      if (error instanceof ArrowFault) throw malformed(error.message, at)
      // An offset that points outside the flatbuffer.
      if (error instanceof RangeError) throw malformed('the message is damaged', at)
      throw error
    }
    if (input.ended && messages.missing !== undefined)
      throw truncated(messages.missing, this.position(input.offset + input.left))
    return false
  }

  private position(offset: number): TracePosition {
    return { format: 'arrow', offset, event: this.events + 1 }
  }

  private take({ kind, header, metadata, body }: ArrowMessage): void {
    if (kind === SCHEMA) {
      const schema = readSchema(header)
      this.dictionaries = new Dictionaries(schema.columns.filter(({ name }) => eventColumn(name) !== undefined))
      this.reader = new BatchReader(schema.columns, this.dictionaries)
      const isSame = schema.continues === true && this.header !== NO_HEADER
      // Another stream begins another trace, with or without a header.
      if (!isSame)
        this.header = schema.header ?? (this.header === NO_HEADER && this.events === 0 ? NO_HEADER : { ...NO_HEADER })
      for (const name of this.reader.unknown)
        this.warn(`the column ${showValue(name)} is not a field of events: left out`)
      return
    }
    if (this.reader === undefined) throw new ArrowFault('the stream does not begin with a schema')
    if (kind === DICTIONARY_BATCH) this.dictionaries.take(header, body)
    else if (kind === RECORD_BATCH) {
      const rows = this.reader.read(() => new Parts(header, body))
      this.header = headerIn(metadata) ?? this.header
      if (rows.count > 0) this.rows = rows
      this.fault = rows.fault
      this.row = 0
      this.body = body
    } else throw new ArrowFault(`a message of the unknown kind ${kind}`)
  }

  private warn(text: string): void {
    if (this.warnings.length < MAX_TOLD) this.warnings.push(`arrow: ${text}`)
  }

  private giveHeader(): EventBatch {
    this.delivered = this.header
    return new EventBatch(0, 0, this.header)
  }

  /** The next events of a record batch, of which there may be many. */
  private give(rows: Rows): EventBatch {
    const from = this.row
    const to = Math.min(rows.count, from + BATCH_EVENTS)
    const isWhole = from === 0 && to === rows.count
    const body = isWhole && !rows.sharesBody ? this.body : undefined
    const batch = batchOf(rows, from, to, this.header, () => {
      if (!isWhole) return
      recycleChunk(new Uint8Array(rows.mask.buffer, 0, rows.mask.byteLength))
      if (body !== undefined) recycleChunk(body)
    })
    this.events += batch.count
    this.delivered = this.header
    this.row = to
    if (to === rows.count) {
      this.rows = undefined
      this.body = undefined
    }
    return batch
  }
}

/** Some events of a record batch, as views of their columns. */
function batchOf(rows: Rows, from: number, to: number, header: TraceHeader, recycle: () => void): EventBatch {
  const count = to - from
  let set = 0
  let groups: GroupColumns | undefined
  const isWhole = count === rows.count
  const columns: Storage['columns'][number][] = []
  for (const [f, column] of rows.columns) {
    const part = isWhole ? column : partOf(column, from, count)
    if (f >= GROUPED) {
      groups ??= new GroupColumns(count, isWhole ? rows.groupMask : rows.groupMask.subarray(from, to))
      groups.set(f - GROUPED, part as GroupColumn)
    } else {
      set |= 1 << f
      columns.push({ name: columnOf(f), column: part })
    }
  }
  const storage: Storage = {
    capacity: count,
    set,
    bytes: 0,
    mask: isWhole ? rows.mask : rows.mask.subarray(from, to),
    kind: isWhole ? rows.kind : rows.kind.subarray(from, to),
    columns,
    recycle,
  }
  const batch = new EventBatch(count, set, header, rows.strings, storage)
  batch.groups = groups
  batch.count = count
  return batch
}

import { DICTIONARY_BATCH, END_MARK, RECORD_BATCH, SCHEMA, VERSION_5 } from './layout.js'
import * as Layout from './layout.js'
import { newChunk } from '../../bytes/chunks.js'
import type { TraceHeader } from '../../event/header.js'
import { encodeText } from '../../event/strings.js'
import type { WrittenColumn, WrittenTable } from './columns.js'
import { stringsOf, type Strings } from './escape.js'
import {
  flatbuffer,
  i16,
  i32,
  i64,
  i8,
  structs,
  table,
  tables,
  text,
  type FlatNode,
  type FlatNumber,
  type FlatStructs,
  type FlatTable,
} from './flatbuffer-write.js'

/** A place in a body. */
export interface Place {
  readonly at: number
  readonly length: number
}

/** The next position for a buffer. */
export function aligned(at: number): number {
  return Math.ceil(at / Layout.ALIGN) * Layout.ALIGN
}

/**
 * The message with the schema.
 * @param header of the first trace, if the rows are events
 * @param continues whether the events continue the trace before it
 */
export function schemaMessage({ columns }: WrittenTable, header?: TraceHeader, continues = false): Uint8Array {
  const schema = table({
    [Layout.Schema.endianness]: i16(0),
    [Layout.Schema.fields]: tables(columns.map(fieldOf)),
    [Layout.Schema.metadata]: header && headerMetadata(header, continues),
  })
  return messageOf(SCHEMA, schema, i64(0)).metadata
}

/** The messages with the dictionaries that never change. */
export function codeDictionaries({ codes }: WrittenTable): Uint8Array[] {
  return codes.map((names, id) => dictionaryMessage(id, stringsOf(names.map(encodeText))))
}

/** A message with a dictionary of strings. It replaces the one of the same id. */
export function dictionaryMessage(id: number, { bytes, starts }: Strings): Uint8Array {
  const offsets = { at: 0, length: 4 * starts.length }
  const data = { at: aligned(offsets.length), length: bytes.length }
  const batch = new BatchMetadata(1, 3, undefined, id)
  batch.rows(starts.length - 1)
  batch.node(0, starts.length - 1, 0)
  batch.buffer(0, 0, 0)
  batch.buffer(1, offsets.at, offsets.length)
  batch.buffer(2, data.at, data.length)
  const chunk = batch.chunk(aligned(data.at + data.length))
  const body = batch.length
  chunk.set(new Uint8Array(starts.buffer, starts.byteOffset, offsets.length), body)
  chunk.fill(0, body + offsets.length, body + data.at)
  chunk.set(bytes, body + data.at)
  chunk.fill(0, body + data.at + data.length)
  return chunk
}

/** The end of a stream. */
export function endMark(): Uint8Array {
  return END_MARK.slice()
}

/** The metadata of a record batch or dictionary, made once and then changed for each. */
export class BatchMetadata {
  private readonly bytes: Uint8Array<ArrayBuffer>
  /** The same bytes as words, which are at multiples of 8. */
  private readonly words: Uint32Array
  private readonly rowsAt: number
  private readonly nodesAt: number
  private readonly buffersAt: number
  private readonly bodyAt: number

  /**
   * @param header of the trace that begins with the batch, if it is not the first one of the stream
   * @param dictionary the id, if the batch is a dictionary
   */
  constructor(nodes: number, buffers: number, header?: TraceHeader, dictionary?: number) {
    const rows = i64(0)
    const bodyLength = i64(0)
    const nodeList: FlatStructs = structs(nodes, 16)
    const bufferList: FlatStructs = structs(buffers, 16)
    const batch = table({
      [Layout.RecordBatch.length]: rows,
      [Layout.RecordBatch.nodes]: nodeList,
      [Layout.RecordBatch.buffers]: bufferList,
    })
    const { metadata, at } =
      dictionary === undefined
        ? messageOf(RECORD_BATCH, batch, bodyLength, header)
        : messageOf(
            DICTIONARY_BATCH,
            table({ [Layout.DictionaryBatch.id]: i64(dictionary), [Layout.DictionaryBatch.data]: batch }),
            bodyLength,
          )
    this.bytes = metadata
    this.words = new Uint32Array(metadata.buffer)
    this.rowsAt = (at + rows.at) / 4
    this.nodesAt = (at + nodeList.at) / 4
    this.buffersAt = (at + bufferList.at) / 4
    this.bodyAt = (at + bodyLength.at) / 4
  }

  /** The length of the message before its body. */
  get length(): number {
    return this.bytes.length
  }

  rows(count: number): void {
    this.words[this.rowsAt] = count
  }

  node(i: number, rows: number, nulls: number): void {
    const at = this.nodesAt + 4 * i
    this.words[at] = rows
    this.words[at + 2] = nulls
  }

  buffer(i: number, offset: number, length: number): void {
    const at = this.buffersAt + 4 * i
    this.words[at] = offset
    this.words[at + 2] = length
  }

  /** A chunk with this, and with room for the body, which is not cleared. */
  chunk(bodyLength: number): Uint8Array<ArrayBuffer> {
    this.words[this.bodyAt] = bodyLength
    const chunk = newChunk(this.bytes.length + bodyLength)
    chunk.set(this.bytes)
    return chunk
  }
}

/** A message without its body. @returns it, and the position of its flatbuffer */
function messageOf(kind: number, header: FlatTable, bodyLength: FlatNumber, trace?: TraceHeader) {
  const root = table({
    [Layout.Message.version]: i16(VERSION_5),
    [Layout.Message.kind]: i8(kind),
    [Layout.Message.header]: header,
    [Layout.Message.bodyLength]: bodyLength,
    [Layout.Message.metadata]: trace && headerMetadata(trace),
  })
  const flat = flatbuffer(root)
  const metadata = new Uint8Array(Layout.PREFIX_BYTES + flat.length)
  const view = new DataView(metadata.buffer)
  view.setUint32(0, Layout.CONTINUATION, true)
  view.setUint32(4, flat.length, true)
  metadata.set(flat, Layout.PREFIX_BYTES)
  return { metadata, at: Layout.PREFIX_BYTES }
}

function headerMetadata(header: TraceHeader, continues = false): FlatNode {
  const entry = (key: string, value: string) =>
    table({ [Layout.KeyValue.key]: text(key), [Layout.KeyValue.value]: text(value) })
  const entries = [entry(Layout.HEADER_KEY, JSON.stringify(header))]
  return tables(continues ? [...entries, entry(Layout.CONTINUES_KEY, 'true')] : entries)
}

function fieldOf({ name, f, type, dictionary }: WrittenColumn): FlatTable {
  const nullable = i8(f < 0 ? 0 : 1)
  const node = (kind: number, details: FlatTable, encoding?: FlatTable, children: FlatTable[] = [], own = name) =>
    table({
      [Layout.Field.name]: text(own),
      [Layout.Field.nullable]: nullable,
      [Layout.Field.typeKind]: i8(kind),
      [Layout.Field.type]: details,
      [Layout.Field.dictionary]: encoding,
      [Layout.Field.children]: tables(children),
    })
  const nothing = table({})
  const coded = (bits: number) =>
    table({ [Layout.Dictionary.id]: i64(dictionary as number), [Layout.Dictionary.indexType]: int(bits, true) })
  switch (type) {
    case 'u64':
      return node(Layout.Type.int, int(64, false))
    case 'u32':
      return node(Layout.Type.int, int(32, false))
    case 'i32':
      return node(Layout.Type.int, int(32, true))
    case 'bytes':
      return node(Layout.Type.binary, nothing)
    case 'code':
      return node(Layout.Type.utf8, nothing, coded(8))
    case 'name':
      return node(Layout.Type.utf8, nothing, coded(32))
    case 'names':
      return node(Layout.Type.list, nothing, undefined, [node(Layout.Type.utf8, nothing, coded(32), [], 'item')])
  }
}

function int(bits: number, isSigned: boolean): FlatTable {
  return table({ [Layout.Int.bitWidth]: i32(bits), [Layout.Int.isSigned]: i8(isSigned ? 1 : 0) })
}

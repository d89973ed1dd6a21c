import { checkHeader } from '../../event/header-check.js'
import type { TraceHeader } from '../../event/header.js'
import { ArrowFault, ArrowLimit } from './fault.js'
import type { FlatReader } from './flatbuffer-read.js'
import { CONTINUES_KEY, Dictionary, Field, HEADER_KEY, Int, KeyValue, Schema, Type, Union } from './layout.js'

export interface IntType {
  readonly bits: 8 | 16 | 32 | 64
  readonly isSigned: boolean
}

/** A column of a stream, or the items of a column of lists. */
export interface Column {
  readonly name: string
  /** One of `Type`. */
  readonly type: number
  /** Of integers. */
  readonly int?: IntType
  /** The values are indices into this dictionary, which has values of the type. */
  readonly dictionary?: { readonly id: number; readonly index: IntType }
  /** The number of its buffers, without the buffers of its children and of the texts of views. */
  readonly buffers: number
  readonly children: readonly Column[]
}

/** The number of buffers of each type that does not have two (validity and values). */
const BUFFERS: ReadonlyMap<number, number> = new Map([
  [Type.null, 0],
  [Type.binary, 3],
  [Type.utf8, 3],
  [Type.largeBinary, 3],
  [Type.largeUtf8, 3],
  [Type.struct, 1],
  [Type.fixedSizeList, 1],
  [Type.runEndEncoded, 0],
  [Type.listView, 3],
  [Type.largeListView, 3],
])

/** The data of a stream before its events. */
export interface StreamSchema {
  readonly columns: readonly Column[]
  /** The header of the first trace, if heapflow or a program that keeps metadata wrote the stream. */
  readonly header?: TraceHeader
  /** Whether its events continue the trace before it. */
  readonly continues?: true
}

/** The limits of schemas: the number of columns, including those in lists, and the depth. */
export const MAX_COLUMNS = 10_000
export const MAX_DEPTH = 16

/** Reads a schema. @throws ArrowFault, ArrowLimit, and RangeError when the flatbuffer is damaged */
export function readSchema(schema: FlatReader): StreamSchema {
  if (schema.i16(Schema.endianness) !== 0) throw new ArrowFault('the values are big-endian')
  let count = 0
  const readColumn = (field: FlatReader, depth: number): Column => {
    if (++count > MAX_COLUMNS) throw new ArrowLimit(`more than ${MAX_COLUMNS} columns`)
    if (depth > MAX_DEPTH) throw new ArrowLimit(`columns in columns more than ${MAX_DEPTH} deep`)
    const type = field.i8(Field.typeKind)
    const dictionary = field.table(Field.dictionary)
    return {
      name: field.text(Field.name) ?? '',
      type,
      ...(type === Type.int && { int: readInt(field.neededTable(Field.type)) }),
      ...(dictionary && { dictionary: readEncoding(dictionary) }),
      buffers: dictionary === undefined ? buffersOf(type, field) : 2,
      children: field.tables(Field.children).map((child) => readColumn(child, depth + 1)),
    }
  }
  const columns = schema.tables(Schema.fields).map((field) => readColumn(field, 0))
  const metadata = schema.tables(Schema.metadata)
  const header = headerIn(metadata)
  const continues = metadata.some((entry) => entry.text(KeyValue.key) === CONTINUES_KEY)
  return { columns, ...(header && { header }), ...(continues && { continues }) }
}

/** The header of a trace in metadata, if there is one. @throws ArrowFault when it is not a header */
export function headerIn(metadata: readonly FlatReader[]): TraceHeader | undefined {
  const found = metadata.find((entry) => entry.text(KeyValue.key) === HEADER_KEY)
  if (found === undefined) return undefined
  try {
    return checkHeader(JSON.parse(found.text(KeyValue.value) ?? ''))
  } catch (error) {
    throw new ArrowFault(`the header of the trace: ${(error as Error).message}`, { cause: error })
  }
}

function buffersOf(type: number, field: FlatReader): number {
  // Unions have offsets only if they are dense.
  if (type === Type.union) return field.neededTable(Field.type).i16(Union.mode) === 0 ? 1 : 2
  return BUFFERS.get(type) ?? 2
}

function readEncoding(encoding: FlatReader): { id: number; index: IntType } {
  const index = encoding.table(Dictionary.indexType)
  return {
    id: encoding.i64(Dictionary.id),
    index: index === undefined ? { bits: 32, isSigned: true } : readInt(index),
  }
}

function readInt(int: FlatReader): IntType {
  const bits = int.i32(Int.bitWidth)
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) throw new ArrowFault(`integers of ${bits} bits`)
  return { bits, isSigned: int.i8(Int.isSigned) !== 0 }
}

import { ParquetFault, ParquetLimit } from './fault.js'
import { MAX_TRACES, TRACES_KEY, TRUNCATED_KEY } from './layout.js'
import { columnsOf, readElement, type ColumnShape } from './schema-read.js'
import { CompactInput } from './thrift-read.js'

/** A column of a row group. */
export interface Chunk {
  /** The name of the column in the schema. */
  readonly name: string
  readonly codec: number
  /** The number of values, including nulls and empty lists. */
  readonly values: number
  /** The range of its pages in the file. */
  readonly from: number
  readonly to: number
}

/** A row group. */
export interface Group {
  readonly rows: number
  readonly chunks: readonly Chunk[]
}

export interface FileIndex {
  readonly rows: number
  readonly columns: readonly ColumnShape[]
  /** The headers of all traces, in JSON. */
  readonly traces: string | undefined
  readonly isTruncated: boolean
  /** The row groups, each of which is read when it is asked for. */
  readonly groups: () => Generator<Group>
}

const WHAT = 'the index'

/** Reads the index of a file, except the row groups. @throws ParquetFault, ParquetLimit */
export function readIndex(bytes: Uint8Array): FileIndex {
  const input = new CompactInput(bytes, 0, WHAT)
  const elements: ReturnType<typeof readElement>[] = []
  let rows = -1
  let groupsAt = -1
  let groupsType = 0
  let traces: string | undefined
  let isTruncated = false
  input.struct((id, type) => {
    if (id === 2) input.list(type, (of) => void elements.push(readElement(input, of)))
    else if (id === 3) rows = input.integer(type)
    else if (id === 4) {
      ;[groupsAt, groupsType] = [input.at, type]
      input.skip(type)
    } else if (id === 5)
      input.list(type, (of) => {
        const [key, value] = readKey(input, of)
        if (key === TRACES_KEY) traces = tracesText(value)
        else isTruncated ||= key === TRUNCATED_KEY
      })
    else input.skip(type)
  })
  if (!(Number.isSafeInteger(rows) && rows >= 0)) throw new ParquetFault('the index has no number of rows')
  const columns = columnsOf(elements)
  const groups = function* (): Generator<Group> {
    if (groupsAt < 0) return
    const list = new CompactInput(bytes, groupsAt, WHAT)
    for (const type of list.items(groupsType)) yield readGroup(list, type)
  }
  return { rows, columns, traces, isTruncated, groups }
}

function tracesText(value: Uint8Array): string {
  if (value.length > MAX_TRACES) throw new ParquetLimit(`a list of traces of more than ${MAX_TRACES} bytes`)
  return Buffer.from(value).toString()
}

function readKey(input: CompactInput, of: number): [key: string, value: Uint8Array] {
  let key: Uint8Array = new Uint8Array(0)
  let value = key
  input.structOf(of, (id, type) => {
    if (id === 1) key = input.binary(type)
    else if (id === 2) value = input.binary(type)
    else input.skip(type)
  })
  return [Buffer.from(key.subarray(0, TRACES_KEY.length + TRUNCATED_KEY.length)).toString(), value]
}

function readGroup(input: CompactInput, of: number): Group {
  let rows = -1
  const chunks: Chunk[] = []
  input.structOf(of, (id, type) => {
    if (id === 1) input.list(type, (chunk) => void chunks.push(readChunk(input, chunk)))
    else if (id === 3) rows = input.integer(type)
    else input.skip(type)
  })
  if (!(Number.isSafeInteger(rows) && rows >= 0)) throw new ParquetFault('a row group has no number of rows')
  return { rows, chunks }
}

function readChunk(input: CompactInput, of: number): Chunk {
  let name = ''
  let [codec, values, length, data, dictionary] = [0, -1, -1, -1, 0]
  let isElsewhere = false
  input.structOf(of, (id, type) => {
    if (id === 1) isElsewhere = input.binary(type).length > 0
    else if (id === 3)
      input.structOf(type, (field, value) => {
        if (field === 3) {
          let depth = 0
          input.list(value, (part) => {
            const bytes = input.binary(part)
            if (depth++ === 0) name = Buffer.from(bytes).toString()
          })
        } else if (field === 4) codec = input.integer(value)
        else if (field === 5) values = input.integer(value)
        else if (field === 7) length = input.integer(value)
        else if (field === 9) data = input.integer(value)
        else if (field === 11) dictionary = input.integer(value)
        else input.skip(value)
      })
    else input.skip(type)
  })
  if (isElsewhere) throw new ParquetFault('a column is in another file')
  // Some writers give 0 for no dictionary, or the place of the first data page, which follows it.
  const from = dictionary > 0 && dictionary < data ? dictionary : data
  return { name, codec, values, from, to: from + length }
}

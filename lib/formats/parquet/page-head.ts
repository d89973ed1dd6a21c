import { ParquetFault } from './fault.js'
import { CompactInput } from './thrift-read.js'

export interface PageHead {
  /** Its kind, as in `PageKind`. */
  readonly kind: number
  /** The position of the data of the page, and their length in the file. */
  readonly at: number
  readonly length: number
  /** The length of the data when they are inflated. */
  readonly inflated: number
  /** The CRC-32 of the data, as a signed integer; undefined if the writer gave none. */
  readonly crc: number | undefined
  /** The number of values, including nulls and empty lists. */
  readonly values: number
  readonly encoding: number
  /** The encodings of levels in a data page of the first version. */
  readonly levels: readonly number[]
  /** The lengths of levels in a data page of the second version, which are not compressed. */
  readonly repetitionBytes: number
  readonly definitionBytes: number
  readonly isCompressed: boolean
}

/** Reads the head of the page that begins at an offset. @throws ParquetFault if it is none; Incomplete if it ends */
export function readPageHead(bytes: Uint8Array, from: number): PageHead {
  const input = new CompactInput(bytes, from, 'the head of a page')
  let [kind, length, inflated, values, encoding, repetitionBytes, definitionBytes] = [-1, -1, -1, -1, -1, 0, 0]
  let crc: number | undefined
  let isCompressed = true
  const levels: number[] = []
  input.struct((id, type) => {
    if (id === 1) kind = input.integer(type)
    else if (id === 2) inflated = input.integer(type)
    else if (id === 3) length = input.integer(type)
    else if (id === 4) crc = input.integer(type) | 0
    else if (id === 5 || id === 7)
      input.structOf(type, (field, of) => {
        if (field === 1) values = input.integer(of)
        else if (field === 2) encoding = input.integer(of)
        else if (id === 5 && (field === 3 || field === 4)) levels.push(input.integer(of))
        else input.skip(of)
      })
    else if (id === 8)
      input.structOf(type, (field, of) => {
        if (field === 1) values = input.integer(of)
        else if (field === 4) encoding = input.integer(of)
        else if (field === 5) definitionBytes = input.integer(of)
        else if (field === 6) repetitionBytes = input.integer(of)
        else if (field === 7) isCompressed = input.boolean(of)
        else input.skip(of)
      })
    else input.skip(type)
  })
  if (length < 0 || inflated < 0) throw new ParquetFault('a page has no length')
  if (definitionBytes < 0 || repetitionBytes < 0 || definitionBytes + repetitionBytes > Math.min(length, inflated))
    throw new ParquetFault('the levels of a page are longer than the page')
  const at = input.at
  return { kind, at, length, inflated, crc, values, encoding, levels, repetitionBytes, definitionBytes, isCompressed }
}

/** A file begins and ends with these bytes. */
export const MAGIC = Uint8Array.of(0x50, 0x41, 0x52, 0x31)

/** Types in which values are stored. */
export const Physical = { int32: 1, int64: 2, float: 4, double: 5, byteArray: 6 } as const
/** The logical types, if they differ from the stored ones. */
export const Converted = {
  utf8: 0,
  list: 3,
  uint8: 11,
  uint32: 13,
  uint64: 14,
  int8: 15,
  int32: 17,
  int64: 18,
} as const
/** Whether a column has a value in each row. */
export const Repetition = { required: 0, optional: 1, repeated: 2 } as const
export const Encoding = {
  plain: 0,
  plainDictionary: 2,
  rle: 3,
  deltaIntegers: 5,
  deltaLengths: 6,
  deltaTexts: 7,
  rleDictionary: 8,
  split: 9,
} as const
export const PageKind = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const
/** How pages are compressed. */
export const Codec = { none: 0, snappy: 1, gzip: 2, brotli: 4, lz4: 5, zstd: 6, lz4Raw: 7 } as const
/** The name of a codec that is written. */
export type CodecName = 'none' | 'snappy' | 'zstd'

/** A row group is closed when it reaches this number of rows, or of bytes. */
export const GROUP_ROWS = 65_536
export const GROUP_BYTES = 8_388_608

/** The index of a file has at most this number of bytes. */
export const MAX_INDEX = 268_435_456
/** The list of traces in the index has at most this number of bytes. */
export const MAX_TRACES = 4_194_304
/** The schema of a file that is read has at most this number of columns and groups. */
export const MAX_COLUMNS = 16_384
/** Pages and dictionaries of all columns that are read together have at most this number of bytes when inflated. */
export const MAX_HELD = 268_435_456
/** A string has at most this number of bytes, as a line of NDJSON. */
export const MAX_TEXT = 4_194_304
/** A stack has at most this number of frames. */
export const MAX_FRAMES = 4_194_304

/** The metadata with the headers of all traces: a list of the first row of each and its header, as JSON. */
export const TRACES_KEY = 'heapflow:traces'
/** Present if the trace was truncated that was written to the file. */
export const TRUNCATED_KEY = 'heapflow:truncated'

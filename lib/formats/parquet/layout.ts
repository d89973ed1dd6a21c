/** A file begins and ends with these bytes. */
export const MAGIC = Uint8Array.of(0x50, 0x41, 0x52, 0x31)

/** Types in which values are stored. */
export const Physical = { int32: 1, int64: 2, byteArray: 6 } as const
/** The logical types, if they differ from the stored ones. */
export const Converted = { utf8: 0, list: 3, uint32: 13, uint64: 14, int32: 17 } as const
/** Whether a column has a value in each row. */
export const Repetition = { required: 0, optional: 1, repeated: 2 } as const
export const Encoding = { plain: 0, rle: 3, rleDictionary: 8 } as const
export const PageKind = { data: 0, dictionary: 2 } as const
/** How pages are compressed. */
export const Codec = { none: 0, snappy: 1, zstd: 6 } as const
/** The name of a codec. */
export type CodecName = keyof typeof Codec

/** A row group is closed when it reaches this number of rows, or of bytes. */
export const GROUP_ROWS = 65_536
export const GROUP_BYTES = 8_388_608

/** The metadata with the headers of all traces: a list of the first row of each and its header, as JSON. */
export const TRACES_KEY = 'heapflow:traces'
/** Present if the trace was truncated that was written to the file. */
export const TRUNCATED_KEY = 'heapflow:truncated'

import { ALL_FIELDS, KINDS } from '../../event/fields.js'
import type { Carried } from '../../event/losses.js'

/** Each message begins with this word, and then the length of its metadata; a length of 0 ends the stream. */
export const CONTINUATION = 0xffff_ffff
export const PREFIX_BYTES = 8
/** The end of a stream. */
export const END_MARK = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
/** An Arrow file begins with these bytes and two zeros; a stream follows. */
export const FILE_MAGIC = 'ARROW1'

/** Buffers begin at multiples of this, in bytes. */
export const ALIGN = 64

/** The version of the metadata that is written, as its number in the flatbuffer; version 4 is read too. */
export const VERSION_5 = 4
export const VERSION_4 = 3

/** Kinds of message. */
export const SCHEMA = 1
export const DICTIONARY_BATCH = 2
export const RECORD_BATCH = 3

/** Fields of the tables in messages, by their numbers. */
export const Message = { version: 0, kind: 1, header: 2, bodyLength: 3, metadata: 4 } as const
export const Schema = { endianness: 0, fields: 1, metadata: 2 } as const
export const Field = { name: 0, nullable: 1, typeKind: 2, type: 3, dictionary: 4, children: 5, metadata: 6 } as const
export const KeyValue = { key: 0, value: 1 } as const
export const Int = { bitWidth: 0, isSigned: 1 } as const
export const Union = { mode: 0 } as const
export const Dictionary = { id: 0, indexType: 1 } as const
export const RecordBatch = { length: 0, nodes: 1, buffers: 2, compression: 3, variadicCounts: 4 } as const
export const DictionaryBatch = { id: 0, data: 1, isDelta: 2 } as const
export const Compression = { codec: 0 } as const

/** Types of columns, as Arrow numbers them. */
export const Type = {
  null: 1,
  int: 2,
  binary: 4,
  utf8: 5,
  list: 12,
  struct: 13,
  union: 14,
  fixedSizeList: 16,
  map: 17,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  runEndEncoded: 22,
  binaryView: 23,
  utf8View: 24,
  listView: 25,
  largeListView: 26,
} as const

/** Codecs of compressed bodies. */
export const LZ4 = 0
export const ZSTD = 1

/** The metadata of a schema, and of a record batch that begins another trace: the trace's header as JSON. */
export const HEADER_KEY = 'heapflow:header'

/** The metadata of a schema whose events continue the trace before it. */
export const CONTINUES_KEY = 'heapflow:continues'

/** The name of the column that every event has. */
export const KIND = 'kind'

/** Longer metadata is refused: a schema of some 10,000 columns. */
export const MAX_METADATA = 4_194_304
/** A message with a longer body is refused: some million events with all fields. */
export const MAX_BODY = 268_435_456
/**
 * The maximum number of rows of a batch. A column without values takes no memory, so a few bytes could claim any
 * number.
 */
export const MAX_ROWS = 16_777_216
/** The longest header that is written, in bytes: readers take it with the rest of the metadata. */
export const MAX_HEADER = MAX_METADATA - 65_536

/** Arrow represents everything. */
export const CARRIED: Carried = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))

/**
 * Formats of your own: `heapflow/format`. `defineFormat` makes a format that every function and command takes, as they
 * take heapflow's own. docs/formats.md shows one from bytes to tests; `heapflow/testing` tests it.
 */
export { defineFormat } from '../codec/define-format.js'
export type { FormatDefinition, WritableDefinition } from '../codec/definition.js'
export { Cursor, type Reading, type ReadingPart } from '../codec/cursor.js'
export { CursorDecoder } from '../codec/cursor-decoder.js'
export { EventEncoder, type EncoderFacts, type EventWriter, type Lose } from '../codec/event-encoder.js'
export { registerFormat } from '../streams/register-format.js'
export { isWritable, type Format, type FormatInfo, type OptionSpec, type WritableFormat } from '../event/format.js'
export type { EncodeOptions, TextDecodeOptions } from '../event/format.js'
export { EVERY_FIELD, fieldNames, fieldSet, FIELDS, groupFieldSet, GROUPS, KINDS } from '../event/fields.js'
export type { ApiName, FieldName, GroupName, KindName, OutcomeName } from '../event/fields.js'
export type { Carried, Filling } from '../event/losses.js'
export { limit, malformed, truncated, unencodable, TraceError, type TracePosition } from '../event/error.js'
export type { TraceHeader } from '../event/header.js'
export { decodeText, encodeText } from '../event/strings.js'
export type { TraceEvent } from '../event/trace-event.js'
export type { Decoder, Encoder } from '../event/stage.js'
export { decoderOf, formatStreams, type FormatStreams } from '../streams/format-streams.js'

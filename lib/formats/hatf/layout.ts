import { fieldSet } from '../../event/fields.js'
import * as Code from '../../kernel/layouts/hatf.js'
import type { Carried } from '../../event/losses.js'

/** The number of tags with fields whose layout metadata can change: 0 to 9. */
export const LAID_OUT_TAGS = 10

/** The names of the fields, by code. */
export const FIELD_NAMES = ['size', 'address', 'time', 'thread', 'heap', 'attributes'] as const

/** The number of fields. */
export const FIELD_COUNT = FIELD_NAMES.length

/** The length of a metadata record without arguments, and of a comment without its text. */
export const HEAD = 4

/** The maximum length of a record's attributes or a comment's text. */
export const MAX_BYTES = 0xffff

/** The maximum length of a record: the tag, seven numbers of 8 bytes, and attributes with their length. */
export const MAX_RECORD_BYTES = 1 + 7 * 8 + 2 + MAX_BYTES

/** What HATF itself can represent, by kind of event. */
export const CARRIED: Carried = {
  alloc: fieldSet('size', 'address', 'thread', 'heap', 'time', 'attributes'),
  free: fieldSet('address', 'thread', 'heap', 'time', 'attributes'),
  realloc: fieldSet('size', 'oldAddress', 'address', 'outcome', 'thread', 'heap', 'time', 'attributes'),
  existing: fieldSet('size', 'address', 'thread', 'heap', 'time', 'attributes'),
  'heap-create': fieldSet('thread', 'heap', 'time', 'attributes'),
  'heap-destroy': fieldSet('thread', 'heap', 'time', 'attributes'),
  'thread-create': fieldSet('thread', 'time', 'attributes'),
  'thread-destroy': fieldSet('thread', 'time', 'attributes'),
  comment: fieldSet('text'),
}

/** The byte length of the metadata record whose head is `bytes[pos..pos + 4)`; 4 if it is invalid. */
export function metadataLength(bytes: Uint8Array, pos: number): number {
  if (bytes[pos + 1] !== Code.FIELD_INTERPRETATION) return HEAD
  const interpretation = bytes[pos + 3]
  if (interpretation === Code.STRIDE) return HEAD + 16
  return interpretation === Code.NONE || interpretation > Code.STRIDE ? HEAD : HEAD + 8
}

/** The big-endian 32-bit word at `pos`, as a signed number: store it in a `Uint32Array` or shift it. */
export function word(bytes: Uint8Array, pos: number): number {
  return (bytes[pos] << 24) | (bytes[pos + 1] << 16) | (bytes[pos + 2] << 8) | bytes[pos + 3]
}

/** Writes a 32-bit word at `pos`, big-endian. */
export function writeWord(bytes: Uint8Array, pos: number, value: number): void {
  bytes[pos] = value >>> 24
  bytes[pos + 1] = value >>> 16
  bytes[pos + 2] = value >>> 8
  bytes[pos + 3] = value
}

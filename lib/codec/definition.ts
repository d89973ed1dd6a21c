import type { EncodeOptions, OptionSpec } from '../event/format.js'
import type { KindName } from '../event/fields.js'
import type { Carried, Filling } from '../event/losses.js'
import type { Decoder, Encoder } from '../event/stage.js'
import type { Cursor, Reading } from './cursor.js'
import type { EventWriter } from './event-encoder.js'

/** A trace format: its description, its recognition, its decoder and its encoder. */
export interface FormatDefinition<DecodeOptions extends object = object, FormatEncodeOptions extends object = object> {
  /** The name in headers, messages and flags: lower-case letters, digits and hyphens. */
  readonly name: string
  /** The name in help: `FreeBSD utrace`. Default: `name`. */
  readonly title?: string
  /** File name endings, the preferred one first: `['.utrace']`. Default: none. */
  readonly extensions?: readonly string[]
  /** The bytes are not text. Then nothing is written to a terminal. Default false. */
  readonly binary?: boolean
  /** The fields that it carries on each kind of event: `{ alloc: fieldSet('address', 'size') }`. */
  readonly carried: Carried
  /** The fields of groups that it carries on all of them: `groupFieldSet('weight')`. Default: none. */
  readonly groups?: number
  /** Fields that every record of some kinds has, so that an event without them is read back with a value. */
  readonly filled?: readonly Filling[]
  /** Kinds without a record, and the kinds as which they are written and read back. */
  readonly writtenAs?: Readonly<Partial<Record<KindName, readonly KindName[]>>>
  readonly decodeOptions?: Readonly<Record<string, OptionSpec>>
  readonly encodeOptions?: Readonly<Record<string, OptionSpec>>
  /** Whether a stream that begins with these bytes, up to some thousand, is of this format. */
  sniff(head: Uint8Array): boolean
  /**
   * Reads a trace. A generator, which takes bytes or lines from the cursor and gives it events. A format of text has
   * the option `lastLine`: see `Cursor.line`.
   */
  read?(cursor: Cursor, options: DecodeOptions): Reading
  /** Makes a decoder, in place of `read`. */
  decoder?(options: DecodeOptions): Decoder
  /** Makes a writer of events. Without it, and without `encoder`, the format can only be read. */
  writer?(options: FormatEncodeOptions): EventWriter
  /** Makes an encoder, in place of `writer`. */
  encoder?(options: FormatEncodeOptions & EncodeOptions): Encoder
}

/** A definition of a format that can be written. */
export type WritableDefinition<D extends object, E extends object> = FormatDefinition<D, E> &
  ({ writer(options: E): EventWriter } | { encoder(options: E & EncodeOptions): Encoder })

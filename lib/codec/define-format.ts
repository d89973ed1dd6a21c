import {
  checked,
  checkedReader,
  type EncodeOptions,
  type Format,
  type OptionSpec,
  type TextDecodeOptions,
  type WritableFormat,
} from '../event/format.js'
import type { KindName } from '../event/fields.js'
import type { Carried, Filling } from '../event/losses.js'
import type { Decoder, Encoder } from '../event/stage.js'
import { LAST_LINE } from '../text/last-line.js'
import { Cursor, type Reading } from './cursor.js'
import { CursorDecoder } from './cursor-decoder.js'
import { EventEncoder, type EventWriter } from './event-encoder.js'

/** A trace format: what it is, how it is recognized, and how it is read and written. */
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

/**
 * Makes a format of its definition, as heapflow's own formats are.
 * @throws TypeError if the definition has no name, or cannot be read
 */
export function defineFormat<D extends object = object, E extends object = object>(
  definition: WritableDefinition<D, E>,
): WritableFormat<D & TextDecodeOptions, E>
export function defineFormat<D extends object = object, E extends object = object>(
  definition: FormatDefinition<D, E>,
): Format<D & TextDecodeOptions>
export function defineFormat<D extends object, E extends object>(
  definition: FormatDefinition<D, E>,
): Format<D & TextDecodeOptions> {
  const { name, binary = false, decodeOptions = {}, encodeOptions = {}, extensions = [] } = definition
  const { read, decoder, writer, encoder } = definition
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new TypeError('a format has a name of lower-case letters, digits and hyphens')
  if (read === undefined && decoder === undefined)
    throw new TypeError(`the format ${name} has neither read nor decoder`)
  const canWrite = writer !== undefined || encoder !== undefined
  const format: Format<D & TextDecodeOptions> = {
    name,
    title: definition.title ?? name,
    extensions,
    binary,
    ...(!canWrite && { readOnly: true }),
    decodeOptions: binary ? decodeOptions : { ...decodeOptions, ...LAST_LINE },
    encodeOptions,
    carried: definition.carried,
    ...(definition.groups !== undefined && { groups: definition.groups }),
    ...(definition.writtenAs !== undefined && { writtenAs: definition.writtenAs }),
    sniff: (head) => definition.sniff(head),
    decoder(options) {
      const { lastLine, ...own } = (options ?? {}) as TextDecodeOptions
      if (read === undefined) return (decoder as NonNullable<typeof decoder>)((options ?? {}) as D)
      return new CursorDecoder(new Cursor(name, lastLine), (cursor) => read.call(definition, cursor, own as D))
    },
  }
  if (!canWrite) return checkedReader(format)
  const writable: WritableFormat<D & TextDecodeOptions, E> = {
    ...format,
    encoder(options) {
      const { strict, window: _, ...own } = (options ?? {}) as EncodeOptions
      if (writer === undefined) return (encoder as NonNullable<typeof encoder>)((options ?? {}) as E & EncodeOptions)
      return new EventEncoder(definition, writer.call(definition, own as E), strict)
    },
  }
  return checked(writable)
}

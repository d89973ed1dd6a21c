import type { FieldName, KindName } from './fields.js'
import type { Carried } from '../kernel/losses.js'
import type { Decoder, Encoder } from './stage.js'

/** What a program or person can set on a decoder or encoder; commands make their flags from it. */
export interface OptionSpec {
  /**
   * One line for the command's help, without a full stop. For a boolean that is on by default: what turning it off
   * does.
   */
  readonly help: string
  /** A boolean that is on by default becomes the flag `--no-<name>`. */
  readonly default: boolean | number | string | undefined
  /** The allowed values, where they are few. */
  readonly values?: readonly string[]
  /** The value's name in the help, such as `N`; without one the option is a boolean. */
  readonly value?: string
}

/** What every encoder can be told. */
export interface EncodeOptions {
  /** Make the first event or field that the format has no place for an error, instead of counting it. Default false. */
  strict?: boolean
  /**
   * How many records an encoder that looks ahead may hold back, to choose how it writes them: few where many encoders
   * are at work at once. Default: what suits the format.
   */
  window?: number
}

/** What commands tell of a format before they read or write it: data, for which no codec needs to be loaded. */
export interface FormatTraits {
  /** As in folders, commands and headers: `mtrc`. */
  readonly name: string
  /** For people: `mpatrol MTRC`. */
  readonly title: string
  /** File name endings without `.gz`, the first one preferred: `.mtrc`. */
  readonly extensions: readonly string[]
  /** It can be read, but there is no encoder: no tool reads it. */
  readonly readOnly?: boolean
  /** It carries all events and headers, of whatever format they are: streams of any format can pass through it. */
  readonly lossless?: boolean
  /** Not to be written to a terminal. */
  readonly binary: boolean
  readonly decodeOptions: Readonly<Record<string, OptionSpec>>
  readonly encodeOptions: Readonly<Record<string, OptionSpec>>
}

/** A trace format: the one thing that programs, sniffing and documents need to know of it. */
export interface Format<DecodeOptions extends object = object> extends FormatTraits {
  /** Which fields it can carry on which kind of event. */
  readonly carried: Carried
  /** Fields that only some of its layouts or options carry, and which those are: for documents. */
  readonly sometimes?: { readonly fields: readonly FieldName[]; readonly when: string }
  /**
   * Kinds that the format has no record of its own for: they are written as these kinds, and are these when they are
   * read back.
   */
  readonly writtenAs?: Readonly<Partial<Record<KindName, readonly KindName[]>>>
  /**
   * Whether a stream that begins with these bytes (up to some thousand; fewer only if the stream is short) is of this
   * format.
   */
  sniff(head: Uint8Array): boolean
  /** A pure decoder; `heapflow/<name>` has it as a stream. */
  decoder(options?: DecodeOptions): Decoder
}

/** A trace format that can be written, too. */
export interface WritableFormat<
  DecodeOptions extends object = object,
  FormatEncodeOptions extends object = object,
> extends Format<DecodeOptions> {
  /** A pure encoder; `heapflow/<name>` has it as a stream. */
  encoder(options?: FormatEncodeOptions & EncodeOptions): Encoder
}

/** Whether a format can be written. */
export function isWritable(format: Format): format is WritableFormat {
  return 'encoder' in format
}

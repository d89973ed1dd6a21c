import { wrongType } from './error.js'
import { fieldNames, groupFieldNames, type FieldName, type KindName } from './fields.js'
import type { Carried } from './losses.js'
import { showValue } from './message-text.js'
import { checkOptions, oneOf, wholeNumber, type OptionNames, type ValueCheck } from './options.js'
import type { Decoder, Encoder } from './stage.js'

/** An option of a decoder or encoder, from which commands derive flags. */
export interface OptionSpec {
  /**
   * One line for the command's help, without a full stop. For a boolean that is on by default, it describes the effect
   * of turning it off.
   */
  readonly help: string
  /** A boolean that is on by default becomes the flag `--no-<name>`. */
  readonly default: boolean | number | string | undefined
  /** The allowed values, if there are few. */
  readonly values?: readonly string[]
  /** The value's name in the help, such as `N`; without one the option is a boolean, unless its default is none. */
  readonly value?: string
}

/** Options of every decoder of text. */
export interface TextDecodeOptions {
  /**
   * Take a last line without a line feed as complete. By default the trace is truncated there: the line may have lost
   * digits.
   */
  lastLine?: boolean
}

/** Options of every encoder. */
export interface EncodeOptions {
  /** Throw at the first event or field that the format cannot represent, instead of counting it. Default false. */
  strict?: boolean
  /**
   * The number of records that an encoder with lookahead may hold back; use few if many encoders run at once. The
   * default depends on the format.
   */
  window?: number
}

type OptionChecks = Readonly<Record<string, ValueCheck>>

/** The facts about a format that commands need before they read or write it: data, without a codec. */
export interface FormatInfo {
  /** The name in folders, commands and headers: `mtrc`. */
  readonly name: string
  /** The name in help and documents: `mpatrol MTRC`. */
  readonly title: string
  /** File name endings without a compression's, the preferred one first: `.mtrc`. */
  readonly extensions: readonly string[]
  /** It can be read but not written, because no tool reads it. */
  readonly readOnly?: boolean
  /** It carries all events and headers of any format, so all streams can pass through it. */
  readonly lossless?: boolean
  /** The output depends on the division of the events into batches, which is preserved. */
  readonly keepsBatches?: true
  /** It is read from a file by its index, and not from a pipe, for which the decoder reports an error. */
  readonly fromFile?: true
  /** It must not be written to a terminal. */
  readonly binary: boolean
  /**
   * Facts that its traces never show: calls that failed (`failures`), or that memory from one family of functions was
   * passed to another, such as from `new` to `free` (`families`).
   */
  readonly hides?: readonly ('failures' | 'families')[]
  readonly decodeOptions: Readonly<Record<string, OptionSpec>>
  readonly encodeOptions: Readonly<Record<string, OptionSpec>>
  /**
   * What the values of options are where these do not say it, and of options that are for programs only; and why some
   * values of several options cannot be combined.
   */
  readonly optionChecks?: {
    readonly decode?: OptionChecks
    readonly encode?: OptionChecks
    conflict?(options: Readonly<Record<string, unknown>>): string | undefined
  }
}

/** A trace format: everything about it that programs, sniffing and documents need. */
export interface Format<DecodeOptions extends object = object> extends FormatInfo {
  /** The fields that it can carry, by kind of event. */
  readonly carried: Carried
  /** The set of fields of groups that it can carry on all of these kinds (`groupFieldSet`); none by default. */
  readonly groups?: number
  /** Fields that only some layouts or options carry, and these layouts or options, for documents. */
  readonly sometimes?: { readonly fields: readonly FieldName[]; readonly when: string }
  /** Kinds without a record in the format, and the kinds as which they are written and read back. */
  readonly writtenAs?: Readonly<Partial<Record<KindName, readonly KindName[]>>>
  /**
   * Whether a stream that begins with these bytes (up to some thousand; fewer only if the stream is short) is of this
   * format.
   */
  sniff(head: Uint8Array): boolean
  /** A pure decoder; `heapflow/<name>` has it as a stream. */
  decoder(options?: DecodeOptions): Decoder
}

/** A trace format that can also be written. */
export interface WritableFormat<
  DecodeOptions extends object = object,
  FormatEncodeOptions extends object = object,
> extends Format<DecodeOptions> {
  /** A pure encoder; `heapflow/<name>` has it as a stream. */
  encoder(options?: FormatEncodeOptions & EncodeOptions): Encoder
}

/** The names of all fields that a format can carry on a kind of event, in canonical order. */
export function carriedFields(
  { carried, groups = 0 }: Pick<Format, 'carried' | 'groups'>,
  kind: KindName,
): FieldName[] {
  const core = carried[kind]
  return core === undefined ? [] : [...fieldNames(core), ...groupFieldNames(groups)]
}

/** Whether a format can be written. */
export function isWritable(format: Format): format is WritableFormat {
  return 'encoder' in format
}

/** A format, or an entry of the list of formats, and not the name of one. */
export const FORMAT: ValueCheck = {
  what: 'a format, such as that of heapflow/mtrc',
  is: (value) => typeof value === 'object' && value !== null && ('load' in value || 'decoder' in value),
}

/**
 * Refuses what is no format with a codec, such as the name of one.
 * @param of the function, in messages
 * @throws TypeError (code ERR_INVALID_ARG_TYPE)
 */
export function needFormat(format: unknown, of: string): void {
  if (typeof (format as Partial<Format> | null | undefined)?.decoder !== 'function')
    throw wrongType(`${of}: a format is needed, as defineFormat() makes it, not ${showValue(format)}`)
}

/** The options that every decoder of text has. */
export const TEXT_OPTIONS: OptionNames<TextDecodeOptions> = { lastLine: 'boolean' }

/** The options that every encoder has. */
export const ENCODE_OPTIONS: OptionNames<EncodeOptions> = { strict: 'boolean', window: wholeNumber() }

/**
 * Checks options for the decoder of a format, without loading it.
 * @param of the decoder's name in messages, such as `mtrc.decode()`
 * @throws RangeError for an unknown option or value; TypeError when the options are not an object
 */
export function checkDecodeOptions(info: FormatInfo, options: object | undefined, of: string): void {
  checkSpecs(info, info.decodeOptions, { ...info.optionChecks?.decode }, options, of)
}

/** The same for the encoder of a format. */
export function checkEncodeOptions(info: FormatInfo, options: object | undefined, of: string): void {
  checkSpecs(info, info.encodeOptions, { ...info.optionChecks?.encode, ...ENCODE_OPTIONS }, options, of)
}

function checkSpecs(
  { optionChecks }: FormatInfo,
  specs: Readonly<Record<string, OptionSpec>>,
  more: object,
  options: object | undefined,
  of: string,
): void {
  checkOptions<object>(options, { ...Object.fromEntries(Object.entries(specs).map(checkOf)), ...more }, of)
  const conflict = optionChecks?.conflict?.({ ...options })
  if (conflict !== undefined) throw new RangeError(`${of}: ${conflict}`)
}

/** What the values of a format's option may be. */
function checkOf([name, spec]: [string, OptionSpec]): [string, 'boolean' | 'number' | 'string' | true | ValueCheck] {
  const { value, values } = spec
  const type = typeof spec.default
  if (values !== undefined) {
    const is = (given: unknown) => typeof given === (type === 'number' ? type : 'string')
    return [name, { what: oneOf(values), is: (given) => is(given) && values.includes(String(given)) }]
  }
  if (type === 'number' || type === 'string') return [name, type]
  return [name, value === undefined ? 'boolean' : true]
}

/** A format whose decoder and encoder refuse options that do not exist. */
export function checked<D extends object, E extends object>(format: WritableFormat<D, E>): WritableFormat<D, E> {
  return {
    ...checkedReader(format),
    encoder(options) {
      checkEncodeOptions(format, options, `the encoder of ${format.name}`)
      return format.encoder(options)
    },
  }
}

/** The same for a format that can only be read. */
export function checkedReader<D extends object>(format: Format<D>): Format<D> {
  return {
    ...format,
    decoder(options) {
      checkDecodeOptions(format, options, `the decoder of ${format.name}`)
      return format.decoder(options)
    },
  }
}

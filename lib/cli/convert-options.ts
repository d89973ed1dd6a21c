import type { FormatInfo, OptionSpec } from '../event/format.js'
import { encodable } from '../exports/targets.js'
import { FORMATS } from '../formats/index.js'
import { optionFlags, type Flag } from './command.js'

type Options = Readonly<Record<string, OptionSpec>>

/** The options of all encoders; each takes those that it knows. */
export const ENCODE_OPTIONS: Options = Object.assign({}, ...encodable().map((format) => format.encodeOptions))
/** The options of all decoders, under their names in this command. */
export const DECODE_OPTIONS: Options = Object.assign({}, ...FORMATS.map((format) => readOptions(format.decodeOptions)))

/**
 * A decoder's options under their names in this command. If an encoder has an option of the same name, that one keeps
 * the name.
 */
export function readOptions(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).map(([key, spec]) => [
      key in ENCODE_OPTIONS ? `read${key[0]?.toUpperCase()}${key.slice(1)}` : key,
      spec,
    ]),
  )
}

/** The flags for all of these options, under headings that name their formats. */
export function conversionFlags(): Flag[] {
  return [...grouped('Reading', DECODE_OPTIONS, readersOf), ...grouped('Writing', ENCODE_OPTIONS, writersOf)]
}

function grouped(verb: string, options: Options, formatsOf: (key: string) => FormatInfo[]): Flag[] {
  return Object.entries(options).flatMap(([key, spec]) => {
    const names = formatsOf(key).map(({ name }) => name)
    return optionFlags({ [key]: spec }).map((flag) => ({ ...flag, group: `${verb} ${names.join(', ')}` }))
  })
}

function readersOf(key: string): FormatInfo[] {
  return FORMATS.filter((format) => key in readOptions(format.decodeOptions))
}

function writersOf(key: string): FormatInfo[] {
  return encodable().filter((format) => key in format.encodeOptions)
}

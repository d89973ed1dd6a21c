import { FORMATS } from '../formats/index.js'
import type { OptionSpec } from '../event/format.js'

type Options = Readonly<Record<string, OptionSpec>>

/** The options of all encoders together; each takes those it knows. */
export const ENCODE_OPTIONS: Options = Object.assign({}, ...FORMATS.map((format) => format.encodeOptions))
/** The options of all decoders together, under the names that they have here. */
export const DECODE_OPTIONS: Options = Object.assign({}, ...FORMATS.map((format) => readOptions(format.decodeOptions)))

/**
 * A decoder's options under the names that they have here: where an encoder has one of the same name, that has it
 * alone.
 */
export function readOptions(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).map(([key, spec]) => [
      key in ENCODE_OPTIONS ? `read${key[0]?.toUpperCase()}${key.slice(1)}` : key,
      spec,
    ]),
  )
}

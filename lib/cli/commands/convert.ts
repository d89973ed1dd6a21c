import { CATALOGUE } from '../../formats/index.js'
import type { OptionSpec } from '../../event/format.js'
import { optionFlags, type Command } from '../command.js'
import { FROM_FLAG, STRICT_FLAG, TO_FLAG } from '../flags.js'

type Options = Readonly<Record<string, OptionSpec>>

/** The options of all encoders together; each takes those it knows. */
export const ENCODE_OPTIONS: Options = Object.assign({}, ...CATALOGUE.map((format) => format.encodeOptions))
/** The options of all decoders together, under the names that they have here. */
export const DECODE_OPTIONS: Options = Object.assign(
  {},
  ...CATALOGUE.map((format) => readOptions(format.decodeOptions)),
)

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

export const convert: Command = {
  name: 'hf convert',
  summary: 'convert a trace from any format to any other, in one process',
  operands: 'FROM TO',
  description:
    'The format of FROM is found from its first bytes, that of TO from its name, unless --to gives it. Either may be - for standard input or output. ' +
    'gzip and zip are inflated on the way in, and a TO that ends in .gz is compressed.\n' +
    'Fields and events that the target format has no place for are counted on standard error.',
  memory: 'constant; mpatrol indices (as source or target) take 60 to 130 bytes for each live block.',
  flags: [
    TO_FLAG,
    FROM_FLAG,
    { name: 'gzip', short: 'z', help: 'Compress the output with gzip' },
    ...optionFlags(DECODE_OPTIONS),
    ...optionFlags(ENCODE_OPTIONS),
    STRICT_FLAG,
  ],
  examples: [
    { command: 'hf convert app.mtrc app.hatf', means: 'mpatrol to HATF' },
    { command: 'hf convert dump.zip - --to ndjson | jq -c .', means: 'look at an Android dump as it was shipped' },
  ],
  run: async (args) => (await import('./convert.run.js')).runConvert(args),
}

import type { Format, OptionSpec } from '../../formats/format.js'
import { FORMATS, formatNamed, formatOfPath } from '../../registry.js'
import { optionFlags, optionValues, UsageError, type Command } from '../command.js'
import { runJob, STRICT_FLAG, TO_FLAG } from '../pipeline.js'

type Options = Readonly<Record<string, OptionSpec>>

/** The options of all formats together; a decoder or encoder takes those it knows. */
const ENCODE_OPTIONS: Options = Object.assign({}, ...FORMATS.map((format) => format.encodeOptions))
const DECODE_OPTIONS: Options = Object.assign({}, ...FORMATS.map((format) => readOptions(format.decodeOptions)))

/** A decoder's options under the names that they have here: where an encoder has one of the same name, that has it alone. */
function readOptions(options: Options): Options {
  return Object.fromEntries(Object.entries(options).map(([key, spec]) => [key in ENCODE_OPTIONS ? `read${key[0]?.toUpperCase()}${key.slice(1)}` : key, spec]))
}

/** A decoder's options as it knows them. */
function decoderOptions(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = new Map(FORMATS.flatMap(({ decodeOptions }) => Object.keys(decodeOptions).map((key) => [Object.keys(readOptions({ [key]: decodeOptions[key] as OptionSpec }))[0], key])))
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [own.get(key) ?? key, value]))
}

export const convert: Command = {
  name: 'hf convert',
  summary: 'convert a trace from any format to any other, in one process',
  operands: 'FROM TO',
  description:
    'The format of FROM is found from its first bytes, that of TO from its name, unless --to gives it. Either may be - for standard input or output. ' +
    'gzip and zip are inflated on the way in, and a TO that ends in .gz is compressed.\n' +
    'Fields and events that the target format has no place for are counted on standard error.',
  memory: 'constant; mpatrol indices (as source or target) take 40 bytes or so for each live block.',
  flags: [
    TO_FLAG,
    { name: 'from', value: 'FORMAT', help: 'Read this format, whatever the first bytes look like', values: FORMATS.map((format) => format.name) },
    { name: 'gzip', short: 'z', help: 'Compress the output with gzip' },
    ...optionFlags(DECODE_OPTIONS),
    ...optionFlags(ENCODE_OPTIONS),
    STRICT_FLAG,
  ],
  examples: [
    { command: 'hf convert app.mtrc app.hatf', means: 'mpatrol to HATF' },
    { command: 'hf convert dump.zip - --to ndjson | jq -c .', means: 'look at an Android dump as it was shipped' },
  ],
  async run(args) {
    const [from, to, ...more] = args.operands
    if (from === undefined || to === undefined || more.length > 0) throw new UsageError('give two names: the trace to read and the one to write')
    const target = formatNamed(args.value('to') ?? '') ?? formatOfPath(to)
    if (target === undefined) throw new UsageError(`the name ${JSON.stringify(to)} does not tell a format: give --to`)
    const source = formatNamed(args.value('from') ?? '')
    const decode = optionValues(DECODE_OPTIONS, args)
    const encode = optionValues(ENCODE_OPTIONS, args)
    checkOptions(target, 'encode', encode)
    await runJob({
      command: 'hf convert',
      args,
      ...(source && { from: source }),
      decode: decoderOptions(decode),
      to: target,
      encode,
      onFormat: (format) => checkOptions(format, 'decode', decode),
      input: from,
      output: to,
    })
  },
}

/** @throws UsageError when an option was given that the format does not have */
function checkOptions(format: Format, direction: 'decode' | 'encode', given: object): void {
  const [all, known] = direction === 'decode' ? [DECODE_OPTIONS, readOptions(format.decodeOptions)] : [ENCODE_OPTIONS, format.encodeOptions]
  for (const key of Object.keys(given)) {
    const [flag] = optionFlags({ [key]: all[key] as OptionSpec })
    if (!(key in known)) throw new UsageError(`--${flag?.name} does not go with ${format.name}, the format to ${direction === 'decode' ? 'read' : 'write'}`)
  }
}

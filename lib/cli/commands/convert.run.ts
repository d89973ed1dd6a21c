import { targetOfPath } from '../../exports/targets.js'
import { FORMATS, formatNamed } from '../../formats/index.js'
import { checkDecodeOptions, type FormatInfo } from '../../event/format.js'
import { optionFlags, optionValues, orFlagError, UsageError, type Arguments } from '../command.js'
import { DECODE_OPTIONS, ENCODE_OPTIONS, readOptions } from '../convert-options.js'
import { traceInput } from '../input.js'
import { advice, COMPRESSED, ENDING, loadWritable, namedFormat, refuseArrow } from '../output-format.js'
import { runJob } from '../pipeline.js'

/** Runs `hf-convert`. @throws UsageError */
export async function runConvert(args: Arguments): Promise<void> {
  const named = namedFormat(args)
  // With -o or a format, FROM may be absent: standard input. With a format, TO may be too: standard output.
  const operands = args.operands.length === 0 ? ['-'] : args.operands
  const [from, to = named && '-', ...more] = [...operands, ...args.all('output')]
  if (from === undefined || to === undefined || more.length > 0)
    throw new UsageError(
      'two arguments required: FROM and TO (or -o TO); with -o or --to, they are standard input and output by default',
    )
  refuseArrow(args, targetOfPath(to)?.name, to)
  const target = named ?? targetOfPath(to)
  if (target === undefined) {
    const ending = ENDING.exec(to.replace(COMPRESSED, ''))?.[1] ?? ''
    throw new UsageError(
      `no format has names like ${JSON.stringify(to)}: ${advice(ending)}, or for a DTD use metatf-encode --dtd`,
    )
  }
  const source = formatNamed(args.value('from') ?? '')
  const decode = optionValues(DECODE_OPTIONS, args)
  const encode = optionValues(ENCODE_OPTIONS, args)
  checkOptions(target, 'encode', encode)
  await runJob({
    command: 'hf-convert',
    args,
    input: traceInput(from, {
      ...(source && { format: await source.load() }),
      decode: decoderOptions(decode),
      onFormat(format) {
        checkOptions(format, 'decode', decode)
        orFlagError(decode, () => checkDecodeOptions(format, decoderOptions(decode), ''))
      },
    }),
    to: await loadWritable(target),
    encode,
    output: to,
  })
}

/** A decoder's options as it knows them. */
function decoderOptions(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = new Map(
    FORMATS.flatMap(({ decodeOptions }) =>
      Object.keys(decodeOptions).map((key) => [Object.keys(readOptions({ [key]: decodeOptions[key] }))[0], key]),
    ),
  )
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [own.get(key) ?? key, value]))
}

/** @throws UsageError when an option was given that the format does not have */
function checkOptions(format: FormatInfo, direction: 'decode' | 'encode', given: object): void {
  const [all, known] =
    direction === 'decode'
      ? [DECODE_OPTIONS, readOptions(format.decodeOptions)]
      : [ENCODE_OPTIONS, format.encodeOptions]
  for (const key of Object.keys(given)) {
    const [flag] = optionFlags({ [key]: all[key] })
    if (!(key in known))
      throw new UsageError(
        `--${flag?.name} does not apply to ${format.name} ${direction === 'decode' ? 'input' : 'output'}`,
      )
  }
}

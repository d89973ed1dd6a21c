import { FORMATS } from '../../formats/index.js'
import { decodeAny } from '../../streams/decode.js'
import { SplitFiles } from '../../streams/split-files.js'
import { PARTITIONS, type Partition } from '../../transforms/option-values.js'
import { numberOf, UsageError, type Arguments } from '../command.js'
import { KEY_PLACE, MAX_FILES, MAX_OPEN } from '../defaults.js'
import { inputOperand } from '../input.js'
import { compressionOf, refuseCompressed, refuseInputs } from '../output.js'
import { outputFormat } from '../output-format.js'
import { reportLosses } from '../pipeline.js'
import { bytesOf, runStreams } from '../streaming.js'

/** Few, because each file has an encoder. */
const WINDOW = 256

/** Runs `hf-split`. @throws UsageError */
export async function runSplit(args: Arguments): Promise<void> {
  const { pattern, ...options } = splitOptions(args)
  const to = await outputFormat(args, pattern)
  if (options.number && to.lossless !== true) {
    const names = FORMATS.filter(({ lossless }) => lossless).map(({ name }) => name)
    throw new UsageError(
      `${to.name} cannot carry the numbers of events: with --number, ` +
        `write ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`,
    )
  }
  const input = inputOperand(args)
  const compression = compressionOf(args, pattern)
  refuseCompressed(args, to.name, compression)
  const sink = new SplitFiles({
    ...options,
    path: (key) => {
      const path = pattern.replaceAll(KEY_PLACE, key)
      refuseInputs(args, [input], path)
      return path
    },
    encoder: () => to.encoder({ strict: args.has('strict'), window: WINDOW }),
    recycle: true,
    ...(compression && { compression }),
  })
  try {
    await runStreams(
      'hf-split',
      [input],
      () => [...bytesOf(input), decodeAny({ path: input, recycle: true })],
      () => sink,
    )
  } finally {
    reportLosses('hf-split', to.name, sink.losses)
  }
}

/** @throws UsageError */
function splitOptions(args: Arguments) {
  const by = args.value('by')
  const pattern = args.value('output')
  if (by === undefined) throw new UsageError(`say what to divide --by: ${PARTITIONS.join(', ')}`)
  if (pattern === undefined || !pattern.includes(KEY_PLACE))
    throw new UsageError(`name the files with -o and a pattern with ${KEY_PLACE} in it`)
  if (args.has('shards') && by !== 'shard') throw new UsageError('--shards needs --by shard')
  const number = (flag: string, fallback: number) => numberOf(args, flag, 1, 65_536) ?? fallback
  return {
    pattern,
    by: by as Partition,
    ...(by === 'shard' && { shards: number('shards', 2) }),
    lifetimes: args.has('lifetimes'),
    number: args.has('number'),
    maxOpen: number('max-open', MAX_OPEN),
    maxFiles: number('max-files', MAX_FILES),
  }
}

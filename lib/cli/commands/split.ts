import { SplitFiles } from '../../streams/split-files.js'
import { decodeAny } from '../../streams/decode.js'
import { isSameFile } from '../../streams/stdio.js'
import { PARTITIONS, type Partition } from '../../transforms/split.js'
import { ndjson } from '../../wire/ndjson/index.js'
import { UsageError, wholeNumber, type Arguments, type Command } from '../command.js'
import { inputOperand, outputFormat, reportLosses, runStreams, STRICT_FLAG, TO_FLAG } from '../pipeline.js'

const PLACE = '{}'
const MAX_OPEN = 64
const MAX_FILES = 1000
/** Few, for there is an encoder for each file. */
const WINDOW = 256

export const split: Command = {
  name: 'hf-split',
  summary: 'divide a trace into several files',
  operands: '[FILE]',
  description:
    `The events go into files by a key: the thread, process, heap or cpu, the kind of event, the function called, the size class (powers of two), or one of N shards by ` +
    `address, where all events of a block are in the same shard. The files are named by a pattern in which ${PLACE} stands for the key; events without the key go to "none". ` +
    'A realloc or free may have another key than its allocation (another thread, no size): with --lifetimes it goes where its block is.\n' +
    'The format is that of the names, unless --to gives it; names that end in .gz are compressed.',
  memory: 'about 100 kB for each file; with --lifetimes and for shards it grows with the live blocks too (about 40 bytes each).',
  flags: [
    { name: 'by', value: 'KEY', help: 'What to divide by', values: PARTITIONS },
    { name: 'shards', value: 'N', help: 'How many shards there are, with --by shard (default 2)' },
    { name: 'lifetimes', help: 'Put reallocs and frees where the allocation of their block went' },
    { name: 'output', short: 'o', value: 'PATTERN', help: `The files' names, with ${PLACE} for the key` },
    { name: 'max-open', value: 'N', help: `Have at most N files open at a time (default ${MAX_OPEN})` },
    { name: 'max-files', value: 'N', help: `Fail when there are more than N keys (default ${MAX_FILES})` },
    { name: 'gzip', short: 'z', help: 'Compress the files with gzip' },
    TO_FLAG,
    STRICT_FLAG,
  ],
  examples: [
    { command: "mtrc-decode app.mtrc | hf-split --by thread -o 'thread-{}.hatf'", means: 'a HATF trace of each thread' },
    { command: "hf-split --by shard --shards 8 -o 'part-{}.ndjson.gz' dump.zip", means: 'eight parts that can be worked on side by side' },
  ],
  async run(args) {
    const { pattern, ...options } = splitOptions(args)
    const to = outputFormat(args, pattern, ndjson)
    const input = inputOperand(args)
    const sink = new SplitFiles({
      ...options,
      path: (key) => {
        const path = pattern.replaceAll(PLACE, key)
        if (isSameFile(input, path)) throw new UsageError(`${path} is the input too: name the files otherwise`)
        return path
      },
      encoder: () => to.encoder({ strict: args.has('strict'), window: WINDOW }),
      gzip: args.has('gzip') || pattern.endsWith('.gz'),
    })
    try {
      await runStreams('hf-split', input, [decodeAny()], () => sink)
    } finally {
      reportLosses('hf-split', to.name, sink.losses)
    }
  },
}

/** @throws UsageError */
function splitOptions(args: Arguments) {
  const by = args.value('by')
  const pattern = args.value('output')
  if (by === undefined) throw new UsageError(`say what to divide --by: ${PARTITIONS.join(', ')}`)
  if (pattern === undefined || !pattern.includes(PLACE)) throw new UsageError(`name the files with -o and a pattern with ${PLACE} in it`)
  if (args.has('shards') && by !== 'shard') throw new UsageError('--shards needs --by shard')
  const number = (flag: string, fallback: number): number => {
    const n = wholeNumber(flag, args.value(flag) ?? String(fallback))
    if (n < 1 || n > 65_536) throw new UsageError(`--${flag} must be from 1 to 65536`)
    return n
  }
  return {
    pattern,
    by: by as Partition,
    shards: number('shards', 2),
    lifetimes: args.has('lifetimes'),
    maxOpen: number('max-open', MAX_OPEN),
    maxFiles: number('max-files', MAX_FILES),
  }
}

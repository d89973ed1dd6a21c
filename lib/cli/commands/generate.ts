import { MODEL_EVENTS, MODELS, MOST_SCALE, MOST_THREADS } from '../../generate/models/names.js'
import type { Command } from '../command.js'
import { EVENT_FLAGS } from '../flags.js'

const WHAT = 'What is generated'

export const generate: Command = {
  name: 'hf-generate',
  summary: 'make a synthetic trace: a benchmark of allocators, or one like a given trace',
  operands: '',
  isOpenEnded: true,
  description:
    'Writes a synthetic trace of any length. The same flags give the same events.\n' +
    '--model makes the calls of a classic benchmark. --like makes calls with the joint distributions of a trace: ' +
    'sizes, lifetimes, threads, sites, functions and phases. The models and their sources, how alike such traces ' +
    'are, and where not: docs/allocators.md.\n' +
    '--write-model writes the model of a trace instead, from which --from-model generates. A model has numbers ' +
    'instead of names, and no addresses, so that it can be given to others who may not see the trace. It does have ' +
    'the sizes of blocks and how often each was allocated.\n' +
    'Each live block has an address of its own. Blocks that are live at the end stay so.',
  memory: 'grows with the live blocks; --like reads the trace once, and keeps 16 to 100 bytes of each live block.',
  flags: [
    { name: 'model', value: 'NAME', help: 'Make the calls of this benchmark', values: MODELS, group: WHAT },
    {
      name: 'like',
      value: 'FILE',
      reads: true,
      help: 'Make calls with the distributions of this trace, in any format',
      group: WHAT,
    },
    {
      name: 'from-model',
      value: 'FILE',
      reads: true,
      help: 'The same with a model that --write-model wrote',
      group: WHAT,
    },
    {
      name: 'write-model',
      value: 'FILE',
      help:
        'With --like: write the model as JSON, and generate nothing; - is standard output, and a name that ends in ' +
        '.gz or .zst is compressed',
      group: WHAT,
    },
    {
      name: 'events',
      value: 'N',
      help: `Make N events, which may end in K, M or G (default ${MODEL_EVENTS}; as many as the trace has)`,
    },
    {
      name: 'scale',
      value: 'X',
      help: `Multiply the live set by X, up to ${MOST_SCALE} (default 1): a trace as if X of the programs ran`,
    },
    { name: 'seed', value: 'N', help: 'Another seed gives other events (default 1)' },
    { name: 'threads', value: 'N', help: `Of --model: the number of threads, up to ${MOST_THREADS}` },
    { name: 'times', help: 'Give the events times: those of the trace on average, otherwise one each 100 ns' },
    ...EVENT_FLAGS,
  ],
  examples: [
    { command: 'hf-generate --model larson --events 10M -o larson.mtrc', means: 'a trace of a server with 8 threads' },
    { command: 'hf-generate --like app.mtrc --write-model app.json', means: 'a model that has no names' },
    {
      command: 'hf-generate --from-model app.json --scale 100 -o big.hfc',
      means: 'a hundred times as many live blocks',
    },
  ],
  run: async (args) => (await import('./generate.run.js')).runGenerate(args),
}

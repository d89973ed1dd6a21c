import { MODEL_EVENTS, MODELS, MOST_SCALE, MOST_THREADS } from '../../generate/models/names.js'
import { flag, type Command } from '../command.js'
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
    flag('--model NAME', 'Make the calls of this benchmark', { values: MODELS, group: WHAT }),
    flag('--like FILE', 'Make calls with the distributions of this trace, in any format', { reads: true, group: WHAT }),
    flag('--from-model FILE', 'The same with a model that --write-model wrote', { reads: true, group: WHAT }),
    flag(
      '--write-model FILE',
      'With --like: write the model as JSON, and generate nothing; - is standard output, and a name that ends in ' +
        '.gz or .zst is compressed',
      { group: WHAT },
    ),
    flag('--events N', `Make N events, which may end in K, M or G (default ${MODEL_EVENTS}; as many as the trace has)`),
    flag(
      '--scale X',
      `Multiply the live set by X, up to ${MOST_SCALE} (default 1): a trace as if X of the programs ran`,
    ),
    flag('--seed N', 'Another seed gives other events (default 1)'),
    flag('--threads N', `Of --model: the number of threads, up to ${MOST_THREADS}`),
    flag('--times', 'Give the events times: those of the trace on average, otherwise one each 100 ns'),
    ...EVENT_FLAGS,
  ],
  examples: {
    'hf-generate --model larson --events 10M -o larson.mtrc': 'a trace of a server with 8 threads',
    'hf-generate --like app.mtrc --write-model app.json': 'a model that has no names',
    'hf-generate --from-model app.json --scale 100 -o big.hfc': 'a hundred times as many live blocks',
  },
  run: async (args) => (await import('./generate.run.js')).runGenerate(args),
}

import { PARTITIONS } from '../../transforms/option-values.js'
import { flag, type Command } from '../command.js'
import { KEY_PLACE, MAX_FILES, MAX_OPEN } from '../defaults.js'
import { COMPRESSION_FLAGS, STRICT_FLAG, TO_FLAGS } from '../flags.js'

export const split: Command = {
  name: 'hf-split',
  summary: 'split a trace into several files',
  operands: '[FILE]',
  description:
    'The events go to files by a key: the thread, process, heap or cpu, the kind of event, the function called, the ' +
    'size class (powers of two), or one of N shards by address, where all events of a block are in the same shard. ' +
    `The files are named by a pattern in which ${KEY_PLACE} stands for the key; events without the key go to ` +
    '"none". A realloc or free may have another key than its allocation (another thread, no size): with --lifetimes ' +
    'it goes where its block is. Shards always have that. The end of a process (process-end) goes into each file ' +
    'that has blocks which it ends, or, where blocks are not followed, in which the process allocated. An event that ' +
    'says that events were lost, or that the recording ended early, goes into each file.\n' +
    'Where blocks are followed, a block may end because one of another file begins at its address: its free is ' +
    'missing. hf-split writes one, so that the block is no leak of its file, and warns how many it wrote. hf-merge ' +
    'leaves those of numbered files out again.\n' +
    'The order of events in different files is lost, unless they have times or sequence numbers, by which hf-merge ' +
    'puts the files together again. With --number the events get sequence numbers, by which it restores the trace ' +
    'exactly; the files must be of a format that can carry these, such as NDJSON.\n' +
    'The whole input is read, whatever the key is, for a block may have events anywhere. To work on ranges of events ' +
    'in parallel, use hf-filter --part on a compact trace with checkpoints.\n' +
    'The format is that of the names, unless --to gives it; names that end in .gz or .zst are compressed.',
  memory:
    'about 200 kB for each file; with --lifetimes and for shards it grows with the live blocks too (35 to 140 bytes ' +
    'each).',
  flags: [
    flag('--by KEY', 'What to split by', { values: PARTITIONS }),
    flag('--shards N', 'With --by shard: the number of shards (default 2)'),
    flag('--lifetimes', 'Put reallocs and frees where the allocation of their block went'),
    flag('--number', 'Number the events, so that hf-merge can restore the trace'),
    flag('-o, --output PATTERN', `The names of the files, with ${KEY_PLACE} for the key`),
    flag('--max-open N', `Keep at most N files open at once (default ${MAX_OPEN})`),
    flag('--max-files N', `Fail when there are more than N keys (default ${MAX_FILES})`),
    ...COMPRESSION_FLAGS,
    ...TO_FLAGS,
    STRICT_FLAG,
  ],
  examples: {
    "mtrc-decode app.mtrc | hf-split --by thread -o 'thread-{}.hatf'": 'a HATF trace of each thread',
    "hf-split --by shard --shards 8 -o 'part-{}.ndjson.gz' dump.zip": 'eight parts to work on in parallel',
    "hf-split --by thread --number -o 'part-{}.ndjson' app.mtrc && hf-merge part-*.ndjson -o same.mtrc":
      'into parts and back again',
  },
  run: async (args) => (await import('./split.run.js')).runSplit(args),
}

import * as Policies from '../../transforms/simulate/policies.js'
import { targets } from '../../exports/targets.js'
import { flag, type Command } from '../command.js'
import { PAGE } from '../defaults.js'
import { ARROW_FLAG, OUTPUT_FLAGS, STRICT_FLAG } from '../flags.js'

const POLICY = 'Options of the policy'
const ARENAS_GROUP = 'Arenas for short-lived blocks'

export const simulate: Command = {
  name: 'hf-simulate',
  summary: 'place the blocks of a trace as another allocator would',
  operands: '[FILE]',
  description:
    'Simulates a policy of allocation: which address each block would have, and how much memory the heap would take. ' +
    'The policies, their options and the figures: docs/allocators.md.\n' +
    'Without -o, --to and --arrow the output is figures of the heap: its size, internal and external fragmentation, ' +
    'and the lengths of searches. With one of them it is the trace with the simulated addresses, which every other ' +
    'command reads. The policy ideal has no addresses. A name that ends in .html, or --to html, makes it a page for ' +
    'the browser, of one policy or of those that are compared: the table, and heap, pages and blocks over time.\n' +
    'Each process has a heap of its own; ptmalloc and jemalloc are simulated for one process. Frees of blocks that ' +
    'are not live are counted, and lose their address. A block whose address is allocated again is freed before.\n' +
    '--predict reads a trace first, which may be another run of the program or the same file, and finds the sites ' +
    'and sizes all of whose blocks are short-lived. It needs a file to read twice: a trace from a pipe is simulated ' +
    'with what was learned of another one. --write-model keeps what was learned, for --predict, without the trace; ' +
    'it has the names of functions and files. --compare all does the same with the trace itself, if that is a file ' +
    'whose blocks have sites.\n' +
    'The input may be in any format whose events say which block they are about. If it is truncated, the figures of ' +
    'the part that was read are printed before the error.',
  memory: 'grows with the live blocks (100 to 650 bytes each), with --compare and --predict for each policy.',
  flags: [
    flag('--policy NAME', 'Simulate this policy', { values: Policies.POLICIES }),
    flag('--compare NAME', 'Show one table of several policies, or of all, with the default options', {
      repeat: true,
      values: ['all', ...Policies.POLICIES],
    }),
    flag('--json', 'Write the figures as JSON, also over time and by size'),
    flag('--list ORDER', 'Of first-fit: the order in which free blocks are examined (default address)', {
      values: Policies.LIST_ORDERS,
      group: POLICY,
    }),
    flag(
      '--coalescing WHEN',
      'Of first-fit, next-fit, best-fit: merge free blocks at once (default), or when a search fails',
      { values: Policies.COALESCING, group: POLICY },
    ),
    flag(
      '--classes LIST',
      `Of segregated: the size classes, as sizes in bytes with commas between them, or a rule: ` +
        `${Policies.CLASS_RULES.join(', ')} (default jemalloc)`,
      { group: POLICY },
    ),
    flag(
      '--trim BYTES',
      'Of first-fit, next-fit, best-fit: return free memory at the end of the heap from BYTES on (default never)',
      { group: POLICY },
    ),
    flag('--header BYTES', 'The bytes before each block (default 8 for first-fit, next-fit, best-fit, otherwise 0)', {
      group: POLICY,
    }),
    flag('--alignment BYTES', 'The alignment of all blocks (default 16)', { group: POLICY }),
    flag(
      '--smallest BYTES',
      'The smallest block, with its header (default 32 for first-fit, next-fit, best-fit, otherwise 16)',
      { group: POLICY },
    ),
    flag('--page BYTES', 'The size of a page (default 4K)', { group: POLICY }),
    flag('--glibc VERSION', `Of ptmalloc: the version of glibc, from 2.23 to 2.43 (default ${Policies.GLIBC})`, {
      group: POLICY,
    }),
    flag('--jemalloc VERSION', `Of jemalloc: its version (default ${Policies.JEMALLOC})`, {
      values: Policies.JEMALLOCS,
      group: POLICY,
    }),
    flag('--bits N', 'Of jemalloc: the size of a word, 32 or 64 bits (default 64, the only one of version 5)', {
      values: ['32', '64'],
      group: POLICY,
    }),
    flag('--tcache WHETHER', 'Of ptmalloc, jemalloc: whether threads have caches (default on)', {
      values: Policies.TCACHE,
      group: POLICY,
    }),
    flag(
      '--predict TRAIN',
      'Of bump: blocks that are short-lived in this trace, or by this model, are in arenas, by site and size; ' +
        'others in a heap',
      { reads: true, group: ARENAS_GROUP },
    ),
    flag(
      '--write-model FILE',
      'With --predict: write what was learned as JSON, a model for --predict, and simulate nothing; - is standard ' +
        'output, and a name that ends in .gz or .zst is compressed',
      { group: ARENAS_GROUP },
    ),
    flag('--threshold BYTES', 'With --predict: a short-lived block ends before more are allocated (default 32K)', {
      group: ARENAS_GROUP,
    }),
    flag('--frames N', 'With --predict: the site is the innermost N frames (default the whole stack)', {
      group: ARENAS_GROUP,
    }),
    flag('--general NAME', 'With --predict: the policy of the heap for all other blocks (default first-fit)', {
      values: Policies.GENERAL,
      group: ARENAS_GROUP,
    }),
    flag('--arenas N', `With --predict: the number of arenas (default ${Policies.ARENAS})`, { group: ARENAS_GROUP }),
    flag('--arena-size BYTES', 'With --predict: the size of an arena (default 4K)', { group: ARENAS_GROUP }),
    ...OUTPUT_FLAGS,
    {
      name: 'to',
      value: 'FORMAT',
      help: 'Write the trace in this format, or html: a page for the browser with the figures and their curves',
      get values() {
        return [...targets().map(({ name }) => name), PAGE]
      },
      instead: { metatf: 'a format that a DTD defines is written by metatf-encode --dtd FILE' },
    },
    ARROW_FLAG,
    STRICT_FLAG,
  ],
  examples: {
    'hf-simulate --compare all app.mtrc': 'which policy needs how much memory',
    'hf-simulate --compare all app.mtrc -o heaps.html': 'the same as a page, with curves over time',
    'hf-simulate --policy best-fit --json app.mtrc': 'all figures of one policy',
    'hf-simulate --policy segregated --classes 16,32,48,64,128 app.mtrc -o classes.mtrc':
      'the trace as it would be with these size classes',
    'hf-simulate --policy bump --predict train.hfrec app.hfrec':
      'arenas for what was short-lived in another run, and first fit for the rest',
    'hf-simulate --predict train.hfrec --write-model app.json': 'a model of the lifetimes, for --predict app.json',
  },
  run: async (args) => (await import('./simulate.run.js')).runSimulate(args),
}

import { APIS, KINDS } from '../../event/fields.js'
import type { Command, Flag } from '../command.js'
import { OUTPUT_FLAGS, STRICT_FLAG, TO_FLAG } from '../flags.js'

const CRITERIA: readonly Flag[] = [
  { name: 'thread', value: 'N', help: 'Events of this thread', repeat: true },
  { name: 'process', value: 'N', help: 'Events of this process', repeat: true },
  { name: 'heap', value: 'N', help: 'Events of this heap (0x... or decimal)', repeat: true },
  { name: 'cpu', value: 'N', help: 'Events of this CPU', repeat: true },
  { name: 'kind', value: 'KIND', help: 'Events of this kind', repeat: true, values: KINDS },
  { name: 'api', value: 'NAME', help: 'Events made by this function', repeat: true, values: APIS },
  {
    name: 'size',
    value: 'A..B',
    help: 'Sizes from A to B bytes; either may be missing, and end in K, M or G',
    repeat: true,
  },
  { name: 'address', value: 'A..B', help: 'Addresses from A to B', repeat: true },
  { name: 'time', value: 'A..B', help: "Times from A to B, in the trace's unit", repeat: true },
  { name: 'events', value: 'A..B', help: 'The events number A to B of the input, counted from 1', repeat: true },
  {
    name: 'function',
    value: 'NAME',
    help: 'Events from this function: the whole name, or /a regular expression/',
    repeat: true,
  },
  { name: 'file', value: 'NAME', help: 'Events from this source file, likewise', repeat: true },
  { name: 'module', value: 'NAME', help: 'Events from this program or library, likewise', repeat: true },
  { name: 'type', value: 'NAME', help: 'Blocks of this type, likewise', repeat: true },
  { name: 'stack', value: 'NAME', help: 'Events with this function anywhere on the stack, likewise', repeat: true },
]

export const filter: Command = {
  name: 'hf-filter',
  summary: 'keep some of the events of a trace',
  operands: '[FILE]',
  description:
    'An event is kept if it meets every criterion given; of one that is repeated, any value will do. An event that does not have a field never meets a ' +
    'criterion on it: frees, for example, have no size in most formats.\n' +
    'With --lifetimes the later realloc and free of every allocation that is kept are kept too. It drops nothing that meets the criteria by itself, such as a free of ' +
    'another block by the thread asked for: for whole lives of blocks and nothing else, ask for allocations (--kind alloc).\n' +
    'The input may be in any format; the output is NDJSON unless --to or the name after -o says otherwise.',
  memory: 'constant; with --lifetimes it grows with the kept blocks that are live (35 to 65 bytes each).',
  flags: [
    ...CRITERIA,
    { name: 'invert', short: 'v', help: 'Keep the events that do not meet all criteria' },
    { name: 'lifetimes', help: 'Keep the realloc and free of every kept allocation, whatever they say themselves' },
    ...OUTPUT_FLAGS,
    TO_FLAG,
    STRICT_FLAG,
  ],
  examples: [
    {
      command: 'mtrc-decode app.mtrc | hf-filter --thread 3 | hatf-encode > t3.hatf',
      means: 'one thread of a trace, as HATF',
    },
    {
      command: "hf-filter --kind alloc --size 4K.. --function '/^parse_/' --lifetimes app.mtrc.gz",
      means: 'the life of the large blocks that a parser allocates',
    },
  ],
  run: async (args) => (await import('./filter.run.js')).runFilter(args),
}

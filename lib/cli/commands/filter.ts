import { APIS, GROUP_FIELDS, KINDS, type GroupFieldType } from '../../event/fields.js'
import { flag, type Command, type Flag } from '../command.js'
import { EVENT_FLAGS, TEMPORARY_FLAG } from '../flags.js'

/** The help for the flags of fields of groups, by how they are stored. */
const GROUP_HELP: Readonly<Record<GroupFieldType, (name: string) => Pick<Flag, 'value' | 'help'>>> = {
  u64: (name) => ({ value: 'A..B', help: `Events with a ${name} from A to B` }),
  address: (name) => ({ value: 'A..B', help: `Events with a ${name} from A to B` }),
  u32: (name) => ({ value: 'N', help: `Events with this ${name}` }),
  i32: (name) => ({ value: 'N', help: `Events with this ${name}` }),
  string: (name) => ({ value: 'NAME', help: `Events with this ${name}: the whole name, or /a regular expression/` }),
}

const CRITERIA: readonly Flag[] = [
  flag('--thread N', 'Events of this thread', { repeat: true }),
  flag('--process N', 'Events of this process; none: events without one, as of the first process of a recording', {
    repeat: true,
  }),
  flag('--heap N', 'Events of this heap (0x... or decimal)', { repeat: true }),
  flag('--cpu N', 'Events of this CPU', { repeat: true }),
  flag('--kind KIND', 'Events of this kind', { repeat: true, values: KINDS }),
  flag('--api NAME', 'Events made by this function', { repeat: true, values: APIS }),
  flag('--size A..B', 'Sizes from A to B bytes; either may be missing, and end in K, M or G', { repeat: true }),
  flag('--address A..B', 'Addresses from A to B', { repeat: true }),
  flag('--time A..B', "Times from A to B, in the trace's unit", { repeat: true }),
  flag('--events A..B', 'The events number A to B of the input, counted from 1', { repeat: true }),
  flag('--part I/N', 'Part I of N parts with as many events each, from 1, of a compact trace with checkpoints'),
  flag(
    '--function NAME',
    'Events from this function: the whole name, or /a regular expression/, after which i, m, s and u may follow',
    { repeat: true },
  ),
  flag('--file NAME', 'Events from this source file, likewise', { repeat: true }),
  flag('--module NAME', 'Events from this program or library, likewise', { repeat: true }),
  flag('--type NAME', 'Blocks of this type, likewise', { repeat: true }),
  flag(
    '--stack NAME',
    'Events with this function anywhere on the stack; /a regular expression/ may also match the file or module of ' +
      'a frame. Most frees have no stack: see --lifetimes. Recordings of hf-record have functions after hf-symbolize',
    { repeat: true },
  ),
  ...GROUP_FIELDS.map(({ name, type }): Flag => ({ name, ...GROUP_HELP[type](name), repeat: true })),
  flag('--leaked', 'Allocations whose block is never freed, its reallocs, and the end of its process'),
  flag(
    '--temporary',
    'Temporary allocations: those that the next call of the process frees, unless --temporary-by says otherwise',
  ),
  TEMPORARY_FLAG,
  flag(
    '--live-at MOMENT',
    'Allocations whose block is live at this moment, and its reallocs until then: just after an event (its ' +
      "number), at a time (time:T, in the trace's unit; of several traces, the first that reaches it counts; after " +
      'all times, it is the end of the last one), or at the peak of live bytes (peak)',
  ),
]

export const filter: Command = {
  name: 'hf-filter',
  summary: 'select events',
  operands: '[FILE]',
  description:
    'An event must match all criteria. Repeating an option matches any of its values. An event that does not have a ' +
    'field never matches a criterion on it: frees, for example, have no size in most formats.\n' +
    'An event of kind lost, where the recorder lost others, is kept whatever the criteria are, because what was lost ' +
    'may have matched them; so is the event that says that a recording ended while its program ran on, of kind ' +
    'other. Only --events, and --time, --cpu, --thread, --process or --heap if it has that field, also select these ' +
    'events; --kind drops them with a warning unless it names lost, or other.\n' +
    'With --lifetimes the criteria select blocks: all later events of every block with an allocation that matches ' +
    'are kept, whatever they say themselves, and frees and reallocs of other blocks, or of NULL, are not. A realloc ' +
    'that is the first event of a block to match after others that do not, such as one that makes the block large ' +
    'enough, becomes an alloc event: the block begins there. A realloc of NULL that begins a block is kept as it is. ' +
    'With --kind alloc, no block begins with a realloc. Where a block that is not kept begins at the address of a ' +
    'kept one, the free of that is missing: one is written there, and a warning says how many there are.\n' +
    '--leaked, --temporary and --live-at depend on later events, so the input is read twice. If it is a pipe, it is ' +
    'copied to a temporary file first (in TMPDIR). What leaks, what is temporary and what lives at the peak is the ' +
    'same as in the report of hf-stats. The end of a process in which blocks leak is kept with --leaked whatever ' +
    '--temporary and --live-at say about these blocks; with --invert, the ends of all processes are kept.\n' +
    'Of a compact trace with checkpoints, named as a file, --events and --part read only the part that they need ' +
    '(with --lifetimes, all from there on): traces and events elsewhere in the file are not looked at, nor is damage ' +
    'there found. --invert, --leaked, --temporary and --live-at need the whole trace. Parts divide the work on a ' +
    'trace among processes, which may cut blocks; hf-split --by shard keeps them whole, but reads everything.\n' +
    'The input may be in any format; the output is NDJSON unless --to or the name after -o says otherwise.',
  memory:
    'constant; with --lifetimes it grows with the kept blocks that are live (35 to 140 bytes each); with --leaked, ' +
    '--temporary and --live-at with all blocks that are live (up to 350 bytes each), and with the allocations that ' +
    'are kept (at most 2 bytes each).',
  flags: [
    ...CRITERIA,
    flag('-v, --invert', 'Keep the events that do not match all criteria, of which there must be one'),
    flag('--lifetimes', 'Keep whole blocks: the reallocs and frees of every kept allocation, and no others'),
    ...EVENT_FLAGS,
  ],
  examples: {
    'for i in 1 2 3 4; do hf-filter --part $i/4 app.hfc -o part-$i.ndjson & done; wait':
      'four processes, each of which reads a quarter of a trace',
    'compact-encode --checkpoint 1M app.mtrc -o app.hfc && hf-filter --events 9000000..9000100 app.hfc':
      'a hundred events out of many, soon',
    'mtrc-decode app.mtrc | hf-filter --thread 3 | hatf-encode > t3.hatf': 'one thread of a trace, as HATF',
    "hf-filter --size 4K.. --function '/^parse_/' --lifetimes app.mtrc.gz":
      'the lifetime of the large blocks that a parser allocates',
    'hf-filter --live-at peak --lifetimes app.mtrc | hf-stats --section leaks':
      'the blocks that are live at the peak and never freed',
  },
  run: async (args) => (await import('./filter.run.js')).runFilter(args),
}

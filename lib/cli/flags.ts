import { targets } from '../exports/targets.js'
import { FORMATS } from '../formats/index.js'
import { MERGE_WINDOW, TEMPORARY_DEFINITIONS } from '../transforms/option-values.js'
import { flag, type Command, type Flag } from './command.js'
import { FRAMES } from './defaults.js'

/** Flags that every command has. */
export const COMMON_FLAGS: readonly Flag[] = [
  flag('-h, --help', 'Show this help'),
  flag('--version', "Show heapflow's version"),
]

/** Adds formats to those that are read and written. */
export const FORMAT_MODULE: Flag = flag(
  '--format-module FILE',
  'Read and write the formats, too, that this JavaScript module exports: see docs/formats.md',
  { reads: true, repeat: true },
)

/** All flags of a command: its own and those that commands share. */
export function flagsOf({ name, flags }: Command): readonly Flag[] {
  // Commands that read or write one format only have no use for others.
  const takesAnyFormat = /^hf-|-encode$/.test(name)
  return [...flags, ...(takesAnyFormat ? [FORMAT_MODULE] : []), ...COMMON_FLAGS]
}

/** Flags that compress what a command writes. */
export const COMPRESSION_FLAGS: readonly Flag[] = [
  flag('-z, --gzip', 'Compress the output with gzip'),
  flag('--zstd', 'Compress the output with zstd (needs Node 22.15 or newer)'),
]

/** Flags of every command that writes one stream. */
export const OUTPUT_FLAGS: readonly Flag[] = [
  flag('-o, --output FILE', 'Write to FILE instead of standard output; a name that ends in .gz or .zst is compressed'),
  ...COMPRESSION_FLAGS,
]

/** The flag of every command that writes a format which cannot carry everything. */
export const STRICT_FLAG: Flag = flag(
  '--strict',
  'Fail at the first event or field that the target format cannot represent, instead of dropping it',
)

/** Makes commands that write lines of JSON write columns instead. */
export const ARROW_FLAG: Flag = flag(
  '-u, --arrow',
  'Write an Arrow stream instead of lines of JSON, which the next command reads faster; with HEAPFLOW_WIRE=arrow ' +
    'in the environment, every command does so whose output is a pipe',
)

/** Choose the format of the output of commands that can write any. */
export const TO_FLAGS: readonly Flag[] = [
  {
    name: 'to',
    value: 'FORMAT',
    help: 'Write this format',
    get values() {
      return targets().map((format) => format.name)
    },
    instead: { metatf: 'a format that a DTD defines is written by metatf-encode --dtd FILE' },
  },
  ARROW_FLAG,
]

/** The flags of commands that write events in any format. */
export const EVENT_FLAGS: readonly Flag[] = [...OUTPUT_FLAGS, ...TO_FLAGS, STRICT_FLAG]

/** The flag of commands that have one figure of temporary allocations. */
export const TEMPORARY_FLAG: Flag = flag(
  '--temporary-by WHOSE',
  "Take heaptrack's definition of temporary allocations (default: the next call of the process frees the block) or " +
    "memray's (its thread frees it, after at most one other allocation)",
  { values: TEMPORARY_DEFINITIONS },
)

/** The flags of commands that show stacks in one line: see docs/rows.md. */
export const ROW_FLAGS: readonly Flag[] = [
  flag(
    '--depth N',
    `Show the N innermost frames of each stack, however wide (default: at most ${FRAMES}, as many as fit)`,
  ),
  flag(
    '--hide REGEX',
    'Begin no row with a frame that matches, as with malloc, operator new and other wrappers of allocation',
    { repeat: true },
  ),
  flag('--show WHAT', 'all: begin rows with the innermost frame, whatever it is', { values: ['all'] }),
  flag('--full', 'Show whole names and paths, with template arguments and parameters'),
  flag(
    '--width N',
    'Make lines fit N columns (default: COLUMNS in the environment, or the width of the terminal, or 100)',
  ),
]

/** The flag of commands whose rows can have their callers below. */
export const TREE_FLAG: Flag = flag(
  '--tree',
  "Add sites up by the program's own innermost frame, and show the callers below each row",
)

/** The flag of commands that take names of functions from the modules of this machine. */
export const SYMBOLIZE_FLAG: Flag = flag(
  '--no-symbolize',
  'Take no names of functions from the modules of this machine, where the trace has only their offsets',
)

/** The sentences of their help about it. */
export const SYMBOLIZE_HELP =
  'Frames that have a module and an offset, and no function, get the names of that file on this machine, as by ' +
  "hf-symbolize, if it is there under its absolute path. heapflow's recorder notes build ids: a file " +
  'with another one is not used. A raw heaptrack file lists the addresses of the parts of each module: a file with ' +
  'others is not used. Where there are no build ids, a module that was changed after the trace was written gives no ' +
  'names, and a warning says so. Neither --debug-dir nor debuginfod are asked here: for these use hf-symbolize. The ' +
  'trace itself stays as it is.'

/** Leave known leaks out. */
export const SUPPRESS_FLAGS: readonly Flag[] = [
  flag('--suppress FILE', 'Leave leaks out that FILE names: rules of LeakSanitizer, heaptrack or valgrind', {
    reads: true,
    repeat: true,
  }),
  flag('--suppress-known', 'Leave out what the libraries of C, C++, Fortran and GLib keep until the end'),
  flag('--suppress-embedded', 'Leave out what the program itself names, by rules that heaptrack notes'),
]

/** The names of these flags. */
export const SUPPRESS_NAMES = SUPPRESS_FLAGS.map(({ name }) => name)

/** The sentence of their help about it. */
export const SUPPRESS_HELP =
  'Rules of --suppress are lines leak:PATTERN, which hold for stacks with such a function, file or module, and ' +
  "valgrind's blocks for Memcheck:Leak, whose symbols c++filt demangles. Those of --suppress-embedded are in files " +
  'of heaptrack, where the program has __lsan_default_suppressions().'

/** The same of commands that make a page. */
export const PAGE_SUPPRESS_HELP =
  `${SUPPRESS_HELP} What they suppress is not in the leaks of the trace, of its sites and stacks; the page says how ` +
  'much it is, marks their sites, and has the rules beside the trace, so that all parts of it are without them.'

/** Chooses the format of the input of commands that can read any. */
export const FROM_FLAG: Flag = {
  name: 'from',
  value: 'FORMAT',
  help: 'Read this format, whatever the first bytes look like',
  get values() {
    return FORMATS.map((format) => format.name)
  },
  instead: { metatf: 'a trace that a DTD describes is read by metatf-decode --dtd FILE' },
}

/** The flag of commands that merge several files. */
export const WINDOW_FLAG: Flag = flag(
  '--window N',
  `Put an event in order that comes up to N events late in its file (default ${MERGE_WINDOW}; less with more ` +
    'than 16 files)',
)

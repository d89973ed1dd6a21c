import type { Command } from '../command.js'
import { TOP } from '../defaults.js'
import { OUTPUT_FLAGS } from '../flags.js'

export const stats: Command = {
  name: 'hf-stats',
  summary: 'tell what is in a trace: totals, peaks, sizes, lifetimes, leaks',
  operands: '[FILE]',
  description:
    'In one pass: events by kind, function and thread; blocks and bytes allocated, freed, and live at the end; when the most was live; sizes and lifetimes by powers of two; blocks ' +
    'freed at once; frees of unknown blocks and what else is out of the ordinary; and by site, what was allocated, leaked and, where the trace tells, wasted. ' +
    'What each figure means: docs/statistics.md.\n' +
    "With --mpatrol or --table the output is that of mpatrol's own trace reader, for traces of any format: its statistics, or its table of events with them.\n" +
    'Several traces in one input are taken together, though no block outlives its trace, but for --mpatrol and --table, which show the first unless --trace says which.\n' +
    'Of an input that breaks off, the statistics of what was read are written before the error is told.',
  memory:
    'grows with the live blocks (75 to 120 bytes each), and with distinct sites, sizes and threads, up to 65536 of each (some MB).',
  flags: [
    { name: 'top', value: 'N', help: `Show at most N sites, sizes and threads (default ${TOP}; with --json all)` },
    { name: 'json', help: 'Write the statistics as JSON' },
    { name: 'mpatrol', help: "Write mpatrol's statistics only, in its words" },
    { name: 'table', help: "Write the table of events as mpatrol's reader does" },
    { name: 'sources', help: 'With --table: tell thread, function, file and line of each event' },
    { name: 'trace', value: 'N', help: 'Take only the trace number N of an input that has several' },
    ...OUTPUT_FLAGS,
  ],
  examples: [
    { command: 'hf-stats --top 5 dump.zip', means: 'the statistics of an Android dump' },
    {
      command: "hf-stats --json app.mtrc | jq '.sites[] | select(.leaked.blocks > 0)'",
      means: 'where leaks come from',
    },
    { command: 'hf-stats --table --sources app.mtrc | less', means: "every event, as in mpatrol's own listing" },
  ],
  run: async (args) => (await import('./stats.run.js')).runStats(args),
}

import { flag, type Command } from '../command.js'
import { FIRST_TOP, MAX_TIMELINE_ROWS, SECTIONS, SITE_GROUPS, SITE_ORDERS, TOP, TSV_SECTIONS } from '../defaults.js'
import * as Flags from '../flags.js'

export const stats: Command = {
  name: 'hf-stats',
  summary: 'summarize a trace: totals, peak, leaks, sizes, lifetimes',
  operands: '[FILE]',
  description:
    'Reports, from one pass: totals; what holds the peak, what leaks and what is temporary, by site (by size, if the ' +
    'trace has no sites), by process and by thread; anomalies such as double frees; and then tables and histograms ' +
    'of everything else that the trace has. What each figure means: docs/statistics.md.\n' +
    'With --allocator the output says which allocator the program used, found by simulating the versions of glibc, ' +
    'and how many addresses follow from the calls alone.\n' +
    "With --mpatrol or --table the output is that of mpatrol's own trace reader, for traces of any format: its " +
    'statistics, or its table of events followed by them.\n' +
    'If the input holds several traces, their statistics are combined (blocks still live at the end of each count as ' +
    'leaked). --mpatrol and --table show only the first, or the one given by --trace.\n' +
    `${Flags.SYMBOLIZE_HELP}\n` +
    `${Flags.SUPPRESS_HELP} What they suppress is not in the leaks of the trace and its sites, and is ` +
    'shown by itself; leaks by size and by thread still have it.\n' +
    'If the input is truncated, statistics for the part that was read are printed before the error.',
  memory:
    'grows with the live blocks (75 to 140 bytes each), and with distinct sites, sizes and threads, up to 65536 of ' +
    'each (1 to 2 KB for a site, less for the others).',
  flags: [
    flag('--section NAME', 'Show only this section', { repeat: true, values: SECTIONS }),
    flag(
      '--top N',
      `Show at most N sites, sizes and threads (default ${TOP}, and ${FIRST_TOP} in the tables that the whole ` +
        'report begins with; JSON and TSV: all)',
    ),
    ...Flags.ROW_FLAGS,
    Flags.TREE_FLAG,
    flag(
      '--by WHAT',
      'Tell allocations apart by site (default), function or module, with what these call; or by thread',
      { values: SITE_GROUPS },
    ),
    flag(
      '--sort KEY',
      'Sort the table of all sites by this figure; memray and heaptrack are temporary allocations by these ' +
        'definitions',
      {
        values: SITE_ORDERS,
        instead: { temporary: 'memray and heaptrack are the two definitions of temporary allocations' },
      },
    ),
    Flags.TEMPORARY_FLAG,
    flag('--timeline N', `Show how live bytes went up and down, in N rows (at most ${MAX_TIMELINE_ROWS})`),
    flag(
      '--every INTERVAL',
      'Show the main figures repeatedly while events come: a line after each 1s, 500ms, or 1M events',
    ),
    flag('--json', 'Write the statistics as JSON'),
    flag('--tsv', `Write one section as tab-separated values: ${TSV_SECTIONS.join(', ')}`),
    flag('--mpatrol', "Write only mpatrol's statistics, as its reader does"),
    flag('--table', "Write the table of events as mpatrol's reader does"),
    flag('--allocator', 'Report which allocator the addresses come from, and how many of them its simulation predicts'),
    flag('--sources', 'With --table: show thread, function, file and line of each event'),
    flag('--trace N', 'Take only trace number N of an input that holds several'),
    ...Flags.SUPPRESS_FLAGS,
    Flags.SYMBOLIZE_FLAG,
    ...Flags.OUTPUT_FLAGS,
  ],
  examples: {
    'hf-stats --top 5 dump.zip': 'the statistics of an Android dump',
    'hf-stats --section leaks app.mtrc': 'only what leaks',
    'hf-stats --suppress lsan.supp --suppress-known app.zst': 'without the leaks that are known',
    'hf-stats --by function --section peak app.heaptrack.zst': 'which functions hold the peak',
    'hf-stats --section timeline --timeline 200 --tsv app.mtrc > live.tsv': 'live bytes over the run, for a chart',
    "hf-stats --json app.mtrc | jq '.sites[] | select(.leaked.blocks > 0)'": 'where leaks come from',
    'mtrc-decode < pipe | hf-stats --every 1s':
      'the live set, while the program runs; in place on a terminal, NDJSON with --json',
    'hf-stats --allocator app.mtrc': 'which version of which allocator the program ran with',
    'hf-stats --table --sources app.mtrc | less': "every event, as in mpatrol's own listing",
  },
  run: async (args) => (await import('./stats.run.js')).runStats(args),
}

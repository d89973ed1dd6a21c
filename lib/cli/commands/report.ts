import { MIB } from '../../bytes/units.js'
import { PROFILE_MATCHES } from '../../transforms/option-values.js'
import { flag, type Command } from '../command.js'
import { MAX_EMBEDDED } from '../defaults.js'
import { OUTPUT_FLAGS, PAGE_SUPPRESS_HELP, SUPPRESS_FLAGS, SYMBOLIZE_FLAG, SYMBOLIZE_HELP } from '../flags.js'

export const report: Command = {
  name: 'hf-report',
  summary: 'write a report on a trace as a page for the browser: leaks, peak, churn, threads',
  operands: '[FILE]',
  description:
    'Writes one HTML file that shows a trace: memory over time, the sites and stacks that allocate, the live set at ' +
    'the end and when it was allocated, the peak, sizes and lifetimes, threads, addresses, and problems in the ' +
    'trace. It opens from disk, needs no network, and has at most 5 MB for any trace, and the trace itself on top; ' +
    'the page says what was left out. Without JavaScript it shows the first rows of each table. What the views ' +
    'show: docs/report.md.\n' +
    'The page contains the whole trace if that is small: in the compact format (.hfc), of the fast level. So the ' +
    'page can filter it as hf-filter does, show all views again for what is left, and save the trace. Whoever has ' +
    'the page has the trace, with its addresses, names of functions and files, and command lines. --embed 0 leaves ' +
    'it out.\n' +
    'The figures are those of hf-stats, from one pass over the trace. With --compare, the page also shows the sites ' +
    'whose figures differ from those of another trace, as hf-diff finds them. One of the inputs may be -, standard ' +
    'input.\n' +
    `${PAGE_SUPPRESS_HELP}\n` +
    `${SYMBOLIZE_HELP} The trace in the page has the names, so that all views show them.\n` +
    'If the input is truncated, the report on the part that was read is written before the error. OLD must be whole.',
  memory:
    'grows with the live blocks (125 to 400 bytes each), and with distinct stacks, up to 250000 (1 to 2 KB each); ' +
    'with --compare, with the stacks of both traces. While the trace is encoded for the page, 25 MB, 90 to 280 ' +
    'bytes for each live block, and the limit of --embed more; with --open, also twice the page.',
  flags: [
    flag('--compare OLD', 'Compare with the trace OLD, by site', { reads: true }),
    flag(
      '--match HOW',
      'With --compare: match frames by names (default), also by lines, or also by the addresses of those without a ' +
        'function',
      { values: PROFILE_MATCHES },
    ),
    flag(
      '--replay FILE',
      'Show the allocators that hf-replay --json compared with the calls of the trace: FILE is its output',
      { reads: true },
    ),
    flag('--trace N', 'Take only trace number N of an input that holds several'),
    flag(
      '--embed SIZE',
      'Put the trace into the page if it has at most SIZE bytes in the compact format, with K or M for 1024 or ' +
        `${MIB} of them (default ${MAX_EMBEDDED / MIB}M; 0: never)`,
    ),
    flag('--open', 'Show the report in the browser instead of writing it, until Ctrl-C; see hf-view'),
    ...SUPPRESS_FLAGS,
    SYMBOLIZE_FLAG,
    ...OUTPUT_FLAGS,
  ],
  examples: {
    'hf-report -o app.html app.mtrc': 'a report on a trace, to be opened in a browser',
    'mtrc-decode app.mtrc | hf-filter --thread 7 --lifetimes | hf-report > thread-7.html': 'of a part',
    'hf-report --embed 0 -o app.html app.mtrc': 'a page without the trace itself',
    'hf-replay --json app.mtrc | hf-report --replay - -o app.html app.mtrc': 'with what other allocators need',
    'hf-report --compare before.mtrc after.mtrc -o diff.html': 'what changed between two runs',
  },
  run: async (args) => (await import('./report.run.js')).runReport(args),
}

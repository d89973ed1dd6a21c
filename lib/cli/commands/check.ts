import { BUDGET_FIGURES } from '../../transforms/option-values.js'
import { flag, type Command } from '../command.js'
import { CHECK_FILE, CHECK_FORMATS, CHECK_SITES } from '../defaults.js'
import { OUTPUT_FLAGS, ROW_FLAGS, SUPPRESS_FLAGS, SUPPRESS_HELP, TEMPORARY_FLAG } from '../flags.js'

const FIGURES = Object.entries(BUDGET_FIGURES)

export const check: Command = {
  name: 'hf-check',
  summary: 'fail if a program takes more memory than its budget, or than it did before',
  operands: '[FILE ...]',
  description:
    'Compares the figures of a trace, of any format, with budgets: the largest value that each may have, or by how ' +
    'much it may grow since the traces given by --baseline. For each budget that is exceeded, the sites are shown in ' +
    'which the figure changed most; without a baseline, those with most of it.\n' +
    'A limit is a number of bytes, which may end in K, M or G for powers of 1,024; or a number of others, for which ' +
    'these are powers of 1,000. --max-temporary takes a percentage of the allocations, too, and --max-wasted one of ' +
    'the bytes taken. Growth is a percentage, a number, or their sum: --grow peak=5%,leaked=0,allocated=2%+64K.\n' +
    'Budgets after --at PATTERN are of the functions that match it, together with what they call; budgets after ' +
    '--each PATTERN are of each function that matches, for itself. In a pattern, * stands for any characters.\n' +
    'Several files are runs of the same program. Then a figure must be within --max in each run. It has grown if the ' +
    'median of the runs is beyond the limit, and if every run is above every run of the baseline.\n' +
    `${SUPPRESS_HELP} What they suppress does not count as leaked, and is shown by itself.\n` +
    `Without --max-..., --grow and --budgets, the budgets are those of ${CHECK_FILE} in this folder. How to choose ` +
    'budgets, and examples: docs/ci.md.',
  exitStatus: {
    '0': 'All budgets hold.',
    '1': 'A budget is exceeded.',
    '2': 'The command line, or the file of budgets, is wrong.',
    '3': 'A trace cannot be read to its end, a figure cannot be known, or the output cannot be written.',
  },
  memory:
    'grows with the live blocks of one trace at a time (75 to 140 bytes each, once more for each --at and --each), ' +
    'and the stacks of all.',
  flags: [
    ...FIGURES.map(([name, { title, unit, ...about }]) => ({
      name: `max-${name}`,
      value: 'whole' in about ? 'N|N%' : 'N',
      help: `Limit the ${title}${unit === 'bytes' && !title.startsWith('bytes') ? ', in bytes' : ''}`,
      repeat: true,
      group: 'Budgets',
    })),
    flag(
      '--grow FIGURE=LIMIT,...',
      'Limit the growth of figures since the baseline; their names are those of --max-...',
      { repeat: true, group: 'Budgets' },
    ),
    flag('--at PATTERN', 'The budgets that follow are of the functions that match, with what they call', {
      repeat: true,
      group: 'Budgets',
    }),
    flag('--each PATTERN', 'The budgets that follow are of each function that matches, without what it calls', {
      repeat: true,
      group: 'Budgets',
    }),
    flag('--budgets FILE', 'Read budgets from a JSON file, too', { reads: true, group: 'Budgets' }),
    flag('--baseline FILE', 'A trace of an earlier version, for --grow; repeat it for several runs', {
      reads: true,
      repeat: true,
    }),
    flag('--to FORM', `Write the result in this form (default ${CHECK_FORMATS[0]})`, { values: CHECK_FORMATS }),
    TEMPORARY_FLAG,
    flag('--top N', `Name at most N sites for each budget that is exceeded (default ${CHECK_SITES})`),
    ...SUPPRESS_FLAGS,
    ...ROW_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: {
    'hf-check run.hfc --max-peak 200M --max-leaked 0 --max-temporary 20%':
      'fail if the program takes too much, leaks, or allocates in vain',
    "hf-check run.hfc --baseline main.hfc --grow peak=5%,allocations=2% --each '*' --grow peak=10%+64K":
      'fail if the program, or one of its functions, takes more memory than before',
    'hf-check run1.hfc run2.hfc run3.hfc --budgets ci/memory.json --to junit -o memory.xml':
      'check three runs, and write the result for a server',
  },
  run: async (args) => (await import('./check.run.js')).runCheck(args),
}

import { PROFILE_MATCHES } from '../../transforms/option-values.js'
import { flag, type Command } from '../command.js'
import { DIFF_FORMS, DIFF_ORDERS, TOP } from '../defaults.js'
import * as Flags from '../flags.js'

export const diff: Command = {
  name: 'hf-diff',
  summary: 'compare two traces by site: what is allocated, live at the peak and at the end, temporary',
  operands: 'OLD NEW',
  description:
    'Takes the profiles of two traces, of any formats, and shows the sites whose figures differ, the largest ' +
    'difference first. Sites are the same if the functions of their stacks have the same names, whatever their lines ' +
    'and addresses, unless --match asks for more. A frame without a function is a module and an offset. One of the ' +
    'traces may be -, standard input.\n' +
    `${Flags.SUPPRESS_HELP} What they suppress is leaked in neither trace, and how much it is is said on ` +
    'standard error.\n' +
    `${Flags.SYMBOLIZE_HELP}\n` +
    'If no event of either trace has a site, sizes of blocks are compared instead. If nothing differs, one sentence ' +
    'says so. Both traces must be whole: of a truncated one, only the error is shown. With --to html, the page on ' +
    'the part of NEW that was read is written before the error.',
  memory: 'grows with the live blocks of one trace at a time (75 to 140 bytes each), and the stacks of both.',
  flags: [
    flag('--sort KEY', `Order sites by this figure (default ${DIFF_ORDERS[0]})`, { values: DIFF_ORDERS }),
    flag('--top N', `Show at most N sites (default ${TOP}; JSON: all)`),
    ...Flags.ROW_FLAGS,
    Flags.TREE_FLAG,
    flag(
      '--match HOW',
      'Match frames by names (default), also by lines, or also by the addresses of those without a function',
      { values: PROFILE_MATCHES },
    ),
    Flags.TEMPORARY_FLAG,
    flag('--json', 'Write the difference as JSON'),
    flag(
      '--to FORM',
      'Write a page for the browser: flame graph and tables by change, both runs over time (see hf-report)',
      { values: DIFF_FORMS },
    ),
    flag('--collapsed', 'Write collapsed stacks with the old and the new bytes, for differential flame graphs'),
    flag('--thread-root', 'Put the thread that allocated at the root of each stack'),
    ...Flags.SUPPRESS_FLAGS,
    Flags.SYMBOLIZE_FLAG,
    ...Flags.OUTPUT_FLAGS,
  ],
  examples: {
    'hf-diff before.mtrc after.mtrc': 'what leaks now, and did not',
    'hf-diff --to html -o diff.html before.mtrc after.mtrc': 'the same as a page for the browser',
    'hf-diff --collapsed --sort peak a.mtrc b.mtrc | flamegraph.pl > diff.svg':
      'a differential flame graph of the peaks',
  },
  run: async (args) => (await import('./diff.run.js')).runDiff(args),
}

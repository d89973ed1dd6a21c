import { PROFILE_FORMATS } from '../../exports/profile-formats.js'
import { PROFILE_VALUES } from '../../transforms/option-values.js'
import { flag, type Command } from '../command.js'
import * as Flags from '../flags.js'

export const profile: Command = {
  name: 'hf-profile',
  summary: 'write a profile of a trace for the viewers that you know: pprof, flame graphs and others',
  operands: '[FILE]',
  description:
    'Sums up the blocks of a trace by the stacks that allocated them, in one pass, and writes a file for another ' +
    'tool. An allocation without a stack is represented by its function, file and line, else by its call site. What ' +
    'the tools show of it: docs/profiles.md. Stacks end with the innermost frame of the program itself: wrappers of ' +
    'allocation below it, such as operator new, are left out.\n' +
    'pprof and speedscope hold all figures: what was allocated, what was live at the peak, what was live at the ' +
    'moment of --at, temporary allocations, and frees by other threads; collapsed holds one of them. dhat, massif ' +
    'and chrome have figures of their own: massif and chrome show memory over time. The sums are those of hf-stats.\n' +
    `${Flags.SUPPRESS_HELP} What they suppress is not live at the end, and how much it is is said on standard ` +
    'error.\n' +
    `${Flags.SYMBOLIZE_HELP}\n` +
    'If the input is truncated, the profile of the part that was read is written before the error.',
  memory: 'grows with the live blocks (75 to 140 bytes each), and with distinct stacks, up to 250000 (1 to 2 KB each).',
  flags: [
    flag('--to TOOL', 'Write for this tool; by default, what the name after -o says', {
      values: PROFILE_FORMATS.map(({ name }) => name),
    }),
    flag(
      '--at MOMENT',
      'Take the live figures at the end (default), at the peak, after event N (a number), or at time:T (of several ' +
        'traces, in the first that reaches it)',
    ),
    flag('--value FIGURE', 'Write this figure where the format holds one, else show it first', {
      values: PROFILE_VALUES,
    }),
    Flags.TEMPORARY_FLAG,
    flag(
      '--hide REGEX',
      'Leave out innermost frames that match, as malloc, operator new and other wrappers of allocation',
      { repeat: true },
    ),
    flag('--show WHAT', 'all: leave out no frames', { values: ['all'] }),
    flag('--thread-root', 'Put the thread that allocated at the root of each stack'),
    flag('--lines', 'Keep the lines of a function apart in collapsed and speedscope, where it is one frame otherwise'),
    flag('--trace N', 'Take only trace number N of an input that holds several'),
    ...Flags.SUPPRESS_FLAGS,
    Flags.SYMBOLIZE_FLAG,
    ...Flags.OUTPUT_FLAGS,
  ],
  sections: [{ title: 'Tools', rows: PROFILE_FORMATS.map(({ name, title }) => [name, title]) }],
  examples: {
    'hf-profile -o app.pb.gz app.mtrc && go tool pprof -top -sample_index=peak_space app.pb.gz':
      'the functions that hold the peak',
    'hf-profile --to collapsed --value live-bytes app.mtrc | flamegraph.pl --colors mem > leaks.svg':
      'a flame graph of the live set at the end',
  },
  run: async (args) => (await import('./profile.run.js')).runProfile(args),
}

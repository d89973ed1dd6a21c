import { ORDERS, EPOCH_EVENTS } from '../../transforms/drive/layout.js'
import { flag, type Command } from '../command.js'
import { REPLAY_RUNS, TOUCHES } from '../defaults.js'

export const replay: Command = {
  name: 'hf-replay',
  summary: 'run real allocators with the calls of a trace, and compare them',
  operands: '[FILE]',
  description:
    'Makes the calls of a trace again, with each allocator in processes of its own, and measures their processor ' +
    'time, resident set, page faults and single calls. The first lines say which allocator needs less, and with what ' +
    'margin; the first allocator is the one that the others are compared with. The method, the figures and how well ' +
    'they agree with real programs: docs/allocators.md.\n' +
    'The calls are made by a small program in C. The npm package has it for Linux on x86-64 and arm64; elsewhere, ' +
    'and where CC names a compiler, it is compiled when it is used for the first time. Each thread of the trace is a ' +
    'thread there. Frees of unknown blocks, double frees, failed calls and blocks from before the recording are ' +
    'skipped and counted; a block whose address is allocated again is freed before, and the blocks of a process are ' +
    'freed when it ends. An allocator that gives no memory to a call makes other calls than those of the trace: it ' +
    'has no rank, and is not compared.\n' +
    'The input may be in any format whose events say which block they are about. If it is truncated, the part that ' +
    'was read is replayed before the error.',
  memory:
    'grows with the live blocks (50 to 150 bytes each; 200 to 800 if the trace is a file, for the line about pools), ' +
    'and with the threads; the replay itself takes what the trace takes.',
  flags: [
    flag(
      '--allocator NAME',
      'Run this allocator: glibc, jemalloc, mimalloc, tcmalloc, rpmalloc, snmalloc, hoard, or the path of ' +
        'a library (default all that are installed)',
      { repeat: true },
    ),
    flag('--runs N', `Run each allocator N times, in turn (default ${REPLAY_RUNS})`),
    flag('--touch WHAT', 'Write to all of each new block (default), a byte of each page, the first byte, or none', {
      values: TOUCHES,
    }),
    flag(
      '--order HOW',
      `Between threads, keep the order of epochs of ${EPOCH_EVENTS} events (default), of lifetimes only, ` +
        `or of all events`,
      { values: ORDERS },
    ),
    flag('--pace', 'Wait for the times of the trace, for allocators that return memory by the clock'),
    flag('--verify', 'Instead of measuring, see whether blocks overlap, lose data or are misaligned'),
    flag('--json', 'Write all figures as JSON, also over time; hf-report --replay shows them'),
    flag('--android', 'Write the figures of one allocator as memory_replay does'),
    flag('--limit SECONDS', 'End a run that takes longer (default 600)'),
    flag('-o, --output FILE', 'Keep the operations that are executed in FILE'),
  ],
  exitStatus: { 1: 'bad input or I/O error, an allocator that fails, or a fault or failed call that --verify found' },
  examples: {
    'hf-replay app.mtrc': 'compare all allocators that are installed',
    'hf-replay --allocator glibc --allocator ./libmine.so app.hfrec':
      'compare your allocator with that of the C library',
    'hf-replay --json app.hfrec | hf-report --replay - -o app.html app.hfrec':
      'a page with the resident set of each allocator over the calls',
    'hf-replay --verify --allocator ./libmine.so app.mtrc': 'see whether it damages blocks',
  },
  run: async (args) => (await import('./replay.run.js')).runReplay(args),
}

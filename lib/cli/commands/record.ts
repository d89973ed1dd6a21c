import { flag, type Command } from '../command.js'
import { OUTPUT_FLAGS, STRICT_FLAG, TO_FLAGS } from '../flags.js'
import { MAX_STACK_DEPTH, RECORDER_NAMES, STACK_DEPTH } from '../../streams/record/names.js'

const [TO, ...OTHERS] = TO_FLAGS

export const record: Command = {
  name: 'hf-record',
  summary: 'run a program and record its allocations',
  operands: '{-- COMMAND [ARGUMENT]... | --pid N}',
  isOpenEnded: true,
  description:
    "Runs a program under heapflow's own recorder (Linux on x86-64 or arm64, glibc 2.17 or later), " +
    'and writes its events as they happen: each call with its thread, time, usable size and whole stack. Where it ' +
    "cannot run, heaptrack is used, or else glibc's mtrace, and a note says why. --with chooses another recorder.\n" +
    'With -o the standard streams of the program are untouched. Without it, events go to standard output, and what ' +
    'the program writes to its standard output goes to standard error.\n' +
    'The program gets the signals that hf-record gets, and its exit status becomes that of hf-record (128 and the ' +
    "signal's number if a signal ended it). If the reader of the events goes away, the program runs on.\n" +
    "A trace of heapflow's own recorder is whole however the program ends, _exit and signals included. " +
    'Processes that the program starts are recorded, too, by fork, vfork, posix_spawn and exec: so a script records ' +
    'the program that it runs. Events of the first process have no process, those of the others have its number, ' +
    'from 2 on, and a comment says which program that is. hf-record waits for those that outlive the program; a ' +
    'signal ends the recording then. --no-children records the program alone, and what it becomes by exec. When ' +
    'events cannot be written as fast as they come, the program waits. With --to recorder, and for a name that ends ' +
    'in .hfrec, the recorder writes the output itself. Compact traces (.hfc) are written as by compact-encode ' +
    '--fast, unless --best is given, and gzip (.gz) has a fast level, too; hf-convert makes both smaller ' +
    'afterwards.\n' +
    '--pid records a program that runs already, from now on: no debugger is needed, and its heap, its threads and ' +
    'its descriptors stay as they are. Of its blocks from before, those that it frees or resizes are events. Ctrl-C ' +
    'ends the recording, and the program goes on. It takes x86-64.\n' +
    'heaptrack and glibc record the program itself, with all of its threads, but none of its children. Their traces, ' +
    'and those of the recorders that follow, are reported as truncated if a signal ended the program, or if it left ' +
    'without running its exit handlers. valgrind also records children that run the same program, until they end (a ' +
    'signal to hf-record ends the recording earlier), and ltrace all children; the events of each process have its ' +
    'number. perf records the slab allocator of the whole kernel while the program runs, and needs the rights of ' +
    'root.\n' +
    "heaptrack's format is written as an interpreted file, which heaptrack_print and heaptrack_gui open; a file " +
    'whose name ends in .raw keeps the addresses.',
  exitStatus: {
    '0': 'The program succeeded, and was recorded; also if the reader of the output closed the pipe.',
    '1': 'The exit status of the program; or bad input or I/O error.',
    '2': 'The exit status of the program; or usage error.',
    '3 to 125': 'The exit status of the program.',
    '126, 127': 'The program cannot be run, or is not found.',
    '129, 130, 143': 'SIGHUP, SIGINT or SIGTERM ended the program; 128 and the number of the signal for any other.',
  },
  memory: 'constant.',
  flags: [
    flag(
      '--stack',
      'Record call stacks with the names of functions at once: with heaptrack, if it is installed; not in files ' +
        "(.hfrec) of heapflow's own recorder",
    ),
    flag('--with NAME', 'Use this recorder', {
      values: RECORDER_NAMES,
      instead: { mtrace: "glibc's mtrace is called glibc here" },
    }),
    flag(
      '--stack-depth N',
      `Record the N innermost frames of stacks, 0 to ${MAX_STACK_DEPTH} (recorder only, default ${STACK_DEPTH})`,
    ),
    flag('--no-stacks', 'Record no stacks (recorder only)'),
    flag('--free-stacks', 'Record the stacks of frees, too (recorder only)'),
    flag('--no-children', 'Record only the program itself, not the processes that it starts (recorder only)'),
    flag(
      '--pid N',
      'Record process N, which runs already, until it ends or Ctrl-C comes; it goes on then (recorder only)',
    ),
    flag(
      '--print-preload',
      'Do not run the program: show what to start, and the environment of the program, where something else starts ' +
        'it, such as a service manager; with -o FILE.hfrec (recorder only)',
    ),
    flag('--drop', 'Drop and count events that cannot be written as fast as they come (recorder only)'),
    {
      name: 'to',
      value: 'FORMAT',
      help:
        'Write this format; recorder: that of .hfrec, as the recorder writes it, for which nothing else runs beside ' +
        'the program, and which the next command reads fastest',
      get values() {
        return [...(TO.values ?? []), 'recorder']
      },
      ...(TO.instead !== undefined && { instead: TO.instead }),
    },
    ...OTHERS,
    flag('--best', 'Compress a compact trace (.hfc) as far as possible: the program waits for it'),
    ...OUTPUT_FLAGS,
    STRICT_FLAG,
  ],
  examples: {
    'hf-record -- git log | hf-stats': 'who holds the peak, and who leaks',
    'hf-record --to recorder -- ./app | hf-stats':
      'the same with less time beside the program: lines of JSON repeat each stack',
    'hf-record -o app.ndjson.gz -- ./app --verbose': 'keep a trace for later, with its stacks',
    'hf-record --stack -o app.heaptrack -- ./app': 'a file for heaptrack_gui, with the names of functions',
    'hf-record -o run.hfrec -- sh run.sh && hf-stats run.hfrec': 'what a script runs, with threads and whole stacks',
    'hf-record --pid 4711 -o server.hfrec': 'what a server does that runs already, until Ctrl-C',
    'hf-record --print-preload -o /var/tmp/app.hfrec': 'what a service needs to be recorded',
    'hf-record -- ./server | hf-filter --size 1M.. --lifetimes | hf-stats --every 1s':
      'watch the large blocks of a server',
  },
  run: async (args) => (await import('./record.run.js')).runRecord(args),
}

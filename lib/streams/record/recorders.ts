import { spawnSync } from 'node:child_process'
import { inLibraries, preload } from './libraries.js'
import { STACK_DEPTH, type RecorderName } from './names.js'
import * as Compiled from './compiled.js'

/** The way to start a program so that it is recorded. */
export interface Launch {
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** The program is another process than the one that is started. */
  readonly isTracer?: boolean
  /** The trace goes to standard output, and what the program writes there to descriptor 3. */
  readonly writesToOutput?: boolean
}

/** Options of heapflow's own recorder. */
export interface Settings {
  /** The maximum number of frames of a stack; 0 for no stacks. */
  readonly depth: number
  /** Events are dropped, and counted, when they cannot be written as fast as they come; otherwise the program waits. */
  readonly drops: boolean
  /** Whether the processes that the program starts are recorded, too. */
  readonly children: boolean
  /** Whether frees have stacks, too. */
  readonly freeStacks: boolean
  /** Whether its output is compressed with zstd, if the machine has libzstd. */
  readonly compresses: boolean
}

/** The default settings. */
export const SETTINGS: Settings = {
  depth: STACK_DEPTH,
  drops: false,
  children: true,
  freeStacks: false,
  compresses: false,
}

/** The way to start heapflow's own recorder. @param isAttached it records a process that runs already */
export function launchReader(isAttached: boolean): Recorder['launch'] {
  return (words, trace, folder, settings, env) => ({
    words: [
      Compiled.compiled(Compiled.RECORDER_READER, folder),
      ...readerWords(trace, Compiled.compiled(Compiled.RECORDER_LIBRARY, folder), settings, isAttached),
      ...words,
    ],
    env,
    isTracer: !isAttached,
  })
}

/**
 * The arguments of the reader of heapflow's own recorder.
 * @param library the library that it loads into a program; or the memory file to make for programs that others start
 * @param isAttached it loads the library into a process that runs already, whose number follows
 */
export function readerWords(trace: string, library: string, settings: Settings, isAttached = false): string[] {
  const { depth, drops, children, freeStacks, compresses } = settings
  const letters = Object.entries({ d: drops, c: children, f: freeStacks, z: compresses, a: isAttached })
  // It takes a word, even if there is nothing to say.
  return [trace, library, String(depth), `-${letters.flatMap(([letter, isSet]) => (isSet ? letter : [])).join('')}`]
}

/** A program or library that records the allocations of another program. */
export interface Recorder {
  readonly name: RecorderName
  /** The name of the format that it writes. */
  readonly format: string
  readonly stacks: boolean
  /** Whether it can be chosen without being requested by name. */
  readonly isDefault: boolean
  /** The subject of the recording: a program, into which the recorder may be loaded as a library, or the kernel. */
  readonly records: 'loaded' | 'program' | 'kernel'
  /** Processes started by the program write to the same trace, even after the program's end. */
  readonly hasChildren: boolean
  /** Its trace is whole however the program ends, and says how that was. */
  readonly outlives?: boolean
  /** Its log, but not its exit status, shows how the program ended. */
  readonly logsEnding?: boolean
  /** The first bytes of a trace, which other bytes may precede. */
  readonly beginning?: RegExp
  /** The program that the trace has to go through, and its arguments. */
  filter?(stacks: boolean): [string, ...string[]] | undefined
  /** The packages to install; undefined if it can be used. */
  missing(): string | undefined
  /**
   * @param words the program and its arguments
   * @param trace the pipe to write to
   * @param folder for temporary files
   * @param settings for the recorder that has them
   * @param env the environment of the program without the recorder
   * @throws Error if it cannot be used after all
   */
  launch(words: readonly string[], trace: string, folder: string, settings: Settings, env: NodeJS.ProcessEnv): Launch
  /** Whether a trace with this end is complete, if that can be known. */
  isWhole?(tail: string): boolean
}

const MALLOC_DEBUG = 'libc_malloc_debug.so.0'

const heaptrackLibrary = (): string | undefined => inLibraries('heaptrack/libheaptrack_preload.so')

/** The functions whose calls ltrace logs: the allocator's, and functions that distinguish processes from threads. */
const LTRACE_CALLS =
  'malloc free calloc realloc memalign aligned_alloc posix_memalign valloc pvalloc fork pthread_create'
    .split(' ')
    .map((name) => `${name}@libc.so.6`)
    .join('+')

/** The tracepoints that perf records. */
const PERF_EVENTS = ['kmalloc', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free']
  .map((name) => `-e kmem:${name}`)
  .join(' ')

/** In the order in which they are tried. */
const RECORDERS: readonly Recorder[] = [
  {
    name: 'recorder',
    format: 'recorder',
    stacks: true,
    isDefault: true,
    records: 'loaded',
    hasChildren: false,
    outlives: true,
    missing() {
      if (process.platform !== 'linux' || !Compiled.RECORDER_MACHINES.includes(process.arch))
        return 'Linux on x86-64 or arm64'
      if (!Compiled.canMake(Compiled.RECORDER_LIBRARY, Compiled.RECORDER_READER)) return 'a C compiler (cc)'
      const obstacle = Compiled.obstacleToMaking(Compiled.RECORDER_LIBRARY, Compiled.RECORDER_READER)
      return obstacle && `a C compiler and glibc 2.17 or later (${obstacle})`
    },
    launch: launchReader(false),
  },
  {
    name: 'heaptrack',
    format: 'heaptrack',
    stacks: true,
    isDefault: true,
    records: 'loaded',
    hasChildren: false,
    beginning: /(?<=\n)v [0-9a-f]+ [0-9a-f]+\nx /,
    filter(stacks) {
      const interpreter = stacks ? inLibraries('heaptrack/libexec/heaptrack_interpret') : undefined
      return interpreter === undefined ? undefined : [interpreter]
    },
    missing: () => (heaptrackLibrary() === undefined ? 'heaptrack' : undefined),
    launch: (words, trace, _folder, _settings, env) => ({
      words,
      env: { ...env, DUMP_HEAPTRACK_OUTPUT: trace, LD_PRELOAD: preload([heaptrackLibrary() as string], env) },
    }),
    // The last that its exit handler writes are the time and the resident bytes.
    isWhole: (tail) => /(?:^|\n)c [0-9a-f]+\n(?:R [0-9a-f]+\n)?$/.test(tail),
  },
  {
    name: 'glibc',
    format: 'glibc-mtrace',
    stacks: false,
    isDefault: true,
    records: 'loaded',
    hasChildren: false,
    missing() {
      if (inLibraries(MALLOC_DEBUG) === undefined) return 'glibc 2.34 or newer, with libc_malloc_debug.so.0'
      return Compiled.canMake(Compiled.START_OBJECT) ? undefined : 'a C compiler (cc)'
    },
    launch(words, trace, folder, _settings, env) {
      const before = env['LD_PRELOAD']
      return {
        words,
        env: {
          ...env,
          MALLOC_TRACE: trace,
          LD_PRELOAD: preload([MALLOC_DEBUG, Compiled.compiled(Compiled.START_OBJECT, folder)], env),
          ...(before !== undefined && { HEAPFLOW_LD_PRELOAD: before }),
        },
      }
    },
    isWhole: (tail) => tail.endsWith('= End\n'),
  },
  {
    name: 'valgrind',
    format: 'valgrind',
    stacks: false,
    isDefault: false,
    records: 'program',
    hasChildren: true,
    missing: () => missingProgram('valgrind'),
    launch: (words, trace, _folder, _settings, env) => ({
      words: ['valgrind', '--trace-malloc=yes', '--leak-check=no', `--log-file=${trace}`, ...words],
      env,
    }),
  },
  {
    name: 'ltrace',
    format: 'ltrace',
    stacks: false,
    isDefault: false,
    records: 'program',
    hasChildren: false,
    logsEnding: true,
    missing: () => missingProgram('ltrace'),
    launch: (words, trace, _folder, _settings, env) => ({
      words: [...`ltrace -f -ttt -x ${LTRACE_CALLS} -L -o`.split(' '), trace, ...words],
      env,
      isTracer: true,
    }),
  },
  {
    name: 'perf',
    format: 'tracepoints',
    stacks: false,
    isDefault: false,
    records: 'kernel',
    hasChildren: false,
    filter: () => ['perf', 'script', '-i', '-'],
    missing: () => missingProgram('perf'),
    launch: (words, _trace, _folder, _settings, env) => ({
      words: [...`perf record -q -a ${PERF_EVENTS} -o - -- sh -c`.split(' '), 'exec "$@" >&3 3>&-', 'sh', ...words],
      env,
      isTracer: true,
      writesToOutput: true,
    }),
  },
]

/** A recorder that is not there, or cannot do what it should. */
export class RecorderError extends Error {
  override name = 'RecorderError'
}

/** The recorder to use. */
export interface Choice {
  readonly recorder: Recorder
  /** The reason why it is not heapflow's own, if no other one was named. */
  readonly note?: string
}

/**
 * The recorder to use: heapflow's own where it can run. For stacks with names it is heaptrack, which has them at once.
 * @param name the requested one
 * @param stacks whether it must record call stacks with names
 * @throws RecorderError with advice on what to install
 */
export function chooseRecorder(name: string | undefined, stacks: boolean): Choice {
  const named = RECORDERS.find((recorder) => recorder.name === name)
  if (named !== undefined) {
    if (stacks && !named.stacks)
      throw new RecorderError(`${named.name} records no call stacks; heaptrack and recorder do`)
    const missing = named.missing()
    if (missing !== undefined)
      throw new RecorderError(
        named.name === 'recorder'
          ? `the recorder needs ${missing}`
          : `${named.name} needs ${missing}: install it first`,
      )
    return { recorder: named }
  }
  const own = RECORDERS.find((recorder) => recorder.outlives === true) as Recorder
  const others = RECORDERS.filter((recorder) => recorder !== own && recorder.isDefault && (recorder.stacks || !stacks))
  if (stacks) {
    const found = others.find((recorder) => recorder.missing() === undefined)
    if (found !== undefined) return { recorder: found }
  }
  const missing = own.missing()
  if (missing === undefined) return { recorder: own }
  const found = others.find((recorder) => recorder.missing() === undefined)
  if (found === undefined)
    throw new RecorderError(
      `there is no recorder: heapflow's own needs ${missing}; install that, or heaptrack; --with names others`,
    )
  return { recorder: found, note: `heapflow's own recorder needs ${missing}; ${found.name} records, without threads` }
}

function missingProgram(name: string): string | undefined {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined ? undefined : name
}

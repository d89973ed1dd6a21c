import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { formatNamed } from '../../formats/index.js'
import { UsageError } from '../command.js'
import { killed, type Ending } from './program.js'
import { canMakeStartObject, startObject } from './start-object.js'

/** How a program is started so that it is recorded. */
export interface Launch {
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** The program is another process than the one that is started. */
  readonly isTracer?: boolean
}

/** A program or library that records the allocations of another program. */
export interface Recorder {
  readonly name: RecorderName
  /** The name of the format that it writes. */
  readonly format: string
  readonly stacks: boolean
  /** The program that puts names into the call stacks of its trace. */
  stackNames?(): string | undefined
  /** Chosen if it is not asked for by name. */
  readonly isDefault: boolean
  /** What to install; undefined if it can be used. */
  missing(): string | undefined
  /**
   * @param words the program and its arguments
   * @param trace the pipe to write to
   * @param folder for temporary files
   * @throws Error if it cannot be used after all
   */
  launch(words: readonly string[], trace: string, folder: string): Launch
  /** Whether a trace with this end is complete, if that can be known. */
  isWhole?(tail: string): boolean
  /** How the program ended, where the trace knows better than the recorder's own exit status. */
  ending?(tail: string): Ending | undefined
}

export type RecorderName = 'heaptrack' | 'glibc' | 'valgrind' | 'ltrace'

const LIBRARY_FOLDERS = [
  '/lib/x86_64-linux-gnu',
  '/lib/aarch64-linux-gnu',
  '/lib/i386-linux-gnu',
  '/lib/arm-linux-gnueabihf',
  '/lib/riscv64-linux-gnu',
  '/lib/powerpc64le-linux-gnu',
  '/lib/s390x-linux-gnu',
  '/lib64',
  '/lib',
  '/usr/lib64',
  '/usr/lib',
  '/usr/local/lib',
]

const MALLOC_DEBUG = 'libc_malloc_debug.so.0'

const heaptrackLibrary = (): string | undefined => inFolders('heaptrack/libheaptrack_preload.so')

/** In the order in which they are tried. */
export const RECORDERS: readonly Recorder[] = [
  {
    name: 'heaptrack',
    format: 'heaptrack',
    stacks: true,
    isDefault: true,
    stackNames: () => inFolders('heaptrack/libexec/heaptrack_interpret'),
    missing: () => (heaptrackLibrary() === undefined ? 'heaptrack' : undefined),
    launch: (words, trace) => ({
      words,
      env: { ...process.env, DUMP_HEAPTRACK_OUTPUT: trace, LD_PRELOAD: preload([heaptrackLibrary() as string]) },
    }),
  },
  {
    name: 'glibc',
    format: 'glibc-mtrace',
    stacks: false,
    isDefault: true,
    missing() {
      if (inFolders(MALLOC_DEBUG) === undefined) return 'glibc 2.34 or newer, with libc_malloc_debug.so.0'
      return canMakeStartObject() ? undefined : 'a C compiler (cc)'
    },
    launch(words, trace, folder) {
      const before = process.env['LD_PRELOAD']
      return {
        words,
        env: {
          ...process.env,
          MALLOC_TRACE: trace,
          LD_PRELOAD: preload([MALLOC_DEBUG, startObject(folder)]),
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
    missing: () => missingProgram('valgrind'),
    launch: (words, trace) => ({
      words: ['valgrind', '--trace-malloc=yes', '--leak-check=no', `--log-file=${trace}`, ...words],
      env: process.env,
    }),
  },
  {
    name: 'ltrace',
    format: 'ltrace',
    stacks: false,
    isDefault: false,
    missing: () => missingProgram('ltrace'),
    launch: (words, trace) => {
      const calls = ['malloc', 'free', 'calloc', 'realloc'].map((name) => `${name}@libc.so.6`).join('+')
      return {
        words: ['ltrace', '-f', '-ttt', '-x', calls, '-L', '-o', trace, ...words],
        env: process.env,
        isTracer: true,
      }
    },
    // Its own exit status is 0 whatever the program's is.
    ending(tail) {
      const last = [...tail.matchAll(/\+\+\+ (?:exited \(status (\d+)\)|killed by (SIG\w+)) \+\+\+$/gm)].at(-1)
      if (last === undefined) return undefined
      return last[2] === undefined ? { status: Number(last[1]) } : killed(last[2])
    },
  },
]

/**
 * The recorder to use.
 * @param name the one asked for
 * @param stacks it has to record call stacks
 * @throws UsageError that says what to install
 */
export function chooseRecorder(name: string | undefined, stacks: boolean): Recorder {
  const named = RECORDERS.find((recorder) => recorder.name === name)
  if (named !== undefined) {
    if (stacks && !named.stacks) throw new UsageError(`${named.name} records no call stacks; heaptrack does`)
    const missing = missingOf(named)
    if (missing !== undefined) throw new UsageError(`${named.name} needs ${missing}: install it first`)
    return named
  }
  const found = RECORDERS.find(
    (recorder) => recorder.isDefault && (recorder.stacks || !stacks) && missingOf(recorder) === undefined,
  )
  if (found !== undefined) return found
  throw new UsageError(
    stacks
      ? 'recording call stacks needs heaptrack: install it first'
      : "there is no recorder: install heaptrack or, for glibc's own, a C compiler (cc); --with names others",
  )
}

function missingOf(recorder: Recorder): string | undefined {
  return formatNamed(recorder.format) === undefined ? 'a newer heapflow' : recorder.missing()
}

function inFolders(name: string): string | undefined {
  return LIBRARY_FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}

function missingProgram(name: string): string | undefined {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined ? undefined : name
}

/** A value of LD_PRELOAD with these libraries first. */
function preload(libraries: readonly string[]): string {
  const before = process.env['LD_PRELOAD']
  return [...libraries, ...(before === undefined ? [] : [before])].join(' ')
}

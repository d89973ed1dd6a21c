import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder, isTrusted, keepFile } from '../io/kept-file.js'
import { ownFile } from '../own-files.js'
import { isPlainPath, recordingFolder } from './folder.js'

/** The first minor version of glibc 2 for which the recorder can be compiled. */
const LEAST_GLIBC = 17

/** The exit status of the programs for a wrong use. */
const USAGE = 2

/** A file that the package has in compiled form, or that is compiled when it is first used. */
export interface Native {
  /** Its description in messages. */
  readonly what: string
  /** The beginning of its name in the cache, and its ending. */
  readonly name: string
  readonly ending: string
  /** The sources in `native/`. The first one is compiled, and includes the others. */
  readonly sources: readonly [string, ...string[]]
  readonly options: readonly string[]
  /** Options for libraries, which come last. */
  readonly libraries?: readonly string[]
}

/** The shared object that begins glibc's mtrace. */
export const START_OBJECT: Native = {
  what: 'the start-up object',
  name: 'record',
  ending: '.so',
  sources: ['record/start.c'],
  options: ['-shared', '-fPIC', '-O2'],
}

const inRecorder = (...names: readonly string[]) => names.map((name) => `recorder/${name}.h`)
const MACHINES = inRecorder('machine/machine', 'machine/x86-64', 'machine/aarch64')

/** The machines, as in `process.arch`, for which the recorder can be compiled. */
export const RECORDER_MACHINES: readonly string[] = ['x64', 'arm64']

/** The library of heapflow's own recorder, which is loaded into the program. */
export const RECORDER_LIBRARY: Native = {
  what: 'the recorder',
  name: 'recorder',
  ending: '.so',
  sources: [
    'recorder/recorder.c',
    ...MACHINES,
    ...inRecorder('shared', 'injected', 'bytes', 'state', 'ring', 'begin', 'redirect', 'maps', 'objects', 'threads'),
    ...inRecorder('stacks', 'unwind', 'usable'),
  ],
  options: ['-std=gnu11', '-shared', '-fPIC', '-O2', '-fno-omit-frame-pointer', '-fvisibility=hidden'],
}

/** The program that writes what the library records. */
export const RECORDER_READER: Native = {
  what: "the recorder's reader",
  name: 'recorder-reader',
  ending: '',
  sources: [
    'recorder/reader.c',
    ...MACHINES,
    ...inRecorder(
      'shared',
      'tables',
      'process',
      'memory',
      'output',
      'pack',
      'clock',
      'drain',
      'processes',
      'injected',
      'machine/x86-64-calls',
    ),
    ...inRecorder('tracee', 'modules', 'library', 'obstacles', 'earlier', 'loading', 'attach'),
  ],
  options: ['-std=gnu11', '-O2'],
  // It loads libzstd if that is installed. Before 2.34, glibc has the functions for loading in a separate library.
  libraries: ['-ldl'],
}

/**
 * The file of the package, if it has one that was made from these sources and runs here. If CC names a compiler, that
 * compiler's output is used instead.
 */
function prebuilt(native: Native): string | undefined {
  if (process.env['CC']) return undefined
  const path = ownFile(`dist/native/${fileName(native)}`)
  if (path === undefined) return undefined
  // Without arguments, a program prints its usage if the system can run it. A library fits if the recorder's program
  // runs.
  const program = native.ending === '' ? path : ownFile(`dist/native/${fileName(RECORDER_READER)}`)
  return program !== undefined && runs(program) ? path : undefined
}

const known = new Map<string, boolean>()
/** Whether the system can run a program. */
function runs(program: string): boolean {
  const answer = known.get(program) ?? spawnSync(program, { stdio: 'ignore' }).status === USAGE
  known.set(program, answer)
  return answer
}

/** The file that exists without compiling: the package's, or one that was compiled before. */
function made(native: Native): string | undefined {
  const path = cached(native)
  return prebuilt(native) ?? (isTrusted(path) ? path : undefined)
}

/** Whether there is a compiler, or its output already exists. */
export function canMake(...natives: readonly Native[]): boolean {
  const [program, ...options] = compiler()
  return (
    natives.every((native) => made(native) !== undefined) ||
    spawnSync(program, [...options, '--version'], { stdio: 'ignore' }).error === undefined
  )
}

/**
 * The reason why files cannot be compiled on this machine, in one line; undefined if they can, or already exist. Files
 * that are compiled to find out are kept.
 */
export function obstacleToMaking(...natives: readonly Native[]): string | undefined {
  if (natives.every((native) => made(native) !== undefined)) return undefined
  const folder = recordingFolder()
  try {
    for (const native of natives) compiled(native, folder)
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * A file that is compiled when it is used for the first time.
 * @param folder for temporary files, with a plain path
 * @returns a plain path
 * @throws Error when it cannot be compiled
 */
export function compiled(native: Native, folder: string): string {
  const path = made(native)
  const here = join(folder, `${native.name}${native.ending}`)
  if (path === undefined) {
    compile(native, here)
    keepFile(cached(native), (part) => copyFileSync(here, part))
    return here
  }
  if (isPlainPath(path)) return path
  symlinkSync(path, here)
  return here
}

/**
 * The same, in a place where it stays for later programs.
 * @throws Error when it cannot be compiled or kept, or when its path is not plain
 */
export function kept(native: Native): string {
  const own = prebuilt(native)
  if (own !== undefined && isPlainPath(own)) return own
  const folder = recordingFolder()
  const path = cached(native)
  try {
    if (own !== undefined) keepFile(path, (part) => copyFileSync(own, part))
    else compiled(native, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const where = 'name another folder in XDG_CACHE_HOME'
  if (!isTrusted(path)) throw new Error(`${native.what} cannot be kept in ${dirname(path)}: ${where}`)
  if (!isPlainPath(path)) throw new Error(`LD_PRELOAD cannot have the path ${path}: ${where}`)
  return path
}

/** The minor version of glibc 2 that the recorder's library needs, as it was or would be compiled. */
export function glibcNeeded(): number {
  const path = made(RECORDER_LIBRARY)
  const names = path === undefined ? [] : readFileSync(path, 'latin1').matchAll(/\bGLIBC_2\.(\d{1,3})\b/g)
  return Math.max(LEAST_GLIBC, ...Array.from(names, ([, minor]) => Number(minor)))
}

/** The compiler and its first options, as for make(1). */
function compiler(): [string, ...string[]] {
  const [program = 'cc', ...options] = (process.env['CC'] ?? '').split(/\s+/).filter(Boolean)
  return [program, ...options]
}

function compile(native: Native, target: string): void {
  const [program, ...options] = compiler()
  const words = [
    ...options,
    ...native.options,
    '-o',
    target,
    sourcePath(native.sources[0]),
    ...(native.libraries ?? []),
  ]
  const { status, stderr, error } = spawnSync(program, words, { encoding: 'utf8' })
  if (status === null) throw new Error(`${program} cannot be run: ${error?.message ?? 'a signal ended it'}`)
  if (status === 0) return
  const lines = stderr.split('\n')
  const reason = lines.find((line) => /error:/.test(line)) ?? lines[0]
  throw new Error(`${program} cannot compile ${native.what}: ${reason || `status ${status}`}`)
}

/** The path of the compiled file. */
function cached(native: Native): string {
  return join(cacheFolder(), fileName(native))
}

/**
 * The name of a compiled file, which changes with its sources and options.
 * @param machine as in `process.arch`
 */
export function fileName({ name, ending, sources, options }: Native, machine: string = process.arch): string {
  const hash = createHash('sha256').update(options.join(' '))
  for (const source of sources) hash.update(readFileSync(sourcePath(source)))
  return `${name}-${machine}-${hash.digest('hex').slice(0, 16)}${ending}`
}

/** @param name in `native/` */
function sourcePath(name: string): string {
  const path = ownFile(`native/${name}`)
  if (path === undefined) throw new Error(`native/${name} is missing from the package`)
  return path
}

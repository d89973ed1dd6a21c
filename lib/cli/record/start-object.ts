import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  type Stats,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isPlainPath } from './folder.js'

/** Bits of a mode that let others write. */
const WRITABLE_BY_OTHERS = 0o022

/** Whether there is a compiler, or what it would make is there already. */
export function canMakeStartObject(): boolean {
  const [program, ...options] = compiler()
  return isTrusted(cached()) || spawnSync(program, [...options, '--version'], { stdio: 'ignore' }).error === undefined
}

/**
 * The shared object of `native/record/start.c`, compiled when it is used for the first time.
 * @param folder for temporary files, with a plain path
 * @returns a plain path
 * @throws Error when it cannot be compiled
 */
export function startObject(folder: string): string {
  const path = cached()
  const here = join(folder, 'start.so')
  if (!isTrusted(path)) {
    compile(here)
    keep(here, path)
    return here
  }
  if (isPlainPath(path)) return path
  symlinkSync(path, here)
  return here
}

/** The compiler and its first options, as make(1) has them. */
function compiler(): [string, ...string[]] {
  const [program = 'cc', ...options] = (process.env['CC'] ?? '').split(/\s+/).filter(Boolean)
  return [program, ...options]
}

function compile(target: string): void {
  const [program, ...options] = compiler()
  const { status, stderr, error } = spawnSync(
    program,
    [...options, '-shared', '-fPIC', '-O2', '-o', target, '-x', 'c', '-'],
    { input: source(), encoding: 'utf8' },
  )
  if (status === null) throw new Error(`${program} cannot be run: ${error?.message ?? 'a signal ended it'}`)
  if (status !== 0)
    throw new Error(`${program} cannot compile the start-up object: ${stderr.split('\n')[0] || `status ${status}`}`)
}

/** Copies a file into the cache, if that is possible. It is never there in part. */
function keep(file: string, path: string): void {
  const part = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    try {
      copyFileSync(file, part)
      renameSync(part, path)
    } finally {
      rmSync(part, { force: true })
    }
  } catch {
    // It is compiled again the next time.
  }
}

/**
 * Whether nobody but this user, or the superuser, can have written a file, which is loaded into programs that this user
 * runs.
 */
function isTrusted(path: string): boolean {
  try {
    const [file, folder] = [lstatSync(path), lstatSync(dirname(path))]
    const isOwn = ({ uid, mode }: Stats) =>
      (uid === 0 || uid === process.getuid?.()) && (mode & WRITABLE_BY_OTHERS) === 0
    return file.isFile() && folder.isDirectory() && isOwn(file) && isOwn(folder)
  } catch {
    return false
  }
}

/** The path of the compiled object, whose name changes with the source. */
function cached(): string {
  const hash = createHash('sha256').update(source()).digest('hex').slice(0, 16)
  return join(cacheFolder(), `record-${process.arch}-${hash}.so`)
}

/** As the XDG Base Directory Specification says, which has relative paths ignored. */
function cacheFolder(): string {
  const named = process.env['XDG_CACHE_HOME'] ?? ''
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'heapflow')
}

function source(): string {
  // The package has dist/lib and native; tests run from lib.
  for (const up of ['../../../..', '../../..']) {
    const url = new URL(`${up}/native/record/start.c`, import.meta.url)
    if (existsSync(url)) return readFileSync(url, 'utf8')
  }
  throw new Error('native/record/start.c is missing from the package')
}

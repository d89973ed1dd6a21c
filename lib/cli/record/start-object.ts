import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The compiler, as make(1) calls it. */
const COMPILER = process.env['CC'] ?? 'cc'

/** Whether there is a compiler, or what it would make is there already. */
export function canMakeStartObject(): boolean {
  return existsSync(cached()) || spawnSync(COMPILER, ['--version'], { stdio: 'ignore' }).error === undefined
}

/**
 * The shared object of `native/record/start.c`, compiled when it is used for the first time.
 * @param folder where to put it if there can be no cache
 * @throws Error when it cannot be compiled
 */
export function startObject(folder: string): string {
  const path = cached()
  if (existsSync(path)) return path
  const made = join(folder, 'start.so')
  compile(made)
  try {
    mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 })
    const there = `${path}.${process.pid}`
    compile(there)
    renameSync(there, path)
    return path
  } catch {
    return made
  }
}

function compile(target: string): void {
  const { status, stderr, error } = spawnSync(COMPILER, ['-shared', '-fPIC', '-O2', '-o', target, '-x', 'c', '-'], {
    input: source(),
    encoding: 'utf8',
  })
  if (status === null) throw new Error(`${COMPILER} cannot be run: ${error?.message}`)
  if (status !== 0)
    throw new Error(`${COMPILER} cannot compile the start-up object: ${stderr.split('\n')[0] || `status ${status}`}`)
}

/** The name of the compiled object, which changes with the source. */
function cached(): string {
  const hash = createHash('sha256').update(source()).digest('hex').slice(0, 16)
  return join(cacheFolder(), `record-${process.arch}-${hash}.so`)
}

function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'heapflow')
}

function source(): string {
  // The package has dist/lib and native; tests run from lib.
  for (const up of ['../../../..', '../../..']) {
    const url = new URL(`${up}/native/record/start.c`, import.meta.url)
    if (existsSync(url)) return readFileSync(url, 'utf8')
  }
  throw new Error('native/record/start.c is missing from the package')
}

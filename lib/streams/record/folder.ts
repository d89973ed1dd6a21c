import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Names of folders: the number of the process that made the folder, and a unique ending. */
const NAME = /^heapflow-record-(\d+)-\w{6}$/
/** A younger folder may belong to a process that is invisible here, as in another container. */
const LEAST_AGE_MS = 60_000
/** The place for folders if the path of the folder for temporary files would be misread. */
const ROOT = '/tmp'

/**
 * Whether recorders take a path literally: LD_PRELOAD has spaces and colons between its parts and knows `$ORIGIN`,
 * valgrind replaces what comes after a `%` in names, and heaptrack `$$`.
 */
export function isPlainPath(path: string): boolean {
  return !/[\s:;%$]/.test(path)
}

/**
 * Makes a folder for the files of a recording, whose path is plain. Those that earlier processes of this user left
 * behind when they were killed are removed.
 * @throws the system error if it cannot be made
 */
export function recordingFolder(): string {
  const parent = isPlainPath(tmpdir()) ? tmpdir() : ROOT
  removeStale(parent)
  return mkdtempSync(join(parent, `heapflow-record-${process.pid}-`))
}

function removeStale(parent: string): void {
  for (const name of namesIn(parent)) {
    const [, pid] = NAME.exec(name) ?? []
    const path = join(parent, name)
    if (pid === undefined || isAlive(Number(pid)) || !isOwn(path)) continue
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // It harms no one.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Whether a path is an old folder of this user, and no link to one. */
function isOwn(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true || stats.uid !== process.getuid?.()) return false
  return Date.now() - stats.mtimeMs > LEAST_AGE_MS
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user is alive.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

import { lstatSync, renameSync, rmSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { makeFolder } from './make-folder.js'

const WRITABLE_BY_OTHERS = 0o022

/** The folder for later programs. Follows the XDG Base Directory Specification, by which relative paths are ignored. */
export function cacheFolder(): string {
  const named = process.env['XDG_CACHE_HOME'] ?? ''
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'heapflow')
}

/** Makes a file in that folder, if that is possible. There is never a part of it. @param write makes it at a path */
export function keepFile(path: string, write: (part: string) => void): void {
  const part = `${path}.${process.pid}`
  try {
    makeFolder(dirname(path), 0o700)
    try {
      write(part)
      renameSync(part, path)
    } finally {
      rmSync(part, { force: true })
    }
  } catch {
    // It is made again the next time.
  }
}

/** Whether only this user or the superuser can have written a file. */
export function isTrusted(path: string): boolean {
  try {
    const [file, folder] = [lstatSync(path), lstatSync(dirname(path))]
    const isOwn = ({ uid, mode }: Stats) =>
      (uid === 0 || uid === process.getuid?.()) && (mode & WRITABLE_BY_OTHERS) === 0
    return file.isFile() && folder.isDirectory() && isOwn(file) && isOwn(folder)
  } catch {
    return false
  }
}

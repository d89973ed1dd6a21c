import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing. Node's own way tries forever where a file system, such as that
 * of /proc, says of a new folder that the one above it is missing.
 * @throws the system error
 */
export function makeFolder(path: string, mode?: number): void {
  try {
    mkdirSync(path, mode)
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
    const above = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(above)) throw error
    makeFolder(above, mode)
    mkdirSync(path, mode)
  }
}

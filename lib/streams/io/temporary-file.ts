import { randomUUID } from 'node:crypto'
import { openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A file that has no name any more, where the system allows that, and so goes away when it is closed. */
export interface TemporaryFile {
  /** Open descriptors, each with a position of its own; the first one for reading and writing, the others for reading. */
  readonly descriptors: readonly number[]
  /** The name, where the file has to keep one: for whoever closes the file to remove. */
  readonly path: string | undefined
}

/**
 * Makes a temporary file. Where the system allows it, the file loses its name at once: then it takes no space once it
 * is closed, however the process ends.
 * @param folder where to put it
 * @param readers how many more descriptors to open, for reading
 */
export function openTemporary(folder: string, readers = 0): TemporaryFile {
  const path = join(folder, `heapflow-${randomUUID()}`)
  // Nothing may come between opening and removing.
  const descriptors = [openSync(path, 'wx+', 0o600)]
  for (let i = 0; i < readers; i++) descriptors.push(openSync(path, 'r'))
  try {
    unlinkSync(path)
    return { descriptors, path: undefined }
  } catch {
    // Windows removes no file that is open.
    return { descriptors, path }
  }
}

import { randomUUID } from 'node:crypto'
import { closeSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { inTemporary } from './temporary-error.js'

/** A file without a name, if the system allows it, which is removed when it is closed. */
export interface TemporaryFile {
  /** Open descriptors, each with its own position; the first one for reading and writing, the others for reading. */
  readonly descriptors: readonly number[]
  /** The name, if the file must keep one; closing the file removes it. */
  readonly path: string | undefined
}

/**
 * Creates a temporary file. If the system allows it, the file loses its name immediately, so that its space is freed
 * when it is closed, however the process ends.
 * @param folder the folder for it @param readers the number of further descriptors to open, for reading
 * @throws TemporaryFileError
 */
export function openTemporary(folder: string, readers = 0): TemporaryFile {
  const path = join(folder, `heapflow-${randomUUID()}`)
  // Nothing may happen between opening and removing.
  const descriptors = [inTemporary(folder, () => openSync(path, 'wx+', 0o600))]
  try {
    for (let i = 0; i < readers; i++) descriptors.push(inTemporary(folder, () => openSync(path, 'r')))
  } catch (error) {
    for (const descriptor of descriptors) closeSync(descriptor)
    unlinkSync(path)
    throw error
  }
  try {
    unlinkSync(path)
    return { descriptors, path: undefined }
  } catch {
    // Windows removes no file that is open.
    return { descriptors, path }
  }
}

import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DESCRIPTOR, followLinks } from './output-place.js'

/** Most systems limit a name to 255 bytes; this leaves room for a suffix. */
const MAX_NAME_BYTES = 230

/** Error codes of a folder that takes no new file, although a file in it may be writable. */
const NO_NEW_FILE: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS']

/** Files that are being written: when the process exits, they are abandoned. */
const unfinished = new Set<OutputFile>()

/**
 * Abandons every file that is still being written. Call it before the process is ended by a signal.
 * @returns their new names
 */
export function abandonOutputs(): string[] {
  return [...unfinished].flatMap((file) => file.abandon() ?? [])
}

/**
 * A file that appears under its name only when it is complete. It is written under another name in the same folder, so
 * that two processes that write the same file do not mix their bytes. A symbolic link is followed; the permissions of
 * a file that is replaced are kept. Pipes, devices and names of descriptors such as `/dev/stdout` are written in place.
 */
export class OutputFile {
  /** The path that the name refers to. */
  private readonly target: string
  private readonly before: Stats | undefined
  private readonly isInPlace: boolean
  /** Its name while it is being written. */
  private written: string | undefined
  private isAbandoned = false

  /**
   * Changes nothing yet.
   * @throws the system error if the file cannot be written: its folder is missing, it is a folder itself ...
   */
  constructor(private readonly path: string) {
    this.target = followLinks(path)
    this.before = statSync(this.target, { throwIfNoEntry: false })
    if (this.before?.isDirectory() === true) throw systemError('EISDIR', path)
    this.isInPlace = DESCRIPTOR.test(this.target) || (this.before !== undefined && !this.before.isFile())
    if (this.before !== undefined) accessSync(path, constants.W_OK)
    else checkFolder(path, dirname(this.target))
  }

  /** Opens it for writing: empty the first time, then at its end. The caller closes the descriptor. */
  open(): number {
    // The incomplete file must not be replaced by later output.
    if (this.isAbandoned) throw new Error(`${this.path}: the file is no longer written`)
    if (this.written !== undefined) return openSync(this.written, 'a')
    if (unfinished.size === 0) process.once('exit', abandonOutputs)
    const fd = this.isInPlace ? openSync(this.target, 'w') : this.create()
    this.written ??= this.target
    unfinished.add(this)
    return fd
  }

  /**
   * Gives the complete file its name. The descriptors must be closed.
   * @param isSynced wait until the content, and then the name, are on disk
   * @throws when it cannot be written or replaced
   */
  commit(isSynced = true): void {
    if (this.written !== undefined && this.written !== this.target) {
      if (isSynced) sync(this.written, 'a')
      renameSync(this.written, this.target)
      if (isSynced) syncFolder(dirname(this.target))
    }
    this.forget()
  }

  /**
   * Gives the incomplete file the name `<path>.partial`, replacing any such file.
   * @returns its new name; undefined if nothing was written, or if it is not a file
   */
  abandon(): string | undefined {
    const { written, target } = this
    this.forget()
    this.isAbandoned = true
    if (written === undefined) return undefined
    if (written === target) return this.isInPlace ? undefined : this.path
    const partial = `${target}.partial`
    try {
      renameSync(written, partial)
    } catch {
      return written
    }
    return target === resolve(this.path) ? `${this.path}.partial` : partial
  }

  /** Removes the file, which has nothing worth keeping. A file that is written in place stays. */
  discard(): undefined {
    const { written, target } = this
    this.forget()
    if (written !== undefined && written !== target) rmSync(written, { force: true })
  }

  private forget(): void {
    this.written = undefined
    unfinished.delete(this)
    if (unfinished.size === 0) process.removeListener('exit', abandonOutputs)
  }

  private create(): number {
    const { before, target } = this
    const name = basename(target)
    const base = Buffer.byteLength(name) > MAX_NAME_BYTES ? 'output' : name
    // The name need not be secret: a file that already exists is not opened.
    const mark = Math.random().toString(16).slice(2, 14).padEnd(12, '0')
    const written = join(dirname(target), `${base}.${mark}.partial`)
    let fd
    try {
      // Until it has the owner and the group of the file that it replaces, no one else may open it.
      fd = openSync(written, 'wx', before === undefined ? 0o666 : before.mode & 0o700)
    } catch (error) {
      if (before === undefined || !NO_NEW_FILE.includes((error as NodeJS.ErrnoException).code)) throw error
      return openSync(target, 'w')
    }
    this.written = written
    if (before !== undefined) {
      try {
        keepOwner(fd, before)
        fchmodSync(fd, before.mode & 0o7777)
      } catch (error) {
        closeSync(fd)
        throw error
      }
    }
    return fd
  }
}

/** Waits until a file, or the names in a folder, are on disk. */
function sync(path: string, flags: 'a' | 'r'): void {
  const fd = openSync(path, flags)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** The file is complete without it, and some systems do not open folders. */
function syncFolder(path: string): void {
  try {
    sync(path, 'r')
  } catch {
    return
  }
}

/** The owner can be set by the superuser only; for anyone else the new file is the caller's own. */
function keepOwner(fd: number, { uid, gid }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

/** @throws the error of the folder of a new file, as an error about the file */
function checkFolder(path: string, folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) throw systemError(stats === undefined ? 'ENOENT' : 'ENOTDIR', path)
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw Object.assign(error as Error, { path })
  }
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, path, syscall: 'open' })
}

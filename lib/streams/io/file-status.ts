import { closeSync, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'

/** The size in bytes of a file, or of standard input if it is a file; undefined for pipes. */
export function inputSize(path: string): number | undefined {
  const stats = statOf(path, 0)
  return stats?.isFile() === true ? stats.size : undefined
}

/** When a file was last changed, in milliseconds since 1970; undefined for pipes. */
export function modifiedAt(path: string): number | undefined {
  const stats = statOf(path, 0)
  return stats?.isFile() === true ? stats.mtimeMs : undefined
}

/** Whether reading it may wait for a writer: false for a file, and if reading fails. */
export function mayWait(path: string): boolean {
  if (path === '-') return !fstatSync(0).isFile()
  try {
    const stats = statSync(path)
    return !stats.isFile() && !stats.isDirectory()
  } catch {
    return false
  }
}

/** Whether these are the first bytes of a file; false for pipes, and if reading fails. */
export function beginsWith(path: string, bytes: Uint8Array): boolean {
  return !mayWait(path) && headOf(path, bytes.length).equals(bytes)
}

/** The first bytes of a file: fewer of a shorter one, and none if reading fails. */
export function headOf(path: string, length: number): Buffer {
  const head = Buffer.alloc(length)
  try {
    const fd = openSync(path, 'r')
    try {
      return head.subarray(0, readSync(fd, head, 0, length, 0))
    } finally {
      closeSync(fd)
    }
  } catch {
    return head.subarray(0, 0)
  }
}

/**
 * Whether an output, or standard output for `-`, is the very file that is read: writing to it would empty the input, or
 * append to it what is read from it, without end.
 */
export function isSameFile(input: string, output: string): boolean {
  const from = statOf(input, 0)
  const to = statOf(output, 1)
  return from !== undefined && to !== undefined && from.isFile() && from.dev === to.dev && from.ino === to.ino
}

/**
 * The identity of the pipe or socket that is read; undefined for inputs that each reader reads from their beginning.
 */
export function sharedSource(path: string): string | undefined {
  try {
    const stats = statOf(path, 0)
    return isPipe(stats) ? `${stats.dev}:${stats.ino}` : undefined
  } catch {
    return undefined
  }
}

/** Whether this is the status of a pipe or a socket. */
export function isPipe(stats: Stats | undefined): stats is Stats {
  return stats !== undefined && (stats.isFIFO() || stats.isSocket())
}

/** The status of a file, or of a descriptor for `-`; undefined if there is none. */
export function statOf(path: string, fd: number): Stats | undefined {
  return path === '-' ? fstatSync(fd) : statSync(path, { throwIfNoEntry: false })
}

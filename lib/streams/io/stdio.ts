import { fstatSync, statSync, type Stats } from 'node:fs'
import type { Readable } from 'node:stream'
import { DescriptorSink, type DescriptorSinkOptions } from './descriptor-sink.js'
import { DescriptorSource } from './descriptor-source.js'
import { PipeSource } from './pipe-source.js'

/**
 * Bytes from a file, or from standard input for `-`.
 * @param chunkBytes how many to read at a time from a named file
 */
export function openInput(path: string, chunkBytes = 262_144): Readable {
  const stats = statOf(path, 0)
  if (stats?.isDirectory() === true) {
    const name = path === '-' ? 'standard input' : path
    throw Object.assign(new Error(`${name} is a directory`), { code: 'EISDIR', syscall: 'read', path: name })
  }
  if (path !== '-' || stats === undefined) return new DescriptorSource(path, chunkBytes)
  // A file is read through the thread pool; a pipe by the event loop, because a blocked read there cannot be given up.
  if (stats.isFile()) return new DescriptorSource(0, chunkBytes)
  if (stats.isFIFO() || stats.isSocket()) return new PipeSource(0)
  return process.stdin
}

/** The size in bytes of a file, or of standard input if it is a file; undefined for pipes. */
export function inputSize(path: string): number | undefined {
  const stats = statOf(path, 0)
  return stats?.isFile() === true ? stats.size : undefined
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
 * A file for bytes, or standard output for `-`.
 * @throws the system error if the file cannot be written, before anything is written
 */
export function openOutput(path: string, options?: DescriptorSinkOptions): DescriptorSink {
  return new DescriptorSink(path === '-' ? 1 : path, options)
}

/** The status of a file, or of a descriptor for `-`; undefined if there is none. */
function statOf(path: string, fd: number): Stats | undefined {
  return path === '-' ? fstatSync(fd) : statSync(path, { throwIfNoEntry: false })
}

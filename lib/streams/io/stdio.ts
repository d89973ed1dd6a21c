import type { Readable } from 'node:stream'
import { DescriptorSink, type DescriptorSinkOptions } from './descriptor-sink.js'
import { DescriptorSource } from './descriptor-source.js'
import { isPipe, statOf } from './file-status.js'
import { PipeSource } from './pipe-source.js'
import { isDirectory } from './read-input.js'

/**
 * Bytes from a file, or from standard input for `-`.
 * @param chunkBytes the number of bytes to read at a time from a named file
 */
export function openInput(path: string, chunkBytes = 262_144): Readable {
  const stats = statOf(path, 0)
  if (stats?.isDirectory() === true) throw isDirectory(path)
  if (path !== '-' || stats === undefined) return new DescriptorSource(path, chunkBytes)
  // A file is read through the thread pool; a pipe by the event loop, because a blocked read there cannot be given up.
  if (stats.isFile()) return new DescriptorSource(0, chunkBytes)
  if (isPipe(stats)) return new PipeSource(0)
  return process.stdin
}

/**
 * A file for bytes, or standard output for `-`.
 * @throws the system error if the file cannot be written, before anything is written
 */
export function openOutput(path: string, options?: DescriptorSinkOptions): DescriptorSink {
  return new DescriptorSink(path === '-' ? 1 : path, options)
}

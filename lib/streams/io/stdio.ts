import { close, fstatSync, openSync, statSync, write, writeSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { recycleChunk } from '../../bytes/chunks.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { PipeSource } from './pipe-source.js'
import { DescriptorSource } from './descriptor-source.js'

/**
 * Bytes from a file, or from standard input for `-`.
 * @param chunkBytes how many to read at a time from a named file
 */
export function openInput(path: string, chunkBytes = 262_144): Readable {
  if (path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw Object.assign(new Error(`${path} is a directory`), { code: 'EISDIR', syscall: 'read', path })
  }
  if (path !== '-') return new DescriptorSource(path, chunkBytes)
  // A file is read through the thread pool; a pipe by the event loop, for a blocked read there cannot be given up.
  const stats = fstatSync(0)
  if (stats.isFile()) return new DescriptorSource(0, chunkBytes)
  if (stats.isFIFO() || stats.isSocket()) return new PipeSource(0)
  return process.stdin
}

/** The size in bytes of a file, or of standard input if it is a file; undefined for pipes. */
export function inputSize(path: string): number | undefined {
  const stats = path === '-' ? fstatSync(0) : statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.size : undefined
}

/** Whether its reader may have to wait until somebody writes: not for a file, nor where reading fails. */
export function mayWait(path: string): boolean {
  if (path === '-') return !fstatSync(0).isFile()
  try {
    const stats = statSync(path)
    return !stats.isFile() && !stats.isDirectory()
  } catch {
    return false
  }
}

/** Whether an output is the very file that is read: opening it would empty the input. */
export function isSameFile(input: string, output: string): boolean {
  if (output === '-') return false
  const from = input === '-' ? fstatSync(0) : statSync(input, { throwIfNoEntry: false })
  const to = statSync(output, { throwIfNoEntry: false })
  return from !== undefined && to !== undefined && from.isFile() && from.dev === to.dev && from.ino === to.ino
}

/** A file for bytes, or standard output for `-`. */
export function openOutput(path: string, options?: DescriptorSinkOptions): Writable {
  return new DescriptorSink(path === '-' ? 1 : path, options)
}

/** Writes a text to a file, or standard output for `-`, and is done when all of it is written. */
export function writeText(path: string, text: string): Promise<void> {
  return pipeline(Readable.from([Buffer.from(text)]), openOutput(path))
}

/** The most that a pipe holds: when more is written, its reader has begun. */
const MAX_PIPE = 1 << 20
/** A write that takes longer has waited for a slow reader. */
const SHORT_MS = 10

/** What a `DescriptorSink` can be told. */
export interface DescriptorSinkOptions {
  /**
   * Nobody else reads the chunks: the memory of those from our own streams is used again when they are written. Default
   * false.
   */
  recycle?: boolean
  /**
   * Where this is no file, the event loop waits until a chunk is written, as Node has it for standard output: the
   * reader gets it sooner than by way of the thread pool. Only for programs that have nothing else to write meanwhile,
   * to whoever that reader may be waiting for. While the reader is slow, or has not yet begun, it does not wait, so
   * that signals are heard. Default false.
   */
  blocking?: boolean
}

const OPTIONS: OptionNames<DescriptorSinkOptions> = { recycle: true, blocking: true }

/**
 * Writes to a file descriptor, and loses nothing when it is destroyed: Node's own streams throw away what is queued
 * when the pipeline fails, but what came before a fault in a trace is sound and must arrive.
 */
export class DescriptorSink extends Writable {
  /** How many bytes were written. */
  bytesWritten = 0
  private fd: number | undefined
  /** The event loop may wait for a write. */
  private blocks = false
  /** The reader has taken something, and did not keep the last write waiting for long. */
  private trusts = false
  private busy = false
  private idle: (() => void) | undefined

  /**
   * @param target an open file descriptor, which is left open (a pipe may be in non-blocking mode), or a file's name;
   *   the file is opened when there is something to write, so that bad input does not empty it
   */
  constructor(
    private readonly target: number | string,
    private readonly options: DescriptorSinkOptions = {},
  ) {
    // With a mark of 1 the producer pauses after each chunk, so that only the chunk in hand is ever queued here.
    super({ highWaterMark: 1, decodeStrings: true })
    checkOptions(options, OPTIONS, 'DescriptorSink')
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      this.open()
    } catch (error) {
      done(error as Error)
      return
    }
    this.busy = true
    const write = this.blocks && this.trusts ? this.writeNow : this.writeAll
    const start = performance.now()
    write.call(this, chunk, (error) => {
      this.busy = false
      this.trusts = this.bytesWritten > MAX_PIPE && performance.now() - start < SHORT_MS
      if (this.options.recycle === true) recycleChunk(chunk)
      done(error)
      this.idle?.()
    })
  }

  override _final(done: (error?: Error | null) => void): void {
    try {
      this.open()
      done()
    } catch (error) {
      done(error as Error)
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { fd, target } = this
    const finish = () => (fd !== undefined && fd !== target ? close(fd, (fault) => done(error ?? fault)) : done(error))
    if (this.busy) this.idle = finish
    else finish()
  }

  private open(): number {
    if (this.fd !== undefined) return this.fd
    this.fd = typeof this.target === 'number' ? this.target : openSync(this.target, 'w')
    this.blocks = this.options.blocking === true && !fstatSync(this.fd).isFile()
    return this.fd
  }

  /** Writes a chunk, for which the event loop waits. */
  private writeNow(chunk: Buffer, done: (error?: Error | null) => void): void {
    let rest = chunk
    try {
      while (rest.length > 0) {
        const n = writeSync(this.fd as number, rest)
        this.bytesWritten += n
        rest = rest.subarray(n)
      }
    } catch (error) {
      // Somebody who shares the pipe made it non-blocking.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') this.writeAll(rest, done)
      else done(error as Error)
      return
    }
    done()
  }

  private writeAll(chunk: Buffer, done: (error?: Error | null) => void): void {
    write(this.open(), chunk, 0, chunk.length, null, (error, n) => {
      if (error !== null && error.code === 'EAGAIN') {
        // Somebody who shares the pipe made it non-blocking.
        setTimeout(() => this.writeAll(chunk, done), 5)
        return
      }
      if (error !== null) return done(error)
      this.bytesWritten += n
      if (n < chunk.length) this.writeAll(chunk.subarray(n), done)
      else done()
    })
  }
}

import { closeSync, fstatSync, write, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { recycleChunk } from '../../bytes/chunks.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { setTimeout } from '../timers.js'
import { monotonicMs } from './clock.js'
import { OutputFile } from './output-file.js'

/** The maximum capacity of a pipe: when more was written, its reader has begun. */
const MAX_PIPE = 1 << 20
/** A write that takes longer has waited for a slow reader. */
const SHORT_MS = 10

/** Options of a `DescriptorSink`. */
export interface DescriptorSinkOptions {
  /**
   * Reuse the memory of written chunks from heapflow's own streams, which must have no other consumer. Default false.
   */
  recycle?: boolean
  /**
   * If the target is not a file, the event loop waits until a chunk is written, as Node does for standard output: the
   * reader receives it sooner than through the thread pool. Only for programs without other output that the reader may
   * be waiting for. While the reader is slow, or has not started yet, the event loop does not wait, so that signals are
   * handled. Default false.
   */
  blocking?: boolean
}

const OPTIONS: OptionNames<DescriptorSinkOptions> = { recycle: 'boolean', blocking: 'boolean' }

/**
 * Writes to a file descriptor, and loses nothing when it is destroyed: Node's own streams discard their queue when the
 * pipeline fails, but the events before a fault are valid and must be written.
 *
 * A named file gets its name when it is complete (see `OutputFile`). If the sink is destroyed before, the file remains
 * as `partial`.
 */
export class DescriptorSink extends Writable {
  /** The number of bytes that were written. */
  bytesWritten = 0
  /** The name of the incomplete file; known when the sink is closed. */
  partial: string | undefined
  private fd: number | undefined
  private readonly file: OutputFile | undefined
  /** Whether the event loop may wait for a write. */
  private blocks = false
  /** Whether the reader has taken data, and the last write did not wait long. */
  private trusts = false
  private busy = false
  private idle: (() => void) | undefined

  /**
   * @param target an open file descriptor, which is left open (a pipe may be in non-blocking mode), or a file's name
   * @throws the system error if a named file cannot be written
   */
  constructor(
    private readonly target: number | string,
    private readonly options: DescriptorSinkOptions = {},
  ) {
    // With a mark of 1 the producer pauses after each chunk, so that only the chunk in hand is ever queued here.
    super({ highWaterMark: 1, decodeStrings: true })
    checkOptions(options, OPTIONS, 'DescriptorSink')
    this.file = typeof target === 'string' ? new OutputFile(target) : undefined
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
    const start = monotonicMs()
    write.call(this, chunk, (error) => {
      this.busy = false
      this.trusts = this.bytesWritten > MAX_PIPE && monotonicMs() - start < SHORT_MS
      if (this.options.recycle === true) recycleChunk(chunk)
      done(error)
      this.idle?.()
    })
  }

  override _final(done: (error?: Error | null) => void): void {
    try {
      this.open()
      this.close()
      this.file?.commit()
      done()
    } catch (error) {
      done(error as Error)
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const finish = () => {
      try {
        this.close()
      } catch (fault) {
        error ??= fault as Error
      }
      this.partial = this.file?.abandon()
      done(error)
    }
    if (this.busy) this.idle = finish
    else finish()
  }

  private open(): number {
    if (this.fd !== undefined) return this.fd
    this.fd = this.file === undefined ? (this.target as number) : this.file.open()
    this.blocks = this.options.blocking === true && !fstatSync(this.fd).isFile()
    return this.fd
  }

  private close(): void {
    const { fd } = this
    if (fd === undefined || this.file === undefined) return
    this.fd = undefined
    closeSync(fd)
  }

  /** Writes a chunk while the event loop waits. */
  private writeNow(chunk: Buffer, done: (error?: Error | null) => void): void {
    let rest = chunk
    try {
      while (rest.length > 0) {
        const n = writeSync(this.fd as number, rest)
        this.bytesWritten += n
        rest = rest.subarray(n)
      }
    } catch (error) {
      // Another process that has the pipe made it non-blocking.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') this.writeAll(rest, done)
      else done(error as Error)
      return
    }
    done()
  }

  private writeAll(chunk: Buffer, done: (error?: Error | null) => void): void {
    write(this.open(), chunk, 0, chunk.length, null, (error, n) => {
      if (error !== null && error.code === 'EAGAIN') {
        // Another process that has the pipe made it non-blocking.
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

import { Writable } from 'node:stream'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { ByteWriter } from './byte-writer.js'
import { monotonicMs } from './clock.js'
import type { Done } from '../types.js'

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
  /** The name of the incomplete file; known when the sink is closed. */
  partial: string | undefined
  private readonly writer: ByteWriter
  private readonly mayBlock: boolean

  /**
   * @param target an open file descriptor, which is left open (a pipe may be in non-blocking mode), or a file's name
   * @throws the system error if a named file cannot be written
   */
  constructor(target: number | string, options: DescriptorSinkOptions = {}) {
    // With a mark of 1 the producer pauses after each chunk, so that only the chunk in hand is ever queued here.
    super({ highWaterMark: 1, decodeStrings: true })
    checkOptions(options, OPTIONS, 'DescriptorSink')
    const { recycle = false, blocking = false } = options
    this.mayBlock = blocking
    this.writer = new ByteWriter(target, { recycle, blocking: false })
  }

  /** The number of bytes that were written. */
  get bytesWritten(): number {
    return this.writer.bytesWritten
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.writeChunk(chunk).then(() => done(), done)
  }

  override _final(done: Done): void {
    this.writer.finish().then(() => done(), done)
  }

  override _destroy(error: Error | null, done: Done): void {
    void this.writer.abandon().then((partial) => {
      this.partial = partial
      done(error ?? this.writer.unreported)
    })
  }

  private async writeChunk(chunk: Buffer): Promise<void> {
    const { writer } = this
    const start = monotonicMs()
    await (writer.write(chunk) ?? writer.settled())
    // The reader has taken data, and the last write did not wait long.
    writer.blocking = this.mayBlock && writer.bytesWritten > MAX_PIPE && monotonicMs() - start < SHORT_MS
  }
}

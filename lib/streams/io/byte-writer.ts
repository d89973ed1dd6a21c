import { closeSync, fstatSync, writeSync, writev } from 'node:fs'
import { recycleChunk } from '../../bytes/chunks.js'
import { setTimeout } from '../timers.js'
import { OutputFile } from './output-file.js'
import { enlargePipes } from './pipe-capacity.js'

/** The number of unwritten bytes of a file beyond which the caller waits. */
const MAX_HELD_BYTES = 524_288
/** The maximum number of buffers that one call writes on Linux. */
const MAX_BUFFERS = 1024
/** The time to wait for a pipe that is full and non-blocking. */
const RETRY_MS = 5

/**
 * Writes chunks to a file, or to standard output, without a stream around it. While one chunk is written to a file, the
 * caller makes the next ones. For a pipe at standard output the event loop waits, because the reader receives a chunk
 * sooner than through the thread pool; signals that the process handles are not noticed meanwhile.
 *
 * A named file gets its name when it is complete (see `OutputFile`).
 */
export class ByteWriter {
  /** The number of bytes that were written. */
  bytesWritten = 0
  /** Whether the event loop may wait for a target that is not a file. */
  blocking: boolean
  private readonly file: OutputFile | undefined
  private fd: number | undefined
  private isFile = true
  /** The chunks that are not being written yet. */
  private held: Uint8Array[] = []
  private heldBytes = 0
  /** The pending write, with the writes that follow it immediately. It does not fail: see `failure`. */
  private writing: Promise<void> | undefined
  private failure: Error | undefined
  private isReported = false

  /**
   * @param target a file, `-` for standard output, or an open descriptor, which is left open
   * @param options `recycle`: no one else reads the chunks, so the memory of those from heapflow's encoders is reused;
   *   `blocking: false`: signals are noticed while a pipe is full
   * @throws the system error if a named file cannot be written
   */
  constructor(
    private readonly target: number | string,
    private readonly options: { recycle?: boolean; blocking?: boolean } = {},
  ) {
    this.file = typeof target === 'number' || target === '-' ? undefined : new OutputFile(target)
    this.blocking = options.blocking !== false && this.file === undefined
  }

  /**
   * Takes a chunk.
   * @returns a promise if the caller must wait before the next one
   * @throws the error of writing it or an earlier one, also by the promise
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    this.check()
    const fd = this.open()
    const blocks = this.blocking && !this.isFile
    if (blocks && this.writing === undefined) {
      const rest = this.writeNow(fd, chunk)
      if (rest.length === 0) {
        this.done(chunk)
        return undefined
      }
      chunk = rest
    }
    this.held.push(chunk)
    this.heldBytes += chunk.length
    this.writing ??= this.writeHeld(fd)
    return blocks || this.heldBytes > MAX_HELD_BYTES ? this.settled() : undefined
  }

  /** Gives a named file its name when everything is written. @throws the error of writing */
  async finish(): Promise<void> {
    this.open()
    await this.settled()
    this.close()
    this.file?.commit()
  }

  /** The error of writing that no call has thrown yet: the data for which `abandon` waited was not written. */
  get unreported(): Error | undefined {
    return this.isReported ? undefined : this.failure
  }

  /**
   * Closes an incomplete output after everything given to it was written; see `unreported`.
   * @returns the name of an incomplete file
   */
  async abandon(): Promise<string | undefined> {
    await this.writing
    try {
      this.close()
    } catch {
      // The reason why it is abandoned matters more.
    }
    return this.file?.abandon()
  }

  /** Waits until everything is written. @throws the error of writing */
  async settled(): Promise<void> {
    await this.writing
    this.check()
  }

  private check(): void {
    if (this.failure === undefined) return
    this.isReported = true
    throw this.failure
  }

  private open(): number {
    if (this.fd !== undefined) return this.fd
    this.fd = this.file?.open() ?? (typeof this.target === 'number' ? this.target : 1)
    const stats = fstatSync(this.fd)
    this.isFile = stats.isFile()
    if (this.target === '-' && stats.isFIFO()) enlargePipes()
    return this.fd
  }

  private close(): void {
    const { fd } = this
    if (fd === undefined || this.file === undefined) return
    this.fd = undefined
    closeSync(fd)
  }

  /** @returns the data that a non-blocking pipe did not take */
  private writeNow(fd: number, chunk: Uint8Array): Uint8Array {
    let rest = chunk
    try {
      while (rest.length > 0) {
        const n = writeSync(fd, rest)
        this.bytesWritten += n
        rest = rest.subarray(n)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
    return rest
  }

  private async writeHeld(fd: number): Promise<void> {
    try {
      while (this.held.length > 0) {
        const chunks = this.held
        this.held = []
        this.heldBytes = 0
        await this.writeAll(fd, chunks)
        for (const chunk of chunks) this.done(chunk)
      }
    } catch (error) {
      this.failure = error as Error
    }
    this.writing = undefined
  }

  private async writeAll(fd: number, chunks: readonly Uint8Array[]): Promise<void> {
    let rest = chunks
    while (rest.length > 0) {
      const n = await writeSome(fd, rest.slice(0, MAX_BUFFERS))
      this.bytesWritten += n
      rest = after(rest, n)
    }
  }

  private done(chunk: Uint8Array): void {
    if (this.options.recycle === true) recycleChunk(chunk)
  }
}

/** @returns the number of bytes written; 0 for a pipe that takes none now */
function writeSome(fd: number, chunks: Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, chunks, null, (error, n) => {
      if (error === null) resolve(n)
      else if (error.code === 'EAGAIN') setTimeout(resolve, RETRY_MS, 0)
      else reject(error)
    })
  })
}

/** The rest of chunks after their first bytes. */
function after(chunks: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let i = 0
  while (i < chunks.length && bytes >= chunks[i].length) bytes -= chunks[i++].length
  return bytes === 0 ? chunks.slice(i) : [chunks[i].subarray(bytes), ...chunks.slice(i + 1)]
}

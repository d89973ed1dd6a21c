import { close, open, read, readSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { cutChunk, newChunk } from '../../bytes/chunks.js'
import { turns } from '../turns.js'
import { isPipe, statOf } from './file-status.js'
import { enlargePipes } from './pipe-capacity.js'
import { refuseDrained } from './read-text.js'

/** The number of bytes to read at a time from a file. */
const FILE_BYTES = 262_144
/** The number of bytes to read at a time from a pipe. */
const PIPE_BYTES = 262_144
/** The default capacity of a pipe on Linux. */
const CAPACITY = 65_536

const openFile = promisify(open)
const closeFile = promisify(close)

/** The bytes of an input, in chunks whose memory may be recycled, without a stream around them. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  /** The number of bytes that were read. */
  readonly bytesRead: number
  /** Gives up waiting for a pipe, which otherwise keeps the process alive. */
  close?(): void
}

/**
 * The bytes of a file, or of standard input for `-`. A file is read ahead, through the thread pool.
 * @param options `blocking`: the event loop waits for a pipe at standard input that is full, which takes a third less
 *   time, but signals that the process handles may be noticed late
 * @throws the system error if it is a directory, and an error when a text was read from the same pipe
 */
export function readInput(path: string, { blocking }: { blocking: boolean }): ByteSource {
  const stats = statOf(path, 0)
  if (stats?.isDirectory() === true) throw isDirectory(path)
  refuseDrained(path)
  if (path !== '-' || !isPipe(stats)) return new FileSource(path === '-' ? 0 : path, stats?.isFile() === true)
  enlargePipes()
  return blocking ? new BlockingPipe(0) : new WaitingPipe(0)
}

/** The error for a directory as the input. */
export function isDirectory(path: string): Error {
  const name = path === '-' ? 'standard input' : path
  return Object.assign(new Error(`${name} is a directory`), { code: 'EISDIR', syscall: 'read', path: name })
}

/** Reads a chunk by the thread pool. @returns the number of bytes */
function readWaiting(fd: number, chunk: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, chunk, 0, chunk.length, null, (error, n) => (error === null ? resolve(n) : reject(error)))
  })
}

/** Reads a file or a device. The next chunk of a file is read while the caller works on the last one. */
class FileSource implements ByteSource {
  bytesRead = 0

  /**
   * @param target an open file descriptor, which is left open, or a file's name
   * @param readsAhead false for a named pipe: a read that waits for its writer would delay the end after a fault
   */
  constructor(
    private readonly target: number | string,
    private readonly readsAhead: boolean,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { target } = this
    const fd = typeof target === 'number' ? target : await openFile(target, 'r')
    let ahead = this.read(fd)
    try {
      for (;;) {
        const chunk = await ahead
        if (chunk.length === 0) return
        this.bytesRead += chunk.length
        if (this.readsAhead) ahead = this.read(fd)
        yield chunk
        if (!this.readsAhead) ahead = this.read(fd)
      }
    } finally {
      // Its memory must not be used any more when the file is closed.
      await ahead.catch(() => {})
      if (fd !== target) await closeFile(fd)
    }
  }

  private read(fd: number): Promise<Uint8Array> {
    const chunk = newChunk(FILE_BYTES)
    const reading = readWaiting(fd, chunk).then((n) => cutChunk(chunk, n))
    // It may fail before it is awaited.
    reading.catch(() => {})
    return reading
  }
}

/**
 * Reads a pipe or socket while the event loop waits. It does so only where more data is likely, after a full chunk, or
 * as much as a pipe holds by default, so that signals are noticed while the writer has nothing to say.
 */
class BlockingPipe implements ByteSource {
  bytesRead = 0

  constructor(private readonly fd: number) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const turn = turns()
    let n = 0
    for (;;) {
      const chunk = newChunk(PIPE_BYTES)
      try {
        n = n === PIPE_BYTES || n === CAPACITY ? readSync(this.fd, chunk) : await readWaiting(this.fd, chunk)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
        // Another process that has the pipe made it non-blocking.
        const rest = new WaitingPipe(this.fd)
        for await (const part of rest) {
          this.bytesRead += part.length
          yield part
        }
        return
      }
      if (n === 0) return
      this.bytesRead += n
      yield cutChunk(chunk, n)
      await turn()
    }
  }
}

/** Reads a pipe or socket by the event loop. */
class WaitingPipe implements ByteSource {
  bytesRead = 0
  private pipe: Readable | undefined
  private isClosed = false

  constructor(private readonly fd: number) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { PipeSource } = await import('./pipe-source.js')
    // It may have been closed meanwhile.
    if (this.isClosed) return
    this.pipe = new PipeSource(this.fd)
    for await (const chunk of this.pipe as AsyncIterable<Buffer>) {
      this.bytesRead += chunk.length
      yield chunk
    }
  }

  close(): void {
    this.isClosed = true
    this.pipe?.destroy()
  }
}

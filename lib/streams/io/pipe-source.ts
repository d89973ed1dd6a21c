import { Socket, type SocketConstructorOpts } from 'node:net'
import { Readable } from 'node:stream'
import { cutChunk, newChunk } from '../../bytes/chunks.js'
import { asBuffer } from '../as-buffer.js'
import type { Done } from '../types.js'

/** The default capacity of a pipe on Linux. */
const CHUNK_BYTES = 65_536

/** An option of sockets that Node's types lack: a buffer to read into, and a callback. */
interface ReadingOptions extends SocketConstructorOpts {
  onread: { buffer(): Uint8Array; callback(length: number, bytes: Uint8Array): boolean }
}

/**
 * Reads a pipe or socket by the event loop, in chunks whose memory may be recycled. Node's own streams allocate new
 * memory for each.
 */
export class PipeSource extends Readable {
  /** The number of bytes that were read. */
  bytesRead = 0
  private readonly socket: Socket

  /** @param fd an open file descriptor, which is closed with the stream */
  constructor(fd: number) {
    // With a mark of 1 it pauses after each chunk until the consumer has taken it.
    super({ highWaterMark: 1 })
    const options: ReadingOptions = {
      fd,
      writable: false,
      onread: {
        buffer: () => newChunk(CHUNK_BYTES),
        callback: (length, chunk) => {
          this.bytesRead += length
          return this.push(asBuffer(cutChunk(chunk as Uint8Array<ArrayBuffer>, length)))
        },
      },
    }
    this.socket = new Socket(options)
    this.socket.pause()
    this.socket.on('end', () => this.push(null))
    this.socket.on('error', (error) => this.destroy(error))
  }

  /** Ends here, regardless of further input. */
  finish(): void {
    this.socket.destroy()
    this.push(null)
  }

  override _read(): void {
    this.socket.resume()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.socket.destroy()
    done(error)
  }
}

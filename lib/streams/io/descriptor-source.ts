import { close, open, read } from 'node:fs'
import { Readable } from 'node:stream'
import { cutChunk, newChunk } from '../../bytes/chunks.js'
import { asBuffer } from '../as-buffer.js'
import type { Done } from '../types.js'

/** Reads a file, in chunks whose memory may be recycled. */
export class DescriptorSource extends Readable {
  /** The number of bytes that were read. */
  bytesRead = 0
  private fd: number | undefined
  private busy = false
  private idle: (() => void) | undefined

  /**
   * @param target an open file descriptor, which is left open, or a file's name
   * @param chunkBytes the number of bytes to read at a time
   * @param position the position at which to begin. Default: the descriptor's
   */
  constructor(
    private readonly target: number | string,
    private readonly chunkBytes: number,
    private readonly position?: number,
  ) {
    // With a mark of 1 it reads one chunk ahead while the current one is processed.
    super({ highWaterMark: 1 })
  }

  override _construct(done: Done): void {
    if (typeof this.target === 'number') {
      this.fd = this.target
      done()
      return
    }
    open(this.target, (error, fd) => {
      this.fd = fd
      done(error)
    })
  }

  override _read(): void {
    const chunk = newChunk(this.chunkBytes)
    this.busy = true
    const from = this.position === undefined ? null : this.position + this.bytesRead
    read(this.fd as number, chunk, 0, chunk.length, from, (error, n) => {
      this.busy = false
      if (this.idle !== undefined) return this.idle()
      if (error !== null) {
        this.destroy(error)
        return
      }
      this.bytesRead += n
      this.push(n === 0 ? null : asBuffer(cutChunk(chunk, n)))
    })
  }

  override _destroy(error: Error | null, done: Done): void {
    const { fd, target } = this
    const finish = () => (fd !== undefined && fd !== target ? close(fd, (fault) => done(error ?? fault)) : done(error))
    if (this.busy) this.idle = finish
    else finish()
  }
}

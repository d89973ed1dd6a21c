import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, renameSync, symlinkSync, write } from 'node:fs'
import { PipeSource } from '../io/pipe-source.js'

/** The system writes this number of bytes at once, or none of them. */
const MARK_BYTES = 64

/** A named pipe through which a recorder hands over its trace while the program runs. */
export class TracePipe {
  /** The mark that ends the pipe if the processes that have it open do not count. */
  private readonly mark = randomBytes(MARK_BYTES)
  private readonly source: PipeSource
  /** The reader of the pipe: the source, or a stream that discards the rest. */
  private reader: PipeSource
  /** Keeps a recorder from being killed by SIGPIPE when the source is closed early. */
  private readonly spare: number
  /** Keeps the source from ending before a recorder has opened the pipe. */
  private writer: number | undefined
  private isMarked = false
  /** Marks that are being written. */
  private pending = 0
  private isClosed = false
  /** The bytes that were read and may be the beginning of the mark. */
  private held = Buffer.alloc(0)
  /** Everything was read. */
  private isOver = false
  /** Resolves when the rest of the trace was discarded. */
  private discarded: Promise<void> | undefined

  /**
   * @param path the path at which to make it
   * @throws Error where the system has no named pipes
   */
  constructor(private readonly path: string) {
    const { status, error } = spawnSync('mkfifo', ['-m', '600', path], { stdio: 'ignore' })
    if (status !== 0) throw new Error('this system has no named pipes (mkfifo failed)', { cause: error })
    // Opening without this flag would wait for the other side.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK
    this.spare = openSync(path, flags)
    this.writer = openSync(path, constants.O_WRONLY)
    this.source = this.reader = new PipeSource(openSync(path, flags))
  }

  /** The descriptor to write to, for a recorder that gets it from its parent. It is open until `programEnded`. */
  get descriptor(): number {
    return this.writer as number
  }

  /**
   * The trace. After `programEnded` it ends where everything was read that was written until then, or when all
   * processes have closed the pipe.
   */
  bytes(): AsyncGenerator<Buffer> {
    return this.read(this.source)
  }

  /**
   * The program has ended, so nothing will open the pipe.
   * @param waits for the processes that have it open: what they write belongs to the trace
   */
  programEnded(waits: boolean): void {
    if (waits) this.closeWriter()
    else this.putMark()
  }

  /** Data written to the path by processes that open it from now on is lost. */
  detach(): void {
    const nowhere = `${this.path}.nowhere`
    try {
      symlinkSync('/dev/null', nowhere)
      renameSync(nowhere, this.path)
    } catch {
      // The folder was removed, for the program has ended.
    }
  }

  /** Ends the trace, whatever is still to come. */
  stop(): void {
    this.reader.finish()
  }

  /** Reads the rest of the trace and discards it, so that the program can run on. Resolves at its end. */
  discard(): Promise<void> {
    this.discarded ??= this.readRest()
    return this.discarded
  }

  /** Closes the pipe. */
  close(): void {
    this.isClosed = true
    this.source.destroy()
    if (this.pending === 0) this.closeWriter()
    if (this.discarded === undefined) closeSync(this.spare)
  }

  private putMark(): void {
    const { writer } = this
    if (writer === undefined) return
    this.isMarked = true
    this.pending++
    // The pipe may be full, so another thread does this.
    write(writer, this.mark, () => {
      if (--this.pending === 0 && this.isClosed) this.closeWriter()
    })
  }

  private closeWriter(): void {
    if (this.writer !== undefined) closeSync(this.writer)
    this.writer = undefined
  }

  private async readRest(): Promise<void> {
    this.source.destroy()
    const rest = (this.reader = new PipeSource(this.spare))
    // The first one may be among what the source had read.
    if (this.isMarked) this.putMark()
    if (this.isOver) rest.destroy()
    else for await (const _ of this.read(rest));
  }

  private async *read(source: PipeSource): AsyncGenerator<Buffer> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      if (!this.isMarked) {
        yield chunk
        continue
      }
      const bytes = Buffer.concat([this.held, chunk])
      const end = bytes.indexOf(this.mark)
      if (end >= 0) {
        this.isOver = true
        if (end > 0) yield bytes.subarray(0, end)
        return
      }
      const least = Math.max(0, bytes.length - MARK_BYTES + 1)
      this.held = bytes.subarray(least)
      if (least > 0) yield bytes.subarray(0, least)
    }
    this.isOver = true
    if (this.held.length > 0) yield this.held
  }
}

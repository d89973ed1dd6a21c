import { spawn, spawnSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { PipeSource } from '../../streams/io/pipe-source.js'

/** A named pipe through which a recorder hands over its trace while the program runs. */
export class TracePipe {
  /** The trace. It ends when everyone who writes to the pipe has closed it, after `programEnded`. */
  readonly source: Readable
  /** Keeps a recorder from being killed by SIGPIPE when the source is closed early. */
  private readonly spare: number
  /** Keeps the source from ending before a recorder has opened the pipe. */
  private writer: number | undefined

  /**
   * @param path where to make it
   * @param filter a program through which the trace goes
   * @throws Error where the system has no named pipes
   */
  constructor(path: string, filter?: string) {
    const { status, error } = spawnSync('mkfifo', ['-m', '600', path], { stdio: 'ignore' })
    if (status !== 0) throw new Error('this system has no named pipes (mkfifo failed)', { cause: error })
    // Opening without this flag would wait for the other side.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK
    this.spare = openSync(path, flags)
    this.writer = openSync(path, constants.O_WRONLY)
    if (filter === undefined) {
      this.source = new PipeSource(openSync(path, flags))
    } else {
      const input = openSync(path, constants.O_RDONLY)
      // What it says on standard error are figures of its own.
      this.source = spawn(filter, { stdio: [input, 'pipe', 'ignore'] }).stdout as Readable
      closeSync(input)
    }
  }

  /** The program has ended, so nothing will open the pipe. */
  programEnded(): void {
    if (this.writer !== undefined) closeSync(this.writer)
    this.writer = undefined
  }

  /** Reads the rest of the trace and discards it, so that the program can run on. Resolves at its end. */
  async discard(): Promise<void> {
    const rest = new PipeSource(this.spare)
    rest.resume()
    await new Promise((resolve) => rest.once('close', resolve))
  }

  /** Closes the pipe whose source was read to its end. */
  close(): void {
    this.programEnded()
    closeSync(this.spare)
  }
}

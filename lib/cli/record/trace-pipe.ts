import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { PipeSource } from '../../streams/io/pipe-source.js'

/** A named pipe through which a recorder hands over its trace while the program runs. */
export class TracePipe {
  /** The trace. It ends when everyone who writes to the pipe has closed it, after `programEnded`. */
  readonly source: Readable
  /** Why the filter did not bring the whole trace, if it did not. Resolves when the filter has ended. */
  readonly fault: Promise<string | undefined>
  /** Keeps a recorder from being killed by SIGPIPE when the source is closed early. */
  private readonly spare: number
  /** Keeps the source from ending before a recorder has opened the pipe. */
  private writer: number | undefined
  /** Resolves when the rest of the trace was discarded. */
  private discarded: Promise<void> | undefined

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
      this.fault = Promise.resolve(undefined)
    } else {
      const input = openSync(path, constants.O_RDONLY)
      // What it says on standard error are figures of its own. The signals of a terminal are not for it.
      const child = spawn(filter, { stdio: [input, 'pipe', 'ignore'], detached: true })
      closeSync(input)
      this.source = child.stdout as Readable
      this.fault = this.faultOf(child, basename(filter))
    }
  }

  private async faultOf(filter: ChildProcess, name: string): Promise<string | undefined> {
    const fault = await new Promise<string | undefined>((resolve) => {
      filter.once('error', (error) => resolve(`${name} cannot be run: ${error.message}`))
      filter.once('exit', (status, signal) => {
        if (signal !== null) resolve(`${name} was ended by ${signal}`)
        else if (status !== 0) resolve(`${name} ended with status ${status}`)
        else resolve(this.writer === undefined ? undefined : `${name} ended before the program`)
      })
    })
    // Nobody else reads the pipe now, and a program that writes to a full pipe waits for ever.
    if (fault !== undefined) void this.discard()
    return fault
  }

  /** The program has ended, so nothing will open the pipe. */
  programEnded(): void {
    if (this.writer !== undefined) closeSync(this.writer)
    this.writer = undefined
  }

  /** Reads the rest of the trace and discards it, so that the program can run on. Resolves at its end. */
  discard(): Promise<void> {
    this.discarded ??= new Promise((resolve) => {
      const rest = new PipeSource(this.spare)
      rest.once('close', () => resolve())
      rest.resume()
    })
    return this.discarded
  }

  /** Closes the pipe whose source was read to its end. */
  close(): void {
    this.programEnded()
    if (this.discarded === undefined) closeSync(this.spare)
  }
}

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { truncated } from '../../event/error.js'
import { closed } from '../closed.js'
import { sourceStream } from '../source-stream.js'
import type { Attachment } from './attachment.js'
import { Filter } from './filter.js'
import { NOT_EXECUTABLE, NOT_FOUND, Program, type Descriptor, type Ending } from './program.js'
import type { Launch, Recorder, Settings } from './recorders.js'
import { TracePipe } from './trace-pipe.js'
import { TracerEnding } from './tracer-ending.js'

/** The bytes of the end of a trace that are kept, to see how it ends. */
const TAIL_BYTES = 128

/** The bytes of a recording of no program. */
const EMPTY_BYTES = 12

/** Options of a recording. */
export interface Plan {
  readonly recorder: Recorder
  /** The program and its arguments. */
  readonly words: readonly string[]
  readonly stacks: boolean
  readonly settings: Settings
  /** For temporary files; it is removed when the program has ended. */
  readonly folder: string
  /** The program's standard input, output and error. */
  readonly stdio: readonly [Descriptor, Descriptor, Descriptor]
  readonly env: NodeJS.ProcessEnv
  /** The program's folder, if not this process's. */
  readonly cwd?: string | undefined
  /** The program runs already; its number is the only word. */
  readonly attachment?: Attachment | undefined
}

/** A program that is being recorded. */
export class Recording {
  /** The bytes of its trace. An error comes after them if the trace is not whole. */
  readonly source: Readable
  /** Whether the program forked processes that were not recorded, as far as the recorder says so. */
  hasForked = false
  private readonly pipe: TracePipe
  private readonly filter: Filter | undefined
  /** The program, or its tracer. */
  readonly program: Program
  private readonly ending: TracerEnding | undefined
  /** The last bytes that the recorder wrote, and how many there were. */
  private tail: Buffer = Buffer.alloc(0)
  private length = 0
  /** The input belongs to this program, and not to another one. */
  private isOwn = true
  /** The signal that ended the recording after the program had ended. */
  private stoppedBy: string | undefined
  private readonly launch: Launch

  /** @throws Error if the recorder or the program cannot be started, or if the system has no named pipes */
  constructor(private readonly plan: Plan) {
    const { recorder, words, folder, stdio, stacks, settings, env, cwd } = plan
    const [input, output, error] = stdio
    const path = join(folder, 'trace')
    const launch = (this.launch = recorder.launch(words, path, folder, settings, env))
    const filter = recorder.filter?.(stacks)
    this.pipe = new TracePipe(path)
    try {
      this.filter = filter && new Filter(filter)
      this.program = new Program({
        words: launch.words,
        env: launch.env,
        cwd,
        stdio: launch.writesToOutput === true ? [input, this.pipe.descriptor, error, output] : stdio,
        isTracer: launch.isTracer === true,
      })
    } catch (fault) {
      this.pipe.close()
      this.filter?.close()
      throw fault
    }
    this.ending = recorder.logsEnding === true ? new TracerEnding() : undefined
    plan.attachment?.listen(this.program.stream(2) as Readable)
    void this.program.ended.then(() => {
      this.hasForked = existsSync(`${path}.forked`)
      this.pipe.programEnded(recorder.hasChildren)
      rmSync(folder, { recursive: true, force: true })
    })
    this.source = sourceStream(
      () => this.bytes(),
      () => this.release(),
    )
  }

  /** Waits for the program. @returns how it ended */
  async ended(): Promise<Ending> {
    const ending = await this.program.ended
    // The last lines of the log say it.
    if (this.ending !== undefined) await closed(this.source)
    return this.ending?.ending ?? ending
  }

  /** The program's standard input, output or error by number, if that is a pipe. */
  stream(number: 0 | 1 | 2): Readable | Writable | null {
    return this.program.stream(number === 1 && this.launch.writesToOutput === true ? 3 : number)
  }

  /** Waits for the program. If the source was not read to the end, the rest of the trace is read and discarded. */
  async close(): Promise<void> {
    await this.pipe.discard()
    this.pipe.close()
  }

  /** Ends the program, what it has started, and the recording. */
  async end(): Promise<void> {
    this.source.destroy()
    await this.program.end()
    await this.close()
    await this.filter?.fault
  }

  /**
   * A signal came after the program's end: a child of it still writes the trace, or the events are still written. They
   * end here.
   * @returns whether that is the first one
   */
  stop(signal: NodeJS.Signals): boolean {
    if (this.stoppedBy !== undefined) return false
    this.stoppedBy = signal
    this.pipe.stop()
    return true
  }

  /** @throws TraceError after the bytes of a trace that is not whole; Error if there is no trace */
  private async *bytes(): AsyncGenerator<Buffer> {
    const own = this.ownBytes()
    yield* this.filter === undefined ? own : this.filter.through(own)
    const { recorder, words, attachment } = this.plan
    const { name, format } = recorder
    const ending: Ending = this.ending?.ending ?? (await this.program.ended)
    if (ending.error !== undefined) throw ending.error
    if (recorder.outlives === true) {
      const error = attachment?.failure(ending) ?? notStarted(words[0], ending, this.length)
      if (error !== undefined) throw error
      if (this.length === 0) throw new Error(`nothing was recorded: ${ending.signal ?? 'a fault'} ended the recorder`)
      return
    }
    if (this.length === 0) {
      const left = 'left without running its exit handlers, or became another program'
      const reason = ending.signal === undefined ? left : `was ended by ${ending.signal}`
      throw new Error(`nothing was recorded: ${words[0]} ${reason}, before ${name} wrote anything`)
    }
    const fault = this.faultOf(ending) ?? (await this.filter?.fault)
    if (fault !== undefined) throw truncated(fault, { format, offset: this.length })
  }

  /** The reason why the trace that the recorder wrote is not whole, if it is not. */
  private faultOf({ signal }: Ending): string | undefined {
    const { recorder } = this.plan
    const tail = this.tail.toString('latin1')
    if (this.ending !== undefined && this.ending.ending === undefined)
      return `the end of the program is missing: ${recorder.name} ended before it`
    if (signal !== undefined) return `the program was ended by ${signal}`
    if (recorder.isWhole?.(tail) === false)
      return 'the program left without running its exit handlers, or became another one'
    if (this.stoppedBy !== undefined && recorder.hasChildren)
      return `${this.stoppedBy} came while a process that the program had started was still being recorded`
    return undefined
  }

  /** The output of the recorder. */
  private async *ownBytes(): AsyncGenerator<Buffer> {
    for await (const chunk of this.pipe.bytes()) {
      // Those that open the pipe from now on are other programs, which got the environment of this one.
      if (this.length === 0) this.pipe.detach()
      const own = this.ownPart(chunk)
      if (own.length === 0) continue
      this.length += own.length
      this.tail = Buffer.concat([this.tail, own.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
      this.ending?.read(own, this.program.pid)
      yield own
    }
  }

  /** The bytes before the trace of another program that opened the pipe before it could be detached. */
  private ownPart(chunk: Buffer): Buffer {
    const { beginning } = this.plan.recorder
    if (beginning === undefined) return chunk
    if (!this.isOwn) return chunk.subarray(0, 0)
    const { length } = this.tail
    const at = Buffer.concat([this.tail, chunk]).toString('latin1').search(beginning)
    this.isOwn = at < 0
    return this.isOwn ? chunk : chunk.subarray(0, Math.max(0, at - length))
  }

  private release(): void {
    this.filter?.close()
    void this.pipe.discard()
  }
}

/**
 * The reason why the program of heapflow's own recorder could not be started, if it could not.
 * @param length the number of bytes of its recording: one of a program has more than its beginning and its end
 */
export function notStarted(command: string, { status, signal }: Ending, length: number): Error | undefined {
  if (signal !== undefined || length > EMPTY_BYTES) return undefined
  if (status === NOT_FOUND) return new Error(`${command}: no such program`)
  return status === NOT_EXECUTABLE ? new Error(`${command}: permission denied`) : undefined
}

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Ending } from './program.js'
import { launchReader, type Recorder } from './recorders.js'

/** The exit status of the reader when it cannot attach to the process. */
const CANNOT_ATTACH = 125
/** The line that says that it has attached. */
const ATTACHED = 'attached'

/** The recording of a running process by heapflow's own recorder. */
export class Attachment {
  /** The recorder, whose program is given as the number of the process. */
  readonly recorder: Recorder
  /** The reader's output before it has attached. */
  private readonly lines: string[] = []
  private hasAttached = false

  /**
   * @param own heapflow's own recorder
   * @param pid the number of the process
   * @param say called with lines of the reader, and without a line when recording has begun
   */
  constructor(
    own: Recorder,
    readonly pid: number,
    private readonly say: (line?: string) => void,
  ) {
    this.recorder = { ...own, launch: launchReader(true) }
  }

  /** The words that stand for the program and its arguments. */
  get words(): [string] {
    return [String(this.pid)]
  }

  /** Reads what the reader reports. */
  listen(stderr: Readable): void {
    createInterface({ input: stderr }).on('line', (line) => {
      if (this.hasAttached) this.say(line)
      else if (line === ATTACHED) {
        this.hasAttached = true
        this.say()
      } else this.lines.push(line)
    })
  }

  /** The reason why the process was not recorded, after its reader has ended; undefined if it was. */
  failure({ status, signal }: Ending): Error | undefined {
    if (status === 0 || this.hasAttached) return undefined
    const reason = this.lines.join('; ').replace(/^heapflow: /, '')
    if (status === CANNOT_ATTACH && reason !== '') return new Error(reason)
    return new Error(`process ${this.pid} was not recorded: ${reason || `the reader ended by ${signal ?? status}`}`)
  }
}

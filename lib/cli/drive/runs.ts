import { spawn } from 'node:child_process'
import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { showText } from '../../event/message-text.js'
import type { Native } from '../../streams/record/compiled.js'
import { isPlainPath } from '../../streams/record/folder.js'
import type { Allocator } from './allocators.js'

/** The driver's report on one run: times in ns, memory in KiB, as described in docs/operations.md. */
export interface Run {
  readonly calls: number
  readonly threads: number
  readonly wall: number
  readonly cpu: number
  readonly waiting: number
  readonly user: number
  readonly system: number
  readonly start: number
  readonly peak: number
  readonly final: number
  readonly startData: number
  readonly finalData: number
  readonly minorFaults: number
  readonly majorFaults: number
  readonly failed: number
  readonly damaged: number
  readonly misaligned: number
  /** The number of sampled calls that took at least a number of ns. */
  readonly times?: readonly (readonly [ns: number, calls: number])[]
  /** The resident set over time. */
  readonly moments?: readonly (readonly [calls: number, ns: number, resident: number, mapped: number])[]
  /** The file that malloc is in. */
  readonly object: string
}

const HEADERS = ['format', 'file', 'memory', 'order', 'calls', 'contents', 'watch', 'run'].map(
  (name) => `replay/${name}.h`,
)

/** The program that executes operations against the allocator that is loaded into it. */
export const REPLAY_DRIVER: Native = {
  what: 'the replay driver',
  name: 'replay-driver',
  ending: '',
  sources: ['replay/driver.c', ...HEADERS],
  // Branches are predicted better than jumps by a table: 3.5 ns a call in place of 4.1 (gcc) and 6.3 (clang).
  options: ['-std=c11', '-O2', '-pthread', '-ftls-model=local-exec', '-fno-jump-tables'],
  libraries: ['-ldl'],
}

/** The beginning of the driver's figures. */
const FIGURES = '{"calls":'

/** More than this of messages is not kept. */
const MOST_TEXT = 1 << 20

/** Runs the driver, a process for each run. */
export class Driver {
  private child: ReturnType<typeof spawn> | undefined
  private links = 0

  /**
   * @param program the path of the driver @param operations the path of the file of operations
   * @param folder for temporary files, with a plain path
   * @param limit the seconds that a run may take
   */
  constructor(
    private readonly program: string,
    private readonly operations: string,
    private readonly folder: string,
    private readonly limit: number,
  ) {}

  /**
   * One run.
   * @param allocator null for the empty one, which measures the driver itself
   * @param options of the driver
   * @throws Error when the run fails, takes too long, or is not one of that allocator
   */
  async run(allocator: Allocator | null, options: readonly string[]): Promise<Run> {
    const library = allocator?.library ?? null
    const env = { ...process.env }
    delete env['LD_PRELOAD']
    if (library !== null) env['LD_PRELOAD'] = this.plain(library)
    const words = [this.operations, `limit=${this.limit}`, ...(allocator === null ? ['empty=1'] : []), ...options]
    const name = allocator?.name ?? 'the empty allocator'
    const { status, signal, output, errors } = await this.start(words, env)
    if (signal === 'SIGALRM' || signal === 'SIGKILL')
      throw new Error(
        `the replay with ${name} ${signal === 'SIGALRM' ? `takes more than ${this.limit} s` : 'was killed'}`,
      )
    if (signal !== null || status !== 0) {
      const [reason = ''] = errors.split('\n')
      throw new Error(`the replay with ${name} failed: ${reason || (signal ?? `status ${status}`)}`)
    }
    const run = runIn(output)
    if (run === undefined) {
      const [words = ''] = output.split('\n')
      const printed = words === '' ? '' : `, after it printed ${showText(words)}`
      throw new Error(`the replay with ${name} failed: the process ended before all calls were made${printed}`)
    }
    if (library !== null && !isSame(run.object, library))
      throw new Error(
        `${library} has no malloc that can be preloaded${errors === '' ? '' : `: ${errors.split('\n')[0]}`}`,
      )
    return run
  }

  /** Ends the run that is going on. */
  stop(): void {
    this.child?.kill('SIGKILL')
  }

  private start(
    words: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<{ status: number | null; signal: string | null; output: string; errors: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      this.child = child
      let [output, errors] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        // The figures are at the end.
        output = (output + text).slice(-MOST_TEXT)
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (errors.length < MOST_TEXT) errors += text
      })
      child.once('error', reject)
      child.once('close', (status, signal) => {
        this.child = undefined
        resolve({ status, signal, output, errors })
      })
    })
  }

  /** A path of a library without spaces and colons, which LD_PRELOAD has between paths. */
  private plain(library: string): string {
    if (isPlainPath(library)) return library
    const link = join(this.folder, `allocator-${this.links++}.so`)
    symlinkSync(library, link)
    return link
  }
}

/** The figures that the driver wrote, after what the allocator may have printed; undefined if there are none. */
function runIn(output: string): Run | undefined {
  const at = output.lastIndexOf(FIGURES)
  if (at < 0) return undefined
  try {
    return JSON.parse(output.slice(at)) as Run
  } catch {
    return undefined
  }
}

function isSame(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b)
  } catch {
    return false
  }
}

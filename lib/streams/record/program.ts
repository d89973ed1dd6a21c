import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from '../timers.js'
import { childrenOf, ProcessTree } from './process-tree.js'

/** The end of a program. */
export interface Ending {
  /** Its exit status; 128 and the signal's number if a signal ended it. */
  readonly status: number
  /** The name of the signal that ended it. */
  readonly signal?: string
  /** The reason why it could not be started. */
  readonly error?: Error
}

/** What the program gets as a descriptor: one of this process, the end of a new pipe, or `/dev/null`. */
export type Descriptor = number | 'pipe' | 'ignore'

/** Options for starting a program. */
export interface Start {
  /** The program and its arguments. */
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Its folder, if not this process's. */
  readonly cwd?: string | undefined
  /** Its standard input, output and error, and further ones from number 3 on. */
  readonly stdio: readonly Descriptor[]
  /** Signals are for the program that it runs, and not for this one. */
  readonly isTracer: boolean
}

/** Exit statuses of shells for a program that cannot be started. */
export const [NOT_EXECUTABLE, NOT_FOUND] = [126, 127]

/** The interval at which to check whether a program that is being ended has ended. */
const LOOK_MS = 20
/** After these times, a program that is being ended gets SIGKILL, and its tracer SIGTERM and SIGKILL. */
const [PATIENCE_MS, TRACER_PATIENCE_MS] = [1000, 3000]

/** A program that runs, directly or under a tracer. */
export class Program {
  /** Resolves when it has ended. */
  readonly ended: Promise<Ending>
  /** It has ended. */
  hasEnded = false
  private readonly child: ChildProcess
  private readonly isTracer: boolean

  constructor({ words, env, cwd, stdio, isTracer }: Start) {
    const [file, ...args] = words as [string, ...string[]]
    this.isTracer = isTracer
    this.child = spawn(file, args, { env, stdio: [...stdio], ...(cwd !== undefined && { cwd }) })
    this.ended = new Promise((resolve) => {
      // It also reports that a signal could not be sent, which is no ending.
      this.child.on('error', (error) => {
        if (this.child.pid !== undefined) return
        const status = (error as NodeJS.ErrnoException).code === 'EACCES' ? NOT_EXECUTABLE : NOT_FOUND
        resolve({ status, error: named(error, file, cwd) })
      })
      this.child.once('exit', (status, signal) => resolve(signal === null ? { status: status ?? 0 } : killed(signal)))
    })
    void this.ended.then(() => (this.hasEnded = true))
  }

  /** The number of the process that is recorded, as far as it is known. */
  get pid(): number | undefined {
    const { pid } = this.child
    return pid === undefined || !this.isTracer ? pid : childrenOf(pid)[0]
  }

  /** The other end of a pipe to the program, by its number there; null if that is none. */
  stream(number: number): Readable | Writable | null {
    return this.child.stdio[number] ?? null
  }

  /** Sends the program a signal. @returns whether it was sent */
  send(signal: NodeJS.Signals): boolean {
    if (this.hasEnded) return false
    const { pid } = this
    if (this.isTracer && pid !== undefined && isSent(pid, signal)) return true
    return this.child.kill(signal)
  }

  /** Ends the program, and the processes that it has started and is still an ancestor of, by SIGTERM or SIGKILL. */
  async end(): Promise<Ending> {
    const { pid } = this.child
    if (this.hasEnded || pid === undefined) return this.ended
    const tree = new ProcessTree(pid)
    const begin = Date.now()
    tree.send('SIGTERM')
    if (!this.isTracer || !tree.isKnown) this.child.kill('SIGTERM')
    while (!this.hasEnded) {
      await Promise.race([this.ended, new Promise((resolve) => setTimeout(resolve, LOOK_MS))])
      const time = Date.now() - begin
      if (this.hasEnded || time < PATIENCE_MS) continue
      tree.send('SIGKILL')
      if (!this.isTracer) this.child.kill('SIGKILL')
      // The tracer ends when the program has; it may wait for processes that are no longer children of that.
      else this.child.kill(time < TRACER_PATIENCE_MS ? 'SIGTERM' : 'SIGKILL')
    }
    tree.send('SIGKILL')
    return this.ended
  }
}

/** Sends a signal. @returns whether the process was there, and may be sent signals */
function isSent(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** The ending by a signal. */
export function killed(signal: string): Ending {
  return { status: 128 + (constants.signals[signal as NodeJS.Signals] ?? 0), signal }
}

/** A failure to start in words. */
function named(error: Error, file: string, cwd: string | undefined): Error {
  const { code } = error as NodeJS.ErrnoException
  // The system has the same error for both.
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd))
    return new Error(`${cwd}: no such folder`, { cause: error })
  if (code === 'ENOENT') return new Error(`${file}: no such program`, { cause: error })
  return code === 'EACCES' ? new Error(`${file}: permission denied`, { cause: error }) : error
}

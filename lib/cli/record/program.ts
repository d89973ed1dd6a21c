import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { Terminal } from './terminal.js'

/** How a program ended. */
export interface Ending {
  /** Its exit status; 128 and the signal's number if a signal ended it. */
  readonly status: number
  /** The name of the signal that ended it. */
  readonly signal?: string
  /** Why it could not be started. */
  readonly error?: Error
}

/** How to start a program. */
export interface Start {
  /** The program and its arguments. */
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** The descriptors that become its standard output, and further ones from number 3 on. */
  readonly outputs: readonly number[]
  /** Signals are for the program that it runs, and not for this one. */
  readonly isTracer: boolean
}

/** Signals that are passed on to the program. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const
/** Those of the keys of a terminal, which the program gets from there. */
const OF_KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/** Exit statuses of shells for a program that cannot be started. */
export const [NOT_EXECUTABLE, NOT_FOUND] = [126, 127]

/**
 * A program that runs with this process's standard input and error, and gets the signals that are sent to this process.
 */
export class Program {
  /** Resolves when it has ended. */
  readonly ended: Promise<Ending>
  private readonly child: ChildProcess
  private readonly terminal = new Terminal()
  private readonly isTracer: boolean
  private hasEnded = false
  private readonly onSignal = (signal: NodeJS.Signals) => this.send(signal)

  /** @param whenOver called with signals that come after the program has ended */
  constructor(
    { words, env, outputs, isTracer }: Start,
    private readonly whenOver: (signal: NodeJS.Signals) => void,
  ) {
    const [file, ...args] = words as [string, ...string[]]
    const [output, ...others] = outputs as [number, ...number[]]
    this.isTracer = isTracer
    this.child = spawn(file, args, { env, stdio: [0, output, 2, ...others] })
    for (const signal of SIGNALS) process.on(signal, this.onSignal)
    this.ended = new Promise((resolve) => {
      // It also reports that a signal could not be sent, which is no ending.
      this.child.on('error', (error) => {
        if (this.child.pid === undefined) resolve({ status: statusOf(error), error: named(error, file) })
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

  /** Signals are no longer handled. */
  close(): void {
    for (const signal of SIGNALS) process.removeListener(signal, this.onSignal)
  }

  private send(signal: NodeJS.Signals): void {
    if (this.hasEnded) {
      this.whenOver(signal)
      return
    }
    // A terminal sends these to the program, too.
    if (OF_KEYS.includes(signal) && this.terminal.hasForeground) return
    if (signal === 'SIGHUP' && this.terminal.isGone) return
    const { pid } = this
    if (this.isTracer && pid !== undefined && isSent(pid, signal)) return
    this.child.kill(signal)
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

/** The children of a process, where the system has /proc. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** The ending by a signal. */
export function killed(signal: string): Ending {
  return { status: 128 + (constants.signals[signal as NodeJS.Signals] ?? 0), signal }
}

function statusOf(error: Error): number {
  return (error as NodeJS.ErrnoException).code === 'EACCES' ? NOT_EXECUTABLE : NOT_FOUND
}

/** A failure to start in words. */
function named(error: Error, file: string): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new Error(`${file}: no such program`, { cause: error })
  return code === 'EACCES' ? new Error(`${file}: permission denied`, { cause: error }) : error
}

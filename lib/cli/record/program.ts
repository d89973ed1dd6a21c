import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'

/** How a program ended. */
export interface Ending {
  /** Its exit status; 128 and the signal's number if a signal ended it. */
  readonly status: number
  /** The name of the signal that ended it. */
  readonly signal?: string
  /** Why it could not be started. */
  readonly error?: Error
}

/** Signals that are passed on to the program. */
const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGUSR2'] as const
/** Signals that a terminal sends to the program by itself. */
const OF_TERMINAL = ['SIGINT', 'SIGQUIT'] as const

/** Exit statuses of shells for a program that cannot be started. */
const [NOT_EXECUTABLE, NOT_FOUND] = [126, 127]

/** A program that runs with this process's standard streams, and gets the signals that are sent to this process. */
export class Program {
  /** Resolves when it has ended. */
  readonly ended: Promise<Ending>
  private readonly child: ChildProcess
  private readonly forward = (signal: NodeJS.Signals) => this.send(signal)

  /**
   * @param words the program and its arguments
   * @param output the descriptor that becomes its standard output
   * @param isTracer signals are not for this program, but for the one that it runs
   */
  constructor(
    words: readonly string[],
    env: NodeJS.ProcessEnv,
    output: number,
    private readonly isTracer = false,
  ) {
    const [file, ...args] = words as [string, ...string[]]
    this.child = spawn(file, args, { env, stdio: [0, output, 2] })
    const fromTerminal = [0, 1, 2].some((fd) => isatty(fd))
    for (const signal of FORWARDED) process.on(signal, this.forward)
    for (const signal of OF_TERMINAL) process.on(signal, fromTerminal ? ignore : this.forward)
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => resolve({ status: statusOf(error), error: named(error, file) }))
      this.child.once('exit', (status, signal) => resolve(signal === null ? { status: status ?? 0 } : killed(signal)))
    })
    void this.ended.then(() => {
      for (const signal of FORWARDED) process.removeListener(signal, this.forward)
      for (const signal of OF_TERMINAL) process.removeListener(signal, fromTerminal ? ignore : this.forward)
    })
  }

  private send(signal: NodeJS.Signals): void {
    const [inner] = this.isTracer ? childrenOf(this.child.pid as number) : []
    if (inner === undefined) this.child.kill(signal)
    else process.kill(inner, signal)
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

function ignore(): void {}

function statusOf(error: Error): number {
  return (error as NodeJS.ErrnoException).code === 'EACCES' ? NOT_EXECUTABLE : NOT_FOUND
}

/** A failure to start in words. */
function named(error: Error, file: string): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new Error(`${file}: no such program`, { cause: error })
  return code === 'EACCES' ? new Error(`${file}: permission denied`, { cause: error }) : error
}

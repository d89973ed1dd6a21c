import { isatty } from 'node:tty'
import { monotonicMs } from '../../streams/io/clock.js'
import { statFields } from '../../streams/record/process-tree.js'
import type { Program } from '../../streams/record/program.js'

/** Signals that are passed on to the program. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const
/** Those of the keys of a terminal, which the program gets from there. */
const OF_KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']
/** A SIGINT within this time of the one before is the second one: shells and the like get many in their life. */
const SECOND_MS = 3000

/**
 * Passes the signals that are sent to this process on to a program. It is made before the program starts: signals may
 * come at once, and the terminal may be gone by the time that the program runs.
 */
export class SignalRelay {
  private readonly terminal = new Terminal()
  private readonly onSignal = (signal: NodeJS.Signals) => this.send(signal)
  private program: Program | undefined
  private endsAtSecond = false
  private interruptedAt = -Infinity

  /** @param whenOver called with signals that come while no program runs */
  constructor(private readonly whenOver: (signal: NodeJS.Signals) => void) {
    for (const signal of SIGNALS) process.on(signal, this.onSignal)
  }

  /**
   * Signals are for this program from now on.
   * @param endsAtSecond a second SIGINT within three seconds ends it, whatever it does with SIGINT
   */
  relayTo(program: Program, endsAtSecond: boolean): void {
    this.program = program
    this.endsAtSecond = endsAtSecond
  }

  /** Signals are no longer handled. */
  close(): void {
    for (const signal of SIGNALS) process.removeListener(signal, this.onSignal)
  }

  private send(signal: NodeJS.Signals): void {
    if (this.program === undefined || this.program.hasEnded) {
      this.whenOver(signal)
      return
    }
    if (signal === 'SIGINT' && this.endsAtSecond) {
      const now = monotonicMs()
      if (now - this.interruptedAt < SECOND_MS) {
        void this.program.end()
        return
      }
      this.interruptedAt = now
    }
    // A terminal sends these to the program, too.
    if (OF_KEYS.includes(signal) && this.terminal.hasForeground) return
    if (signal === 'SIGHUP' && this.terminal.isGone) return
    this.program.send(signal)
  }
}

/** The positions of the fields of /proc/self/stat, counted after the program's name. */
const [GROUP, SESSION, TERMINAL, FOREGROUND] = [2, 3, 4, 5]

/**
 * The signals of a terminal: the signals of its keys and of its end go to all processes of the group in the foreground,
 * including the program that this process runs.
 */
class Terminal {
  private readonly before = numbers()

  /** Whether the signals of the terminal's keys come to this process. */
  get hasForeground(): boolean {
    const now = numbers()
    // Without /proc, a standard stream that is a terminal has to do.
    if (now === undefined) return [0, 1, 2].some((fd) => isatty(fd))
    return now[TERMINAL] !== 0 && now[GROUP] === now[FOREGROUND]
  }

  /** Whether the terminal has been closed, and the whole group got the signal. */
  get isGone(): boolean {
    const now = numbers()
    if (now === undefined || this.before === undefined) return false
    // The leader of the session gets it alone.
    return this.before[TERMINAL] !== 0 && now[TERMINAL] === 0 && now[SESSION] !== process.pid
  }
}

function numbers(): number[] | undefined {
  return statFields(process.pid)?.map(Number)
}

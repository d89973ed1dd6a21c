import type { Program } from '../../streams/record/program.js'
import { Terminal } from './terminal.js'

/** Signals that are passed on to the program. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const
/** Those of the keys of a terminal, which the program gets from there. */
const OF_KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/**
 * Passes the signals that are sent to this process on to a program. It is made before the program starts: signals may
 * come at once, and the terminal may be gone by the time that the program runs.
 */
export class SignalRelay {
  private readonly terminal = new Terminal()
  private readonly onSignal = (signal: NodeJS.Signals) => this.send(signal)
  private program: Program | undefined

  /** @param whenOver called with signals that come while no program runs */
  constructor(private readonly whenOver: (signal: NodeJS.Signals) => void) {
    for (const signal of SIGNALS) process.on(signal, this.onSignal)
  }

  /** Signals are for this program from now on. */
  relayTo(program: Program): void {
    this.program = program
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
    // A terminal sends these to the program, too.
    if (OF_KEYS.includes(signal) && this.terminal.hasForeground) return
    if (signal === 'SIGHUP' && this.terminal.isGone) return
    this.program.send(signal)
  }
}

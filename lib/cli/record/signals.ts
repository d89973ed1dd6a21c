import type { Program } from '../../streams/record/program.js'
import { Terminal } from './terminal.js'

/** Signals that are passed on to the program. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const
/** Those of the keys of a terminal, which the program gets from there. */
const OF_KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/** Passes the signals that are sent to this process on to a program. */
export class SignalRelay {
  private readonly terminal = new Terminal()
  private readonly onSignal = (signal: NodeJS.Signals) => this.send(signal)

  /** @param whenOver called with signals that come after the program has ended */
  constructor(
    private readonly program: Program,
    private readonly whenOver: (signal: NodeJS.Signals) => void,
  ) {
    for (const signal of SIGNALS) process.on(signal, this.onSignal)
  }

  /** Signals are no longer handled. */
  close(): void {
    for (const signal of SIGNALS) process.removeListener(signal, this.onSignal)
  }

  private send(signal: NodeJS.Signals): void {
    if (this.program.hasEnded) {
      this.whenOver(signal)
      return
    }
    // A terminal sends these to the program, too.
    if (OF_KEYS.includes(signal) && this.terminal.hasForeground) return
    if (signal === 'SIGHUP' && this.terminal.isGone) return
    this.program.send(signal)
  }
}

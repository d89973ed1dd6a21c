import { monotonicMs } from './io/clock.js'
import { setImmediate } from './timers.js'

/** The maximum time for which results follow one another before the event loop turns, so that timers run. */
const TURN_MS = 100

/**
 * For loops over results that may come without waiting for input: what is made, or what is in memory.
 * @returns a function to await after each result: undefined, or a promise where it is time for a turn
 */
export function turns(): () => Promise<void> | undefined {
  let turned = monotonicMs()
  const turn = async () => {
    await new Promise(setImmediate)
    turned = monotonicMs()
  }
  return () => (monotonicMs() - turned < TURN_MS ? undefined : turn())
}

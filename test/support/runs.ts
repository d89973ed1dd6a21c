import { statSync } from 'node:fs'

/** The share of its full number of runs that a property test makes: `npm run test:slow` makes all of them. */
const STRENGTH = Number(process.env['HEAPFLOW_RUNS'] ?? 0.03)
if (!(STRENGTH > 0)) throw new Error('HEAPFLOW_RUNS must be a positive number: the share of the runs of property tests')

/** Fewer runs than this find next to nothing. */
const LEAST = 8

/**
 * How often a property is tested: `full` times in `npm run test:slow`, 3 % of that in `npm test`, and otherwise
 * `full` times what the environment variable `HEAPFLOW_RUNS` says.
 */
export function runs(full: number): number {
  return Math.max(Math.min(full, LEAST), Math.ceil(full * STRENGTH))
}

/** The most bytes or bits of one input that `npm run test:slow` tries, and 3 % of it in `npm test`. */
const MOST = 4000

/**
 * The numbers below `n`, for a test of each byte or bit: all of them in `npm run test:slow`, one of 33 in `npm test`,
 * and at most `MOST` times the share of runs: always the same, in no pattern that bytes have.
 */
export function* someOf(n: number): Generator<number> {
  const step = Math.max(1, Math.round(1 / STRENGTH), Math.ceil(n / (MOST * STRENGTH)))
  for (let from = 0, i = 0; from < n; from += step, i++) {
    const number = from + ((Math.imul(i, 0x9e37_79b1) >>> 16) % step)
    if (number < n) yield number
  }
}

/** Whether everything is tested, as in `npm run test:slow`, and not only a part. */
export function isWhole(): boolean {
  return STRENGTH >= 1
}

/** Whether a table of so many keys is tested: in `npm run test:slow` all are, with fewer runs those up to 200,000. */
export function isTestedSize(keys: number): boolean {
  return isWhole() || keys < 200_000
}

/** Whether a file is tested: all are in the slow tests, and those below 500 kB in `npm test`. */
export function isTested(path: string): boolean {
  return STRENGTH >= 0.05 || statSync(path).size < 500_000
}

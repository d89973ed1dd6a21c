/** The share of its full number of runs that a property test makes: `npm run test:slow` makes all of them. */
const STRENGTH = Number(process.env['HEAPFLOW_RUNS'] ?? 0.05)
if (!(STRENGTH > 0)) throw new Error('HEAPFLOW_RUNS must be a positive number: the share of the runs of property tests')

/** Fewer runs than this find next to nothing. */
const LEAST = 8

/**
 * How often a property is tested: `full` times in `npm run test:slow`, a twentieth of that in `npm test`, and otherwise
 * `full` times what the environment variable `HEAPFLOW_RUNS` says.
 */
export function runs(full: number): number {
  return Math.max(Math.min(full, LEAST), Math.ceil(full * STRENGTH))
}

/** `npm test` tries no more bytes or bits of one input than this. */
const MOST = 150

/**
 * The numbers below `n`, for a test of each byte or bit: all of them in `npm run test:slow`, one of 20,
 * and at most `MOST`, in `npm test`: always the same, in no pattern that bytes have.
 */
export function* someOf(n: number): Generator<number> {
  const step = Math.max(1, Math.round(1 / STRENGTH), STRENGTH < 1 ? Math.ceil(n / MOST) : 1)
  for (let from = 0, i = 0; from < n; from += step, i++) {
    const number = from + ((Math.imul(i, 0x9e37_79b1) >>> 16) % step)
    if (number < n) yield number
  }
}

/** The share of its full number of runs that a property test makes: `npm run test:slow` makes all of them. */
const STRENGTH = Number(process.env['HEAPFLOW_RUNS'] ?? 0.1)
if (!(STRENGTH > 0)) throw new Error('HEAPFLOW_RUNS must be a positive number: the share of the runs of property tests')

/** Fewer runs than this find next to nothing. */
const LEAST = 20

/**
 * How often a property is tested: `full` times in `npm run test:slow`, a tenth of that in `npm test`, and otherwise
 * `full` times what the environment variable `HEAPFLOW_RUNS` says.
 */
export function runs(full: number): number {
  return Math.max(Math.min(full, LEAST), Math.ceil(full * STRENGTH))
}

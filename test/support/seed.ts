import fc from 'fast-check'
import { runs } from './runs.js'

// Random tests are the same in each run where a seed is given, so that a change is judged by its own inputs.
const seed = process.env['HEAPFLOW_SEED']

/** The seed of tests that draw numbers themselves, other than by fast-check. */
export const SEED = seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(seed)

fc.configureGlobal({ numRuns: runs(100), ...(seed !== undefined && { seed: Number(seed) }) })

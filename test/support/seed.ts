import fc from 'fast-check'

// Random tests are the same in each run where a seed is given, so that a change is judged by its own inputs.
const seed = process.env['HEAPFLOW_SEED']
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) })

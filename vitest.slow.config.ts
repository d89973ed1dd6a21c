import { configDefaults, defineConfig } from 'vitest/config'
import quick from './vitest.config.js'

/** All tests, the slow ones too, and property tests at their full number of runs. */
export default defineConfig({
  test: {
    ...quick.test,
    exclude: configDefaults.exclude,
    env: { HEAPFLOW_RUNS: process.env['HEAPFLOW_RUNS'] ?? '1' },
    testTimeout: 300_000,
  },
})

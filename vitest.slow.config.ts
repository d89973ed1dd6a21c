import { configDefaults, defineConfig } from 'vitest/config'
import { CORPUS, hasCorpus } from './test/support/corpus.js'
import quick from './vitest.config.js'

/** The share of the runs of property tests. */
const RUNS = process.env['HEAPFLOW_RUNS'] ?? '1'

/** All tests, the slow ones too, and property tests at their full number of runs. */
export default defineConfig({
  test: {
    ...quick.test,
    exclude: configDefaults.exclude,
    // Some of the slow tests measure the memory of their process.
    isolate: true,
    env: { HEAPFLOW_RUNS: RUNS },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    tags: [
      { name: 'slow', description: 'slow' },
      { name: 'large', description: 'run by npm run test:slow at its full number of runs', skip: Number(RUNS) < 1 },
      { name: 'corpus', description: `need the corpus, ${CORPUS}, which is not there`, skip: !hasCorpus },
    ],
  },
})

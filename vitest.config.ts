import { readdirSync, readFileSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'

/** The files in which all tests are slow. Only to load them takes seconds. */
const slow = readdirSync(new URL('test', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((path) => readFileSync(new URL(path, import.meta.url), 'utf8').startsWith('// @module-tag slow'))

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...slow],
    reporters: ['default', './test/support/tally.ts'],
    // Tests of commands start processes of their own; two workers keep small machines sane.
    maxWorkers: 2,
    testTimeout: 60_000,
    // Some compile programs.
    hookTimeout: 60_000,
    // What a page shows follows a click when the browser has time, which on a busy machine takes a while.
    expect: { poll: { timeout: 10_000 } },
    // Tests of processes and signals may fail on a machine that is busy with something else. A test of properties that
    // fails has the same inputs again.
    retry: Number(process.env['HEAPFLOW_RETRY'] ?? 0),
    // No test changes what others share, and most of a process of its own would go to loading the same modules again.
    isolate: false,
    setupFiles: ['test/support/environment.ts', 'test/support/equality.ts', 'test/support/seed.ts'],
    // Tests of the corpus are slow. Without it here, a test file that needs it to be loaded fails on every machine.
    env: { HEAPFLOW_CORPUS: 'none/' },
    strictTags: true,
    tags: [
      { name: 'slow', description: 'run by npm run test:slow', skip: true },
      { name: 'large', description: 'run by npm run test:slow', skip: true },
      { name: 'corpus', description: 'run by npm run test:slow, and need the corpus', skip: true },
    ],
  },
})

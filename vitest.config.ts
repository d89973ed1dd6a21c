import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What takes long is for `npm run test:slow`.
    exclude: [...configDefaults.exclude, '**/*.slow.test.ts'],
    reporters: ['default', './test/support/tally.ts'],
    // Tests of commands start processes of their own; two workers keep small machines sane.
    maxWorkers: 2,
    testTimeout: 60_000,
  },
})

import type { Reporter, TestModule } from 'vitest/node'

/** Ends the output with one line that scripts can read: `N passed, N failed, N skipped`. */
export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      // A file that could not be loaded has no tests to count.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed++
    }
    const failed = counts.failed + unhandled.length
    // On exit, so that nothing that another reporter prints comes after it.
    process.on('exit', () =>
      process.stdout.write(`\n${counts.passed} passed, ${failed} failed, ${counts.skipped + counts.pending} skipped\n`),
    )
  }
}

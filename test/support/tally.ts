import type { Reporter, TestModule, Vitest } from 'vitest/node'

/**
 * Ends the output with why tests were skipped, by their tags, and with one line that scripts can read:
 * `N passed, N failed, N skipped`. Tests that passed only when they were repeated are named before it.
 */
export default class Tally implements Reporter {
  #reasons = new Map<string, string>()

  onInit(vitest: Vitest): void {
    for (const { name, description } of vitest.config.tags ?? []) this.#reasons.set(name, description ?? name)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    const skipped = new Map<string, number>()
    const repeated: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        counts[state]++
        if (state === 'passed' && (test.diagnostic()?.retryCount ?? 0) > 0)
          repeated.push(`passed when repeated: ${module.relativeModuleId}, ${test.fullName}\n`)
        if (state !== 'skipped') continue
        const reason = test.tags.map((tag) => this.#reasons.get(tag)).find((text) => text !== undefined)
        skipped.set(reason ?? 'not for this system', (skipped.get(reason ?? 'not for this system') ?? 0) + 1)
      }
      // A file that could not be loaded has no tests to count.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed++
    }
    const failed = counts.failed + unhandled.length
    const reasons = [...skipped].map(([reason, n]) => `${n} skipped: ${reason}\n`).join('')
    // On exit, so that nothing that another reporter prints comes after it.
    process.on('exit', () =>
      process.stdout.write(
        `\n${repeated.join('')}${reasons}${counts.passed} passed, ${failed} failed, ${counts.skipped + counts.pending} skipped\n`,
      ),
    )
  }
}

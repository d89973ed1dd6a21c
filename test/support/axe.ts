import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** Links of views take no one past anything, but look so to axe where the row of them is scrolled. */
const AXE_RUN = "axe.run(document, { resultTypes: ['violations'], rules: { 'skip-link': { enabled: false } } })"

/** The part of axe's results that is read. */
interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** What axe finds on the page as it is shown, one line for each element. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis")))
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
  const { violations: found } = await page.evaluate<AxeResults>(AXE_RUN)
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

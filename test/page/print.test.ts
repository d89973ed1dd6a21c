// @module-tag slow
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'

closeAfterAll()

/** Paper of A4 in landscape without its margins, in CSS pixels. */
const PAPER = { width: 1039, height: 710 }
const STACKS = 'test/fixtures/heaptrack/mtv-small.heaptrack.gz'

/** The rows of each table that is shown, by view and label, and the charts. */
const SHOWN = `(() => {
  const found = {}
  for (const view of document.querySelectorAll('main .view')) {
    if (!view.checkVisibility()) continue
    const add = (name, texts) => (found[view.id + ': ' + name] ??= []).push(...texts)
    for (const table of view.querySelectorAll('.table table, table.matrix'))
      add(table.getAttribute('aria-label') ?? '', [...table.tBodies[0].rows].map((row) => row.textContent))
    for (const chart of view.querySelectorAll('figure')) add('figure', [chart.querySelector('figcaption').textContent])
  }
  return found
})()`

/** The cells, charts and pictures that a printed page has not, or not as a whole. */
const LOST = `[...document.querySelectorAll('main .view :is(td, th, figure canvas, .printed canvas)')]
  .filter((one) => {
    const { left, right, width } = one.getBoundingClientRect()
    return !one.checkVisibility() || width === 0 || left < 0 || right > ${PAPER.width} + 1
  })
  .map((one) => one.closest('.view').id + ': ' + (one.textContent || one.outerHTML))`

/** Headers of columns whose title is that of a button, which Chromium prints only on the first page of a table. */
const HEADERS_WITHOUT_TEXT = `[...document.querySelectorAll('main .view .table thead th')]
  .filter((one) => {
    const button = one.querySelector('button')
    return button !== null && getComputedStyle(one, '::before').content !== JSON.stringify(button.textContent)
  })
  .map((one) => one.closest('.view').id + ': ' + one.textContent)`

/** How many tables of the view have rows that are yet to come. */
const UNFINISHED = `[...document.querySelectorAll('.view:not([hidden]) :is([aria-busy=true], .explain)')]
  .filter((one) => one.matches('[aria-busy=true]') || one.textContent.startsWith('Adding up')).length`

/** Opens each view, and collects what it shows. */
async function onScreen(page: Page): Promise<Record<string, string[]>> {
  const found = {}
  for (const link of await page.locator('nav a').all()) {
    await link.click()
    const view = (await link.getAttribute('href'))?.replace(/^#(\w+).*/, '#view-$1') ?? ''
    await page.locator(view).waitFor({ state: 'visible' })
    await expect.poll(() => page.evaluate(UNFINISHED), { timeout: 20_000 }).toBe(0)
    Object.assign(found, await page.evaluate(SHOWN))
  }
  return found
}

/** What is printed, with the layout that paper has. @param html a page that no one has looked at */
async function onPaper(html: string): Promise<{ shown: Record<string, string[]>; lost: string[] }> {
  const { page, faults } = await openPage(html)
  await page.locator('main .view').first().waitFor()
  await page.setViewportSize(PAPER)
  await page.emulateMedia({ media: 'print' })
  // A browser prints what there is when the event is over.
  const shown = await page.evaluate<Record<string, string[]>>(`dispatchEvent(new Event('beforeprint')); ${SHOWN}`)
  const lost = [...(await page.evaluate<string[]>(LOST)), ...(await page.evaluate<string[]>(HEADERS_WITHOUT_TEXT))]
  expect(faults.filter((fault) => !fault.startsWith('request: blob:'))).toEqual([])
  return { shown, lost }
}

/** Blocks of many functions with many callers, the more of a size the later. */
function events(more: number): string {
  const lines = Array.from({ length: 160 }, (_, n) =>
    JSON.stringify({
      kind: 'alloc',
      time: n * 1000,
      address: `0x${(0x1000 + n * 4096).toString(16)}`,
      size: 10 + n * more,
      stack: [`leaf${n % 40}::a_function_with_a_rather_long_name(std::vector<int> const&)`, `caller${n}`, 'main'],
    }),
  )
  return `{"kind":"header","format":"ndjson","timeUnit":"ns"}\n${lines.join('\n')}\n{"kind":"end"}\n`
}

describe('what is printed', () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test.each(['a comparison', 'a page without known leaks'])(
    'has each row and chart of the screen: %s',
    async (what) => {
      const folder = scratch()
      const html = `${folder}/report.html`
      writeFileSync(`${folder}/old`, events(1))
      writeFileSync(`${folder}/new`, events(3))
      writeFileSync(`${folder}/rules`, 'leak:work*\nleak:^main\n')
      const command = {
        'a comparison': `hf-diff --to html ${folder}/old ${folder}/new`,
        'a page without known leaks': `hf-report --suppress ${folder}/rules --suppress-known ${STACKS}`,
      }[what]
      expect(await shell(`${command} -o ${html}`)).toMatchObject({ code: 0 })
      const { page } = await openPage(pathToFileURL(html).href)
      const screen = await onScreen(page)
      expect(Object.keys(screen).length).toBeGreaterThan(10)
      if (what === 'a comparison') {
        expect(screen['view-comparison: stacks that differ']).toHaveLength(100)
        expect(screen['view-comparison: functions that differ']).toHaveLength(20)
      } else expect(screen['view-leaks: sites whose leaks are suppressed']?.length).toBeGreaterThan(0)
      const paper = await onPaper(pathToFileURL(html).href)
      expect(paper.shown).toEqual(screen)
      expect(paper.lost).toEqual([])
    },
  )
})

import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { servePage } from '../../lib/cli/serve.js'
import { violations } from '../support/axe.js'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'
import { isWhole } from '../support/runs.js'
import { reportFile } from './report-file.js'
import { replayJson, sample } from './sample.js'

closeAfterAll()

const STACKS = 'test/fixtures/heaptrack/mtv-small.heaptrack.gz'
const PHONE = { width: 360, height: 740 }

/** The names of the views of a report. */
const viewsOf = (page: Page) =>
  page.evaluate<string[]>("[...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href').slice(1))")

/** Opens each view, and collects what a check finds there. */
async function inEachView(page: Page, check: () => Promise<string[]>): Promise<string[]> {
  const found: string[] = []
  for (const view of await viewsOf(page)) {
    await page.locator(`nav a[href="#${view}"]`).click()
    await page.locator(`#view-${view}`).waitFor({ state: 'visible' })
    found.push(...(await check()).map((line) => `${view}: ${line}`))
  }
  return found
}

/** A report of a real trace, which is in it. */
async function real(): Promise<string> {
  const html = `${scratch()}/report.html`
  const { code, stderr } = await shell(`hf-report -o ${html} ${STACKS}`)
  expect(code, stderr).toBe(0)
  return pathToFileURL(html).href
}

/** A report of blocks of 17 lifetimes, each twice as long as the one before, with long names, as recorded. */
async function longLived(): Promise<string> {
  const events: [number, string][] = []
  const name = `ns::Map<${'std::pair<int, std::vector<int> >, '.repeat(20)}int>::find`
  for (let n = 0; n < 17; n++) {
    const block = { address: `0x${(4096 * (n + 1)).toString(16)}` }
    const site = {
      size: 1000 + n,
      usable: 1024 + n,
      stack: [`${name}${n % 3}(int) at a/long/path/of/map.h:${n}`, 'main'],
    }
    events.push([n / 17, JSON.stringify({ kind: 'alloc', ...block, ...site })])
    events.push([2 ** n, JSON.stringify({ kind: 'free', ...block })])
  }
  for (let n = 17; n < 2 ** 16; n++)
    events.push([n + 0.5, JSON.stringify({ kind: n % 2 === 1 ? 'alloc' : 'free', address: '0x10', size: 8 })])
  events.sort(([a], [b]) => a - b)
  const html = `${scratch()}/long-lived.html`
  const { code, stderr } = await shell(`hf-report -o ${html} -`, `${events.map(([, event]) => event).join('\n')}\n`)
  expect(code, stderr).toBe(0)
  return pathToFileURL(html).href
}

/** What is wrong with the layout, found in the page. */
const LAYOUT = `(() => {
  const found = []
  const isSeen = (one) => {
    const { width, height } = one.getBoundingClientRect()
    return width > 0 && height > 0 && getComputedStyle(one).visibility !== 'hidden'
  }
  const root = document.documentElement
  if (root.scrollWidth > innerWidth) found.push('the page is ' + root.scrollWidth + ' pixels wide')
  for (const one of document.querySelectorAll('#app *')) {
    if (!isSeen(one) || one.matches('.file')) continue
    const hidden = getComputedStyle(one).overflowX
    if ((hidden === 'hidden' || hidden === 'clip') && one.scrollWidth > one.clientWidth + 1 && one.title === '')
      found.push('clipped: ' + one.className + ' ' + one.textContent.slice(0, 60))
  }
  for (const one of document.querySelectorAll('button'))
    if (isSeen(one) && one.clientHeight > 60) found.push('a button of many lines: ' + one.textContent)
  if (innerWidth >= 1280)
    for (const one of document.querySelectorAll('.table .scroll'))
      if (isSeen(one) && one.scrollWidth > one.clientWidth + 1)
        found.push(
          'cut: ' + one.querySelector('table')?.getAttribute('aria-label') + ' by ' + (one.scrollWidth - one.clientWidth),
        )
  const marks = [...document.querySelectorAll('.scale span, .under, .axis-title, .shades span')]
    .filter((one) => isSeen(one) && one.textContent !== '')
    .map((one) => {
      const range = document.createRange()
      range.selectNodeContents(one)
      return [one.textContent, range.getBoundingClientRect()]
    })
  marks.forEach(([text, a], n) => {
    for (const [other, b] of marks.slice(n + 1))
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
        found.push('overlap: ' + text + ' and ' + other)
  })
  for (const legend of document.querySelectorAll('.u-legend')) {
    const labels = [...legend.querySelectorAll('.u-label')].map((one) => one.textContent)
    if (new Set(labels).size < labels.length) found.push('equal entries: ' + labels.join(', '))
  }
  return found
})()`

/** The same once charts have the width of their view, which a loaded machine gives them late. */
async function layoutFaults(page: Page): Promise<string[]> {
  const end = Date.now() + 3000
  for (;;) {
    const found = await page.evaluate<string[]>(LAYOUT)
    if (found.length === 0 || Date.now() > end) return found
    await page.waitForTimeout(100)
  }
}

/** Everything of the page that can have the focus by Tab, and was not marked yet. */
const MISSED = `[...document.querySelectorAll('#app :is(a, button, select, input, summary, [tabindex])')]
  .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility() && !('reached' in one.dataset))
  .map((one) => one.outerHTML.slice(0, 120))`

/** What a person's system asks for, with which pages of many views are looked at. */
const SCHEMES = isWhole() ? (['light', 'dark'] as const) : (['dark'] as const)

describe('the page, for everyone', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test.each(['light', 'dark'] as const)('axe finds nothing in the views of a report, %s', async (colorScheme) => {
    const { page } = await openPage(reportFile(sample(), `axe-${colorScheme}`), { colorScheme })
    expect(await inEachView(page, () => violations(page))).toEqual([])
    await page.keyboard.press('?')
    expect(await violations(page)).toEqual([])
  })

  test.each(SCHEMES)('axe finds nothing where a real trace is looked at, %s', async (colorScheme) => {
    const { page } = await openPage(await real(), { colorScheme, viewport: PHONE })
    expect(await inEachView(page, () => violations(page))).toEqual([])
    await page.locator('.filter summary').click()
    expect(await violations(page)).toEqual([])
    await page.locator('nav a[href="#timeline"]').click()
    await page.locator('#view-timeline .charts').press('Enter')
    await page.locator('.moment h3').waitFor()
    expect(await violations(page)).toEqual([])
    await page.locator('#view-timeline .charts').press('Shift+Enter')
    await page.locator('.moment h3', { hasText: 'Between' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.locator('nav a[href="#functions"]').click()
    await page.locator('#view-functions tbody tr').first().click()
    await page.locator('#view-functions h3').waitFor()
    expect(await violations(page)).toEqual([])
    await page.locator('nav a[href="#flame"]').click()
    await page.locator('#view-flame .rules summary').click()
    expect(await violations(page)).toEqual([])
  })

  test.each(SCHEMES)('axe finds nothing without known leaks, and compared, %s', async (colorScheme) => {
    const html = `${scratch()}/known.html`
    writeFileSync(`${html}.rules`, 'leak:work*\nleak:main\nleak:^none$\n')
    const events = '{"kind":"alloc","address":"0x1000","size":8,"stack":["other"]}\n'
    writeFileSync(`${html}.old`, events)
    writeFileSync(`${html}.replay`, JSON.stringify(replayJson()))
    const flags = `--suppress ${html}.rules --suppress-known --compare ${html}.old --replay ${html}.replay`
    const { code, stderr } = await shell(`hf-report ${flags} -o ${html} ${STACKS}`)
    expect(code, stderr).toBe(0)
    const { page } = await openPage(pathToFileURL(html).href, { colorScheme, viewport: PHONE })
    expect(await viewsOf(page)).toEqual(expect.arrayContaining(['comparison', 'allocators']))
    expect(await inEachView(page, () => violations(page))).toEqual([])
    await expect.poll(() => page.locator('#view-leaks .mark').count()).toBeGreaterThan(0)
    await expect
      .poll(() => page.locator('#view-allocators .note').textContent())
      .toMatch(/^The replay was of 400 events, and this trace has \d+\.$/)
    await page.locator('nav a[href="#timeline"]').click()
    await page.locator('#view-timeline .charts').press('Enter')
    await page.locator('.moment h3').waitFor()
    expect(await violations(page)).toEqual([])
  })

  test.each(['light', 'dark'] as const)('axe finds nothing in the viewer, %s', async (colorScheme) => {
    const served = await servePage(readFileSync('dist/page/viewer.html'))
    onTestFinished(() => served.close())
    const { page } = await openPage(served.url, { colorScheme })
    await page.locator('.choose').waitFor()
    expect(await violations(page)).toEqual([])
    await page.locator('input[type=file]').first().setInputFiles(STACKS)
    await page.locator('#view-overview').waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('nothing is clipped in the viewer on a telephone', async () => {
    const served = await servePage(readFileSync('dist/page/viewer.html'))
    onTestFinished(() => served.close())
    const { page } = await openPage(served.url, { viewport: PHONE })
    await page.locator('.choose').waitFor()
    expect(await layoutFaults(page)).toEqual([])
    await page.locator('input[type=file]').first().setInputFiles(STACKS)
    await page.locator('#view-overview').waitFor()
    expect(await inEachView(page, () => layoutFaults(page))).toEqual([])
  })

  test('the keys reach everything in every view', async () => {
    const { page, faults } = await openPage(await real())
    const missed = await inEachView(page, async () => {
      await page.evaluate(`document.querySelectorAll('[data-reached]').forEach((one) => delete one.dataset.reached)
        document.activeElement.blur()`)
      for (let n = 0, isInside = true; isInside && n < 500; n++) {
        await page.keyboard.press('Tab')
        isInside = await page.evaluate(`(() => {
          const at = document.activeElement
          if ('reached' in at.dataset) return false
          at.dataset.reached = ''
          return true
        })()`)
      }
      return page.evaluate<string[]>(MISSED)
    })
    expect(missed).toEqual([])
    expect(faults.filter((fault) => !fault.startsWith('request: blob:'))).toEqual([])
  })

  test('rows of a long table follow at once where they are needed: for the keys, and for paper', async () => {
    const html = `${scratch()}/long.html`
    const events = Array.from({ length: 150 }, (_, n) =>
      JSON.stringify({ kind: 'alloc', address: `0x${(4096 + 16 * n).toString(16)}`, size: n + 1, stack: [`f${n}`] }),
    )
    expect((await shell(`hf-report -o ${html} -`, `${events.join('\n')}\n`)).code).toBe(0)
    const { page } = await openPage(`${pathToFileURL(html).href}#sites`)
    const sites = page.locator('#view-sites')
    await sites.locator('table[aria-busy=false]').waitFor()
    await expect.poll(() => sites.locator('tbody tr').count()).toBe(100)
    const rows = await page.evaluate(`(() => {
      const view = document.querySelector('#view-sites')
      const count = () => view.querySelectorAll('tbody tr').length
      const counts = []
      view.querySelector('th button').click()
      counts.push(count())
      dispatchEvent(new Event('beforeprint'))
      counts.push(count())
      dispatchEvent(new Event('afterprint'))
      view.querySelector('th button').click()
      const first = view.querySelector('tbody tr')
      first.focus()
      first.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true }))
      return [...counts, document.activeElement.sectionRowIndex]
    })()`)
    expect(rows).toEqual([Math.ceil((0.75 * 800) / 46), 100, 99])
    const names = await sites.locator('tbody .name').allTextContents()
    expect(names).toEqual(names.toSorted().toReversed())
  })

  test.each(isWhole() ? [360, 1000, 1280, 2560] : [360, 1280])(
    'nothing is clipped and no marks overlap, %i pixels wide',
    async (width) => {
      for (const url of [await real(), await longLived(), reportFile(sample(), `width-${width}`)]) {
        const { page } = await openPage(url, { viewport: { width, height: 800 } })
        expect(await inEachView(page, () => layoutFaults(page))).toEqual([])
      }
    },
  )
})

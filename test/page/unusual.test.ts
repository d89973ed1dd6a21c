import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { REPORT_LIMITS } from '../../lib/transforms/report/report.js'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { alloc, free, HEADER, inBatches, realloc } from '../transforms/events.js'
import { reportFile } from './report-file.js'

closeAfterAll()

/** The number of allocations that lead to a row of all other sites. */
const MANY = 1200

/** Opens a view of the report on some events. */
async function view(name: string, events: readonly TraceEvent[], header = HEADER) {
  const collector = new ReportCollector()
  for (const batch of inBatches(events, 100, header)) collector.add(batch)
  const data = collector.finish(true).data({ limits: { ...REPORT_LIMITS[0]!, sites: 100 } })
  const { page } = await openPage(`${reportFile(data, name)}#${name}`)
  return { page, text: async () => page.locator('#app').innerText() }
}

describe('reports on unusual traces', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test.each(['overview', 'timeline', 'sites', 'flame', 'churn', 'threads', 'addresses', 'problems'])(
    '%s has the singular for one event, block, page and the like',
    async (name) => {
      const events = [alloc(4096n, 0n, { thread: 1n, stack: ['a', 'main'] }), free(4096n)]
      const one = name === 'churn' || name === 'sites' ? events : [alloc(4096n, name === 'problems' ? 0n : 1n)]
      const { page, text } = await view(name, one)
      await page.locator(`#view-${name}`).waitFor()
      if (name === 'flame') await page.locator('select').first().selectOption('allocatedBlocks')
      expect(await text()).not.toMatch(/(?<![\d.,])1 (?:[a-z]+s|[a-z]+ of no bytes are)\b/)
    },
  )

  test('the times that blocks are live are in events, if the unit of times is not known', async () => {
    const events = [alloc(4096n, 8n, { time: 0n, stack: ['a'] }), free(4096n, { time: 5000n })]
    const { page } = await view('sites', events, { format: 'x' })
    await expect.poll(() => page.locator('#view-sites tbody tr').innerText()).toMatch(/\b1 event\b/)
    await expect.poll(() => page.locator('header').innerText()).toContain('in 5,000 units')
  })

  test('where no byte is live, the timeline and the peak say so, and no page is said to be live', async () => {
    const events = [alloc(4096n, 0n), alloc(8192n, 0n)]
    const { page } = await view('timeline', events)
    await expect.poll(() => page.locator('#view-timeline .lead').innerText()).toContain('No byte was ever live.')
    await page.click('nav a[href="#peak"]')
    await expect.poll(() => page.locator('#view-peak').innerText()).toContain('No byte was ever live')
    const freed = [alloc(4096n, 8n), free(4096n)]
    const { page: other } = await view('addresses', freed)
    await expect
      .poll(() => other.locator('#view-addresses .lead').innerText())
      .toContain('in at most 1 page of 4 KiB; at the end in none.')
  })

  test('the row of all other sites has no peak of its own', async () => {
    const events = Array.from({ length: MANY }, (_, i) => alloc(BigInt(4096 + i * 64), 32n, { stack: [`f${i}`] }))
    const { page } = await view('peak', events)
    const row = page.locator('#view-peak tbody tr', { hasText: '(all other sites)' })
    await expect.poll(() => row.locator('td').nth(4).innerText()).toBe('–')
  })

  test('there is no column for a cell of the heat map where there is no heat map', async () => {
    const { page } = await view('churn', [alloc(4096n, 8n, { stack: ['a'] })])
    await expect.poll(() => page.locator('#view-churn th').first().innerText()).toBe('Site')
    expect(await page.locator('#view-churn').innerText()).not.toContain('In the cell')
  })

  test('where reallocs alone end blocks, none is said to be freed, and bars begin at their labels', async () => {
    const resized = Array.from({ length: 20 }, (_, i) => realloc(BigInt(i + 1) << 12n, BigInt(i + 2) << 12n, 8n))
    const { page } = await view('churn', [alloc(4096n, 8n), ...resized])
    const churn = page.locator('#view-churn')
    await expect.poll(() => churn.innerText()).toContain('No block ended: a realloc ends none.')
    expect(await churn.innerText()).not.toContain('No block was freed')
    await expect.poll(() => churn.locator('.axis-title.below').last().textContent()).toBe('times resized, from')
  })

  test('the title of an axis of the heat map is whole, however few rows it has', async () => {
    const { page } = await view('churn', [alloc(4096n, 8n), free(4096n)])
    const height = await page
      .locator('.heat')
      .evaluate((box) => (box as unknown as { clientHeight: number }).clientHeight)
    expect(height).toBeGreaterThan(130)
  })

  test('the list of keys begins with the first, however low the window is', async () => {
    const { page } = await view('overview', [alloc(4096n, 8n)])
    await page.setViewportSize({ width: 360, height: 500 })
    await page.keyboard.press('?')
    await page.locator('dialog').waitFor({ state: 'visible' })
    expect(
      await page
        .locator('dialog kbd')
        .first()
        .evaluate(
          (key) => (key as unknown as { getBoundingClientRect(): { top: number } }).getBoundingClientRect().top,
        ),
    ).toBeGreaterThan(0)
  })

  test('files have whole names and stacks, and the units of their numbers', async () => {
    const stack = ['grow at /src/a.c:3 in /lib/a.so', 'main at /src/b.c:7 in /bin/app']
    const events = [
      alloc(4096n, 8n, { time: 1n, stack }),
      alloc(8192n, 8n, { time: 2n, stack }),
      free(4096n, { time: 5n }),
      free(4096n, { time: 9n, stack }),
    ]
    const { page } = await view('functions', events, { format: 'x', timeUnit: 'us' })
    const saved = async (name: string, label: string) => {
      if (label !== 'Callees') await page.click(`nav a[href="#${name}"]`)
      const button = page.locator(`#view-${name} [title="save the table as CSV: ${label}"]`)
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
      return readFileSync(await download.path(), 'utf8')
        .replace('\ufeff', '')
        .split('\r\n')
    }
    const whole = 'grow (/src/a.c:3) < main (/src/b.c:7)'
    expect((await saved('functions', 'functions')).slice(1, -1).map((line) => line.split(',')[0])).toEqual([
      'main',
      'grow',
    ])
    expect((await saved('problems', 'problems'))[1]).toContain(`,${whole}`)
    expect((await saved('addresses', 'sites on sparse pages'))[1]).toContain(`${whole},`)
    const [heads, row] = await saved('sites', 'sites')
    const at = heads?.split(',').indexOf('Mean time live (us)') ?? -1
    expect(Number(row?.split(',')[at])).toBe(5.5)
    await page.click('nav a[href="#functions"]')
    await page.locator('#view-functions tbody tr').first().click()
    expect((await saved('functions', 'Callees'))[1]).toBe('grow,16,100.0 %')
  })
})

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { servePage } from '../../lib/cli/serve.js'
import { violations } from '../support/axe.js'
import { scratch, shell } from '../support/commands.js'
import { closeFirefoxAfterAll, FIREFOX, NO_FIREFOX, openFirefox } from '../support/firefox.js'
import { someOf } from '../support/runs.js'
import { reportFile } from './report-file.js'
import { sample } from './sample.js'

closeFirefoxAfterAll()

const ALL = [
  'heaptrack/mtv-small.heaptrack.gz',
  'heaptrack/cxx.heaptrack.gz',
  'mtrc/git.mtrc.gz',
  'replay/mstress-head.txt.gz',
  'glibc-mtrace/mt-edge.mtrace',
  'hatf/espresso-head.hatf',
  'valgrind/mtv-edge.log',
  'tracepoints/trace-cmd-small.txt.gz',
]
/** All in `npm run test:slow`, and with fewer runs some, of which axe, which is slow in Firefox, looks at one. */
const TRACES = [...someOf(ALL.length)].map((n) => ALL[n]!)
const withAxe = TRACES.length === ALL.length ? TRACES : TRACES.slice(0, 1)
const VIEWS = 'overview timeline sites flame functions leaks peak churn threads addresses problems'.split(' ')
const exactBytes = (n: number) => `${n.toLocaleString('en-US')} byte${n === 1 ? '' : 's'}`

/** What happened that must not. That the worker is loaded, which is a part of the page, is no request to anyone. */
const unwanted = (faults: readonly string[]) => faults.filter((fault) => !fault.startsWith('request: blob:'))

interface Stats {
  allocated: { bytes: number }
  leaked: { bytes: number; blocks: number }
}

async function statsOf(commands: string): Promise<Stats> {
  return JSON.parse((await shell(`${commands} --json`)).stdout.toString()) as Stats
}

describe('a report in Firefox', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(FIREFOX === undefined, NO_FIREFOX))

  test.each(TRACES)('%s: every view, in both themes, and the live set at a moment', async (trace) => {
    const path = `test/fixtures/${trace}`
    const html = `${scratch()}/report.html`
    const written = await shell(`hf-report ${path} -o ${html}`)
    expect(written.code, written.stderr).toBe(0)
    const { page, faults } = await openFirefox(pathToFileURL(html).href)
    const stats = await statsOf(`hf-stats ${path}`)
    await expect
      .poll(() => page.locator('[data-figure="allocated.bytes"]').first().getAttribute('title'))
      .toBe(exactBytes(stats.allocated.bytes))
    const themes = new Set<string>()
    for (let round = 0; round < 2; round++) {
      for (const view of VIEWS) {
        await page.locator(`nav a[href="#${view}"]`).click()
        await page.locator(`#view-${view}`).waitFor({ state: 'visible' })
        if (withAxe.includes(trace)) expect(await violations(page), view).toEqual([])
      }
      themes.add(await page.evaluate<string>('document.documentElement.dataset.theme'))
      await page.keyboard.press('t')
    }
    expect([...themes].toSorted()).toEqual(['dark', 'light'])
    await page.locator('nav a[href="#timeline"]').click()
    const axis = page.locator('#view-timeline select')
    if ((await axis.count()) > 0) await axis.selectOption('event')
    await page.locator('#view-timeline .charts').press('Enter')
    const heading = page.locator('.moment h3', { hasText: 'Live at event' })
    await heading.waitFor()
    const event = Number(((await heading.textContent()) ?? '').replace(/\D/g, ''))
    const { leaked } = await statsOf(`hf-filter --live-at ${event} ${path} | hf-stats`)
    await expect
      .poll(() => page.locator('.moment > .explain').textContent())
      .toContain(`(${exactBytes(leaked.bytes)}) in ${leaked.blocks.toLocaleString('en-US')} block`)
    expect(unwanted(faults)).toEqual([])
  })

  test('the pointer, sorting, search and the filter work as in Chromium', async () => {
    const html = `${scratch()}/report.html`
    const path = 'test/fixtures/mtrc/small64.mtrc.gz'
    expect((await shell(`hf-report ${path} -o ${html}`)).code).toBe(0)
    const { page, faults } = await openFirefox(pathToFileURL(html).href)
    await page.locator('nav a[href="#flame"]').click()
    const box = (await page.locator('#view-flame canvas').first().boundingBox())!
    await page.mouse.click(box.x + 40, box.y + 30)
    await expect.poll(() => page.getByRole('button', { name: 'Show all' }).first().isEnabled()).toBe(true)
    await page.locator('nav a[href="#sites"]').click()
    await page.locator('#view-sites th button', { hasText: 'At end' }).first().click()
    await expect.poll(() => page.locator('#view-sites th[aria-sort="descending"]').textContent()).toBe('At end')
    await page.keyboard.press('/')
    await page.keyboard.type('emit')
    await expect.poll(() => page.locator('#view-sites .message').textContent()).toMatch(/^[1-9]\d* of \d+ sites$/)
    await page.locator('.filter summary').click()
    await page.locator('.filter input[name="size"]').fill('64..')
    await page.locator('.filter').getByRole('button', { name: 'Apply' }).click()
    await page.locator('.filter .command', { hasText: '--size' }).waitFor()
    await page.locator('nav a[href="#overview"]').click()
    const filtered = await statsOf(`hf-filter --size 64.. --lifetimes ${path} | hf-stats`)
    await expect
      .poll(() => page.locator('#view-overview [data-figure="allocated.bytes"]').first().getAttribute('title'))
      .toBe(exactBytes(filtered.allocated.bytes))
    expect(unwanted(faults)).toEqual([])
  })

  test('a comparison is shown', async () => {
    const { page, faults } = await openFirefox(reportFile(sample(), 'firefox'))
    await page.locator('nav a[href="#comparison"]').click()
    await page.locator('#view-comparison').waitFor({ state: 'visible' })
    expect(faults).toEqual([])
  })

  test('the page that hf-view serves reads a trace', async () => {
    const served = await servePage(readFileSync('dist/page/viewer.html'))
    onTestFinished(() => served.close())
    const { page, faults } = await openFirefox(served.url)
    await page.locator('input[type=file]').first().setInputFiles('test/fixtures/mtrc/small64.mtrc.gz')
    await page.locator('#view-overview').waitFor({ state: 'visible' })
    // Firefox itself asks servers for an icon, and reports that the policy of the page refuses it. Chromium does not
    // report that, but would report whatever icon the page names.
    expect(unwanted(faults).filter((fault) => !fault.includes('/favicon.ico because'))).toEqual([])
  })
})

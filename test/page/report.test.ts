import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage, type Watched } from '../support/browser.js'
import { reportFile } from './report-file.js'
import { emptySample, NAMES, replay, sample } from './sample.js'

closeAfterAll()

const TITLES = {
  overview: 'Overview',
  timeline: 'Timeline',
  sites: 'Sites',
  flame: 'Flame graph',
  functions: 'Functions',
  leaks: 'Leaks',
  peak: 'Peak',
  churn: 'Churn',
  threads: 'Threads',
  addresses: 'Addresses',
  problems: 'Problems',
  comparison: 'Comparison',
  allocators: 'Allocators',
} as const
type ViewName = keyof typeof TITLES
const VIEWS = Object.keys(TITLES) as ViewName[]

/** Markup that runs a script, if anything takes it for markup. */
const HOSTILE = `</script><img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><!--`

/** Opens a view by its link. */
async function open({ page }: Watched, view: ViewName) {
  await page.click(`nav a[href="#${view}"]`)
  const element = page.locator(`#view-${view}`)
  await element.waitFor({ state: 'visible' })
  return element
}

describe('a report in a browser', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test('shows every view without a request, an error or a violation of its policy', async () => {
    const watched = await openPage(reportFile(sample(), 'all'))
    for (const view of VIEWS) {
      const element = await open(watched, view)
      await expect.poll(() => element.locator('h2').textContent()).toBe(TITLES[view])
      await expect.poll(() => watched.page.locator('nav [aria-current]').getAttribute('href')).toBe(`#${view}`)
    }
    await expect.poll(() => watched.page.locator('header h1').textContent()).toBe('sample.mtrc')
    expect(watched.faults).toEqual([])
  })

  test('has the main figures, each with a link to its view, and what was left out', async () => {
    const watched = await openPage(reportFile(sample(), 'cards'))
    const { page, faults } = watched
    const card = (figure: string) => page.locator(`[data-figure="${figure}"]`)
    await expect.poll(() => card('peakBytes.bytes').getAttribute('title')).toBe('1,000,000 bytes')
    await expect.poll(() => card('peakBytes.bytes').textContent()).toContain('977 KiB')
    await expect.poll(() => card('leaked.bytes').getAttribute('title')).toBe('402,048 bytes')
    await expect.poll(() => card('foreignFrees').getAttribute('title')).toBe('12')
    await expect.poll(() => page.locator('.note').textContent()).toBe('The trace is truncated.')
    await expect.poll(() => page.locator('.omitted li').textContent()).toBe('7 of 10 sites are in one row.')
    await card('leaked.bytes').click()
    await page.locator('#view-leaks').waitFor({ state: 'visible' })
    await page.goBack()
    await page.locator('#view-overview').waitFor({ state: 'visible' })
    expect(faults).toEqual([])
  })

  test('the timeline is zoomed by dragging, by keys and to the peak, by events or time', async () => {
    const watched = await openPage(reportFile(sample(), 'timeline'))
    const { page, faults } = watched
    const view = await open(watched, 'timeline')
    await view.locator('select').selectOption('event')
    const shown = view.locator('.shown')
    await expect.poll(() => shown.textContent()).toBe('all of the run')
    const over = view.locator('.u-over').first()
    const box = (await over.boundingBox())!
    await page.mouse.move(box.x + box.width * 0.25, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 })
    await page.mouse.up()
    const [from, to] = ((await shown.textContent()) ?? '').match(/\d+/g)!.map(Number)
    expect(from).toBeGreaterThan(95)
    expect(from).toBeLessThan(105)
    expect(to).toBeGreaterThan(195)
    expect(to).toBeLessThan(205)
    await view.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => shown.textContent()).toBe('all of the run')
    await view.getByText('Jump to the peak').click()
    await expect.poll(() => shown.textContent()).toBe('from 242 to 258')
    await view.locator('.charts').press('-')
    await expect.poll(() => shown.textContent()).toBe('from 234 to 266')
    await view.locator('.charts').press('0')
    await expect.poll(() => shown.textContent()).toBe('all of the run')
    await view.locator('select').selectOption('time')
    await page.locator('#view-timeline').getByText('Jump to the peak').click()
    await expect.poll(() => page.locator('#view-timeline .shown').textContent()).toBe('from 1.21 s to 1.29 s')
    expect(faults).toEqual([])
  })

  test('sites are sorted and searched, and lead to the flame graph', async () => {
    const watched = await openPage(reportFile(sample(), 'sites'))
    const { page, faults } = watched
    const view = await open(watched, 'sites')
    const names = () => view.locator('tbody .name').allTextContents()
    await expect.poll(() => names()).toEqual(['grow', 'copy', 'keep'])
    await view.locator('th', { hasText: 'At end' }).first().locator('button').click()
    await expect.poll(() => names()).toEqual(['keep', 'copy', 'grow'])
    await expect
      .poll(() => view.locator('th', { hasText: 'At end' }).first().getAttribute('aria-sort'))
      .toBe('descending')
    await view.locator('th', { hasText: 'Site' }).locator('button').click()
    await expect.poll(() => names()).toEqual(['copy', 'grow', 'keep'])
    await expect.poll(() => view.locator('td[title="18,446,744,073,709,551,615 bytes"]').textContent()).toBe('16 EiB')
    await page.keyboard.press('/')
    await page.keyboard.type('LOAD|ke+p')
    await expect.poll(() => names()).toEqual(['copy', 'keep'])
    await expect.poll(() => view.locator('.message').textContent()).toBe('2 of 3 sites')
    await view.locator('input[type=search]').fill('(')
    await expect.poll(() => view.locator('.message.bad').textContent()).toMatch(/^This is not a regular expression: /)
    await expect.poll(() => names()).toEqual(['copy', 'keep'])
    await view.locator('input[type=search]').fill('')
    await view.locator('tbody tr').first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const flame = page.locator('#view-flame')
    await flame.waitFor({ state: 'visible' })
    await expect.poll(() => flame.locator('.detail').textContent()).toMatch(/^grow.*6,000,000 bytes.*60\.0 %/)
    expect(faults).toEqual([])
  })

  test('the flame graph has all figures, and is inverted, searched, zoomed and walked by keys', async () => {
    const watched = await openPage(reportFile(sample(), 'flame'))
    const { page, faults } = watched
    const view = await open(watched, 'flame')
    const detail = view.locator('.detail')
    await expect.poll(() => detail.textContent()).toContain('(all)Allocated bytes: 9.5 MiB (10,000,000 bytes), 100.0 %')
    const canvas = view.locator('canvas').first()
    await canvas.focus()
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
    await expect.poll(() => detail.textContent()).toMatch(/^loadsrc\/2\.c:3Allocated bytes.*30\.0 %/)
    await view.locator('select').selectOption('endBlocks')
    await expect.poll(() => detail.textContent()).toMatch(/^loadsrc\/2\.c:3Live blocks at the end: 2 blocks, 9\.1 %/)
    await view.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => detail.textContent()).toMatch(/^\(all\).*22 blocks/)
    await view.locator('input[type=checkbox]').check()
    await canvas.focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => detail.textContent()).toMatch(/^keep.*20 blocks, 90\.9 %/)
    await view.locator('.search input').fill('^copy')
    await expect.poll(() => view.locator('.search .message').textContent()).toBe('matches: 2 blocks, 9.1 %')
    await view.locator('.search input').fill('[')
    await expect.poll(() => view.locator('.search .message.bad').count()).toBe(1)
    await view.locator('input[type=checkbox]').uncheck()
    const box = (await canvas.boundingBox())!
    await page.mouse.click(box.x + 10, box.y + 30)
    await expect.poll(() => detail.textContent()).toMatch(/^main/)
    await page.mouse.move(box.x + 12, box.y + 30)
    await expect.poll(() => page.locator('.tip').textContent()).toMatch(/^main/)
    expect(faults).toEqual([])
  })

  test('functions have callers and callees, and frames are focused, hidden and collapsed by the link', async () => {
    const watched = await openPage(reportFile(sample(), 'functions'))
    const { page, faults } = watched
    const view = await open(watched, 'functions')
    const row = view.locator('tbody tr', { has: page.getByText('load', { exact: true }) })
    await expect
      .poll(() => row.locator('td').allTextContents())
      .toEqual(expect.arrayContaining(['loadsrc/2.c:3', '2.9 MiB', '0 B', '300']))
    await row.click()
    const tables = view.locator('.columns .table')
    await expect
      .poll(() => tables.first().locator('tbody td').allTextContents())
      .toEqual(['mainsrc/0.c:1', '2.9 MiB', '100.0 %'])
    await expect
      .poll(() => tables.last().locator('tbody td').allTextContents())
      .toEqual(['copysrc/4.c:5', '2.9 MiB', '100.0 %'])
    await view.getByRole('button', { name: 'Focus in the flame graph' }).click()
    const flame = page.locator('#view-flame')
    await flame.waitFor({ state: 'visible' })
    await expect.poll(() => flame.locator('.detail').textContent()).toContain('(3,000,000 bytes), 100.0 %')
    expect(page.url()).toContain('focus=%5Eload')
    await flame.getByRole('button', { name: 'Show every frame' }).click()
    await expect.poll(() => flame.locator('.detail').textContent()).toContain('(10,000,000 bytes), 100.0 %')
    await flame.locator('canvas').first().focus()
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    // The address follows the reader a little later.
    await page.waitForURL(/node=/)
    const link = page.url()
    const again = await openPage(link)
    await again.page.locator('#view-flame').waitFor({ state: 'visible' })
    await expect
      .poll(() => again.page.locator('#view-flame .detail').textContent())
      .toBe(await flame.locator('.detail').textContent())
    await expect.poll(() => flame.locator('.detail').textContent()).toMatch(/^parse/)
    expect([...faults, ...again.faults]).toEqual([])
  })

  test('files have rows in place of functions, which the link keeps', async () => {
    const watched = await openPage(reportFile(sample(), 'files'))
    const { page, faults } = watched
    const view = await open(watched, 'functions')
    await view.locator('select').first().selectOption('file')
    await expect.poll(() => view.locator('thead th').first().textContent()).toContain('File')
    await view.locator('tbody tr', { has: page.getByText('src/2.c', { exact: true }) }).click()
    expect(page.url()).toMatch(/by=file/)
    const tables = view.locator('.columns .table')
    await expect
      .poll(() => tables.first().locator('tbody td').allTextContents())
      .toEqual(['src/0.c', '2.9 MiB', '100.0 %'])
    const again = await openPage(page.url())
    await expect.poll(() => again.page.locator('#view-functions h3').first().textContent()).toBe('src/2.c')
    await view.getByRole('button', { name: 'Focus in the flame graph' }).click()
    const flame = page.locator('#view-flame')
    await flame.waitFor({ state: 'visible' })
    await expect.poll(() => flame.locator('.detail').textContent()).toContain('(3,000,000 bytes), 100.0 %')
    expect([...faults, ...again.faults]).toEqual([])
  })

  test('a cell of the heat map leads to the sites of its blocks', async () => {
    const watched = await openPage(reportFile(sample(), 'heat'))
    const { page, faults } = watched
    const view = await open(watched, 'churn')
    const rows = () => view.locator('.sites').first().locator('tbody tr')
    await expect.poll(() => rows().count()).toBe(3)
    const canvas = view.locator('.heat canvas')
    // Sizes have 7 to 12 bits, and lifetimes 2 to 8: the cell of 7 and 4 bits is the first of its row.
    const box = (await canvas.boundingBox())!
    const [width, height] = [(box.width - 64) / 6, (box.height - 38) / 7]
    await page.mouse.click(box.x + 64 + width / 2, box.y + 4 + height * 4.5)
    await expect
      .poll(() => view.locator('.chosen').textContent())
      .toContain('64–127 bytes that lived 8–15 events: 58 blocks')
    await expect.poll(() => rows().locator('.name').allTextContents()).toEqual(['grow', 'copy'])
    await expect.poll(() => rows().locator('td:nth-child(2)').allTextContents()).toEqual(['50', '8'])
    await view.getByText('Show all sites').click()
    await expect.poll(() => rows().count()).toBe(3)
    await canvas.focus()
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    await expect.poll(() => rows().locator('.name').allTextContents()).toEqual(['copy'])
    expect(faults).toEqual([])
  })

  test('leaks, the peak, threads, addresses, problems and the comparison show their figures', async () => {
    const watched = await openPage(reportFile(sample(), 'figures'))
    const { page, faults } = watched
    const leaks = await open(watched, 'leaks')
    await expect.poll(() => leaks.locator('[role=listitem]').count()).toBe(4)
    await expect
      .poll(() => leaks.locator('[role=listitem]').last().getAttribute('aria-label'))
      .toBe(
        'events 301 to 400, 1 s to 2 s, live at the end: 98.7 KiB (101,024 bytes) in 7 blocks, of 977 KiB in 90 blocks: 10.1 %',
      )
    await expect.poll(() => leaks.locator('tbody .name').allTextContents()).toEqual(['keep', 'copy'])
    const peak = await open(watched, 'peak')
    await expect
      .poll(() => peak.locator('.u-label').allTextContents())
      .toEqual([
        'at',
        '1 grow at src/3.c:4 ← parse at src/1.c:2 ← main at src/0.c:1',
        '2 keep at src/5.c:6 ← main at src/0.c:1',
        '3 copy at src/4.c:5 ← load at src/2.c:3 ← main at src/0.c:1',
        '4 all others',
      ])
    await expect.poll(() => peak.locator('td[title="500,000 bytes"]').count()).toBe(1)
    const threads = await open(watched, 'threads')
    await expect.poll(() => threads.locator('.matrix .foreign').allTextContents()).toEqual(['8', '4'])
    await threads.locator('select').selectOption('bytes')
    await expect.poll(() => threads.locator('.matrix .foreign').allTextContents()).toEqual(['7.8 KiB', '3.9 KiB'])
    const addresses = await open(watched, 'addresses')
    await expect
      .poll(() => addresses.locator('.lead').textContent())
      .toContain('at most 246 pages of 4 KiB; at the end in 120')
    await expect.poll(() => addresses.locator('.table tbody tr').count()).toBe(2)
    const problems = await open(watched, 'problems')
    await expect.poll(() => problems.locator('[data-figure=zeroSize]').textContent()).toBe('2')
    await problems.locator('select').selectOption('zeroSize')
    await expect.poll(() => problems.locator('.table tbody tr').count()).toBe(2)
    const comparison = await open(watched, 'comparison')
    await expect
      .poll(() => comparison.locator('.sites, .table').first().locator('td.text').first().textContent())
      .toBe('Live at the end')
    const stacks = comparison.locator('table[aria-label="stacks that differ"]')
    await expect.poll(() => stacks.locator('tbody .name').allTextContents()).toEqual(['keep', 'grow'])
    await expect.poll(() => page.locator('#view-comparison .up').first().textContent()).toBe('▲ +2 KiB')
    const allocators = await open(watched, 'allocators')
    await expect
      .poll(() => allocators.locator('.lead').allTextContents())
      .toEqual(['Resident set: other needs 50 % less than glibc.', 'Processor time: other takes 25.0 ns a call.'])
    const figures = allocators.locator('table[aria-label=allocators] tbody tr')
    await expect
      .poll(() => figures.nth(0).locator('td').allTextContents())
      .toEqual([
        'glibc',
        '2',
        '50.0',
        '49.0–51.0',
        '2',
        '2 MiB',
        '109.7 %',
        '1 MiB',
        '500',
        '10',
        '200',
        '1,900',
        '28,672',
        '0',
      ])
    await expect
      .poll(() => figures.nth(1).locator('td').allTextContents())
      .toEqual(['other', '1', '25.0', '24.0–26.0', '–', '1 MiB', '–', '1 MiB', '500', '–', '–', '–', '–', '1'])
    await expect
      .poll(() => allocators.locator('.u-legend .u-series').allTextContents())
      .toEqual([expect.stringContaining('at'), expect.stringContaining('glibc'), expect.stringContaining('other')])
    await expect.poll(() => allocators.locator('.note').count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('keys open views, the list of keys and the other colours', async () => {
    const watched = await openPage(reportFile(sample(), 'keys'), { colorScheme: 'dark' })
    const { page, faults } = watched
    const theme = () => page.locator('html').getAttribute('data-theme')
    await expect.poll(() => theme()).toBe('dark')
    await page.keyboard.press('6')
    await page.locator('#view-leaks').waitFor({ state: 'visible' })
    await page.keyboard.press('t')
    await expect.poll(() => theme()).toBe('light')
    await page.keyboard.press('?')
    await page.locator('dialog').waitFor({ state: 'visible' })
    await expect.poll(() => page.locator('dialog').textContent()).toContain('search')
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('/')
    await expect.poll(() => page.locator('#view-leaks input[type=search]:focus').count()).toBe(1)
    expect(faults).toEqual([])
  })

  test('nothing is wider than a telephone', async () => {
    const watched = await openPage(reportFile(sample(NAMES.map((name) => name.repeat(300))), 'narrow'), {
      viewport: { width: 360, height: 740 },
    })
    for (const view of VIEWS) {
      await open(watched, view)
      expect(await watched.page.evaluate('document.documentElement.scrollWidth'), view).toBeLessThanOrEqual(360)
    }
    expect(watched.faults).toEqual([])
  })

  test('all views are printed, in light colours', async () => {
    const { page, faults } = await openPage(reportFile(sample(), 'print'), { colorScheme: 'dark' })
    // A browser prints what there is when the event is over.
    const painted = await page.evaluate(`dispatchEvent(new Event('beforeprint'))
      ;[...document.querySelectorAll('.flame .printed canvas, .heat canvas, .map canvas')].map((canvas) =>
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0))`)
    expect(painted).toEqual([true, true, true, true])
    await page.emulateMedia({ media: 'print' })
    for (const view of VIEWS)
      await expect.poll(() => page.locator(`#view-${view}`).isVisible(), { message: view }).toBe(true)
    await expect.poll(() => page.locator('nav').isVisible()).toBe(false)
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('light')
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    await expect.poll(() => page.locator('#view-sites').isVisible()).toBe(false)
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(faults).toEqual([])
  })

  test('an empty trace has views that say why they are empty', async () => {
    const watched = await openPage(reportFile(emptySample(), 'empty'))
    for (const view of VIEWS.filter((name) => name !== 'comparison' && name !== 'allocators')) {
      const element = await open(watched, view)
      if (view !== 'overview')
        await expect
          .poll(() => element.locator('.none:visible, .empty:visible').first().textContent(), { message: view })
          .toMatch(/\.$/)
    }
    await expect.poll(() => watched.page.locator('nav a[href="#comparison"]').count()).toBe(0)
    expect(watched.faults).toEqual([])
  })

  test('names that look like markup are text', async () => {
    const data = sample(NAMES.map((name) => `${name}${HOSTILE}`))
    data.name = HOSTILE
    data.notes = [HOSTILE]
    data.omitted = [HOSTILE]
    data.threads.name = [HOSTILE, HOSTILE, HOSTILE]
    data.replay = {
      ...replay(),
      verdict: [HOSTILE],
      allocators: replay().allocators.map((one) => ({ ...one, name: HOSTILE, library: HOSTILE })),
    }
    const watched = await openPage(reportFile(data, 'hostile'))
    const { page, faults } = watched
    await expect.poll(() => page.locator('header h1').textContent()).toBe(HOSTILE)
    for (const view of VIEWS) {
      const element = await open(watched, view)
      for (const control of await element.locator('canvas').all()) {
        await control.hover({ force: true })
        await control.press('ArrowDown')
      }
    }
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined()
    await expect.poll(() => page.locator('img').count()).toBe(0)
    expect(faults).toEqual([])
  })

  test('tables are saved as CSV and pictures as SVG and PNG, in which names are text', async () => {
    const watched = await openPage(reportFile(sample(NAMES.map((name) => `=${name}${HOSTILE}`)), 'saved'))
    const { page, faults } = watched
    const saved = async (view: ViewName, kind: string) => {
      const element = await open(watched, view)
      const download = page.waitForEvent('download')
      await element.locator('.take').getByText(kind, { exact: true }).first().click()
      return readFileSync(await (await download).path())
    }
    const table = (await saved('sites', 'CSV')).toString()
    expect(table.split('\r\n')).toHaveLength(1 + 3 + 1)
    expect(table.startsWith('\ufeffSite,Allocated (bytes),Share,')).toBe(true)
    expect(table).toContain(',6000000,60.0 %,60,500000,0,0,600000,30,0,')
    expect(table).toContain(`"'=grow`)
    for (const view of ['timeline', 'flame', 'leaks', 'peak', 'churn', 'addresses'] as const) {
      const text = (await saved(view, 'SVG')).toString()
      expect(text, view).toMatch(/^<\?xml[^]*<svg [^]*<\/svg>\n$/)
      expect(text, view).not.toMatch(/<(?:script|img|style|a|foreignObject)\b| href=/)
      const fault = await page.evaluate(`(() => {
        const parsed = new DOMParser().parseFromString(${JSON.stringify(text)}, 'image/svg+xml')
        return parsed.querySelector('parsererror')?.textContent ?? parsed.querySelectorAll('text').length
      })()`)
      expect(fault, view).toBeGreaterThan(2)
      const image = await saved(view, 'PNG')
      expect(image.subarray(1, 4).toString(), view).toBe('PNG')
    }
    expect(faults.filter((fault) => !fault.startsWith('request: blob:'))).toEqual([])
  })

  test('inline scripts, handlers and requests are refused by the policy', async () => {
    const { page } = await openPage(reportFile(sample(), 'policy'))
    await page.evaluate(`(() => {
      const script = document.createElement('script')
      script.textContent = 'globalThis.pwned = 1'
      document.body.append(script)
      const image = document.createElement('img')
      image.setAttribute('onerror', 'globalThis.pwned = 2')
      image.src = 'https://example.org/x.png'
      document.body.append(image)
    })()`)
    expect(await page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")).toBe('refused')
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined()
  })

  test('without scripts, the tables are shown', async () => {
    const tables = '<table><tr><th>Site</th><td>keep</td></tr></table>'
    const url = reportFile(sample(), 'static', tables)
    const without = await openPage(url, { javaScriptEnabled: false })
    await expect.poll(() => without.page.locator('#tables').isVisible()).toBe(true)
    await expect.poll(() => without.page.locator('#app').isVisible()).toBe(false)
    const scripted = await openPage(url)
    await scripted.page.locator('#view-overview').waitFor({ state: 'visible' })
    await expect.poll(() => scripted.page.locator('#tables').isVisible()).toBe(false)
  })

  test('addresses that are not those of the program are not shown, and the view gives the reason', async () => {
    const { addresses: _, ...rest } = sample()
    const invented = await openPage(reportFile({ ...rest, noAddresses: 'invented' }, 'invented'))
    const view = await open(invented, 'addresses')
    await expect
      .poll(() => view.locator('.none').textContent())
      .toContain('An interpreted heaptrack file does not have the addresses')
    await expect.poll(() => view.locator('canvas').count()).toBe(0)
    const without = await openPage(reportFile({ ...rest, noAddresses: 'none' }, 'without-addresses'))
    const none = (await open(without, 'addresses')).locator('.none')
    await expect.poll(() => none.textContent()).toBe('No block has an address.')
  })

  test('what depends on which block is freed is not shown where the trace does not say it', async () => {
    const whole = sample()
    const data = { ...whole, summary: { ...whole.summary, identified: false } }
    const watched = await openPage(reportFile(data, 'unidentified'))
    for (const view of ['overview', 'churn', 'sites', 'leaks', 'flame'] as const) {
      const text = await (await open(watched, view)).innerText()
      expect(text).not.toMatch(/temporary(?! allocations and lifetimes are not known)|mean lifetime|generations/i)
    }
  })

  test('there is no mean lifetime where no block was freed', async () => {
    const whole = sample()
    const none = { count: 0, sum: 0, mean: 0, bars: [] }
    const lifetimes = { ...whole.summary.lifetimes, events: none, time: none }
    const { page } = await openPage(reportFile({ ...whole, summary: { ...whole.summary, lifetimes } }, 'none-freed'))
    await expect.poll(() => page.locator('[data-figure="lifetimes"]').getAttribute('title')).toBe('-')
    await expect.poll(() => page.locator('[data-figure="lifetimes"]').textContent()).not.toMatch(/0 (events|ns|s)/)
  })

  test('damaged data is reported above the tables', async () => {
    const data = { ...sample(), version: 2 as 1 }
    const { page } = await openPage(reportFile(data, 'damaged', '<p>tables</p>'))
    await expect
      .poll(() => page.locator('[role=alert]').textContent())
      .toMatch(/^The report cannot be shown: .*version/)
    await expect.poll(() => page.locator('#tables').isVisible()).toBe(true)
  })
})

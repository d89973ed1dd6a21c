import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'
import { manyStacks } from '../support/compared.js'
import { isWhole } from '../support/runs.js'

closeAfterAll()

/** The part of `hf-stats --json` that is compared. */
interface Stats {
  events: number
  allocated: Amount
  freed: Amount
  leaked: Amount
  peakBytes: Amount & { event: number }
  identified: boolean
  temporary: { heaptrack: Amount } | null
  sites: { allocated: Amount; atPeak: Amount; leaked: Amount; foreignFrees: number }[]
  threads: { thread?: number; events: number; allocated: Amount; frees: number; foreignFrees: number }[]
}
interface Amount {
  blocks: number
  bytes: number
}

const TRACES = [
  'heaptrack/cxx.heaptrack.gz',
  'mtrc/git.mtrc.gz',
  'glibc-mtrace/mt-edge.mtrace',
  ...(isWhole()
    ? [
        'heaptrack/mtv-small.heaptrack.gz',
        'mtrc/cxx64.mtrc',
        'replay/twolf-head.txt',
        'replay/mstress-head.txt.gz',
        'hatf/espresso-head.hatf',
        'valgrind/mtv-edge.log',
      ]
    : []),
]
/** What happened that must not. That the worker is loaded, which is a part of the page, is no request to anyone. */
const unwanted = (faults: readonly string[]) => faults.filter((fault) => !/^request: blob:(null|file:)/.test(fault))
const VIEWS = ['overview', 'timeline', 'sites', 'flame', 'leaks', 'peak', 'churn', 'threads', 'addresses', 'problems']
const grouped = (n: number) => n.toLocaleString('en-US')
const exactBytes = (n: number) => `${grouped(n)} byte${n === 1 ? '' : 's'}`
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

describe('the report that hf-report writes of a real trace', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test.each(TRACES)('%s has the figures of hf-stats in every view', async (trace) => {
    const html = `${scratch()}/report.html`
    const path = `test/fixtures/${trace}`
    const written = await shell(`hf-report ${path} -o ${html}`)
    expect(written.code, written.stderr).toBe(0)
    const stats = JSON.parse((await shell(`hf-stats --json ${path}`)).stdout.toString()) as Stats
    const { page, faults } = await openPage(pathToFileURL(html).href)
    const card = (figure: string) => page.locator(`[data-figure="${figure}"]`).first().getAttribute('title')
    const foreign = sum(stats.threads.map((thread) => thread.foreignFrees))
    expect({
      events: await card('events'),
      allocated: await card('allocated.bytes'),
      peak: await card('peakBytes.bytes'),
      leaked: await card('leaked.bytes'),
      ...(stats.identified && { temporary: await card('temporary.heaptrack.blocks') }),
      foreign: await card('foreignFrees'),
    }).toEqual({
      events: grouped(stats.events),
      allocated: exactBytes(stats.allocated.bytes),
      peak: exactBytes(stats.peakBytes.bytes),
      leaked: exactBytes(stats.leaked.bytes),
      ...(stats.temporary !== null && { temporary: grouped(stats.temporary.heaptrack.blocks) }),
      foreign: stats.threads.some(({ thread }) => thread !== undefined) ? grouped(foreign) : '-',
    })

    const badge = page.locator('nav a[href="#problems"] .badge')
    expect((await badge.count()) === 0 ? '0' : await badge.textContent()).toBe(await card('problems'))

    for (const view of VIEWS) {
      await page.click(`nav a[href="#${view}"]`)
      await page.locator(`#view-${view}`).waitFor({ state: 'visible' })
    }

    await page.click('nav a[href="#sites"]')
    await page.locator('#view-sites table[aria-busy=false]').waitFor()
    const cells = (column: number) => page.locator(`#view-sites tbody td:nth-child(${column})`)
    const titles = async (column: number) =>
      cells(column).evaluateAll((all) => all.map((cell) => (cell as { title: string }).title))
    if (stats.sites.length > 0 && stats.sites.length <= 100) {
      const exact = (of: (site: Stats['sites'][0]) => number) =>
        stats.sites.map((site) => exactBytes(of(site))).toSorted()
      expect((await titles(2)).toSorted()).toEqual(exact((site) => site.allocated.bytes))
      expect((await titles(5)).toSorted()).toEqual(exact((site) => site.atPeak.bytes))
      expect((await titles(6)).toSorted()).toEqual(exact((site) => site.leaked.bytes))
    }

    await page.click('nav a[href="#flame"]')
    const flame = page.locator('#view-flame')
    for (const [metric, value] of Object.entries({
      allocatedBytes: exactBytes(stats.allocated.bytes),
      allocatedBlocks: `${grouped(stats.allocated.blocks)} blocks`,
      peakBytes: exactBytes(stats.peakBytes.bytes),
      endBytes: exactBytes(stats.leaked.bytes),
      endBlocks: `${grouped(stats.leaked.blocks)} blocks`,
      ...(stats.temporary !== null && { temporaryBlocks: `${grouped(stats.temporary.heaptrack.blocks)} blocks` }),
      foreignFrees: `${grouped(foreign)} blocks`,
    })) {
      await flame.locator('select').selectOption(metric)
      await expect.poll(() => flame.locator('.detail').textContent(), { message: metric }).toContain(value)
      await flame.locator('input[type=checkbox]').check()
      await expect.poll(() => flame.locator('.detail').textContent(), { message: metric }).toContain(value)
      await flame.locator('input[type=checkbox]').uncheck()
    }

    await page.click('nav a[href="#timeline"]')
    await expect
      .poll(() => page.locator('#view-timeline .lead').textContent())
      .toContain(`at event ${grouped(stats.peakBytes.event)}`)
    await page.click('nav a[href="#threads"]')
    const rows = await page.locator('#view-threads .table').first().locator('tbody tr').allTextContents()
    expect(rows.length).toBe(stats.threads.length)
    expect(unwanted(faults)).toEqual([])
  })

  test('a comparison with another run has the sites that hf-diff names', async () => {
    const html = `${scratch()}/report.html`
    const [old, next] = ['test/fixtures/heaptrack/cxx.heaptrack.gz', 'test/fixtures/heaptrack/mtv-small.heaptrack.gz']
    expect((await shell(`hf-report --compare ${old} ${next} -o ${html}`)).code).toBe(0)
    const stats = JSON.parse((await shell(`hf-stats --json ${next}`)).stdout.toString()) as Stats
    const { page, faults } = await openPage(`${pathToFileURL(html).href}#comparison`)
    const view = page.locator('#view-comparison')
    await expect
      .poll(() => view.locator('.lead').textContent())
      .toMatch(/^Compared with cxx\.heaptrack\.gz: \d+ stacks differ\.$/)
    expect(
      await view.locator('.table').first().locator('tbody tr').first().locator('td').nth(2).getAttribute('title'),
    ).toBe(exactBytes(stats.leaked.bytes))
    await view.locator('.table').nth(1).locator('table[aria-busy=false]').waitFor()
    await expect.poll(() => view.locator('.table').nth(1).locator('tbody tr').count()).toBeGreaterThan(5)
    expect(unwanted(faults)).toEqual([])
  })

  test('hf-diff --to html begins with the comparison, which has the figures of hf-diff', async () => {
    const html = `${scratch()}/diff.html`
    const [old, next] = ['test/fixtures/mtrc/small64.mtrc.gz', 'test/fixtures/mtrc/git.mtrc.gz']
    expect((await shell(`hf-diff --to html ${old} ${next} -o ${html}`)).code).toBe(0)
    const figures = { end: 'leaked', peak: 'peak', allocated: 'allocated', temporary: 'temporary' } as const
    const { page, faults } = await openPage(pathToFileURL(html).href)
    const view = page.locator('#view-comparison')
    await view.waitFor({ state: 'visible' })
    await expect
      .poll(() => view.locator('figure .u-label').allTextContents())
      .toEqual(['at', 'before: small64.mtrc.gz', 'after: git.mtrc.gz'])
    const list = view.locator('.table', { has: page.locator('table[aria-label="stacks that differ"]') })
    for (const [figure, order] of Object.entries(figures)) {
      interface Compared {
        allocated: { bytes: number }
        leaked: { bytes: number }
        atPeak: { bytes: number }
        temporary: { bytes: number }
      }
      const json = JSON.parse((await shell(`hf-diff --json --sort ${order} ${old} ${next}`)).stdout.toString()) as {
        sites: { old: Compared; new: Compared }[]
      }
      const key = ({ leaked: 'leaked', peak: 'atPeak', allocated: 'allocated', temporary: 'temporary' } as const)[order]
      await view.locator('select').first().selectOption(figure)
      const more = list.getByRole('button', { name: 'Show all' })
      if (await more.isVisible()) await more.click()
      await list.locator('table[aria-busy=false]').waitFor()
      const changes = json.sites.map((site) => site.new[key].bytes - site.old[key].bytes)
      const titles = await list
        .locator('tbody td:nth-child(4)')
        .evaluateAll((all) => all.map((cell) => (cell as unknown as { title: string }).title))
      const numbers = titles.map((title) => Number(title.replace(/[^-\d]/g, '')))
      // The page lists stacks that differ in any figure.
      const sorted = (values: number[]) => values.filter((value) => value !== 0).toSorted((a, b) => a - b)
      expect(sorted(numbers), figure).toEqual(sorted(changes))
      const root = await view
        .locator('.detail')
        .textContent()
        .catch(() => '')
      const growth = sum(changes)
      expect(root).toContain(growth > 0 ? '▲ +' : growth < 0 ? '▼ −' : '= 0')
    }
    expect(unwanted(faults)).toEqual([])
    for (const flag of ['--json', '--collapsed', '--top 3', '--full'])
      expect((await shell(`hf-diff --to html ${flag} ${old} ${next} -o ${html}`)).code, flag).toBe(2)
  })

  test('a comparison has all of more than 1,000 stacks', async () => {
    const folder = scratch()
    writeFileSync(`${folder}/old.ndjson`, manyStacks(3000, 1))
    writeFileSync(`${folder}/new.ndjson`, manyStacks(3200, 2))
    const html = `${folder}/diff.html`
    const names = `${folder}/old.ndjson ${folder}/new.ndjson`
    expect((await shell(`hf-diff --to html ${names} -o ${html}`)).code).toBe(0)
    const { sites } = JSON.parse((await shell(`hf-diff --json ${names}`)).stdout.toString()) as {
      sites: { stack: string[]; old: { leaked: { bytes: number } }; new: { leaked: { bytes: number } } }[]
    }
    const { page, faults } = await openPage(pathToFileURL(html).href)
    const view = page.locator('#view-comparison')
    const list = view.locator('.table', { has: page.locator('table[aria-label="stacks that differ"]') })
    await expect.poll(() => view.locator('.lead').textContent()).toContain(`: ${grouped(sites.length)} stacks differ.`)
    const saved = async () => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        list.getByRole('button', { name: 'CSV' }).click(),
      ])
      return readFileSync(await download.path(), 'utf8')
        .split(/\r?\n/)
        .slice(1)
        .filter((line) => line !== '')
    }
    const expected = sites.map((site) => {
      const [before, after] = [site.old.leaked.bytes, site.new.leaked.bytes]
      return [site.stack.join(' < '), before, after, after - before].join(',')
    })
    const figures = (line: string) => line.split(',').slice(0, 4).join(',')
    expect((await saved()).map(figures).toSorted()).toEqual(expected.toSorted())
    await list.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => list.locator('tbody tr').count()).toBe(1001)
    const others = list.locator('tbody tr', { hasText: `(all others: ${grouped(sites.length - 1000)} stacks)` })
    await expect.poll(() => others.count()).toBe(1)
    await view.locator('input[type=search]').fill('caller31[0-9]{2}$')
    const found = sites.filter(({ stack }) => stack.some((frame) => /caller31[0-9]{2}$/.test(frame)))
    await expect
      .poll(() => view.locator('.message').textContent())
      .toBe(`${found.length} of ${grouped(sites.length)} stacks`)
    expect((await saved()).length).toBe(found.length)
    const functions = view.locator('.table', { has: page.locator('table[aria-label="functions that differ"]') })
    const main = functions.locator('tbody tr', { has: page.locator('.name', { hasText: /^main$/ }) })
    const whole = sum(sites.map((site) => site.new.leaked.bytes - site.old.leaked.bytes))
    const title = await main.locator('td').nth(1).getAttribute('title')
    expect(Number(title?.replace(/[^-\d]/g, ''))).toBe(whole)
    expect(unwanted(faults)).toEqual([])
  })

  test('what is in a trace stays text, in the tables too', async () => {
    const name = '</script><img src=x onerror=globalThis.pwned=1>'
    const folder = scratch()
    const event = JSON.stringify({
      kind: 'alloc',
      address: '0x1000',
      size: 8,
      function: name,
      file: name,
      line: 1,
      stack: [name, `${name} (${name}:3)`],
    })
    const made = await shell(
      `hf-report - -o ${folder}/report.html`,
      `${event}\n${JSON.stringify({ kind: 'free', address: '0x9', stack: [name] })}\n`,
    )
    expect(made.stderr).not.toContain('error')
    const url = pathToFileURL(`${folder}/report.html`).href
    for (const javaScriptEnabled of [true, false]) {
      const { page, faults } = await openPage(url, { javaScriptEnabled })
      if (javaScriptEnabled) {
        await expect.poll(() => page.locator('#view-overview').textContent()).toContain(name)
        for (const view of VIEWS) await page.click(`nav a[href="#${view}"]`)
        expect(await page.evaluate('globalThis.pwned')).toBeUndefined()
      } else await expect.poll(() => page.locator('#tables').textContent()).toContain(name)
      await expect.poll(() => page.locator('img').count()).toBe(0)
      expect(unwanted(faults)).toEqual([])
    }
  })
})

// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { drawnFirst } from '../../page/simulation/lines.js'
import type { SimulationFigures } from '../../lib/exports/simulation/data.js'
import { browserFile, CHROMIUM, closeAfterAll, NO_BROWSER, openPage, type Watched } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'
import { fragmented } from '../support/short-lived.js'

closeAfterAll()

const TRACE = 'test/fixtures/replay/mstress-head.txt.gz'
/** Markup that runs a script, if anything takes it for markup. */
const HOSTILE = `a<img src=x onerror="globalThis.pwned=1">\u202eb`
const POLICIES = 11
const ROWS = 'table[aria-label=policies] tbody tr'

const grouped = (value: number) => value.toLocaleString('en-US')

let html: string
let simulations: readonly SimulationFigures[]

beforeAll(async () => {
  const made = await shell(`hf-simulate --compare all --to html ${TRACE}`)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  html = browserFile('heaps.html', made.stdout.toString())
  const { stdout } = await shell(`hf-simulate --compare all --json ${TRACE}`)
  simulations = (JSON.parse(stdout.toString()) as { traces: [{ simulations: SimulationFigures[] }] }).traces[0]
    .simulations
}, 60_000)

const open = (options = {}): Promise<Watched> => openPage(html, options)

test('the lower bound does not say which curves are drawn at first', () => {
  const line = (title: string, heap: number) => ({
    title,
    figures: { largestHeap: { heap } } as unknown as SimulationFigures,
    colour: 'others',
    isDashed: false,
  })
  const none = { ...line('predicted', 0), figures: undefined }
  const drawn = drawnFirst([line('first-fit', 4096), line('bump', 40_960), line('ideal', 8), none])
  expect([...drawn].map(({ title }) => title)).toEqual(['first-fit', 'ideal'])
})

describe('the page of simulated heaps', () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test('has the figures that --json has, without a request or a fault', async () => {
    const { page, faults } = await open()
    expect(simulations).toHaveLength(POLICIES)
    const rows = page.locator(ROWS)
    await expect.poll(() => rows.count()).toBe(POLICIES)
    for (const [n, { settings, largestHeap, mostPages, fragmentation, searches }] of simulations.entries()) {
      const cells = rows.nth(n).locator('td')
      await expect.poll(() => cells.nth(1).textContent()).toBe(settings.policy)
      await expect.poll(() => cells.nth(2).getAttribute('title')).toBe(`${grouped(largestHeap!.heap)} bytes`)
      await expect.poll(() => cells.nth(3).getAttribute('title')).toBe(`${grouped(mostPages!.pages)} bytes`)
      const { average, atMostLive, atLargestHeap, ofMaxima } = fragmentation
      const parts = [average, atMostLive, atLargestHeap, ofMaxima, largestHeap!.internal, largestHeap!.external]
      expect((await cells.allTextContents()).slice(4, 10)).toEqual(
        parts.map((part) => `${(100 * (part as number)).toFixed(1)} %`),
      )
      expect((await cells.nth(10).textContent()) === '–').toBe(searches === null)
    }
    await expect
      .poll(() => page.locator('.lead').textContent())
      .toMatch(/^5,186 live blocks of 8,195,984 bytes at the peak\. The smallest heap is that of best-fit: 7\.9 MiB/)
    expect(faults).toEqual([])
  })

  test('draws heap, pages and blocks over time, at first of policies with similar heaps', async () => {
    const { page, faults } = await open()
    await expect
      .poll(() => page.locator('figure.chart figcaption').allTextContents())
      .toEqual([
        'Heap: what the policy has from the system',
        'Pages with live blocks',
        'Live blocks with headers and rounding',
      ])
    const legend = () => page.locator('figure.chart').first().locator('.u-legend th .u-label').allTextContents()
    await expect
      .poll(() => legend())
      .toEqual(['at', 'live bytes', ...simulations.map(({ settings }) => settings.policy)])
    await page.getByLabel('draw bump').uncheck()
    await expect.poll(() => legend()).not.toContain('bump')
    await page.getByLabel('draw bump').focus()
    await page.keyboard.press('Space')
    await expect.poll(() => legend()).toContain('bump')
    // The values at the end of the curves are those of the last moment.
    await page
      .locator('figure.chart .u-over')
      .first()
      .hover({ position: { x: 2, y: 20 } })
    const box = (await page.locator('figure.chart .u-over').first().boundingBox())!
    await page.mouse.move(box.x + box.width - 1, box.y + 20)
    const values = await page.locator('figure.chart').first().locator('.u-legend .u-value').allTextContents()
    const last = simulations.map(({ timeline }) => timeline.at(-1)!.heap)
    for (const [n, heap] of last.entries()) expect(values[n + 2]).toContain(`(${grouped(heap)} bytes)`)
    expect(faults).toEqual([])
  })

  test('a policy with a much larger heap is drawn when it is asked for', async () => {
    const events = Array.from({ length: 3000 }, (_, n) => [
      { kind: 'alloc', address: `0x${(4096 + 64 * n).toString(16)}`, size: 40 },
      { kind: 'free', address: `0x${(4096 + 64 * n).toString(16)}` },
    ])
    const text = events.flat().map((event) => `${JSON.stringify(event)}\n`)
    const path = `${scratch()}/churn.html`
    expect((await shell(`hf-simulate --compare bump --compare best-fit -o ${path}`, text.join(''))).code).toBe(0)
    const { page, faults } = await openPage(pathToFileURL(path).href)
    await expect.poll(() => page.getByLabel('draw bump').isChecked()).toBe(false)
    await expect.poll(() => page.getByText('Not drawn at first').textContent()).toMatch(/: bump\.$/)
    await page.getByLabel('draw bump').check()
    await expect.poll(() => page.locator('.u-legend').first().textContent()).toContain('bump')
    expect(faults).toEqual([])
  })

  test('says which pools would save memory, with the sentence that --compare prints', async () => {
    const path = `${scratch()}/pooled`
    writeFileSync(`${path}.ndjson`, fragmented())
    const text = (await shell(`hf-simulate --compare all ${path}.ndjson`)).stdout.toString().replace(/\n {2}/g, ' ')
    expect((await shell(`hf-simulate --compare all -o ${path}.html ${path}.ndjson`)).code).toBe(0)
    const { page, faults } = await openPage(pathToFileURL(`${path}.html`).href)
    await expect.poll(() => page.locator('.note').textContent()).toBe(/\n(More: pools .*)\n/.exec(text)![1])
    expect(faults).toEqual([])
  })

  test('keys zoom the charts, show help and switch the colours', async () => {
    const { page, faults } = await open({ colorScheme: 'light' })
    const shown = page.locator('.shown')
    await expect.poll(() => shown.textContent()).toBe('all of the run')
    await page.locator('.charts').press('+')
    await expect.poll(() => shown.textContent()).toMatch(/^from event [\d,]+ to [\d,]+$/)
    // A policy that is added is drawn in the same part.
    const part = await shown.textContent()
    await page.getByLabel('draw bump').uncheck()
    await expect.poll(() => shown.textContent()).toBe(part)
    await page.locator('.charts').press('0')
    await expect.poll(() => shown.textContent()).toBe('all of the run')
    await page.keyboard.press('t')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.keyboard.press('?')
    await expect.poll(() => page.locator('dialog[open] kbd').allTextContents()).toContain('Space')
    expect(faults).toEqual([])
  })

  test.each(['light', 'dark'] as const)('axe finds nothing, %s', async (colorScheme) => {
    const { page } = await open({ colorScheme })
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
    const found = await page.evaluate<{ violations: { id: string }[] }>(
      "axe.run(document, { resultTypes: ['violations'] })",
    )
    expect(found.violations.map(({ id }) => id)).toEqual([])
  })

  test('is printed in light colours, in the width of paper', async () => {
    const { page, faults } = await open({ colorScheme: 'dark' })
    const width = async () => (await page.locator('.u-wrap').first().boundingBox())?.width
    const before = await width()
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light')
    await expect.poll(() => width()).toBe(950)
    await page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await expect.poll(() => width()).toBe(before)
    expect(faults).toEqual([])
  })

  test.each([360, 1280])('nothing is wider than the page, %i pixels', async (width) => {
    const { page } = await open({ viewport: { width, height: 800 } })
    const wide = `[...document.querySelectorAll('main *')]
      .filter((one) => one.closest('.scroll') === null && one.getBoundingClientRect().right > innerWidth)
      .map((one) => one.tagName + '.' + one.className)`
    await expect.poll(() => page.evaluate(wide)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  })

  test('names are text, and can be read', async () => {
    const folder = scratch()
    const trace = '{"kind":"alloc","address":"0x10","size":8}\n'
    const { code, stderr } = await shell(
      `cd ${folder} && cat > "$NAME" && hf-simulate --policy best-fit -o x.html "$NAME"`.replaceAll(
        '"$NAME"',
        `'${HOSTILE.replaceAll('/', '')}'`,
      ),
      trace,
    )
    expect([code, stderr]).toEqual([0, ''])
    const { page, faults } = await openPage(pathToFileURL(`${folder}/x.html`).href)
    await expect.poll(() => page.locator('h1').textContent()).toBe('a<img src=x onerror="globalThis.pwned=1">⟨U+202E⟩b')
    expect(await page.evaluate('globalThis.pwned')).toBe(undefined)
    await expect.poll(() => page.locator(ROWS).first().locator('td').nth(1).textContent()).toBe('best-fit')
    expect(faults).toEqual([])
  })

  test('of several traces, one at a time is shown; what cannot be simulated has no curve', async () => {
    const folder = scratch()
    const alloc = (address: number, more = {}) =>
      `${JSON.stringify({ kind: 'alloc', address: `0x${address.toString(16)}`, size: 8, ...more })}\n`
    const header = '{"kind":"header","format":"hatf"}\n'
    const end = '{"kind":"end"}\n'
    const trace = `${header}${alloc(16, { process: 1 })}${alloc(16, { process: 2 })}${end}${header}${alloc(16)}${end}`
    const line = `hf-simulate --compare ptmalloc --compare bump -o ${folder}/x.html`
    expect(await shell(line, trace)).toMatchObject({ code: 0, stderr: '' })
    const { page, faults } = await openPage(pathToFileURL(`${folder}/x.html`).href)
    await expect.poll(() => page.locator('.lead').textContent()).toMatch(/^2 live blocks of 16 bytes/)
    await expect.poll(() => page.locator('.note').textContent()).toMatch(/^ptmalloc: hatf: event 2: .* for one process/)
    await expect.poll(() => page.getByLabel('draw ptmalloc').isDisabled()).toBe(true)
    await page.locator('select').selectOption({ value: '1' })
    await expect.poll(() => page.locator('.lead').textContent()).toMatch(/^1 live block of 8 bytes/)
    expect(faults).toEqual([])
  })

  test('has a table for readers without scripts', async () => {
    const { page } = await open({ javaScriptEnabled: false })
    await expect
      .poll(() => page.locator('#tables h2').allTextContents())
      .toEqual(['Simulated policies of allocation', 'Policies'])
    const cells = await page.locator('#tables table').nth(1).locator('tr').nth(1).locator('td').allTextContents()
    expect(cells.slice(0, 2)).toEqual(['first-fit', String(simulations[0]!.largestHeap!.heap)])
  })
})

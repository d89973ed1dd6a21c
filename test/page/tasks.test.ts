// @module-tag slow
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { shell } from '../support/commands.js'

closeAfterAll()

/** The rows of the table of docs/report.md: the task, and the most clicks that it takes. */
const TABLE = readFileSync('docs/report.md', 'utf8')
  .split('## What other viewers do')[1]!
  .split('\n## ')[0]!
  .split('\n')
  .filter((line) => /^\| .* \| \d/.test(line))
  .map((line) => {
    const [, task, clicks] = line.split('|').map((cell) => cell.trim())
    return [task!, Number(clicks)] as const
  })

/**
 * A program of two threads. `main` keeps 40 tables of 4,096 bytes and leaks 10 of them, thread 2 fills a cache of 100
 * blocks of 512 bytes that thread 1 empties, and formats 300 strings that it frees at once.
 */
function program(): string {
  const lines: object[] = [{ kind: 'header', format: 'recorder', timeUnit: 'ns' }]
  let time = 0
  const add = (event: object) => lines.push({ ...event, time: (time += 1000) })
  const stack = (...functions: [string, string, string][]) =>
    functions.map(([name, place, module]) => `${name} at ${place} in ${module}`)
  const app = '/opt/app/bin/app'
  const tables = stack(
    ['operator new(unsigned long)', 'new_op.cc:50', '/usr/lib/libstdc++.so.6'],
    ['load_table', 'load.cc:12', app],
    ['main', 'main.cc:5', app],
  )
  const cache = stack(['cache_put', 'cache.cc:7', '/opt/app/lib/libcache.so'], ['serve', 'serve.cc:30', app])
  const text = stack(['format', 'format.cc:3', app], ['serve', 'serve.cc:31', app])
  const tableAt = (i: number) => `0x${(0x10000 + i * 8192).toString(16)}`
  const cacheAt = (i: number) => `0x${(0x900000 + i * 1024).toString(16)}`
  for (let i = 0; i < 40; i++) add({ kind: 'alloc', thread: 1, address: tableAt(i), size: 4096, stack: tables })
  for (let i = 0; i < 100; i++) add({ kind: 'alloc', thread: 2, address: cacheAt(i), size: 512, stack: cache })
  for (let i = 0; i < 300; i++) {
    add({ kind: 'alloc', thread: 2, address: '0xa00000', size: 24, stack: text })
    add({ kind: 'free', thread: 2, address: '0xa00000' })
  }
  for (let i = 0; i < 100; i++) add({ kind: 'free', thread: 1, address: cacheAt(i) })
  for (let i = 10; i < 40; i++) add({ kind: 'free', thread: 1, address: tableAt(i) })
  return `${[...lines, { kind: 'end', events: lines.length - 1 }].map((line) => JSON.stringify(line)).join('\n')}\n`
}

const LEAKED = 10 * 4096
const PEAK = 40 * 4096 + 100 * 512 + 24

/** A page on which clicks are counted. */
class Reader {
  clicks = 0
  constructor(readonly page: Page) {}

  view(name: string) {
    return this.page.locator(`#view-${name}`)
  }

  async open(name: string) {
    this.clicks++
    await this.page.click(`nav a[href="#${name}"]`)
    await this.view(name).waitFor({ state: 'visible' })
    return this.view(name)
  }

  async press(view: string, name: string | RegExp) {
    this.clicks++
    await this.view(view).getByRole('button', { name }).first().click()
  }

  async choose(view: string, label: string, value: string) {
    this.clicks++
    await this.view(view).locator('label.field', { hasText: label }).locator('select').selectOption(value)
  }

  async sort(view: string, title: string) {
    this.clicks++
    await this.view(view).locator('thead').getByRole('button', { name: title, exact: true }).click()
  }

  async row(view: string, text: string) {
    this.clicks++
    await this.view(view).locator('.table tbody tr', { hasText: text }).first().click()
  }

  first(view: string) {
    return this.view(view).locator('.table tbody tr').first().textContent()
  }

  detail() {
    return this.view('flame').locator('.detail').textContent()
  }

  async saved(view: string, name: string) {
    const download = this.page.waitForEvent('download')
    await this.press(view, name)
    return readFileSync(await (await download).path(), 'utf8')
  }
}

const grouped = (n: number) => n.toLocaleString('en-US')

/** What is done for each task, and what the reader then sees. */
const TASKS: Readonly<Record<string, (reader: Reader) => Promise<void>>> = {
  'The totals: allocations, peak, leaks, temporary allocations': async ({ page }) => {
    const title = (figure: string) => page.locator(`[data-figure="${figure}"]`).first().getAttribute('title')
    await expect.poll(() => title('peakBytes.bytes')).toBe(`${grouped(PEAK)} bytes`)
    await expect.poll(() => title('leaked.bytes')).toBe(`${grouped(LEAKED)} bytes`)
  },
  'The sites that hold the peak': async (reader) => {
    await reader.open('peak')
    await expect.poll(() => reader.first('peak')).toMatch(/load_table.*main/)
  },
  'The sites that leak': async (reader) => {
    await reader.open('leaks')
    await expect.poll(() => reader.first('leaks')).toMatch(/load_table/)
  },
  'The sites with most temporary allocations': async (reader) => {
    await reader.open('sites')
    await reader.sort('sites', 'Temporary')
    await expect.poll(() => reader.first('sites')).toMatch(/format/)
  },
  'The sites with most calls': async (reader) => {
    await reader.open('sites')
    await reader.sort('sites', 'Allocations')
    await expect.poll(() => reader.first('sites')).toMatch(/format.*300/)
  },
  'Live bytes, blocks and calls over time': async (reader) => {
    const view = await reader.open('timeline')
    await expect.poll(() => view.locator('.u-over').count()).toBe(3)
  },
  'The largest sites over time': async (reader) => {
    const view = await reader.open('peak')
    await expect.poll(() => view.locator('.u-over').count()).toBeGreaterThan(0)
  },
  'A histogram of sizes, and of lifetimes': async (reader) => {
    const view = await reader.open('churn')
    await expect.poll(() => view.textContent()).toMatch(/Sizes[^]*Lifetimes/)
  },
  'A flame graph': async (reader) => {
    await reader.open('flame')
    await expect.poll(() => reader.detail()).toContain('100.0 %')
  },
  'The same from the functions that allocate (bottom up)': async (reader) => {
    const view = await reader.open('flame')
    reader.clicks++
    await view.locator('label', { hasText: 'inverted' }).locator('input').check()
    expect(reader.page.url()).toContain('flame')
    await view.locator('canvas').first().focus()
    await reader.page.keyboard.press('ArrowDown')
    await expect.poll(() => reader.detail()).toMatch(/^(load_table|cache_put|format)/)
  },
  'A flame graph of another figure, such as leaks': async (reader) => {
    await reader.open('flame')
    await reader.choose('flame', 'Figure', 'endBytes')
    await expect.poll(() => reader.detail()).toContain(grouped(LEAKED))
  },
  'Search for a function in the flame graph': async (reader) => {
    const view = await reader.open('flame')
    reader.clicks++
    await view.locator('.bar').first().locator('input[type="search"]').fill('cache_put')
    await view.getByText(/matches: .*51,200 bytes/).waitFor()
  },
  'Callers and callees of a function': async (reader) => {
    await reader.open('functions')
    await reader.row('functions', 'serve')
    const callees = reader.view('functions').locator('.columns .table').last()
    await expect
      .poll(() => callees.locator('tbody tr').allTextContents())
      .toEqual([expect.stringMatching(/cache_put.*87\.7 %/), expect.stringMatching(/format.*12\.3 %/)])
  },
  'Figures by library or source file': async (reader) => {
    await reader.open('functions')
    await reader.choose('functions', 'Rows', 'module')
    await expect
      .poll(() => reader.view('functions').locator('tbody tr').allTextContents())
      .toEqual([expect.stringMatching(/^bin\/app|^app/), expect.stringMatching(/libcache\.so/)])
  },
  'Hide a function everywhere in the flame graph': async (reader) => {
    await reader.open('functions')
    await reader.row('functions', 'load_table')
    await reader.press('functions', 'Hide in the flame graph')
    await reader.view('flame').waitFor({ state: 'visible' })
    await reader.view('flame').locator('canvas').first().focus()
    await reader.page.keyboard.press('ArrowDown')
    await expect.poll(() => reader.detail()).toMatch(/^main/)
    await reader.page.keyboard.press('ArrowDown')
    await expect.poll(() => reader.detail()).toMatch(/^main/)
  },
  'Only the stacks with a function': async (reader) => {
    await reader.open('functions')
    await reader.row('functions', 'serve')
    await reader.press('functions', 'Focus in the flame graph')
    await reader.view('flame').waitFor({ state: 'visible' })
    await expect.poll(() => reader.detail()).toContain(`(${grouped(100 * 512 + 300 * 24)} bytes), 100.0 %`)
  },
  'What was live at a moment': async (reader) => {
    const view = await reader.open('timeline')
    const box = (await view.locator('.u-over').first().boundingBox())!
    reader.clicks++
    await reader.page.mouse.click(box.x + box.width - 2, box.y + 60)
    await reader.page.locator('.moment h3').waitFor()
    await expect
      .poll(() => reader.page.locator('.moment tbody tr').allTextContents())
      .toEqual([expect.stringMatching(/^load_table.*100\.0 %/)])
  },
  'What changed between two moments': async (reader) => {
    const view = await reader.open('timeline')
    const box = (await view.locator('.u-over').first().boundingBox())!
    reader.clicks++
    await reader.page.mouse.move(box.x + 2, box.y + 60)
    await reader.page.mouse.down()
    await reader.page.mouse.move(box.x + box.width - 2, box.y + 60, { steps: 4 })
    await reader.page.mouse.up()
    await reader.page.locator('.moment h3', { hasText: 'Between' }).waitFor()
  },
  'One thread only': async (reader) => {
    await reader.open('threads')
    await reader.row('threads', 'thread 2')
    await reader.page.locator('.filter .command', { hasText: '--thread 2' }).waitFor({ state: 'attached' })
  },
  'Save a table, or a picture': async (reader) => {
    await reader.open('sites')
    expect(await reader.saved('sites', 'CSV')).toMatch(/load_table at load\.cc|load_table/)
  },
}

describe('tasks of heap viewers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-tasks-'))
  const [trace, html] = [join(folder, 'app.ndjson'), join(folder, 'app.html')]
  const link = pathToFileURL(html).href
  beforeAll(async () => {
    writeFileSync(trace, program())
    expect(await shell(`hf-report ${trace} -o ${html}`)).toMatchObject({ code: 0, stderr: '' })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test('are those of docs/report.md', () => expect(TABLE.map(([task]) => task)).toEqual(Object.keys(TASKS)))

  test.each(TABLE)('%s: %d clicks', async (task, clicks) => {
    const { page, faults } = await openPage(link)
    const reader = new Reader(page)
    await TASKS[task]!(reader)
    expect(reader.clicks).toBe(clicks)
    // The worker that reads the trace is started from a blob.
    expect(faults.filter((fault) => !fault.startsWith('request: blob:'))).toEqual([])
  })
})

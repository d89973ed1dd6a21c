// @module-tag slow
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'

closeAfterAll()

beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

test('beside the map are as many addresses as have room, also of many small ranges', async () => {
  const html = `${scratch()}/report.html`
  const events = Array.from({ length: 100 }, (_, n) =>
    JSON.stringify({ kind: 'alloc', address: `0x${(0x10000000 * (n + 1)).toString(16)}`, size: 100 }),
  )
  expect((await shell(`hf-report -o ${html} -`, `${events.join('\n')}\n`)).code).toBe(0)
  const { page } = await openPage(`${pathToFileURL(html).href}#addresses`)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page
      .locator('#view-addresses .block', { has: page.locator('.map') })
      .getByRole('button', { name: 'SVG' })
      .click(),
  ])
  const svg = readFileSync(await download.path(), 'utf8')
  const rows = [...svg.matchAll(/<text [^>]*\by="([\d.]+)"[^>]*>0x/g)]
    .map(([, y]) => Number(y))
    .toSorted((a, b) => a - b)
  expect(rows.length).toBeGreaterThan(40)
  expect(Math.min(...rows.slice(1).map((y, n) => y - rows[n]!))).toBeGreaterThanOrEqual(12)
})

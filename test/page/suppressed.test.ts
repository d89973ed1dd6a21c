import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'

closeAfterAll()

interface Amount {
  blocks: number
  bytes: number
}
/** The part of hf-stats --json that is compared. */
interface Stats {
  leaked: Amount
  suppressed: Amount
}

const TRACE = 'test/fixtures/heaptrack/mtv-small.heaptrack.gz'
const grouped = (n: number) => n.toLocaleString('en-US')
const exact = ({ bytes, blocks }: Amount) =>
  `(${grouped(bytes)} byte${bytes === 1 ? '' : 's'}) in ${grouped(blocks)} block${blocks === 1 ? '' : 's'}`

/** A page of the trace without the leaks of its threads, and the flags of the rules. */
async function page(): Promise<{ page: Page; faults: string[]; flags: string }> {
  const folder = scratch()
  const rules = '{\n  the threads\n  Memcheck:Leak\n  ...\n  fun:work*\n  obj:*libc.so*\n}\nleak:^none$\n'
  writeFileSync(`${folder}/rules`, rules)
  const flags = `--suppress ${folder}/rules --suppress-known`
  const html = `${folder}/report.html`
  expect((await shell(`hf-report ${flags} -o ${html} ${TRACE}`)).code).toBe(0)
  return { ...(await openPage(`${pathToFileURL(html).href}#leaks`)), flags }
}

const statsOf = async (command: string) => JSON.parse((await shell(command)).stdout.toString()) as Stats

/** The figures of the cards: `leaked` of the trace, or the part of it that is shown. */
async function shownLeaks(one: Page): Promise<string | null> {
  await one.locator('nav a[href^="#overview"]').click()
  return one.locator('[data-figure="leaked.bytes"]').getAttribute('title')
}

describe('a page without known leaks', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test('has the figures of hf-stats with the same rules, for the whole trace and for a part', async () => {
    const { page: one, faults, flags } = await page()
    const whole = await statsOf(`hf-stats --json ${flags} ${TRACE}`)
    expect(whole.suppressed.blocks).toBeGreaterThan(0)
    const leaks = one.locator('#view-leaks')
    const rules = leaks.locator('table[aria-label="rules that suppress leaks"]')
    const sizes = await rules
      .locator('tbody td:nth-child(2)')
      .evaluateAll((all) => all.map((cell) => Number((cell as unknown as { title: string }).title.replace(/\D/g, ''))))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(whole.suppressed.bytes)
    await expect.poll(() => leaks.locator('.mark').count()).toBeGreaterThan(0)
    await expect.poll(() => shownLeaks(one)).toContain(grouped(whole.leaked.bytes))
    // A part of the trace is without the leaks in that part.
    await one.locator('.filter summary').click()
    await one.locator('.filter').getByLabel('Size', { exact: true }).fill('64..')
    await one.getByRole('button', { name: 'Apply' }).click()
    await one.locator('.filter summary .shown', { hasText: ' of ' }).waitFor()
    const part = await statsOf(`hf-filter --size 64.. --lifetimes ${TRACE} | hf-stats --json ${flags}`)
    expect(part.leaked.bytes).not.toBe(whole.leaked.bytes)
    expect(part.suppressed.blocks).toBeGreaterThan(0)
    await expect.poll(() => shownLeaks(one)).toContain(grouped(part.leaked.bytes))
    await expect.poll(() => one.locator('.filter code').textContent()).toContain(`| hf-stats ${flags}`)
    expect(faults.filter((fault) => !fault.startsWith('request: blob:'))).toEqual([])
  })

  test('has all that is live at a moment, and says how much of it is at suppressed sites', async () => {
    const { page: one, flags } = await page()
    await one.locator('nav a[href^="#timeline"]').click()
    const view = one.locator('#view-timeline')
    const whole = await statsOf(`hf-stats --json ${flags} ${TRACE}`)
    await expect.poll(() => view.locator('.note').textContent()).toContain(`${grouped(whole.suppressed.blocks)} block`)
    const axis = view.locator('select')
    if ((await axis.count()) > 0) await axis.selectOption('event')
    await one.locator('.u-over').first().click()
    await one.locator('.moment h3').waitFor()
    const event = Number((await one.locator('.moment h3').textContent())?.replace(/\D/g, ''))
    const { leaked, suppressed } = await statsOf(`hf-filter --live-at ${event} ${TRACE} | hf-stats --json ${flags}`)
    const text = await one.locator('.moment > .explain').first().textContent()
    const live = { bytes: leaked.bytes + suppressed.bytes, blocks: leaked.blocks + suppressed.blocks }
    expect(text).toContain(exact(live))
    expect(text).toContain(`${exact(suppressed)} are at sites whose leaks are suppressed`)
    await expect.poll(() => one.locator('.moment .mark').count()).toBeGreaterThan(0)
  })
})

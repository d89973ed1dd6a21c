import { pathToFileURL } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'

closeAfterAll()

/** The timeline of a page with its trace, by events. */
async function timeline() {
  const html = `${scratch()}/report.html`
  expect((await shell(`hf-report test/fixtures/mtrc/small64.mtrc.gz -o ${html}`)).code).toBe(0)
  const { page } = await openPage(`${pathToFileURL(html).href}#timeline`)
  await page.evaluate(`{
    globalThis.asked = 0
    const { postMessage } = Worker.prototype
    Worker.prototype.postMessage = function (message, ...more) {
      if ('question' in message) asked++
      return postMessage.call(this, message, ...more)
    }
  }`)
  const over = page.locator('#view-timeline .u-over').first()
  await over.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await over.boundingBox())!
  return { page, over, left: x, right: x + width, middle: { x: x + width / 2, y: y + height / 2 } }
}

const answer = (page: Page) => page.locator('.moment h3')
const selected = (over: Locator) => over.locator('.u-select').evaluate((one) => one.clientWidth)

describe('the timeline of a page', () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test.each([
    ['to the side', 2, 0],
    ['down', 0, 15],
    ['aslant', -3, -10],
  ])('a click whose pointer moves a bit %s is a click', { tags: ['slow'] }, async (_, right, down) => {
    const { page, over, middle } = await timeline()
    await page.mouse.move(middle.x, middle.y)
    await page.mouse.down()
    await page.mouse.move(middle.x + right, middle.y + down)
    await page.mouse.up()
    await answer(page).waitFor()
    expect(await answer(page).textContent()).toMatch(/^Live at event /)
    expect(await selected(over)).toBe(0)
  })

  test('a click under which the page is scrolled is a click', { tags: ['slow'] }, async () => {
    const { page, middle } = await timeline()
    await page.evaluate("document.body.style.paddingBottom = '2000px'")
    await page.mouse.move(middle.x, middle.y)
    await page.mouse.down()
    await page.evaluate(`new Promise((done) => {
      scrollBy(0, 20)
      requestAnimationFrame(() => requestAnimationFrame(done))
    })`)
    await page.mouse.up()
    await answer(page).waitFor()
  })

  test('the first and the last place of a chart can be clicked', { tags: ['slow'] }, async () => {
    const { page, left, right, middle } = await timeline()
    await page.mouse.click(right - 0.5, middle.y)
    await answer(page).waitFor()
    expect(await answer(page).textContent()).toMatch(/^Live at event 2,79\d$/)
    await page.mouse.click(left + 0.5, middle.y)
    await expect.poll(() => answer(page).textContent()).toMatch(/^Live at event \d$/)
  })

  test(
    'what was dragged over is read once, and shaded where it is until something else is chosen',
    { tags: ['slow'] },
    async () => {
      const { page, over, left, right, middle } = await timeline()
      const width = right - left
      await page.mouse.move(left + width / 4, middle.y)
      await page.mouse.down()
      await page.mouse.move(left + width / 2, middle.y, { steps: 3 })
      await page.mouse.up()
      await answer(page).waitFor()
      expect(await selected(over)).toBeCloseTo(width / 4, -1)
      expect(await page.evaluate('asked')).toBe(1)
      const button = (name: string) => page.locator('#view-timeline > .bar').getByRole('button', { name })
      await button('Zoom in').click()
      await expect.poll(() => selected(over)).toBeGreaterThan(width - 5)
      await button('Show all').click()
      await expect.poll(() => selected(over)).toBeLessThan(width / 3)
      await page.mouse.click(middle.x, middle.y)
      await expect.poll(() => selected(over)).toBe(0)
    },
  )

  test('another button than the first neither clicks nor drags', { tags: ['slow'] }, async () => {
    const { page, over, middle } = await timeline()
    for (const button of ['right', 'middle'] as const) {
      await page.mouse.move(middle.x, middle.y)
      await page.mouse.down({ button })
      await page.mouse.move(middle.x + 50, middle.y, { steps: 3 })
      await page.mouse.up({ button })
      await page.mouse.move(middle.x + 100, middle.y, { steps: 3 })
      expect(await selected(over)).toBe(0)
    }
    expect(await answer(page).count()).toBe(0)
  })

  test('a key with Ctrl, and one of a button in it, are not its keys', { tags: ['slow'] }, async () => {
    const { page } = await timeline()
    const charts = page.locator('#view-timeline .charts')
    const shown = page.locator('#view-timeline .shown')
    for (const key of ['Control++', 'Alt+ArrowLeft', 'Meta+-']) await charts.press(key)
    const saved = page.waitForEvent('download')
    await charts.getByRole('button', { name: 'SVG' }).first().press('Enter')
    expect((await saved).suggestedFilename()).toMatch(/\.svg$/)
    expect(await shown.textContent()).toBe('all of the run')
    expect(await page.locator('#view-timeline .explain').count()).toBe(0)
    await charts.press('+')
    await expect.poll(() => shown.textContent()).toMatch(/^from /)
  })
})

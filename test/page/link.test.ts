// @module-tag slow
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { reportFile } from './report-file.js'
import { sample } from './sample.js'

closeAfterAll()

describe('the address of a page', () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test('the way back leads to where the reader was, however soon a link was followed', async () => {
    const { page, faults } = await openPage(`${reportFile(sample(), 'back')}#flame`)
    const view = page.locator('#view-flame')
    await view.waitFor({ state: 'visible' })
    await page.evaluate(`(() => {
      const canvas = document.querySelector('#view-flame canvas')
      for (const key of ['ArrowDown', 'ArrowDown', 'Enter'])
        canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      document.querySelector('nav a[href="#sites"]').click()
    })()`)
    await page.locator('#view-sites').waitFor({ state: 'visible' })
    expect(page.url()).toMatch(/#sites$/)
    await page.goBack()
    await view.waitFor({ state: 'visible' })
    expect(page.url()).toMatch(/#flame.*node=\d/)
    await expect.poll(() => view.locator('.detail').textContent()).toMatch(/^parse/)
    expect(faults).toEqual([])
  })
})

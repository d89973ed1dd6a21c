import { pathToFileURL } from 'node:url'
import { pipeline } from 'node:stream/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { filterFile, stats } from '../../lib/entry/index.js'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'

closeAfterAll()

const MOMENTS = 50
const TRACES = [
  'heaptrack/mtv-small.heaptrack.gz',
  'mtrc/git.mtrc.gz',
  'replay/mstress-head.txt.gz',
  'glibc-mtrace/mt-edge.mtrace',
  'hatf/espresso-head.hatf',
  'tracepoints/trace-cmd-small.txt.gz',
]

const grouped = (n: number) => n.toLocaleString('en-US')

/** The allocations that `hf-filter --live-at` keeps, as the page says it. */
async function liveAt(path: string, event: number): Promise<string> {
  // The left end of the chart is before the first event.
  if (event === 0) return '(0 bytes) in 0 blocks'
  const sink = stats()
  await pipeline(filterFile(path, { liveAt: { event } }), sink)
  const { leaked } = await sink.result
  const [bytes, blocks] = [Number(leaked.bytes), Number(leaked.blocks)]
  return `(${grouped(bytes)} byte${bytes === 1 ? '' : 's'}) in ${grouped(blocks)} block${blocks === 1 ? '' : 's'}`
}

describe('a click on the timeline', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test.each(TRACES)(`shows what hf-filter --live-at keeps, at ${MOMENTS} random moments of %s`, async (trace) => {
    const path = `test/fixtures/${trace}`
    const html = `${scratch()}/report.html`
    expect((await shell(`hf-report ${path} -o ${html}`)).code).toBe(0)
    const { page } = await openPage(`${pathToFileURL(html).href}#timeline`)
    const view = page.locator('#view-timeline')
    const axis = view.locator('select')
    if ((await axis.count()) > 0) await axis.selectOption('event')
    const over = view.locator('.u-over').first()
    let seed = 1_234_567 * (1 + TRACES.indexOf(trace))
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
    const seen = new Set<number>()
    for (let n = 0; n < MOMENTS; n++) {
      // The charts move down when the first answer is above them, and a click where the last one was is a double click.
      await over.scrollIntoViewIfNeeded()
      const box = (await over.boundingBox())!
      await page.mouse.click(box.x + random() * (box.width - 1), box.y + 20 + random() * (box.height - 40))
      await page.locator('.moment h3, #view-timeline .note.bad').waitFor()
      const heading = (await page.locator('.moment h3').textContent()) ?? ''
      const event = Number(heading.replace(/\D/g, ''))
      seen.add(event)
      expect(heading).toMatch(/^Live at event [\d,]+$/)
      expect(await page.locator('.moment > .explain').textContent(), heading).toContain(await liveAt(path, event))
      await page.evaluate("document.querySelectorAll('.moment').forEach((one) => one.remove())")
    }
    expect(seen.size).toBeGreaterThan(MOMENTS / 2)
  })
})

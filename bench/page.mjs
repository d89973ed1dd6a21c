// Measures the page of reports in Chromium: its size, the time to its first view, and how long the page takes to answer
// clicks, keys and movements of the pointer, at the 95th percentile: until the end of the next frame, and the time that
// the page's thread takes of the processor for it, which depends less on what else the machine does. Traces of 10^4,
// 10^6 and 10^7 events with up to 10^5 sites are generated, and those of up to 10^6 events compared with another one.
// Needs `npm run build` and Chromium.
//
//   node bench/page.mjs [EVENTS...]
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { once } from 'node:events'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../', import.meta.url))
const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1e4, 1e6, 1e7]
const SITES = 100_000
/** Larger traces are not compared. */
const MOST_COMPARED = 1e6
/** How often each interaction is repeated. */
const REPEATS = 20
const VIEWS = ['timeline', 'sites', 'flame', 'functions', 'leaks', 'peak', 'churn', 'threads', 'addresses', 'problems']

const browserPath = [
  process.env.HEAPFLOW_CHROMIUM ?? '',
  ...['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
    (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)),
  ),
].find((path) => path !== '' && existsSync(path))
if (browserPath === undefined) throw new Error('no Chromium is installed')

/** Lines of events: blocks of few sizes, at sites of which some are frequent; two in three are freed. */
function* events(count, seed) {
  const live = []
  let state = seed
  const random = (n) => (state = (state * 48_271) % 2_147_483_647) % n
  for (let n = 0; n < count; n++) {
    if (live.length > 0 && random(100) < 40 + Math.min(9, live.length / 10_000)) {
      const at = random(live.length)
      const address = live[at]
      live[at] = live.at(-1)
      live.pop()
      yield `{"kind":"free","address":"0x${address.toString(16)}","time":${n * 50}}\n`
      continue
    }
    const address = 0x5500_0000 + n * 64
    live.push(address)
    const site = Math.min(random(SITES), random(SITES), random(SITES))
    const stack = [`leaf${site % 1000}`, `middle${site % 317}`, `caller${site}`, `outer${site % 7}`, 'main']
    yield `{"kind":"alloc","address":"0x${address.toString(16)}","size":${16 << random(6)},"time":${n * 50},"stack":${JSON.stringify(stack)}}\n`
  }
}

async function generate(count, path, seed = 1) {
  const encoder = spawn(process.execPath, [`${root}dist/bin/compact-encode.js`, '--fast', '-o', path], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  encoder.stdin.write('{"kind":"header","format":"ndjson","timeUnit":"ns"}\n')
  let text = ''
  for (const line of events(count, seed)) {
    text += line
    if (text.length < 65_536) continue
    if (!encoder.stdin.write(text)) await once(encoder.stdin, 'drain')
    text = ''
  }
  encoder.stdin.end(`${text}{"kind":"end"}\n`)
  await once(encoder, 'close')
}

const percentile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0

/** Milliseconds of the processor that the thread of the page has taken for tasks. */
async function processorTime(session) {
  const { metrics } = await session.send('Performance.getMetrics')
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN)
}

/** The same for an action, and milliseconds to the end of the next frame. */
async function measured(page, session, action) {
  const before = await processorTime(session)
  const wall = await timed(page, action)
  return { wall, processor: (await processorTime(session)) - before }
}

/** Opens a page. @returns the milliseconds until a part of it is seen */
async function opened(page, html, selector) {
  const begin = performance.now()
  await page.goto(pathToFileURL(html).href)
  await page.locator(selector).first().waitFor({ state: 'visible' })
  return performance.now() - begin
}

/** The size of the page of a comparison with another trace, and the time to its first view. */
async function compared(trace, count) {
  const [old, html] = [join(folder, 'old.hfc'), join(folder, 'diff.html')]
  await generate(count, old, 777)
  execFileSync(process.execPath, [`${root}dist/bin/hf-diff.js`, '--to', 'html', '-o', html, old, trace])
  const page = await newPage()
  const first = await opened(page, html, '#view-comparison .flame canvas')
  await page.close()
  return `${mb(statSync(html).size)}, ${ms(first)}`
}

const newPage = async () => (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
const ms = (value) => `${value.toFixed(0)} ms`
const mb = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`

/** Milliseconds from an action to the end of the next frame. */
async function timed(page, action) {
  return page.evaluate(
    `(async () => {
      const start = performance.now()
      ;${action}
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
      return performance.now() - start
    })()`,
  )
}

const folder = mkdtempSync(join(tmpdir(), 'heapflow-page-bench-'))
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
try {
  console.log(
    '| events | page | trace in it | first view | views, 95th | interaction, 95th | of the processor, 95th | first look | next looks | comparison, first view |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|')
  for (const count of counts) {
    const trace = join(folder, 'trace.hfc')
    await generate(count, trace)
    const html = join(folder, 'report.html')
    const report = (...flags) =>
      execFileSync(process.execPath, [`${root}dist/bin/hf-report.js`, ...flags, '-o', html, trace], { stdio: 'ignore' })
    report('--embed', '0')
    const size = statSync(html).size
    report('--embed', '64M')
    const whole = statSync(html).size
    const page = await newPage()
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.setTimeDomain', { timeDomain: 'threadTicks' })
    await session.send('Performance.enable')
    const first = await opened(page, html, '#view-overview')
    const views = []
    for (const view of VIEWS) views.push(await timed(page, `location.hash = '#${view}'`))
    const answers = []
    await page.evaluate("location.hash = '#flame'")
    const flame = await page.locator('#view-flame canvas').first().boundingBox()
    const point = (x, y, type) =>
      `document.querySelector('#view-flame canvas').dispatchEvent(new PointerEvent('${type}', { clientX: ${x}, clientY: ${y}, bubbles: true }))`
    for (let n = 0; n < REPEATS; n++)
      answers.push(
        await measured(page, session, point(flame.x + (n * flame.width) / REPEATS, flame.y + 50 + n, 'pointermove')),
        await measured(page, session, point(flame.x + (n * flame.width) / REPEATS, flame.y + 30 + 3 * n, 'click')),
        await measured(page, session, "[...document.querySelectorAll('#view-flame button')].find((one) => one.textContent === 'Show all').click()"),
      )
    await page.evaluate("location.hash = '#sites'")
    for (let n = 0; n < REPEATS; n++)
      answers.push(await measured(page, session, `document.querySelectorAll('#view-sites th button')[${1 + (n % 6)}].click()`))
    const frame = percentile(await Promise.all(Array.from({ length: 1 }, () => timed(page, ''))), 0)
    await page.evaluate("location.hash = '#timeline'")
    const over = await page.locator('#view-timeline .u-over').first().boundingBox()
    const looks = []
    for (let n = 0; n < 6; n++) {
      const from = performance.now()
      await page.mouse.click(over.x + (over.width * (n + 1)) / 8, over.y + 40)
      await page
        .locator('.moment, #view-timeline .note.bad')
        .first()
        .waitFor({ timeout: 120_000 })
      looks.push(performance.now() - from)
      await page.evaluate("document.querySelectorAll('.moment').forEach((one) => one.remove())")
    }
    const walls = answers.map(({ wall }) => wall)
    const processor = answers.map((one) => one.processor)
    const comparison = count > MOST_COMPARED ? 'not compared' : await compared(trace, count)
    console.log(
      `| ${count.toLocaleString('en-US')} | ${mb(size)} | ${mb(whole)} | ${ms(first)} | ${ms(percentile(views, 0.95))} | ` +
        `${ms(percentile(walls, 0.95))} (an empty frame: ${ms(frame)}) | ${ms(percentile(processor, 0.95))} | ` +
        `${ms(looks[0])} | ${ms(percentile(looks.slice(1), 0.95))} | ${comparison} |`,
    )
    await page.close()
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

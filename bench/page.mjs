// Measures the page of reports in Chromium: its size, the time to its first view, and how long the page takes to answer
// clicks, keys and movements of the pointer, at the 95th percentile: until the end of the next frame, and the time that
// the page's thread takes of the processor for it, which depends less on what else the machine does. What the page
// leaves for later is not counted: between two actions it has a tenth of a second. Traces of 10^4, 10^6 and 10^7 events
// with up to 10^5 sites are generated, and compared with another one. Needs `npm run build` and Chromium.
//
//   node bench/page.mjs [EVENTS...]
import { execFileSync } from 'node:child_process'
import { createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { once } from 'node:events'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../', import.meta.url))
const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1e4, 1e6, 1e7]
const SITES = 100_000
/** Pages of more events do not have the trace: to encode it takes minutes. */
const MOST_EMBEDDED = 1e6
/** The maximum size of a page, with the trace in it. */
const MOST_BYTES = 5_000_000
/** How often each interaction is repeated. */
const REPEATS = 20
/** How often a page is opened. */
const LOADS = 5
/** Milliseconds until a page is done with what it leaves for later. */
const SETTLED = 3000
/** Milliseconds between two interactions. */
const PAUSE = 100
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
  const file = createWriteStream(path)
  file.write('{"kind":"header","format":"ndjson","timeUnit":"ns"}\n')
  let text = ''
  for (const line of events(count, seed)) {
    text += line
    if (text.length < 1_000_000) continue
    if (!file.write(text)) await once(file, 'drain')
    text = ''
  }
  file.end(`${text}{"kind":"end"}\n`)
  await once(file, 'close')
}

const percentile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0

/** Milliseconds of the processor that the thread of the page has taken for tasks. */
async function processorTime(session) {
  const { metrics } = await session.send('Performance.getMetrics')
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN)
}

/** The same for an action, and milliseconds to the end of the next frame. */
async function measured({ page, session }, action) {
  await page.waitForTimeout(PAUSE)
  const before = await processorTime(session)
  const wall = await timed(page, action)
  return { wall, processor: (await processorTime(session)) - before }
}

/** The 95th percentile of both, and the median of the first. */
function summary(answers) {
  const [walls, processor] = [answers.map(({ wall }) => wall), answers.map((one) => one.processor)]
  return `${ms(percentile(walls, 0.5))}, ${ms(percentile(walls, 0.95))} | ${ms(percentile(processor, 0.95))}`
}

/** Clicks and movements in the flame graph of a view, and what shows all of it again. */
async function flameAnswers(watched, view, showAll) {
  const { page } = watched
  const selector = `#view-${view} .flame canvas`
  const { x, y, width } = await page.locator(selector).first().boundingBox()
  const point = (left, top, type) =>
    `document.querySelector('${selector}').dispatchEvent(new PointerEvent('${type}', { clientX: ${left}, clientY: ${top}, bubbles: true }))`
  const answers = []
  for (let n = 0; n < REPEATS; n++)
    answers.push(
      await measured(watched, point(x + (n * width) / REPEATS, y + 50 + n, 'pointermove')),
      await measured(watched, point(x + (n * width) / REPEATS, y + 30 + 3 * n, 'click')),
      await measured(watched, showAll),
    )
  return answers
}

/** Sorts by one column after the other. */
async function sortAnswers(watched, table) {
  const answers = []
  for (let n = 0; n < REPEATS; n++)
    answers.push(await measured(watched, `document.querySelectorAll('${table} th button')[${n % 5}].click()`))
  return answers
}

/** Searches while more is typed. */
async function searchAnswers(watched, view) {
  const answers = []
  for (let n = 0; n < REPEATS; n++)
    answers.push(
      await measured(
        watched,
        `const input = document.querySelector('#view-${view} input[type=search]'); input.value = '${'leaf12'.slice(0, n % 7)}'; input.dispatchEvent(new Event('input', { bubbles: true }))`,
      ),
    )
  return answers
}

/** Opens a page. @returns the milliseconds until a part of it is seen */
async function opened(page, html, selector) {
  const begin = performance.now()
  await page.goto(pathToFileURL(html).href)
  await page.locator(selector).first().waitFor({ state: 'visible' })
  return performance.now() - begin
}

/** The size of the page of a comparison with another trace, the time to its first view, and its answers. */
async function compared(trace, count) {
  const [old, html] = [join(folder, 'old.ndjson'), join(folder, 'diff.html')]
  await generate(count, old, 777)
  execFileSync(process.execPath, [`${root}dist/bin/hf-diff.js`, '--to', 'html', '-o', html, old, trace])
  const view = '#view-comparison'
  const firsts = []
  for (let n = 0; n < LOADS; n++) {
    const { page } = await newPage()
    firsts.push(await opened(page, html, `${view} .flame canvas`))
    await page.close()
  }
  const watched = await newPage()
  await opened(watched.page, html, `${view} .flame canvas`)
  await watched.page.waitForTimeout(SETTLED)
  const home = `document.querySelector('${view} .flame canvas').dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }))`
  const answers = await flameAnswers(watched, 'comparison', home)
  for (let n = 0; n < REPEATS; n++)
    answers.push(
      await measured(
        watched,
        `const figure = document.querySelector('${view} select'); figure.selectedIndex = ${(n + 1) % 4}; figure.dispatchEvent(new Event('change'))`,
      ),
    )
  answers.push(...(await sortAnswers(watched, `${view} table[aria-label="stacks that differ"]`)))
  answers.push(...(await searchAnswers(watched, 'comparison')))
  await watched.page.close()
  return `${mb(statSync(html).size)} | ${ms(percentile(firsts, 0.5))} | ${summary(answers)}`
}

/** A page, and a session that reads its times. */
async function newPage() {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.setTimeDomain', { timeDomain: 'threadTicks' })
  await session.send('Performance.enable')
  return { page, session }
}

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
  const heads = [
    'events',
    'page',
    'with the trace in it',
    'first view',
    'other views, 95th',
    'interaction, median and 95th',
    'of the processor, 95th',
    'an empty frame',
    'first look',
    'next looks, 95th',
    'comparison',
    'first view',
    'interaction, median and 95th',
    'of the processor, 95th',
  ]
  console.log(`| ${heads.join(' | ')} |\n|${'---|'.repeat(heads.length)}`)
  for (const count of counts) {
    const trace = join(folder, 'trace.ndjson')
    await generate(count, trace)
    const html = join(folder, 'report.html')
    const report = (...flags) =>
      execFileSync(process.execPath, [`${root}dist/bin/hf-report.js`, ...flags, '-o', html, trace], { stdio: 'ignore' })
    report('--embed', '0')
    const size = statSync(html).size
    const hasTrace = count <= MOST_EMBEDDED
    if (hasTrace) report('--embed', '64M')
    const whole = statSync(html).size
    if (whole > MOST_BYTES) {
      console.error(`The page of ${count} events has ${whole} bytes, at most ${MOST_BYTES} are right.`)
      process.exitCode = 1
    }
    const firsts = []
    for (let n = 0; n < LOADS; n++) {
      const { page } = await newPage()
      firsts.push(await opened(page, html, '#view-overview'))
      await page.close()
    }
    const watched = await newPage()
    const { page } = watched
    await opened(page, html, '#view-overview')
    await page.waitForTimeout(SETTLED)
    const open = (view) => `location.hash = '#${view}'`
    const views = []
    for (const view of VIEWS) views.push((await measured(watched, open(view))).wall)
    const answers = []
    for (let n = 0; n < 2; n++) for (const view of VIEWS) answers.push(await measured(watched, open(view)))
    await page.evaluate(open('flame'))
    const showAll =
      "[...document.querySelectorAll('#view-flame button')].find((one) => one.textContent === 'Show all').click()"
    answers.push(...(await flameAnswers(watched, 'flame', showAll)))
    await page.evaluate(open('sites'))
    answers.push(...(await sortAnswers(watched, '#view-sites')), ...(await searchAnswers(watched, 'sites')))
    await page.evaluate(open('functions'))
    for (let n = 0; n < REPEATS; n++)
      answers.push(
        await measured(watched, `document.querySelectorAll('#view-functions .sites tbody tr')[${n}].click()`),
      )
    const frames = []
    for (let n = 0; n < REPEATS; n++) frames.push((await measured(watched, '')).wall)
    await page.evaluate(open('timeline'))
    const over = await page.locator('#view-timeline .u-over').first().boundingBox()
    const looks = []
    for (let n = 0; hasTrace && n < 6; n++) {
      const from = performance.now()
      await page.mouse.click(over.x + (over.width * (n + 1)) / 8, over.y + 40)
      await page.locator('.moment, #view-timeline .note.bad').first().waitFor({ timeout: 240_000 })
      looks.push(performance.now() - from)
      await page.evaluate("document.querySelectorAll('.moment').forEach((one) => one.remove())")
    }
    await page.close()
    const cells = [
      count.toLocaleString('en-US'),
      mb(size),
      hasTrace ? mb(whole) : '–',
      ms(percentile(firsts, 0.5)),
      ms(percentile(views, 0.95)),
      summary(answers),
      ms(percentile(frames, 0.5)),
      ...(hasTrace ? [ms(looks[0]), ms(percentile(looks.slice(1), 0.95))] : ['–', '–']),
      await compared(trace, count),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

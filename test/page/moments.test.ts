import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'
import { runs } from '../support/runs.js'

closeAfterAll()

/** How many clicks and drags there are, of each trace: with `HEAPFLOW_RUNS=5`, 50 and 10. */
const [MOMENTS, DRAGS] = [runs(10), runs(2)]
const [FEW_MOMENTS, FEW_DRAGS] = [4, 2]
const TRACES = [
  'glibc-mtrace/mt-edge.mtrace',
  'heaptrack/mtv-small.heaptrack.gz',
  'mtrc/git.mtrc.gz',
  'replay/mstress-head.txt.gz',
  'hatf/espresso-head.hatf',
  'tracepoints/trace-cmd-small.txt.gz',
]
const SEED = Number(process.env['HEAPFLOW_SEED'] ?? Date.now())

interface Amount {
  blocks: number
  bytes: number
}

const grouped = (n: number) => n.toLocaleString('en-US')
const plural = (n: number, what: string) => `${grouped(n)} ${what}${n === 1 ? '' : 's'}`
/** An amount as the page writes it. */
const exact = ({ bytes, blocks }: Amount) => `(${plural(bytes, 'byte')}) in ${plural(blocks, 'block')}`
const sum = (some: readonly Amount[]): Amount => ({
  bytes: some.reduce((all, { bytes }) => all + bytes, 0),
  blocks: some.reduce((all, { blocks }) => all + blocks, 0),
})
/** Amounts of sites in an order that does not depend on the names of these. */
const sorted = (some: readonly number[][]) => some.toSorted((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!)
const pairs = (some: readonly Amount[]) => sorted(some.map(({ bytes, blocks }) => [bytes, blocks, 0]))

/** Numbers from 0 to below 1. */
function numbers(seed: number): () => number {
  let state = 1 + (seed % 2_147_483_645)
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

async function json<Value>(command: string): Promise<Value> {
  const { stdout, stderr, code } = await shell(command)
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout.toString()) as Value
}

/** The live set after an event by `hf-filter --live-at`, by site. Before the first event, nothing is. */
async function filtered(path: string, event: number): Promise<Amount[]> {
  if (event === 0) return []
  const { sites, leaked } = await json<{ sites: { leaked: Amount }[]; leaked: Amount }>(
    `hf-filter --live-at ${event} ${path} | hf-stats --json`,
  )
  const amounts = sites.map((site) => site.leaked).filter(({ blocks }) => blocks > 0)
  expect(sum(amounts)).toEqual(leaked)
  return amounts
}

/** The live set after each of some events by SQL: the sizes of blocks that began before, and ended after it. */
async function queried(path: string, events: readonly number[]): Promise<Map<number, Amount[]>> {
  const found = new Map<number, Amount[]>(events.map((event) => [event, []]))
  const site = '"function", file, line, module, callSite, stackId'
  const { stdout, stderr, code } = await shell(
    `hf-sql --to ndjson ${path} 'select event, sum(size) as bytes, count(*) as blocks from ` +
      `(select * exclude (file), sourceFile as file from spans) join (select unnest([${events.join()}]) as event) ` +
      `on since <= event and (until is null or until > event) group by event, ${site}'`,
  )
  expect(code, stderr).toBe(0)
  for (const line of stdout.toString().trim().split('\n')) {
    if (line === '') continue
    const { event, bytes, blocks } = JSON.parse(line) as { event: number; bytes: number | null; blocks: number }
    found.get(Number(event))?.push({ bytes: Number(bytes ?? 0), blocks: Number(blocks) })
  }
  return found
}

/** The timeline of a page by events, and what is done with it. */
async function timelineOf(path: string) {
  const html = `${scratch()}/report.html`
  expect((await shell(`hf-report ${path} -o ${html}`)).code).toBe(0)
  const { page } = await openPage(`${pathToFileURL(html).href}#timeline`)
  const view = page.locator('#view-timeline')
  const axis = view.locator('select')
  if ((await axis.count()) > 0) await axis.selectOption('event')
  const over = view.locator('.u-over').first()
  /** What the page says after clicks, and its table. */
  const answer = async (act: (x: (part: number) => number, y: number) => Promise<void>) => {
    // The charts move down when the first answer is above them, and a click where the last one was is a double click.
    await over.scrollIntoViewIfNeeded()
    const box = (await over.boundingBox())!
    await act((part) => box.x + part * (box.width - 1), box.y + 20 + ((clicks++ * 37) % (box.height - 40)))
    await page.locator('.moment h3, #view-timeline .note.bad').waitFor()
    const heading = (await page.locator('.moment h3').textContent()) ?? ''
    const text = (await page.locator('.moment > .explain').first().textContent()) ?? ''
    const rows = await savedRows(page)
    await page.evaluate("document.querySelectorAll('.moment').forEach((one) => one.remove())")
    return { events: [...heading.matchAll(/[\d,]+/g)].map(([n]) => Number(n.replaceAll(',', ''))), heading, text, rows }
  }
  let clicks = 0
  return { page, answer }
}

/** A row of the table of the panel, as it is saved. */
interface SavedRow {
  site: string
  numbers: number[]
}

/** The rows of the table of the panel, with all sites. */
async function savedRows(page: Page): Promise<SavedRow[]> {
  const button = page.locator('.moment').getByRole('button', { name: 'CSV' })
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
  const lines = readFileSync(await download.path(), 'utf8')
    .split('\r\n')
    .slice(1)
  return lines.filter((line) => line !== '').map((line) => rowOf(line))
}

/** The first cell of a line may have commas in quotes. Others have neither. */
function rowOf(line: string): SavedRow {
  const end = line.startsWith('"') ? line.lastIndexOf('"') + 1 : line.indexOf(',')
  const cells = line.slice(end + 1).split(',')
  return { site: line.slice(0, end), numbers: cells.map((cell) => (cell.endsWith('%') ? NaN : Number(cell))) }
}

/** The sums of the live bytes before and after, and of the change in blocks, of all rows with the same stack. */
function changes(rows: readonly SavedRow[]): number[][] {
  const sums = new Map<string, number[]>()
  for (const {
    site,
    numbers: [, before = 0, after = 0, , born = 0, , ended = 0],
  } of rows) {
    const [oldBytes = 0, newBytes = 0, blocks = 0] = sums.get(site) ?? []
    sums.set(site, [oldBytes + before, newBytes + after, blocks + born - ended])
  }
  return [...sums.values()].filter(([before, after, blocks]) => before !== after || blocks !== 0)
}

describe('the timeline of a page', () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  const cases = [
    { trace: TRACES[0]!, moments: FEW_MOMENTS, drags: FEW_DRAGS, tags: ['slow'] },
    ...TRACES.map((trace, i) => ({ trace, moments: MOMENTS, drags: DRAGS, tags: i === 1 ? ['slow'] : ['large'] })),
  ]
  for (const { trace, moments, drags, tags } of cases) {
    const path = `test/fixtures/${trace}`
    const random = numbers(SEED + moments + TRACES.indexOf(trace))

    test(`a click shows what hf-filter and hf-sql find at ${moments} moments of ${trace}`, { tags }, async () => {
      const { page, answer } = await timelineOf(path)
      const answers: Awaited<ReturnType<typeof answer>>[] = []
      for (let n = 0; n < moments; n++) answers.push(await answer((x, y) => page.mouse.click(x(random()), y)))
      const events = answers.map(({ events: [event] }) => event!)
      const bySql = await queried(path, [...new Set(events)])
      for (const [n, { heading, text, rows }] of answers.entries()) {
        const where = `${heading}, seed ${SEED}`
        expect(heading).toMatch(/^Live at event [\d,]+$/)
        const expected = await filtered(path, events[n]!)
        expect(text, where).toContain(exact(sum(expected)))
        const shown = rows.map(({ numbers: [bytes = 0, , blocks = 0] }) => ({ bytes, blocks }))
        expect(pairs(shown), where).toEqual(pairs(expected))
        expect(pairs(bySql.get(events[n]!)!), where).toEqual(pairs(expected))
      }
      if (moments > FEW_MOMENTS) expect(new Set(events).size).toBeGreaterThan(moments / 2)
    })

    test(`a drag shows what hf-diff finds between ${drags} pairs of moments of ${trace}`, { tags }, async () => {
      const { page, answer } = await timelineOf(path)
      const folder = scratch()
      for (let n = 0; n < drags; n++) {
        const [a, b] = [random() / 2, (1 + random()) / 2].toSorted((one, other) => one - other) as [number, number]
        const { heading, events, text, rows } = await answer(async (x, y) => {
          await page.mouse.move(x(a), y)
          await page.mouse.down()
          await page.mouse.move(x(b), y, { steps: 3 })
          await page.mouse.up()
        })
        const where = `${heading}, seed ${SEED}`
        expect(heading).toMatch(/^Between event [\d,]+ and event [\d,]+$/)
        for (const [side, event] of events.entries())
          if (event === 0) writeFileSync(`${folder}/${side}`, '{"kind":"header","format":"ndjson"}\n{"kind":"end"}\n')
          else await shell(`hf-filter --live-at ${event} ${path} > ${folder}/${side}`)
        const {
          by,
          sites,
          new: next,
        } = await json<{
          by: string
          sites: { old: { leaked: Amount }; new: { leaked: Amount } }[]
          new: { leaked: Amount }
        }>(`hf-diff --json --match all ${folder}/0 ${folder}/1`)
        expect(text, where).toContain(exact(next.leaked))
        // Without any site, hf-diff compares sizes instead.
        if (by === 'size') continue
        // hf-diff also has sites of which only other figures differ, such as those of blocks that were reallocated.
        const expected = sites
          .map(({ old, new: now }) => [old.leaked, now.leaked] as const)
          .filter(([old, now]) => old.bytes !== now.bytes || old.blocks !== now.blocks)
          .map(([old, now]) => [old.bytes, now.bytes, now.blocks - old.blocks])
        expect(sorted(changes(rows)), where).toEqual(sorted(expected))
        // Sites where nothing began or ended have no row.
        for (const {
          numbers: [, , , , born = 0, , ended = 0],
        } of rows)
          expect(born + ended).toBeGreaterThan(0)
      }
    })
  }
})

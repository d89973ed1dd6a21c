import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage, type Watched } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'
import { isWhole } from '../support/runs.js'

closeAfterAll()

const SMALL = 'test/fixtures/mtrc/small64.mtrc.gz'
const GIT = 'test/fixtures/mtrc/git.mtrc.gz'
const THREADS = 'test/fixtures/replay/mstress-head.txt.gz'
const STACKS = 'test/fixtures/heaptrack/mtv-small.heaptrack.gz'
const TIMED = 'test/fixtures/tracepoints/trace-cmd-small.txt.gz'

/** Markup that runs a script, if anything takes it for markup. */
const HOSTILE = `</script><img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><!--`

/** Has hf-report write a page. @returns its path, and how that ended */
async function write(trace: string, flags = '') {
  const html = `${scratch()}/report.html`
  return { html, ...(await shell(`hf-report ${flags} -o ${html} '${trace}'`)) }
}

/** Opens a page from the disk. */
function openFile(path: string): Promise<Watched> {
  return openPage(pathToFileURL(path).href)
}

/** The page that hf-report makes of a trace, with its form open. */
async function report(trace: string, flags = ''): Promise<Watched> {
  const { html, code, stderr } = await write(trace, flags)
  expect(code, stderr).toBe(0)
  const watched = await openFile(html)
  await watched.page.locator('.filter summary').click()
  return watched
}

/** What happened that must not. That the worker is loaded, which is a part of the page, is no request to anyone. */
const faultsOf = ({ faults }: Watched) => faults.filter((fault) => !/^request: blob:(null|file:)/.test(fault))

/** Enters values, and applies them. */
async function apply({ page }: Watched, values: Readonly<Record<string, string | boolean>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const input = page.locator(`.filter input[name="${name}"]`)
    if (typeof value === 'string') await input.fill(value)
    else await input.setChecked(value)
  }
  await page.locator('.filter').getByRole('button', { name: 'Apply' }).click()
}

/** Waits for the report of a part. @returns the commands that give the same figures */
async function applied({ page }: Watched): Promise<string> {
  await page.locator('.filter .work').waitFor({ state: 'hidden', timeout: 60_000 })
  await expect.poll(() => page.locator('.filter .note').isVisible()).toBe(false)
  return (await page.locator('.filter .command').textContent()) as string
}

const TEMPORARY = 'temporary.heaptrack.blocks'

/** The main figures of the report that the page shows. */
async function figures({ page }: Watched): Promise<(string | null)[]> {
  await page.locator('nav a[href="#overview"]').click()
  await page.locator('#view-overview').waitFor({ state: 'visible' })
  const card = (figure: string) =>
    page.locator(`#view-overview [data-figure="${figure}"]`).first().getAttribute('title')
  const isIdentified = (await page.locator(`#view-overview [data-figure="${TEMPORARY}"]`).count()) > 0
  return [
    await card('events'),
    await card('allocated.bytes'),
    await card('peakBytes.bytes'),
    await card('leaked.bytes'),
    ...(isIdentified ? [await card(TEMPORARY)] : []),
  ]
}

/** The part of `hf-stats --json` that is compared. */
interface Stats {
  events: number
  allocated: Amount
  peakBytes: Amount
  leaked: Amount
  identified: boolean
  /** Null for traces that do not say which block is freed. */
  temporary: { heaptrack: Amount } | null
  sites: { allocated: Amount; atPeak: Amount; leaked: Amount }[]
}
interface Amount {
  blocks: number
  bytes: number
}

const grouped = (n: number) => n.toLocaleString('en-US')
const exactBytes = (n: number) => `${grouped(n)} byte${n === 1 ? '' : 's'}`

/** The statistics that commands give which end with hf-stats, run beside the trace. */
async function statsOf(commands: string, trace: string): Promise<Stats> {
  const { stdout, code, stderr } = await shell(`cd ${dirname(trace)} && ${commands} --json`)
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout.toString()) as Stats
}

function figuresOf({ events, allocated, peakBytes, leaked, temporary }: Stats): string[] {
  const amounts = [allocated, peakBytes, leaked].map(({ bytes }) => exactBytes(bytes))
  return [grouped(events), ...amounts, ...(temporary === null ? [] : [grouped(temporary.heaptrack.blocks)])]
}

describe('a report with its trace', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  const criteria: readonly [string, Readonly<Record<string, string | boolean>>, string][] = [
    [SMALL, { size: '64..200, 1K..' }, 'hf-filter --size 64..200 --size 1K.. --lifetimes'],
    [SMALL, { 'kind-alloc': true, lifetimes: false }, 'hf-filter --kind alloc'],
    [SMALL, { function: '/^e/', invert: true }, "hf-filter --function '/^e/' --invert --lifetimes"],
    [SMALL, { leaked: true }, 'hf-filter --leaked --lifetimes'],
    [SMALL, { 'live-at': 'peak', lifetimes: false }, 'hf-filter --live-at peak'],
    [GIT, { temporary: true, events: '1000..100000' }, 'hf-filter --events 1000..100000 --temporary --lifetimes'],
    [STACKS, { stack: 'main', depth: '1' }, 'hf-filter --stack main --lifetimes'],
    [STACKS, { depth: '1' }, 'hf-map'],
  ]

  test.each(criteria.filter((_, i) => isWhole() || i % 2 === 0))(
    '%s, %j: all views have the figures of hf-stats',
    async (trace, values, beginning) => {
      const watched = await report(trace)
      const { page } = watched
      const whole = await figures(watched)
      await apply(watched, values)
      const commands = await applied(watched)
      expect(commands.startsWith(beginning)).toBe(true)
      const stats = await statsOf(commands, trace)
      await expect.poll(() => figures(watched)).toEqual(figuresOf(stats))
      await page.locator('nav a[href="#sites"]').click()
      const column = async (title: string) => {
        const heads = await page.locator('#view-sites th').allTextContents()
        const n = heads.findIndex((head) => head.startsWith(title))
        const cells = await page.locator(`#view-sites tbody td:nth-child(${n + 1})`).all()
        return Promise.all(cells.slice(0, 10).map((cell) => cell.getAttribute('title')))
      }
      const most = (of: (site: Stats['sites'][number]) => number) =>
        stats.sites
          .map(of)
          .toSorted((a, b) => b - a)
          .slice(0, 10)
          .map(exactBytes)
      await expect.poll(() => column('Allocated')).toEqual(most(({ allocated }) => allocated.bytes))
      for (const view of ['timeline', 'flame', 'leaks', 'peak', 'churn', 'threads', 'problems']) {
        await page.locator(`nav a[href="#${view}"]`).click()
        await page.locator(`#view-${view}`).waitFor({ state: 'visible' })
      }
      await page.getByRole('button', { name: 'Reset' }).click()
      await page.locator('.filter summary', { hasText: /: all / }).waitFor()
      await expect.poll(() => figures(watched)).toEqual(whole)
      expect(faultsOf(watched)).toEqual([])
    },
  )

  test('a part of the timeline is a criterion, by time and by events', async () => {
    const watched = await report(TIMED)
    const { page } = watched
    await page.locator('nav a[href="#timeline"]').click()
    const only = () => page.locator('#view-timeline').getByRole('button', { name: 'Only this part' })
    const part = () => page.locator('.filter input[name="part"]').inputValue()
    const peak = exactBytes((await statsOf(`hf-stats ${basename(TIMED)}`, TIMED)).peakBytes.bytes)
    for (const [axis, pattern] of [
      ['time', /^time:\d+\.\.\d+$/],
      ['event', /^\d+\.\.\d+$/],
    ] as const) {
      await page.locator('nav a[href="#timeline"]').click()
      await page.locator('#view-timeline select').selectOption(axis)
      await expect.poll(() => only().isDisabled()).toBe(true)
      await page.locator('#view-timeline .charts').press('+')
      await page.locator('#view-timeline').getByText('Jump to the peak').click()
      await only().click()
      // No command keeps the live set when a part begins.
      await expect.poll(() => applied(watched)).toBe('')
      await expect.poll(() => part()).toMatch(pattern)
      expect((await figures(watched))[2]).toBe(peak)
      await expect.poll(() => page.locator('#view-timeline .note').textContent()).toMatch(/^Before the part/)
      await page.getByRole('button', { name: 'Reset' }).click()
      await page.locator('.filter summary', { hasText: /: all / }).waitFor()
    }
    expect(faultsOf(watched)).toEqual([])
  })

  test('a click on the timeline shows the live set there, and dragging what changed', async () => {
    const watched = await report(GIT)
    const { page } = watched
    await page.locator('nav a[href="#timeline"]').click()
    const box = (await page.locator('#view-timeline .u-over').first().boundingBox())!
    const heading = page.locator('.moment h3')
    await page.mouse.click(box.x + box.width * 0.4, box.y + 60)
    await page.locator('.moment h3', { hasText: 'Live at event' }).waitFor()
    const event = Number(((await heading.textContent()) ?? '').replace(/\D/g, ''))
    const { leaked } = await statsOf(`hf-filter --live-at ${event} ${basename(GIT)} | hf-stats`, GIT)
    const explain = page.locator('.moment > .explain')
    await expect
      .poll(() => explain.textContent())
      .toContain(`(${exactBytes(leaked.bytes)}) in ${grouped(leaked.blocks)} block`)
    await page.mouse.move(box.x + box.width * 0.2, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 })
    await page.mouse.up()
    await page.locator('.moment h3', { hasText: 'Between event' }).waitFor()
    const to = Number((((await heading.textContent()) ?? '').split(' and ')[1] ?? '').replace(/\D/g, ''))
    const after = await statsOf(`hf-filter --live-at ${to} ${basename(GIT)} | hf-stats`, GIT)
    await expect.poll(() => explain.textContent()).toContain(`(${exactBytes(after.leaked.bytes)}) in `)
    // The same by keys.
    await page.locator('#view-timeline .charts').press('Enter')
    await page.locator('.moment h3', { hasText: 'Live at event' }).waitFor()
    await expect.poll(() => explain.textContent()).toContain(`(${exactBytes(after.leaked.bytes)}) in `)
    await page.locator('#view-timeline .charts').press('Shift+ArrowLeft')
    await page.locator('#view-timeline .charts').press('Shift+Enter')
    await page.locator('.moment h3', { hasText: 'Between event' }).waitFor()
    expect(faultsOf(watched)).toEqual([])
  })

  test('threads and functions of views are criteria', async () => {
    const watched = await report(THREADS)
    const { page } = watched
    await page.locator('nav a[href="#threads"]').click()
    await page.locator('#view-threads .table tbody tr').first().click()
    await page.locator('.filter .command', { hasText: 'hf-filter' }).waitFor({ state: 'attached' })
    await expect.poll(() => figures(watched)).toEqual(figuresOf(await statsOf(await applied(watched), THREADS)))
    const second = await report(STACKS)
    await second.page.locator('nav a[href="#flame"]').click()
    await second.page.locator('#view-flame canvas').focus()
    for (const key of ['ArrowDown', 'Enter']) await second.page.keyboard.press(key)
    await second.page.getByRole('button', { name: 'Only with this function' }).click()
    await second.page.locator('.filter .command', { hasText: '--stack' }).waitFor({ state: 'attached' })
    await expect.poll(() => figures(second)).toEqual(figuresOf(await statsOf(await applied(second), STACKS)))
  })

  test('a link restores the filter', async () => {
    const watched = await report(SMALL)
    await apply(watched, { size: '100..', temporary: true })
    await applied(watched)
    await watched.page.locator('nav a[href="#sites"]').click()
    await watched.page.waitForURL(/#sites\?filter=/)
    const again = await openPage(watched.page.url())
    await again.page.locator('.filter .command', { hasText: 'hf-filter' }).waitFor({ state: 'attached' })
    await expect.poll(() => again.page.locator('#view-sites').isVisible()).toBe(true)
    await expect.poll(() => applied(again)).toBe(await applied(watched))
    await expect.poll(() => figures(again)).toEqual(await figures(watched))
  })

  test('a link also restores the place in the part, and in a page that is open', async () => {
    const watched = await report(STACKS)
    const { page } = watched
    await page.locator('nav a[href="#flame"]').click()
    await apply(watched, { size: '64..' })
    await page.locator('.filter .command', { hasText: 'hf-filter' }).waitFor({ state: 'attached' })
    await page.locator('#view-flame canvas').focus()
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key)
    await page.waitForURL(/node=\d.*filter=/)
    const address = page.url()
    const again = await openPage(address)
    await again.page.locator('.filter .command', { hasText: 'hf-filter' }).waitFor({ state: 'attached' })
    await expect.poll(() => again.page.url()).toBe(address)
    const detail = (one: Watched) => one.page.locator('#view-flame .detail').textContent()
    await expect.poll(() => detail(again)).toBe(await detail(watched))
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.locator('.filter summary', { hasText: /: all / }).waitFor()
    await page.goto(address)
    await page.locator('.filter .command', { hasText: 'hf-filter' }).waitFor({ state: 'attached' })
    await expect.poll(() => page.url()).toBe(address)
    await expect.poll(() => detail(watched)).toBe(await detail(again))
    expect(faultsOf(watched)).toEqual([])
  })

  test('the way back undoes a filter, and a link to a view keeps it', async () => {
    const watched = await report(SMALL)
    const { page } = watched
    const all = page.locator('.filter summary', { hasText: /: all / })
    await page.locator('nav a[href="#sites"]').click()
    await apply(watched, { size: '100..' })
    const command = await applied(watched)
    await page.locator('nav a[href="#leaks"]').click()
    await page.waitForURL(/#leaks\?filter=/)
    expect(await applied(watched)).toBe(command)
    await page.goBack()
    await page.waitForURL(/#sites\?filter=/)
    expect(await applied(watched)).toBe(command)
    await page.goBack()
    await all.waitFor()
    await expect.poll(() => page.url()).toMatch(/#sites$/)
    expect(await page.locator('.filter input[name="size"]').inputValue()).toBe('')
    await page.goForward()
    await page.locator('.filter .command', { hasText: 'hf-filter' }).waitFor({ state: 'attached' })
    expect(await applied(watched)).toBe(command)
    await expect.poll(() => page.url()).toMatch(/#sites\?filter=/)
    await page.goBack()
    await all.waitFor()
    await page.goBack()
    await page.waitForURL(/#overview$/)
    expect(faultsOf(watched)).toEqual([])
  })

  test('the saved trace is that of compact-encode', async () => {
    const watched = await report(SMALL)
    const { page } = watched
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the trace' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${basename(SMALL)}.hfc`)
    const saved = readFileSync(await download.path())
    expect(saved.equals((await shell(`compact-encode --fast ${SMALL}`)).stdout)).toBe(true)
    await apply(watched, { size: '64..' })
    await expect.poll(() => applied(watched)).toContain('--size')
  })

  test('hostile names are text, also where they are chosen', async () => {
    const names = [HOSTILE, `' onclick='x`, '/a/', '$(touch pwned)']
    const path = `${scratch()}/it's <b>.ndjson`
    writeFileSync(
      path,
      names
        .map((name, i) =>
          JSON.stringify({ kind: 'alloc', address: `0x${16 * (i + 1)}`, size: i + 1, stack: [name, HOSTILE] }),
        )
        .join('\n'),
    )
    const watched = await openFile((await write(path.replace("'", "'\\''"))).html)
    const { page } = watched
    await page.locator('.filter summary').click()
    for (const [i, name] of names.entries()) {
      await apply(watched, { stack: name === '/a/' ? '/^/a/$/' : name, lifetimes: false })
      const commands = await applied(watched)
      await expect
        .poll(() => figures(watched))
        .toEqual(figuresOf(await statsOf(commands, path.replace("'", "\\'").replace(' ', '\\ '))))
      if (i > 0) await expect.poll(() => page.locator('[data-figure="events"]').getAttribute('title')).toBe('1')
    }
    expect(await page.evaluate('globalThis.pwned')).toBe(undefined)
    expect(faultsOf(watched)).toEqual([])
  })

  test('the flame graph filters by the functions of a trace without stacks, and by no place without a function', async () => {
    for (const [trace, isFunction] of [
      [SMALL, true],
      ['test/fixtures/glibc-mtrace/mt-edge.mtrace', false],
    ] as const) {
      const watched = await report(trace)
      const { page } = watched
      await page.click('nav a[href="#flame"]')
      await page
        .locator('#view-flame canvas')
        .first()
        .click({ position: { x: 20, y: 30 } })
      const name = await page.locator('#view-flame .detail .strong').textContent()
      const only = page.getByRole('button', { name: 'Only with this function' })
      expect(await only.isEnabled()).toBe(isFunction)
      if (!isFunction) continue
      await only.click()
      expect(await applied(watched)).toBe(`hf-filter --function ${name} --lifetimes ${basename(trace)} | hf-stats`)
      await expect.poll(() => page.locator('.filter summary .shown').first().textContent()).toMatch(/^[1-9]/)
      expect(faultsOf(watched)).toEqual([])
    }
  })

  test('the hints of the form are whole', async () => {
    const { page } = await report(TIMED)
    await page.setViewportSize({ width: 1280, height: 800 })
    const cut = await page.evaluate(`(() => {
      const brush = document.createElement('canvas').getContext('2d')
      return [...document.querySelectorAll('.filter .fields input')].filter((one) => {
        const { font, paddingLeft, paddingRight } = getComputedStyle(one)
        brush.font = font
        const room = one.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
        return brush.measureText(one.placeholder).width > room
      }).map((one) => one.placeholder)
    })()`)
    expect(cut).toEqual([])
  })

  test('a thread is filtered with its process, and there are fields only for what events have', async () => {
    const trace = `${scratch()}/two.ndjson`
    const events = [{}, { process: 3 }, { process: 3 }].map((more, i) =>
      JSON.stringify({ kind: 'alloc', address: `0x${i + 1}000`, size: 8, thread: 7, stack: ['main'], ...more }),
    )
    writeFileSync(trace, `${events.join('\n')}\n`)
    const watched = await report(trace)
    const { page } = watched
    const names = await page
      .locator('.filter .fields input')
      .evaluateAll((all) => all.map((one) => (one as unknown as { name: string }).name))
    expect(names).toContain('stack')
    for (const name of ['function', 'file', 'module', 'type']) expect(names).not.toContain(name)
    await page.click('nav a[href="#threads"]')
    await page
      .locator('#view-threads tbody tr', { hasText: /^thread 7/ })
      .last()
      .click()
    expect(await applied(watched)).toBe('hf-filter --thread 7 --process none --lifetimes two.ndjson | hf-stats')
    await expect.poll(() => page.locator('.filter summary .shown').first().textContent()).toBe('1 of 3 events')
    expect(faultsOf(watched)).toEqual([])
  })

  test('the row of all other threads cannot be clicked', async () => {
    const trace = `${scratch()}/many.ndjson`
    const events = Array.from({ length: 40 }, (_, i) => ({
      kind: 'alloc',
      address: `0x${i + 1}000`,
      size: 8,
      thread: i,
    }))
    writeFileSync(trace, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    const { page } = await report(trace)
    await page.click('nav a[href="#threads"]')
    const rows = page.locator('#view-threads .table tbody tr')
    expect(
      await rows
        .filter({ hasText: /^thread / })
        .first()
        .getAttribute('class'),
    ).toBe('active')
    expect(await rows.filter({ hasText: /^all others/ }).getAttribute('class')).toBeNull()
    expect(await page.locator('#view-threads').textContent()).toContain(
      'A click on one filters the trace, except all others: the report does not list them.',
    )
  })

  test('a trace just above the limit is not in the page, which says so', async () => {
    const { length } = (await shell(`compact-encode --fast ${SMALL}`)).stdout
    const within = await openFile((await write(SMALL, `--embed ${length}`)).html)
    await expect.poll(() => within.page.locator('.filter').count()).toBe(1)
    const above = await openFile((await write(SMALL, `--embed ${length - 1}`)).html)
    await above.page.locator('#view-overview').waitFor({ state: 'visible' })
    await expect.poll(() => above.page.locator('.filter').count()).toBe(0)
    await expect
      .poll(() => above.page.locator('.omitted li').textContent())
      .toMatch(
        /^The trace itself is not in this page, .* it has more than \d+ bytes\. hf-report --embed SIZE sets the limit\.$/,
      )
    expect([...within.faults, ...above.faults]).toEqual([])
  })

  test('a trace that is no file of its own can be filtered, without a command', async () => {
    const html = `${scratch()}/piped.html`
    expect((await shell(`hf-report -o ${html} < ${SMALL}`)).code).toBe(0)
    const watched = await openFile(html)
    await watched.page.locator('.filter summary').click()
    await apply(watched, { size: '64..200' })
    await expect.poll(() => applied(watched)).toBe('')
    await expect
      .poll(() => watched.page.locator('.filter .shown').first().textContent())
      .toMatch(/^[1-9]\d* of 2,798 events$/)
  })

  test('a truncated trace remains one', async () => {
    const path = `${scratch()}/cut.mtrc`
    writeFileSync(path, readFileSync('test/fixtures/mtrc/cxx64.mtrc').subarray(0, -300))
    const { html, code } = await write(path)
    expect(code).toBe(1)
    const partial = `${scratch()}/partial.html`
    copyFileSync(`${html}.partial`, partial)
    const watched = await openFile(partial)
    const { page } = watched
    await page.locator('.filter summary').click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the trace' }).click(),
    ])
    const decoded = await shell(`compact-decode ${await download.path()}`)
    expect([decoded.code, decoded.stderr]).toEqual([1, expect.stringMatching(/truncated/)])
    await apply(watched, { size: '1..' })
    await applied(watched)
    await page.locator('nav a[href="#overview"]').click()
    expect((await page.locator('#view-overview .note').allTextContents()).join('\n')).toMatch(
      /^The trace is truncated[^]*compact: .*truncated/,
    )
  })

  test('what cannot be applied is shown, and the report remains', async () => {
    const { html } = await write(SMALL)
    const watched = await openFile(html)
    await watched.page.locator('.filter summary').click()
    const whole = await figures(watched)
    await apply(watched, { size: '5..1' })
    const alert = watched.page.locator('.filter [role=alert]')
    await alert.waitFor({ state: 'visible' })
    await expect.poll(() => alert.textContent()).toMatch(/--size: an empty range/)
    await expect.poll(() => figures(watched)).toEqual(whole)
    await apply(watched, { size: '5..' })
    await applied(watched)
    const damaged = `${scratch()}/damaged.html`
    writeFileSync(
      damaged,
      readFileSync(html, 'utf8').replace(/(id="report-trace">.{20}).{8}/, (_, before: string) => `${before}AAAAAAAA`),
    )
    const second = await openFile(damaged)
    await second.page.locator('.filter summary').click()
    await apply(second, { size: '5..' })
    const reason = second.page.locator('.filter [role=alert]')
    await reason.waitFor({ state: 'visible' })
    await expect.poll(() => reason.textContent()).toMatch(/^compact: /)
    writeFileSync(
      damaged,
      readFileSync(html, 'utf8').replace(/(id="report-trace">.{20})./, (_, before: string) => `${before}!`),
    )
    const third = await openFile(damaged)
    await third.page.locator('nav a[href="#timeline"]').click()
    await third.page.locator('#view-timeline .u-over').first().click()
    await expect.poll(() => third.page.locator('#view-timeline .bad').textContent()).toMatch(/^It is not known: /)
    expect([...faultsOf(watched), ...faultsOf(second), ...faultsOf(third)]).toEqual([])
  })
})

import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { servePage } from '../../lib/cli/serve.js'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage, type Watched } from '../support/browser.js'
import { scratch, shell } from '../support/commands.js'

closeAfterAll()

const VIEWER = readFileSync('dist/page/viewer.html')
const MIB = 1_048_576

/** The viewer as hf-view serves it. */
async function viewer(): Promise<Watched> {
  const served = await servePage(VIEWER)
  onTestFinished(() => served.close())
  return openPage(served.url)
}

/** What happened that must not. That the worker is loaded, which is a part of the page, is no request to anyone. */
const faultsOf = ({ faults }: Watched) => faults.filter((fault) => !fault.startsWith('request: blob:http://127.0.0.1:'))

/** The main figures of the report that the page shows. */
async function figures({ page }: Watched): Promise<(string | null)[]> {
  await page.locator('#view-overview').waitFor({ state: 'visible', timeout: 120_000 })
  const card = (figure: string) => page.locator(`[data-figure="${figure}"]`).first().getAttribute('title')
  return [
    await card('events'),
    await card('allocated.bytes'),
    await card('peakBytes.bytes'),
    await card('leaked.bytes'),
  ]
}

/** The same as hf-stats finds them. */
async function expected(path: string): Promise<string[]> {
  const stats = JSON.parse((await shell(`hf-stats --json ${path}`)).stdout.toString()) as {
    events: number
    allocated: { bytes: number }
    peakBytes: { bytes: number }
    leaked: { bytes: number }
  }
  const bytes = [stats.allocated, stats.peakBytes, stats.leaked].map(
    (amount) => `${amount.bytes.toLocaleString('en-US')} bytes`,
  )
  return [stats.events.toLocaleString('en-US'), ...bytes]
}

/** Has a file dropped on the page, as from a folder. */
async function drop({ page }: Watched, path: string): Promise<void> {
  await page.evaluate(`globalThis.dropped = Object.assign(document.createElement('input'), { type: 'file', id: 'dropped' })
    document.body.append(dropped)`)
  await page.locator('#dropped').setInputFiles(path)
  await page.evaluate(`{
    const transfer = new DataTransfer()
    transfer.items.add(dropped.files[0])
    const at = { bubbles: true, cancelable: true, dataTransfer: transfer }
    document.body.dispatchEvent(new DragEvent('dragover', at))
    document.body.dispatchEvent(new DragEvent('drop', at))
    dropped.remove()
  }`)
}

describe('the viewer', { tags: ['slow'] }, () => {
  beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER))

  test('reads a dropped trace of 100 MB with the figures of hf-stats, and shows how far it is', async () => {
    const path = `${scratch()}/large.ndjson`
    const { stdout } = await shell('mtrc-decode test/fixtures/mtrc/git.mtrc.gz')
    const file = openSync(path, 'w')
    while (statSync(path).size < 100 * MIB) writeSync(file, stdout)
    closeSync(file)
    const watched = await viewer()
    await watched.page.evaluate(`globalThis.states = []
      new MutationObserver(() => states.push([document.querySelector('.state').textContent, document.querySelector('progress').value]))
        .observe(document.querySelector('.state'), { childList: true })`)
    await drop(watched, path)
    await expect.poll(() => figures(watched)).toEqual(await expected(path))
    const states = (await watched.page.evaluate('states')) as [string, number][]
    // How often it is shown, and when last, depends on the machine.
    expect(states.length).toBeGreaterThan(1)
    expect(states.at(-1)![0]).toMatch(/: [\d,]+ events, [\d.]+ MiB of [\d.]+ MiB$/)
    const parts = states.map(([, part]) => part)
    expect(parts).toEqual(parts.toSorted((a, b) => a - b))
    expect(parts.at(-1)).toBeGreaterThan(0)
    expect(faultsOf(watched)).toEqual([])
  })

  test.each([
    'heaptrack/mtv-small.heaptrack.gz',
    'mtrc/cxx64.mtrc',
    'replay/mstress-head.txt.gz',
    'glibc-mtrace/mt-edge.mtrace',
    'hatf/espresso-head.hatf',
    'valgrind/mtv-edge.log',
    'ltrace/cxx-demangle.ltrace',
    'tracepoints/perf-ns-pidtid.txt.gz',
  ])('reads %s when it is chosen', async (name) => {
    const watched = await viewer()
    await watched.page.locator('input[type=file]').setInputFiles(`test/fixtures/${name}`)
    await expect.poll(() => figures(watched)).toEqual(await expected(`test/fixtures/${name}`))
    await expect.poll(() => watched.page.locator('header h1').textContent()).toBe(name.split('/')[1])
    expect(faultsOf(watched)).toEqual([])
  })

  test('reads what is compressed by zstd and xz', async ({ skip }) => {
    const plain = 'test/fixtures/mtrc/cxx64.mtrc'
    for (const [program, ending] of [
      ['zstd', 'zst'],
      ['xz', 'xz'],
    ] as const) {
      const path = `${scratch()}/trace.mtrc.${ending}`
      try {
        writeFileSync(path, execFileSync(program, ['-c', plain]))
      } catch {
        skip(`${program} is not installed`)
      }
      const watched = await viewer()
      await watched.page.locator('input[type=file]').setInputFiles(path)
      await expect.poll(() => figures(watched), { message: program }).toEqual(await expected(plain))
    }
  })

  test('says what it can do about a format that its policy forbids it to read', async () => {
    const { page } = await viewer()
    await expect.poll(() => page.locator('.drop').textContent()).toContain('but Parquet and HATF in ASCII')
    await page.locator('input[type=file]').setInputFiles('test/golden/hatf-ascii/records.hatf.txt')
    await expect.poll(() => page.locator('.note.bad').textContent()).toMatch(/a content security policy .*hf-convert/)
  })

  test('shows one trace after another', async () => {
    const watched = await viewer()
    const { page } = watched
    await page.locator('input[type=file]').setInputFiles('test/fixtures/mtrc/cxx64.mtrc')
    await figures(watched)
    await page.keyboard.press('3')
    await page.locator('#view-sites').waitFor({ state: 'visible' })
    await page.getByRole('button', { name: 'Open another trace' }).click()
    await page.locator('.drop').waitFor({ state: 'visible' })
    await page.keyboard.press('1')
    await expect.poll(() => page.locator('.drop').isVisible()).toBe(true)
    await page.locator('input[type=file]').setInputFiles('test/fixtures/mtrc/small64.mtrc.gz')
    await page.locator('header h1', { hasText: 'small64.mtrc.gz' }).waitFor()
    await page.keyboard.press('1')
    await expect.poll(() => figures(watched)).toEqual(await expected('test/fixtures/mtrc/small64.mtrc.gz'))
    expect(faultsOf(watched)).toEqual([])
  })

  test('ends a report when another trace is dropped on it', async () => {
    const watched = await viewer()
    const { page } = watched
    await page.locator('input[type=file]').setInputFiles('test/fixtures/mtrc/cxx64.mtrc')
    await figures(watched)
    await page.keyboard.press('2')
    await page.locator('#view-timeline').waitFor({ state: 'visible' })
    await expect.poll(() => page.workers().length).toBe(1)
    await page.keyboard.press('1')
    await drop(watched, 'test/fixtures/mtrc/small64.mtrc.gz')
    await page.locator('header h1', { hasText: 'small64.mtrc.gz' }).waitFor()
    await expect.poll(() => page.workers().length).toBe(0)
    expect(await figures(watched)).toEqual(await expected('test/fixtures/mtrc/small64.mtrc.gz'))
    expect(faultsOf(watched)).toEqual([])
  })

  test('the filter of a trace is not that of the next one, nor is a trace that it cannot be compared with', async () => {
    const trace = 'test/fixtures/mtrc/small64.mtrc.gz'
    const other = `${scratch()}/other.txt`
    writeFileSync(other, 'what is this?')
    const watched = await viewer()
    const { page } = watched
    const apply = async () => {
      await page.locator('.filter input[name="size"]').fill('64..200')
      await page.locator('.filter').getByRole('button', { name: 'Apply' }).click()
      await page.waitForURL(/filter=/)
    }
    await drop(watched, 'test/fixtures/mtrc/cxx64.mtrc')
    await figures(watched)
    await page.locator('.filter summary').click()
    await apply()
    await drop(watched, trace)
    await page.locator('header h1', { hasText: 'small64.mtrc.gz' }).waitFor()
    expect(page.url()).not.toContain('filter=')
    expect(await figures(watched)).toEqual(await expected(trace))
    await page.locator('input[type=file]').setInputFiles(other)
    const alert = page.locator('.filter [role=alert]')
    await expect.poll(() => alert.textContent()).toMatch(/^other\.txt: unrecognized format/)
    await apply()
    await expect.poll(() => page.locator('.filter .command').textContent()).toContain('--size 64..200')
    expect(await alert.isVisible()).toBe(false)
    expect(faultsOf(watched)).toEqual([])
  })

  test('shows what was read of a truncated trace, and says so', async () => {
    const path = `${scratch()}/cut.mtrc.gz`
    writeFileSync(path, gzipSync(readFileSync('test/fixtures/mtrc/cxx64.mtrc')).subarray(0, -300))
    const watched = await viewer()
    await watched.page.locator('input[type=file]').setInputFiles(path)
    await figures(watched)
    expect((await watched.page.locator('.note').allTextContents()).join('\n')).toMatch(/truncated/)
  })

  test('says why it cannot read a file, and takes the next one', async () => {
    const folder = scratch()
    writeFileSync(`${folder}/<img src=x onerror=alert(1)>.txt`, 'what is this?')
    const watched = await viewer()
    const { page } = watched
    await page.locator('input[type=file]').setInputFiles(`${folder}/<img src=x onerror=alert(1)>.txt`)
    const alert = page.locator('[role=alert]')
    await alert.waitFor({ state: 'visible' })
    await expect
      .poll(() => alert.textContent())
      .toMatch(/^<img src=x onerror=alert\(1\)>\.txt cannot be read: .*unrecognized format/)
    await page.locator('input[type=file]').setInputFiles('test/fixtures/mtrc/cxx64.mtrc')
    await expect.poll(() => figures(watched)).toEqual(await expected('test/fixtures/mtrc/cxx64.mtrc'))
    expect(faultsOf(watched)).toEqual([])
  })

  test('takes one trace or two', async () => {
    const watched = await viewer()
    const names = ['mtrc/cxx64.mtrc', 'hatf/espresso-head.hatf', 'valgrind/mtv-edge.log']
    await watched.page.locator('input[type=file]').setInputFiles(names.map((name) => `test/fixtures/${name}`))
    const alert = watched.page.locator('[role=alert]')
    await alert.waitFor({ state: 'visible' })
    expect(await alert.textContent()).toBe('These are 3 files: choose one trace, or two to compare.')
    expect(faultsOf(watched)).toEqual([])
  })

  test('stops when it is told to', async () => {
    const path = `${scratch()}/large.ndjson`
    const { stdout } = await shell('mtrc-decode test/fixtures/mtrc/git.mtrc.gz')
    writeFileSync(path, Buffer.concat([stdout, stdout, stdout]))
    const watched = await viewer()
    const { page } = watched
    await page.locator('input[type=file]').setInputFiles(path)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => page.locator('.work').isVisible()).toBe(false)
    await page.locator('input[type=file]').setInputFiles('test/fixtures/mtrc/cxx64.mtrc')
    await expect.poll(() => figures(watched)).toEqual(await expected('test/fixtures/mtrc/cxx64.mtrc'))
  })
})

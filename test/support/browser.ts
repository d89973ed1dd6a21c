import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll } from 'vitest'

const CANDIDATES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser of this machine, if it has one: `HEAPFLOW_CHROMIUM`, or the first that is found in `PATH`. */
export const CHROMIUM = [
  process.env['HEAPFLOW_CHROMIUM'] ?? '',
  ...CANDIDATES.flatMap((name) => (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, name))),
].find((path) => path !== '' && existsSync(path))

/** Why tests are skipped that need a browser. */
export const NO_BROWSER = 'no Chromium is installed'

/** What the tests of the current file use. */
let browser: Promise<Browser> | undefined
let folder: string | undefined

/** Closes the browser of a test file when its tests are over. To be called once in each file that uses one. */
export function closeAfterAll(): void {
  afterAll(async () => {
    await (await browser)?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    browser = folder = undefined
  }, 30_000)
}

/** A page, and everything that it must not do: errors, messages on the console, requests other than for itself. */
export interface Watched {
  readonly page: Page
  readonly faults: string[]
}

/** Opens an address in a new window. @param flags of Chromium; only those of the first call count */
export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
  flags: readonly string[] = [],
): Promise<Watched> {
  browser ??= chromium.launch({
    executablePath: CHROMIUM as string,
    args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1', ...flags],
    timeout: 60_000,
  })
  const context = await (await browser).newContext({ viewport: { width: 1200, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => faults.push(`console: ${message.text()}`))
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== url.split('#')[0]) faults.push(`request: ${request.url()}`)
  })
  page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`))
  await page.goto(url)
  return { page, faults }
}

/** Writes a file that is removed after the tests, and returns its address. */
export function browserFile(name: string, text: string): string {
  folder ??= mkdtempSync(join(tmpdir(), 'heapflow-page-'))
  const path = join(folder, name)
  writeFileSync(path, text)
  return pathToFileURL(path).href
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { firefox, type Browser } from 'playwright-core'
import { afterAll } from 'vitest'
import type { Watched } from './browser.js'

/** The Firefox of this machine, if it has one: `HEAPFLOW_FIREFOX`, or the first that is found in `PATH`. */
export const FIREFOX = [
  process.env['HEAPFLOW_FIREFOX'] ?? '',
  ...['firefox-esr', 'firefox'].flatMap((name) =>
    (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, name)),
  ),
].find((path) => path !== '' && existsSync(path))

/** Why tests are skipped that need Firefox. */
export const NO_FIREFOX = 'no Firefox is installed'

/** The part of playwright's implementation that speaks WebDriver BiDi. */
interface Implementation {
  _browserSession: { send(method: string, parameters: unknown): Promise<unknown> }
}

let browser: Promise<Browser> | undefined

/** Closes the browser of a test file when its tests are over. To be called once in each file that uses one. */
export function closeFirefoxAfterAll(): void {
  afterAll(async () => {
    await (await browser)?.close()
    browser = undefined
  }, 30_000)
}

/**
 * Starts Firefox as it is released, by WebDriver BiDi; playwright's own protocol needs a Firefox of its own. Of the
 * commands that playwright sends for each window, this Firefox does not know one, which sets the preferred colours.
 */
async function start(): Promise<Browser> {
  const started = await firefox.launch({ executablePath: FIREFOX as string, channel: 'moz-firefox', timeout: 60_000 })
  const { _connection } = started as unknown as { _connection: { toImpl(one: unknown): Implementation } }
  const session = Object.getPrototypeOf(
    _connection.toImpl(started)._browserSession,
  ) as Implementation['_browserSession']
  const { send } = session
  session.send = function (method, parameters) {
    if (method === 'emulation.setMediaFeaturesOverride') return Promise.resolve({})
    return send.call(this, method, parameters)
  }
  return started
}

/** Opens an address in a new window of Firefox. */
export async function openFirefox(url: string): Promise<Watched> {
  browser ??= start()
  const context = await (await browser).newContext({ viewport: { width: 1200, height: 800 } })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => faults.push(`console: ${message.text()}`))
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== url.split('#')[0]) faults.push(`request: ${request.url()}`)
  })
  await page.goto(url)
  return { page, faults }
}

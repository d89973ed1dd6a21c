import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { SIGNALS } from './end-by-signal.js'
import { openBrowser } from './open-browser.js'
import { say } from './say.js'
import { servePage } from './serve.js'

export interface ShowOptions {
  /** The port to serve it on; any that is free if absent. */
  readonly port?: number
  /** End when it was delivered. */
  readonly once?: boolean
  /** Open the user's browser. True if absent. */
  readonly opens?: boolean
}

/** Serves a page, prints its address and opens the browser, until a signal ends it. */
export async function showPage(command: string, html: Uint8Array, options: ShowOptions = {}): Promise<void> {
  const { port = 0, once = false, opens = true } = options
  const page = await servePage(html, port)
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  for (const signal of SIGNALS) process.once(signal, end)
  try {
    writeSync(1, `${page.url}\n`)
    if (isatty(2)) say(command, 'the page is there until Ctrl-C is pressed')
    if (opens) openBrowser(page.once)
    await (once ? Promise.race([ended, page.delivered]) : ended)
  } finally {
    // Also stop if printing the URL failed.
    for (const signal of SIGNALS) process.removeListener(signal, end)
    await page.close()
  }
}

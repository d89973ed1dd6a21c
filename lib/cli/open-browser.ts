import { spawn } from 'node:child_process'

/** The commands that open an address in the user's preferred browser. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe' }

/** A command that fails later than this, in milliseconds, had opened the browser. */
const QUICKLY = 5000

/**
 * Opens an address in the user's browser: with the commands in the environment variable BROWSER, otherwise with the
 * system's. Does nothing without such a command, or without a screen.
 *
 * As for xdg-open and Python's webbrowser, BROWSER is a list with `:` between the commands (`;` on Windows). The first
 * one that can be started, and does not fail, counts. The address takes the place of `%s`, or comes last.
 */
export function openBrowser(url: string, { env, platform }: Pick<NodeJS.Process, 'env' | 'platform'> = process): void {
  const named = (env['BROWSER'] ?? '').split(platform === 'win32' ? ';' : ':').filter((one) => one.trim() !== '')
  const hasScreen = platform in OPENERS || (env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '') !== ''
  if (named.length > 0) openWith(named, url)
  else if (hasScreen) openWith([OPENERS[platform] ?? 'xdg-open'], url)
}

/** Runs the first of some commands, and the others if it fails. */
function openWith([command, ...others]: readonly string[], url: string): void {
  if (command === undefined) return
  const words = command.trim().split(/\s+/)
  const given = words.map((word) => word.replaceAll('%s', () => url))
  const [program = '', ...args] = command.includes('%s') ? given : [...given, url]
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  child.once('error', () => openWith(others, url))
  const begin = performance.now()
  child.once('exit', (code) => {
    if (code !== null && code > 0 && performance.now() - begin < QUICKLY) openWith(others, url)
  })
  child.unref()
}

import { spawn } from 'node:child_process'

/** What opens an address in the browser that the user prefers. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe' }

/**
 * Opens an address in the user's browser: with the command in the environment variable BROWSER, otherwise with the
 * system's. Does nothing without such a command, or without a screen.
 */
export function openBrowser(url: string, { env, platform }: Pick<NodeJS.Process, 'env' | 'platform'> = process): void {
  const named = env['BROWSER']?.trim() ?? ''
  const hasScreen = platform in OPENERS || (env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '') !== ''
  if (named === '' && !hasScreen) return
  const [program = '', ...args] = named === '' ? [OPENERS[platform] ?? 'xdg-open'] : named.split(/\s+/)
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}

import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { UsageError } from '../command.js'
import { say } from '../say.js'

/** What Node puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD'

/**
 * Node passes on nothing but UTF-8, so that a program would get another command.
 * @throws UsageError for a command with other bytes; warns of variables with them
 */
export function refuseOtherBytes(words: readonly string[]): void {
  if (words.some((word) => word.includes(REPLACEMENT)) && !isText('/proc/self/cmdline'))
    throw new UsageError('the command has bytes that are not UTF-8, which Node changes: put it into a script')
  const names = Object.keys(process.env).filter((name) => process.env[name]?.includes(REPLACEMENT) === true)
  if (names.length > 0 && !isText('/proc/self/environ'))
    say('hf-record', `warning: ${names.join(', ')}: not UTF-8, so the program gets other bytes: set it in a script`)
}

/** Whether a file is UTF-8, as far as is known. */
function isText(path: string): boolean {
  try {
    return isUtf8(readFileSync(path))
  } catch {
    return true
  }
}

import { showText } from '../event/message-text.js'

/**
 * Writes a message of a command to standard error, as one line. Names of files and texts of a trace are part of
 * messages, and a terminal would obey their control characters, so these are escaped.
 */
export function say(command: string, message: string): void {
  process.stderr.write(`${command}: ${showText(message, Infinity)}\n`)
}

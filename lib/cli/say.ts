import { writeSync } from 'node:fs'
import { showText } from '../event/message-text.js'

let wipe: (() => void) | undefined

/** Notes that a progress line is shown. @param wiper wipes it */
export function progressShown(wiper: () => void): void {
  wipe = wiper
}

/** Wipes the progress line, if one is shown, before anything else is written that a terminal may show. */
export function wipeProgress(): void {
  wipe?.()
  wipe = undefined
}

/**
 * Writes a message of a command to standard error, as one line. Names of files and texts of a trace are part of
 * messages, and a terminal would obey their control characters, so these are escaped.
 */
export function say(command: string, message: string): void {
  wipeProgress()
  writeError(`${command}: ${showText(message, Infinity)}\n`)
}

/** Writes to standard error. `process.stderr` takes some time to load. */
function writeError(text: string): void {
  const bytes = Buffer.from(text)
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(2, bytes, written)
  } catch (error) {
    // Another process made it non-blocking, which the stream can wait for. If it is closed, no one reads the message.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') process.stderr.write(bytes.subarray(written))
  }
}

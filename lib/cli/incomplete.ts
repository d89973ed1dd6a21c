import { Interrupted } from './command.js'
import { say } from './say.js'

/** The maximum number of files that a message names. */
const MAX_NAMES = 3

/** Files that are incomplete, and that no message has named yet. */
const unnamed = new Set<string>()

/** Notes files that were left incomplete, so that whatever ends the process names them. */
export function noteIncomplete(files: readonly string[]): void {
  for (const file of files) unnamed.add(file)
}

/** Names the files that were left incomplete, if there are any. @param cause why they are */
export function nameIncomplete(command: string, cause: unknown): void {
  const files = [...unnamed]
  unnamed.clear()
  if (files.length > 0) say(command, `the incomplete output is in ${listed(files)}${adviceOn(files, cause)}`)
}

/** A note for readers of incomplete files. */
function adviceOn(files: readonly string[], cause: unknown): string {
  // Whether the output for a truncated trace is complete: a page, or a file with an index. An interrupted command may
  // stop anywhere.
  if (!(cause instanceof Interrupted))
    return files.every((file) => file.endsWith('.html.partial'))
      ? '; a browser shows it under a name that ends in .html'
      : ''
  return files.every((file) => /\.(parquet|pq)\.partial$/.test(file)) ? '; without its index, nothing reads it' : ''
}

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES
  return names.slice(0, MAX_NAMES).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

import { readFileSync } from 'node:fs'
import { showText } from '../../event/message-text.js'
import { sharedSource } from './file-status.js'

/** The pipes from which texts were read, which are empty now, and the names by which they were read. */
const drained = new Map<string, string>()

/**
 * The text of a file that is read at once, such as rules or a query; of standard input for `-`.
 * @throws the system error, and an error when another text was read from the same pipe
 */
export function readText(path: string): string {
  refuseDrained(path)
  const source = sharedSource(path)
  if (source !== undefined) drained.set(source, path)
  return readFileSync(path === '-' ? 0 : path, 'utf8')
}

/** @throws when a text was read from the pipe that an input names: the input would be found empty */
export function refuseDrained(path: string): void {
  if (drained.size === 0) return
  const source = sharedSource(path)
  const other = source === undefined ? undefined : drained.get(source)
  if (other !== undefined) throw new Error(samePipe(other, path))
}

/** The message for two inputs that read the same pipe. */
export function samePipe(one: string, other: string): string {
  return `${showText(one)} and ${showText(other)} are the same pipe, which can be read only once`
}

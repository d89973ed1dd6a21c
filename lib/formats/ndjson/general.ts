import { parseJson } from '../../event/json.js'
import { recordFromJson, type WireRecord } from '../../event/json-record.js'
import { showText } from '../../event/message-text.js'

/**
 * Reads one line in any JSON form: any order of keys, spaces, escapes, integers of any length.
 * @throws Error that says what is wrong with the line, without the place
 */
export function parseRecord(line: string): WireRecord {
  return recordFromJson(parseExact(line))
}

/** Whether a line that ends the input is a whole value: no object is one before its last bracket. */
export function isWhole(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

/** Few lines have this many digits, and this search is much faster than handling them. */
export const LONG_DIGITS = /\d{16}/

/** A string, or a number. */
const VALUES = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** An integer that a double may not hold. Quoting it keeps all its digits. */
const LONG_INTEGER = /^-?\d{16,}$/

/** The field that needs the slower parser, which distinguishes long integers from strings of digits. */
const NESTED = '"fields"'

function parseExact(line: string): unknown {
  if (line.includes(NESTED)) return parseJson(line)
  const exact = !LONG_DIGITS.test(line)
    ? line
    : line.replace(VALUES, (match) => (LONG_INTEGER.test(match) ? `"${match}"` : match))
  try {
    return JSON.parse(exact)
  } catch (error) {
    throw new Error(`not JSON: ${showText((error as Error).message)}`, { cause: error })
  }
}

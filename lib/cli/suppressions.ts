import { readFileSync } from 'node:fs'
import { KNOWN_SUPPRESSIONS, parseSuppressions, type Suppression } from '../names/suppressions.js'
import type { Statistics } from '../transforms/statistics/result.js'
import { suppress } from '../transforms/statistics/suppress.js'
import { UsageError, type Arguments } from './command.js'
import { describe } from './main.js'

/** The largest file of rules, in characters. */
const MAX_FILE = 16 << 20

/** The rules of `--suppress` and `--suppress-known`. @throws UsageError */
export function suppressions(args: Arguments): Suppression[] {
  return [...args.all('suppress').flatMap(rulesOf), ...(args.has('suppress-known') ? KNOWN_SUPPRESSIONS : [])]
}

/** Leaves leaks out, by these rules. @throws UsageError */
export function suppressing(args: Arguments): (statistics: Statistics) => Statistics {
  const rules = suppressions(args)
  return (statistics) => suppress(statistics, rules)
}

function rulesOf(path: string): Suppression[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`the suppressions cannot be read: ${describe(error, path)}`, { cause: error })
  }
  if (text.length > MAX_FILE) throw new UsageError(`${path}: more than ${MAX_FILE} characters of suppressions`)
  try {
    return parseSuppressions(text)
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

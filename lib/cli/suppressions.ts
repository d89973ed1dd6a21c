import type { Suppression } from '../names/suppression.js'
import { KNOWN_SUPPRESSIONS, parseSuppressions } from '../names/suppressions.js'
import { RUNTIME_SUPPRESSIONS } from '../names/runtime-suppressions.js'
import type { Profile } from '../transforms/profile/profile.js'
import { readText } from '../streams/io/read-text.js'
import { suppressLeaks } from '../transforms/profile/suppress.js'
import type { ReportSuppression } from '../transforms/report/result.js'
import type { Statistics, Suppressed } from '../transforms/statistics/result.js'
import { suppress } from '../transforms/statistics/suppress.js'
import { orUsageError, UsageError, type Arguments } from './command.js'
import { withDemangled } from './demangled-rules.js'
import { withEmbedded } from './embedded-suppressions.js'
import { SUPPRESS_NAMES } from './flags.js'
import type { TraceInput } from './input.js'
import { describe } from './main.js'
import { suppressedText } from './report/summary.js'
import { say } from './say.js'

/** The largest file of rules, in characters. */
const MAX_FILE = 16 << 20

/** The rules of `--suppress` and `--suppress-known` of a command. @throws UsageError */
export function suppressions(command: string, args: Arguments): Suppression[] {
  const known = args.has('suppress-known') ? [...KNOWN_SUPPRESSIONS, ...RUNTIME_SUPPRESSIONS] : []
  return [...args.all('suppress').flatMap((path) => rulesOf(command, path)), ...known]
}

/** The maximum number of characters of the rules in a page. */
const MAX_IN_PAGE = 1 << 20

/**
 * The rules in the page of a report with the trace: one text, whatever their source. Undefined if they are too long or
 * too many, because the page reads them as one file.
 * @param args the arguments of the command. No command gives the figures of a part by rules that are in the trace
 */
export function suppressionOf(args: Arguments, rules: readonly Suppression[]): ReportSuppression | undefined {
  const text = rules.map((rule) => rule.text).join('\n')
  if (text.length > MAX_IN_PAGE || !isReadable(text)) return undefined
  if (args.has('suppress-embedded')) return { rules: text }
  const files = args.all('suppress').flatMap((path) => ['--suppress', path])
  return { rules: text, flags: [...files, ...(args.has('suppress-known') ? ['--suppress-known'] : [])] }
}

/**
 * The rules of these flags; undefined where none is given. The rules of the trace are added later. @throws UsageError
 */
export function givenSuppressions(command: string, args: Arguments): Suppression[] | undefined {
  return SUPPRESS_NAMES.some((name) => args.has(name)) ? suppressions(command, args) : undefined
}

/**
 * The input of a command. The rules in its trace are added to the others.
 * @param rules the rules of the flags @returns the input, and the rules, which are complete when it was read
 */
export function withRules<Rules extends readonly Suppression[] | undefined>(
  args: Arguments,
  input: TraceInput,
  rules: Rules,
): { input: TraceInput; rules: Rules | Suppression[] } {
  if (rules === undefined || !args.has('suppress-embedded')) return { input, rules }
  const all = [...rules]
  return { input: withEmbedded(input, all), rules: all }
}

/** A profile without the leaks that rules suppress, if there are any; it is said how much that is. */
export function sayingSuppressed(
  command: string,
  profile: Profile,
  rules: readonly Suppression[] | undefined,
  name?: string,
): Profile {
  if (rules === undefined) return profile
  const { profile: rest, suppressed } = suppressLeaks(profile, rules)
  saySuppressed(command, suppressed, name)
  return rest
}

/** Says how much is suppressed. @param name of the trace, if there are several */
export function saySuppressed(command: string, suppressed: Suppressed, name?: string): void {
  say(command, `${name === undefined ? '' : `${name}: `}suppressed leaks: ${suppressedText(suppressed)}`)
}

/** Leaves leaks out of the statistics of an input, by these rules. @throws UsageError */
export function suppressing(
  command: string,
  args: Arguments,
  input: TraceInput,
): { input: TraceInput; prepare: (statistics: Statistics) => Statistics } {
  const { input: read, rules } = withRules(args, input, suppressions(command, args))
  return { input: read, prepare: (statistics) => suppress(statistics, rules) }
}

/** Whether rules can be read as one file. */
function isReadable(text: string): boolean {
  try {
    parseSuppressions(text)
    return true
  } catch {
    return false
  }
}

function rulesOf(command: string, path: string): Suppression[] {
  let text: string
  try {
    text = readText(path)
  } catch (error) {
    throw new UsageError(`the suppressions cannot be read: ${describe(error, path)}`, { cause: error })
  }
  if (text.length > MAX_FILE) throw new UsageError(`${path}: more than ${MAX_FILE} characters of suppressions`)
  const { text: named, warning } = withDemangled(text)
  if (warning !== undefined) say(command, `warning: ${path}: ${warning}`)
  return orUsageError(() => parseSuppressions(named), `${path}: `)
}

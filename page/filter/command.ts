import type { ReportData } from '../../lib/transforms/report/result.js'
import type { Criterion } from '../worker/messages.js'

/** The criteria that look at names of frames, or at their number, to which names add inlined functions. */
const OF_NAMES: ReadonlySet<string> = new Set(['stack', 'depth'])

/**
 * The commands that give the same figures, for a shell; empty if there is no file with just this trace.
 * @param whole the report of the whole trace
 */
export function commandOf(
  criteria: readonly Criterion[],
  whole: Pick<ReportData, 'name' | 'isFile' | 'isSymbolized' | 'suppression'>,
): string {
  const { name, isFile, isSymbolized = false, suppression } = whole
  if (suppression !== undefined && suppression.flags === undefined) return ''
  // No command keeps the live set at the begin of a part.
  if (!isFile || criteria.some(([flag]) => flag === 'part')) return ''
  const path = quoted(name.startsWith('-') ? `./${name}` : name)
  const flags = criteria
    .filter(([flag]) => flag !== 'depth')
    .map(([flag, value]) => (value === undefined ? `--${flag}` : `--${flag}${separator(value)}${quoted(value)}`))
  const depth = criteria.find(([flag]) => flag === 'depth')?.[1]
  const cut = depth === undefined ? [] : [`hf-map -e 'event.stack &&= event.stack.slice(0, ${depth}); return true'`]
  const names = isSymbolized && criteria.some(([flag]) => OF_NAMES.has(flag)) ? ['hf-symbolize'] : []
  const [first, ...rest] = [...names, ...(flags.length === 0 ? [] : [['hf-filter', ...flags].join(' ')]), ...cut]
  return [`${first} ${path}`, ...rest, ['hf-stats', ...(suppression?.flags ?? []).map(quoted)].join(' ')].join(' | ')
}

/** A value that begins like a flag must not be an argument of its own. */
function separator(value: string): string {
  return value.startsWith('-') ? '=' : ' '
}

/** A word for a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

import type { Command, Flag } from '../command.js'
import { flagsOf } from '../flags.js'

const WIDTH = 100
/** The last column at which descriptions of flags begin. */
const MAX_MARGIN = 28

/** Flags under one heading. */
interface FlagGroup {
  readonly title: string
  readonly flags: readonly Flag[]
}

/** A command's help as `--help` prints it. */
export function helpText(command: Command): string {
  const groups = flagGroups(command)
  const margin = marginOf(groups.flatMap(({ flags }) => flags.map(flagUsage)))
  return [
    `${command.name}: ${command.summary}`,
    '',
    `Usage: ${usageLine(command)}`,
    '',
    ...command.description.split('\n').flatMap((paragraph) => wrap(paragraph, '')),
    ...(command.sections ?? []).flatMap(({ title, rows }) => {
      const wide = marginOf((command.sections ?? []).flatMap((section) => section.rows.map(([term]) => term)))
      return ['', `${title}:`, ...rows.flatMap(([term, text]) => row(term, text, wide))]
    }),
    ...groups.flatMap(({ title, flags }) => [
      '',
      `${title}:`,
      ...flags.flatMap((flag) => row(flagUsage(flag), flagHelp(flag), margin)),
    ]),
    ...(command.memory === undefined ? [] : ['', ...wrap(`Memory: ${command.memory}`, '')]),
    '',
    'Examples:',
    ...Object.entries(command.examples).flatMap(([line, means]) => [`  # ${means}`, `  ${line}`]),
    '',
  ].join('\n')
}

/** The usage of a command, in one line. */
export function usageLine({ name, operands, flags }: Command): string {
  return [name, ...(flags.length > 0 ? ['[FLAGS]'] : []), operands].join(' ').trim()
}

/** A command's flags under their headings, those without a heading first. */
export function flagGroups(command: Command): FlagGroup[] {
  const groups = new Map<string, Flag[]>([['Flags', []]])
  for (const flag of flagsOf(command)) {
    const title = flag.group ?? 'Flags'
    groups.set(title, [...(groups.get(title) ?? []), flag])
  }
  return [...groups].map(([title, flags]) => ({ title, flags }))
}

/** A flag with its short form and value: `-o, --output FILE`. */
export function flagUsage(flag: Flag): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `
  return `${short}--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`
}

/** A flag's help, with the other facts of its table. */
export function flagHelp(flag: Flag): string {
  const values = flag.values === undefined ? '' : `; one of ${flag.values.join(', ')}`
  return `${flag.help}${values}${flag.repeat === true ? ' (may be repeated)' : ''}`
}

function marginOf(terms: readonly string[]): number {
  return Math.min(MAX_MARGIN, Math.max(...terms.map(({ length }) => length)) + 4)
}

function row(term: string, text: string, margin: number): string[] {
  const lines = wrap(text, ' '.repeat(margin))
  const label = `  ${term}`
  return label.length + 2 > margin
    ? [label, ...lines]
    : [label.padEnd(margin) + lines[0].trimStart(), ...lines.slice(1)]
}

function wrap(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > WIDTH && line !== indent) {
      lines.push(line)
      line = indent
    }
    line += line === indent ? word : ` ${word}`
  }
  return [...lines, line]
}

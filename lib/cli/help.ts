import type { Command, Flag } from './command.js'
import { COMMON_FLAGS } from './main.js'

const WIDTH = 100

/** A command's help as `--help` prints it. */
export function helpText(command: Command): string {
  const flags = [...command.flags, ...COMMON_FLAGS]
  const left = flags.map(flagUsage)
  const margin = Math.min(28, Math.max(...left.map((usage) => usage.length)) + 4)
  return [
    `${command.name}: ${command.summary}`,
    '',
    `Usage: ${usageLine(command)}`,
    '',
    ...command.description.split('\n').flatMap((paragraph) => wrap(paragraph, '')),
    '',
    'Flags:',
    ...flags.flatMap((flag, i) => flagLines(flag, left[i] as string, margin)),
    '',
    ...wrap(`Memory: ${command.memory}`, ''),
    '',
    'Examples:',
    ...command.examples.flatMap(({ command: line, means }) => [`  # ${means}`, `  ${line}`]),
    '',
  ].join('\n')
}

/** How a command is called, in one line. */
export function usageLine(command: Command): string {
  return `${command.name} [FLAGS] ${command.operands}`.trim()
}

/** A flag with its short form and value: `-o, --output FILE`. */
export function flagUsage(flag: Flag): string {
  return `${flag.short === undefined ? '' : `-${flag.short}, `}--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`
}

/** A flag's help with the facts that its table has beside the text. */
export function flagHelp(flag: Flag): string {
  const values = flag.values === undefined ? '' : `: ${flag.values.join(', ')}`
  return `${flag.help}${values}${flag.repeat === true ? ' (may be repeated)' : ''}`
}

function flagLines(flag: Flag, usage: string, margin: number): string[] {
  const text = wrap(flagHelp(flag), ' '.repeat(margin))
  const label = `  ${usage}`
  return label.length + 2 > margin
    ? [label, ...text]
    : [label.padEnd(margin) + (text[0] as string).trimStart(), ...text.slice(1)]
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

import type { Flag } from '../command.js'
import { COMMON_FLAGS } from '../flags.js'
import { COMPLETED, SUBCOMMANDS, valueOf, type Completed } from './completion-words.js'

/** The completion script for fish. */
export function fishCompletion(): string {
  const first = 'complete -c heapflow -n __fish_use_subcommand'
  return [
    '# Completion of heapflow in fish. Load it with: heapflow completion fish | source',
    `${first} -f -a help -d 'show the help of a command'`,
    ...COMPLETED.map(({ subcommand, command }) => `${first} -f -a ${subcommand} -d ${quoted(command.summary)}`),
    ...COMMON_FLAGS.map((flag) => `${first} ${option(flag)}`),
    `complete -c heapflow -n '__fish_seen_subcommand_from help' -f -a ${quoted(SUBCOMMANDS.join(' '))}`,
    ...COMPLETED.flatMap(commandLines),
    '',
  ].join('\n')
}

function commandLines({ command, subcommand, isProgram, flags, operands }: Completed): string[] {
  const callers = [
    `-c heapflow -n '__fish_seen_subcommand_from ${subcommand}'`,
    ...(isProgram ? [`-c ${command.name}`] : []),
  ]
  const values =
    operands.kind === 'values'
      ? [`-f -a ${quoted(operands.values.join(' '))}`]
      : operands.kind === 'command'
        ? ["-x -a '(__fish_complete_subcommand)'"]
        : []
  return callers.flatMap((caller) => [...flags.map(option), ...values].map((what) => `complete ${caller} ${what}`))
}

/** A flag as `complete` describes one. */
function option(flag: Flag): string {
  const { name, short, help } = flag
  const words = valueOf(flag)
  const names = `${short === undefined ? '' : `-s ${short} `}-l ${name}`
  return `${names}${takes(words)} -d ${quoted(help)}`
}

const TAKES = {
  files: '-r -F',
  command: '-r -F',
  folders: "-x -a '(__fish_complete_directories)'",
  text: '-x',
} as const

function takes(words: ReturnType<typeof valueOf>): string {
  if (words === undefined) return ''
  return ` ${words.kind === 'values' ? `-x -a ${quoted(words.values.join(' '))}` : TAKES[words.kind]}`
}

/** In single quotes fish knows two escapes: of the quote, and of the backslash. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

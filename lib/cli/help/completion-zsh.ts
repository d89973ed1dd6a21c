import type { Flag } from '../command.js'
import { COMPLETED, quoted, SUBCOMMANDS, valueOf, type Completed, type Words } from './completion-words.js'

/** The completion script for zsh: to be sourced after `compinit`, or stored as `_heapflow` in a folder of `fpath`. */
export function zshCompletion(): string {
  const programs = ['heapflow', ...COMPLETED.filter((one) => one.isProgram).map((one) => one.command.name)]
  const summaries = COMPLETED.map((one) => quoted(`${one.subcommand}:${one.command.summary}`))
  return `#compdef ${programs.join(' ')}
# Completion of heapflow's commands in zsh. Load it with: source <(heapflow completion zsh)

_heapflow_arguments() {
  case $1 in
${COMPLETED.map(commandCase).join('\n')}
  esac
}

_heapflow() {
  if [[ $service != heapflow ]]; then
    _heapflow_arguments $service
  elif ((CURRENT == 2)); then
    local -a commands
    commands=(
      'help:show the help of a command'
      ${summaries.join('\n      ')}
    )
    _describe command commands
    _arguments '(- *)'{-h,--help}'[Show this help]' '(- *)--version[Show the version]'
  elif [[ $words[2] == help ]]; then
    _values command ${SUBCOMMANDS.join(' ')}
  else
    local name=$words[2]
    shift words
    ((CURRENT--))
    _heapflow_arguments $name
  fi
}

if [[ $funcstack[1] == _heapflow ]]; then
  _heapflow "$@"
else
  compdef _heapflow ${programs.join(' ')}
fi
`
}

function commandCase({ command, subcommand, flags, operands }: Completed): string {
  const names = [...new Set([command.name.replace(' ', '-'), subcommand])]
  return `    ${names.join('|')})
      _arguments -s -S \\
${flags.map((flag) => `        ${argument(flag)} \\`).join('\n')}
        ${quoted(operands.kind === 'command' ? '*::command:_normal' : `*:argument:${action(operands)}`)}
      ;;`
}

/** A flag as `_arguments` describes one. */
function argument(flag: Flag): string {
  const { name, short, help, value, repeat = false } = flag
  const words = valueOf(flag)
  const what = quoted(
    `[${help.replace(/[\\[\]:]/g, '\\$&')}]${words === undefined ? '' : `:${value}:${action(words)}`}`,
  )
  const long = `--${name}${words === undefined ? '' : '='}`
  if (short === undefined) return `${repeat ? "'*'" : ''}${long}${what}`
  const names = `{-${short}${words === undefined ? '' : '+'},${long}}`
  return repeat ? `'*'${names}${what}` : `'(-${short} --${name})'${names}${what}`
}

const ACTIONS = { files: '_files', command: '_files', folders: '_files -/', text: ' ' } as const

function action(words: Words): string {
  return words.kind === 'values' ? `(${words.values.join(' ')})` : ACTIONS[words.kind]
}

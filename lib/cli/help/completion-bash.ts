import type { Flag } from '../command.js'
import { COMMON_FLAGS } from '../flags.js'
import { COMPLETED, quoted, SUBCOMMANDS, valueOf, type Completed, type Words } from './completion-words.js'

/** The completion script for bash, 3.2 or newer. */
export function bashCompletion(): string {
  const programs = ['heapflow', ...COMPLETED.filter((one) => one.isProgram).map((one) => one.command.name)]
  return `# Completion of heapflow's commands in bash. Load it with: source <(heapflow completion bash)

_heapflow_words() {
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_heapflow_paths() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$cur"))
  compopt -o filenames 2> /dev/null
  return 0
}

# The command that is run, after --, and its arguments.
_heapflow_command() {
  local i IFS=$'\\n'
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -- ]] || continue
    if ((i == COMP_CWORD - 1)) && [[ $cur != */* ]]; then
      COMPREPLY=($(compgen -c -- "$cur"))
    else
      _heapflow_paths -f
    fi
    return 0
  done
  return 1
}

_heapflow() {
  local command=\${COMP_WORDS[0]##*/} cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # Bash makes three words of --flag=value.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $command == heapflow ]]; then
    if ((COMP_CWORD == 1)); then
      _heapflow_words ${quoted(['help', ...SUBCOMMANDS, ...dashed(COMMON_FLAGS)].join(' '))}
      return
    fi
    command=\${COMP_WORDS[1]}
  fi
  case $command in
    help)
      _heapflow_words ${quoted(SUBCOMMANDS.join(' '))}
      ;;
${COMPLETED.map(commandCase).join('\n')}
  esac
}

complete -F _heapflow ${programs.join(' ')}
`
}

function commandCase({ command, subcommand, flags, operands }: Completed): string {
  const names = [...new Set([command.name.replace(' ', '-'), subcommand])]
  const withValue = flags.filter((flag) => flag.value !== undefined)
  return `    ${names.join(' | ')})${operands.kind === 'command' ? '\n      _heapflow_command && return' : ''}
      case $prev in
${withValue.map((flag) => `        ${dashed([flag]).join(' | ')}) ${complete(valueOf(flag) as Words)} ;;`).join('\n')}
        *)
          if [[ $cur == -* ]]; then
            _heapflow_words ${quoted(dashed(flags).join(' '))}
          else
            ${complete(operands)}
          fi
          ;;
      esac
      ;;`.replace('in\n\n', 'in\n')
}

const ACTIONS = {
  files: '_heapflow_paths -f',
  command: '_heapflow_paths -f',
  folders: '_heapflow_paths -d',
  text: 'return',
} as const

function complete(words: Words): string {
  return words.kind === 'values' ? `_heapflow_words ${quoted(words.values.join(' '))}` : ACTIONS[words.kind]
}

function dashed(flags: readonly Flag[]): string[] {
  return flags.flatMap(({ name, short }) => [...(short === undefined ? [] : [`-${short}`]), `--${name}`])
}

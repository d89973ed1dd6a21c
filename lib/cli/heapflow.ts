import { writeSync } from 'node:fs'
import { didYouMean } from '../event/suggest.js'
import { UsageError, type Command } from './command.js'
import { COMMANDS, GROUPS, subcommand } from './command-list.js'
import { completion } from './commands/completion.js'
import { helpText } from './help/text.js'

const USAGE_ERROR = 2

/** `heapflow COMMAND`: every command in one program. */
export const heapflow: Command = {
  name: 'heapflow',
  summary: 'convert, filter and analyze heap-allocation traces',
  operands: 'COMMAND [ARGUMENT...]',
  description:
    'Each command is a program of its own, too: `heapflow stats` is `hf-stats`, and `heapflow mtrc-decode` is ' +
    '`mtrc-decode`. They recognize the format of their input by its first bytes. Run `heapflow help COMMAND` or ' +
    '`heapflow COMMAND --help` for details. Without a command, the help goes to standard error and the exit status ' +
    'is 2.',
  sections: [
    ...GROUPS.map(({ title, commands }) => ({ title, rows: commands.map(row) })),
    { title: 'Help', rows: [['help [COMMAND]', 'show this help, or that of a command'], row(completion)] },
  ],
  flags: [],
  examples: {
    'heapflow stats app.mtrc.gz': 'who holds memory, and who leaks it',
    'heapflow convert dump.zip app.hatf.gz': 'an Android dump as compact HATF',
    'heapflow help filter': 'the help of hf-filter',
  },
  choose(argv) {
    const [word, ...rest] = argv
    if (word === 'help') return rest[0] === undefined ? [heapflow, ['--help']] : [named(rest[0]), ['--help']]
    return word === undefined || word.startsWith('-') ? [heapflow, argv] : [named(word), rest]
  },
  // Without a command there is nothing to do: the help is a message, and this a usage error.
  run: async () => {
    writeSync(2, helpText(heapflow))
    process.exitCode = USAGE_ERROR
  },
}

/** Every command, including commands that only `heapflow` has. */
export const ALL_COMMANDS: readonly Command[] = [...COMMANDS, heapflow, completion]

function row(command: Command): readonly [string, string] {
  return [subcommand(command), command.summary]
}

function named(word: string): Command {
  const commands = [...COMMANDS, completion]
  const command = commands.find((one) => subcommand(one) === word || one.name === word)
  if (command !== undefined) return command
  throw new UsageError(`there is no command ${JSON.stringify(word)}${didYouMean(word, commands.map(subcommand))}`)
}

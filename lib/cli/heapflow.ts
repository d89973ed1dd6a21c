import { UsageError, type Command } from './command.js'
import { convert } from './commands/convert.js'
import { filter } from './commands/filter.js'
import {
  glibcMtraceDecode,
  glibcMtraceEncode,
  hatfDecode,
  hatfEncode,
  heapmonDecode,
  heapmonEncode,
  mtrcDecode,
  mtrcEncode,
  replayDecode,
  replayEncode,
  tracepointsDecode,
} from './commands/formats.js'
import { kmemtraceDecode, kmemtraceEncode } from './commands/kmemtrace.js'
import { map } from './commands/map.js'
import { merge } from './commands/merge.js'
import { metatfDecode, metatfEncode } from './commands/metatf.js'
import { metatfCompile } from './commands/metatf-compile.js'
import { sort } from './commands/sort.js'
import { split } from './commands/split.js'
import { hatfJoin, hatfSplit } from './commands/split-addresses.js'
import { stats } from './commands/stats.js'
import { verify } from './commands/verify.js'
import { main } from './main.js'

/**
 * Every command. `heapflow` runs all of them: those whose names begin with `hf-` by the rest of the name.
 *
 * `commands/<name>.ts` is data, from which flags are parsed and help is printed. It imports no codec, transform or
 * stream: what a command does is in `commands/<name>.run.ts`, which its `run` imports when it is called. So every
 * command starts quickly.
 */
export const COMMANDS: readonly Command[] = [
  mtrcDecode,
  mtrcEncode,
  replayDecode,
  replayEncode,
  kmemtraceDecode,
  kmemtraceEncode,
  glibcMtraceDecode,
  glibcMtraceEncode,
  tracepointsDecode,
  heapmonDecode,
  heapmonEncode,
  hatfDecode,
  hatfEncode,
  hatfSplit,
  hatfJoin,
  metatfDecode,
  metatfEncode,
  metatfCompile,
  filter,
  map,
  split,
  merge,
  sort,
  stats,
  verify,
  convert,
]

const SUBCOMMANDS: ReadonlyMap<string, Command> = new Map(
  COMMANDS.map((command) => [command.name.replace(/^hf-/, ''), command]),
)

/** `heapflow` itself: all that it does is to name its commands. */
export const heapflow: Command = {
  name: 'heapflow',
  summary: 'work on heap-allocation traces in one process',
  operands: 'COMMAND ...',
  description: `The commands are ${[...SUBCOMMANDS.keys()].join(', ')}; run \`heapflow COMMAND --help\` for details. All of them find the format of their input by its first bytes.`,
  memory: 'see the command.',
  flags: [],
  examples: COMMANDS.filter(({ name }) => name.startsWith('hf-')).map(({ examples, summary }) => ({
    command: (examples[0] as { command: string }).command,
    means: summary,
  })),
  run: () => Promise.reject(new UsageError(`the commands are ${[...SUBCOMMANDS.keys()].join(', ')}`)),
}

/** Runs `heapflow COMMAND ...`. */
export async function runSubcommand(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const command = SUBCOMMANDS.get(argv[0] ?? '')
  if (command !== undefined) await main(command, argv.slice(1))
  else if (argv[0] === undefined || argv[0].startsWith('-')) await main(heapflow, argv)
  else
    await main(
      { ...heapflow, run: () => Promise.reject(new UsageError(`there is no command ${JSON.stringify(argv[0])}`)) },
      [],
    )
}

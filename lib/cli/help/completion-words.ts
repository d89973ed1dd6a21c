import type { Command, Flag } from '../command.js'
import { COMMANDS, subcommand } from '../command-list.js'
import { completion } from '../commands/completion.js'
import { SHELLS } from '../defaults.js'
import { flagsOf } from '../flags.js'

/** The words that can be typed at some position. */
export type Words =
  | { readonly kind: 'files' | 'folders' | 'text' | 'command' }
  | { readonly kind: 'values'; readonly values: readonly string[] }

/** A command as completion scripts see it. */
export interface Completed {
  readonly command: Command
  /** Its name in `heapflow`. */
  readonly subcommand: string
  /** Whether it is also a program of its own. */
  readonly isProgram: boolean
  readonly flags: readonly Flag[]
  readonly operands: Words
}

/** The names that stand for one file, or several. */
const FILES = ['FILE', 'PATTERN']

/** Every command except `heapflow` itself. */
export const COMPLETED: readonly Completed[] = [
  ...COMMANDS.map((command): Completed =>
    describeCommand(command, true, { kind: command.operands.includes('-- COMMAND') ? 'command' : 'files' }),
  ),
  describeCommand(completion, false, { kind: 'values', values: SHELLS }),
]

/** What `heapflow help` takes. */
export const SUBCOMMANDS: readonly string[] = COMPLETED.map((one) => one.subcommand)

/** The possible values of a flag; undefined for a switch. */
export function valueOf({ value, values, reads }: Flag): Words | undefined {
  if (value === undefined) return undefined
  if (values !== undefined) return { kind: 'values', values }
  if (reads === true || FILES.includes(value)) return { kind: 'files' }
  return { kind: value === 'DIR' ? 'folders' : 'text' }
}

/** A text in single quotes, for any shell except fish. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function describeCommand(command: Command, isProgram: boolean, operands: Words): Completed {
  return {
    command,
    subcommand: subcommand(command),
    isProgram,
    flags: flagsOf(command),
    operands,
  }
}

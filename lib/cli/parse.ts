import { parseArgs, type ParseArgsConfig } from 'node:util'
import { didYouMean } from '../event/suggest.js'
import { refuseList, UsageError, type Arguments, type Command, type Flag } from './command.js'
import { flagsOf, FORMAT_MODULE } from './flags.js'

/** The values of the flag for modules of formats, which have to be loaded before the other flags are parsed. */
export function formatModules(command: Command, argv: readonly string[]): string[] {
  if (!argv.some((word) => word.startsWith(`--${FORMAT_MODULE.name}`))) return []
  return tokensOf(flagsOf(command), argv).flatMap((token) =>
    token.kind === 'option' && token.name === FORMAT_MODULE.name && token.value !== undefined ? [token.value] : [],
  )
}

function tokensOf(flags: readonly Flag[], argv: readonly string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = {}
  for (const { name, short, value } of flags)
    options[name] = { type: value === undefined ? 'boolean' : 'string', ...(short !== undefined && { short }) }
  return parseArgs({ args: [...argv], options, allowPositionals: true, strict: false, tokens: true }).tokens
}

/** Parses arguments by the command's table of flags. @throws UsageError */
export function parseFlags(command: Command, argv: readonly string[]): Arguments {
  const flags = flagsOf(command)
  const tokens = tokensOf(flags, argv)
  const given = new Map<string, string[]>()
  const operands: string[] = []
  const order: [name: string, value: string][] = []
  const reads: [name: string, file: string][] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const flag = flags.find(({ name }) => name === token.name)
    if (flag === undefined) throw unknownFlag(token.rawName, flags)
    const before = given.get(flag.name) ?? []
    given.set(flag.name, before)
    if (flag.value === undefined) {
      if (token.value !== undefined) throw new UsageError(`--${flag.name} takes no value`)
      continue
    }
    if (before.length > 0 && flag.repeat !== true) throw new UsageError(`--${flag.name} was given more than once`)
    const value = checkedValue(flag, token.value, token.inlineValue === true, flags)
    before.push(value)
    order.push([flag.name, value])
    if (flag.reads === true) reads.push([flag.name, value])
  }
  const all = (name: string) => given.get(name) ?? []
  return { all, value: (name) => all(name).at(-1), has: (name) => given.has(name), order, reads, operands }
}

function unknownFlag(name: string, flags: readonly Flag[]): UsageError {
  const hint = name.startsWith('--')
    ? didYouMean(
        name,
        flags.map((flag) => `--${flag.name}`),
      )
    : ''
  return new UsageError(`unknown flag ${name}${hint}`)
}

/** Values that are names of files or folders. */
const NAMES: readonly (string | undefined)[] = ['FILE', 'DIR', 'OLD', 'TRAIN']

/** @throws UsageError for a value that is missing or not allowed */
function checkedValue(flag: Flag, value: string | undefined, isInline: boolean, flags: readonly Flag[]): string {
  const usage = `--${flag.name} ${flag.value}`
  if (value === undefined) throw new UsageError(`--${flag.name} needs a value: ${usage}`)
  if (!isInline && isFlag(value, flags))
    throw new UsageError(`--${flag.name} needs a value, and ${value} is a flag: ${usage}`)
  if (value === '' && NAMES.includes(flag.value)) throw new UsageError(`--${flag.name} needs a name, not '': ${usage}`)
  const { values } = flag
  if (values === undefined || values.includes(value)) return value
  refuseList(flag.name, value, values)
  const instead = flag.instead?.[value]
  const hint = instead === undefined ? didYouMean(value, values) : `: ${instead}`
  throw new UsageError(`--${flag.name} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}${hint}`)
}

function isFlag(text: string, flags: readonly Flag[]): boolean {
  return flags.some(({ name, short }) => text === `--${name}` || (short !== undefined && text === `-${short}`))
}

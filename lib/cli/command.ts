import { KIB, MIB } from '../bytes/units.js'
import type { OptionSpec } from '../event/format.js'
import { TEMPORARY_BY, type TemporaryDefinition } from '../transforms/option-values.js'

/** One flag of a command: everything that parsing, help and documents need. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string
  /** One letter. */
  readonly short?: string
  /** The value's name in the help, such as `FILE`; a flag without one is a switch. */
  readonly value?: string
  /** One or two lines, no full stop. */
  readonly help: string
  /** May be given more than once, with one value each time: values may contain commas. */
  readonly repeat?: boolean
  /** The allowed values, if they are few. */
  readonly values?: readonly string[]
  /** Advice for values that are not allowed, but likely to be tried. */
  readonly instead?: Readonly<Record<string, string>>
  /** The value names a file that is read: an output must be another one. */
  readonly reads?: true
  /** The heading under which the help lists it; flags without one come first. */
  readonly group?: string
}

/** A flag. @param usage as the help shows it, such as `-o, --output FILE` @param more its other properties */
export function flag(usage: string, help: string, more: Omit<Flag, 'name' | 'short' | 'value' | 'help'> = {}): Flag {
  const [, short, name, value] = /^(?:-(\w), )?--([\w-]+)(?: (.+))?$/.exec(usage) ?? []
  if (name === undefined) throw new TypeError(`${usage} is no usage of a flag`)
  return { name, ...(short !== undefined && { short }), ...(value !== undefined && { value }), help, ...more }
}

/** The parsed arguments: values by flag name, and operands. */
export interface Arguments {
  /** Every value of a flag, in order; empty if it was not given. */
  all(name: string): readonly string[]
  /** The last value of a flag. */
  value(name: string): string | undefined
  /** Whether a switch was given. */
  has(name: string): boolean
  /** All flags with values, in the order of the command line. */
  readonly order: readonly (readonly [name: string, value: string])[]
  /** The flags whose values name files that are read. */
  readonly reads: readonly (readonly [name: string, file: string])[]
  readonly operands: readonly string[]
}

/**
 * A command as data. `run` imports its implementation, so that parsing flags and printing help do not load it.
 */
export interface Command {
  readonly name: string
  /** One line, begins with a verb, no full stop. */
  readonly summary: string
  /** The arguments after the flags, such as `[FILE]`. */
  readonly operands: string
  /** One or more paragraphs for the help, after the summary. */
  readonly description: string
  readonly flags: readonly Flag[]
  /** By the command of each, what it means. */
  readonly examples: Readonly<Record<string, string>>
  /** It may work long on small operands, because they are no traces, or because its user goes on asking. */
  readonly isOpenEnded?: true
  /** What its exit status means, where that differs from what it means for most commands: see the manual page. */
  readonly exitStatus?: Readonly<Record<string, string>>
  /** Its memory use, in one line. */
  readonly memory?: string
  /** Lists for the help, after the description. */
  readonly sections?: readonly Section[]
  /**
   * For a command that dispatches to others: the command that the arguments name, and its own arguments.
   * @throws UsageError
   */
  choose?(argv: readonly string[]): readonly [Command, readonly string[]]
  run(args: Arguments): Promise<void>
}

/** A list in the help. */
export interface Section {
  readonly title: string
  readonly rows: readonly (readonly [term: string, text: string])[]
}

/** The command line is wrong: exit 2 with this message. */
export class UsageError extends Error {}

/** A signal ended the command. */
export class Interrupted extends Error {
  constructor(readonly signal: NodeJS.Signals) {
    super('interrupted')
  }
}

/** A command failed, and left incomplete files. */
export class Incomplete extends Error {
  /** Their names. */
  readonly files: readonly string[]

  /**
   * @param cause the error; if that left incomplete files, too, its own cause
   * @param files their names
   */
  constructor(cause: unknown, files: readonly string[]) {
    const inner = cause instanceof Incomplete ? cause : undefined
    super('the output is not complete', { cause: inner === undefined ? cause : inner.cause })
    this.files = [...(inner?.files ?? []), ...files]
  }
}

/** Flags for a format's options: a boolean that is on by default becomes `--no-<name>`. */
export function optionFlags(options: Readonly<Record<string, OptionSpec>>): Flag[] {
  return Object.entries(options).map(([key, { help, value, values, ...spec }]) => ({
    name: spec.default === true ? `no-${dashed(key)}` : dashed(key),
    help: `${help[0]?.toUpperCase()}${help.slice(1)}`,
    ...(value !== undefined && { value }),
    ...(values !== undefined && { values }),
  }))
}

/** The options object of these flags; options that were not given are absent. */
export function optionValues(
  options: Readonly<Record<string, OptionSpec>>,
  args: Arguments,
): Record<string, boolean | number | string> {
  const values: Record<string, boolean | number | string> = {}
  for (const [key, spec] of Object.entries(options)) {
    const given = args.value(dashed(key))
    if (spec.default === true && args.has(`no-${dashed(key)}`)) values[key] = false
    else if (spec.default === false && args.has(dashed(key))) values[key] = true
    else if (given !== undefined && spec.value !== undefined)
      values[key] = typeof spec.default === 'number' ? (numberOf(args, dashed(key)) as number) : given
  }
  return values
}

function dashed(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The value of a flag as a whole number in a range; undefined if it was not given. @throws UsageError */
export function numberOf(
  args: Pick<Arguments, 'value'>,
  flag: string,
  least = 0,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const range = most < Number.MAX_SAFE_INTEGER ? ` from ${least} to ${most}` : least > 0 ? ` from ${least} on` : ''
  const read = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : NaN)
  return amountOf(args, flag, { read, least, most, what: `a whole number${range}` })
}

const UNITS: Readonly<Record<string, number>> = { '': 1, K: KIB, M: MIB, G: KIB * MIB }

/** The bytes of a size as flags give it, such as `4096` or `64M`. NaN for other text, and for more than 15 digits. */
export function byteCount(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,15})([KMG]?)$/i.exec(text) ?? []
  return digits === undefined ? NaN : Number(digits) * UNITS[unit.toUpperCase()]
}

/** The value of a flag as a number of bytes in a range; undefined if it was not given. @throws UsageError */
export function sizeOf(
  args: Pick<Arguments, 'value'>,
  flag: string,
  least = 0,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const range =
    most < Number.MAX_SAFE_INTEGER ? `, at most ${most / MIB}M` : least > 0 ? `, at least ${least / MIB}M` : ''
  return amountOf(args, flag, { read: byteCount, least, most, what: `a number of bytes such as 4096 or 64M${range}` })
}

/** Amounts that a flag takes. */
interface Amounts {
  /** NaN for other text. */
  readonly read: (text: string) => number
  readonly least: number
  readonly most: number
  /** The same in words. */
  readonly what: string
}

/** The value of a flag as an amount; undefined if it was not given. @throws UsageError */
function amountOf(
  args: Pick<Arguments, 'value'>,
  flag: string,
  { read, least, most, what }: Amounts,
): number | undefined {
  const text = args.value(flag)
  if (text === undefined) return undefined
  const amount = read(text)
  if (amount >= least && amount <= most) return amount
  throw new UsageError(`--${flag} needs ${what}, not ${JSON.stringify(text)}`)
}

/** A flag's value as an integer in decimal or, with `0x`, in hex. */
export function integer(flag: string, text: string): bigint {
  if (!/^(-?\d{1,20}|0[xX][0-9a-fA-F]{1,16})$/.test(text))
    throw new UsageError(`--${flag} needs an integer, not ${JSON.stringify(text)}`)
  const value = BigInt(text)
  if (value < -(2n ** 63n) || value >= 2n ** 64n) throw new UsageError(`--${flag} does not fit 64 bits: ${text}`)
  return value
}

/** The result of `read`. @throws UsageError if `read` throws, with its message after a prefix such as `--at: ` */
export function orUsageError<T>(read: () => T, prefix = ''): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(`${prefix}${(error as Error).message}`, { cause: error })
  }
}

/** Names of options at the beginning of a message about what they must be. */
const OPTIONS_NAMED = /^\w+( and \w+)*(?=:| must | cannot | is an option )/

/**
 * What is made of the options that flags give.
 * @param of the function with these options, which messages may name before the option: `filter`
 * @throws UsageError with the message of a RangeError, about the flags in place of the options
 */
export function orFlagError<T>(options: object, make: () => T, of = ''): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = error.message.startsWith(`${of}: `) ? error.message.slice(of.length + 2) : error.message
    const about = message.replace(OPTIONS_NAMED, (names) =>
      names.replace(/\w+/g, (name) => (Object.hasOwn(options, name) ? `--${dashed(name)}` : name)),
    )
    throw new UsageError(about, { cause: error })
  }
}

/** The one that was given of some flags. @throws UsageError when two were given */
export function oneOf<Name extends string>(args: Pick<Arguments, 'has'>, flags: readonly Name[]): Name | undefined {
  const [one, other] = flags.filter((name) => args.has(name))
  if (other !== undefined) throw new UsageError(`--${one} and --${other} cannot be combined`)
  return one
}

/** @throws UsageError when one of some flags was given, and must not be with another one */
export function refuseWith(args: Pick<Arguments, 'has'>, flags: readonly string[], other: string): void {
  const flag = flags.find((name) => args.has(name))
  if (flag !== undefined) throw new UsageError(`--${flag} and --${other} cannot be combined`)
}

/** @throws UsageError when one of some flags was given, which need something else */
export function refuseWithout(args: Pick<Arguments, 'has'>, flags: readonly string[], needed: string): void {
  const flag = flags.find((name) => args.has(name))
  if (flag !== undefined) throw new UsageError(`--${flag} needs ${needed}`)
}

/**
 * Refuses a list where a flag takes one value and is repeated for more.
 * @param values the allowed values, where these are few
 * @throws UsageError that says how to write it
 */
export function refuseList(flag: string, text: string, values?: readonly string[]): void {
  const parts = text.split(',')
  if (parts.length === 1 || (values !== undefined && !parts.every((part) => values.includes(part)))) return
  throw new UsageError(
    `--${flag} takes one value: repeat it for several (${parts.map((part) => `--${flag} ${part}`).join(' ')})`,
  )
}

/**
 * The definition of temporary allocations, by `TEMPORARY_FLAG` or the default. It is here, not with the flag, because
 * pages have it, too.
 * @param isUsed whether the output depends on it
 * @param needed the missing property of the output, after "needs"
 * @throws UsageError when the flag is given and changes nothing
 */
export function temporaryBy(
  args: Pick<Arguments, 'value' | 'has'>,
  isUsed: boolean,
  needed: string,
): TemporaryDefinition {
  const name = 'temporary-by'
  if (args.has(name) && !isUsed) throw new UsageError(`--${name} needs ${needed}`)
  return (args.value(name) ?? TEMPORARY_BY) as TemporaryDefinition
}

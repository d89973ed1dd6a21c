import { wrongType } from './error.js'
import { showValue } from './message-text.js'
import { didYouMean } from './suggest.js'

/** What an option may be, where neither `typeof` nor a list of values can say it. */
export interface ValueCheck {
  /** In messages: `an array` */
  readonly what: string
  is(value: unknown): boolean
}

/** How the value of an option is checked; `true` where its function does that. */
type OptionCheck<Value> = [Value] extends [boolean]
  ? 'boolean'
  : [Value] extends [number]
    ? 'number' | readonly Value[] | ValueCheck
    : [Value] extends [bigint]
      ? 'bigint'
      : [Value] extends [(...args: never) => unknown]
        ? 'function'
        : [Value] extends [string]
          ? 'string' | readonly Value[]
          : true | ValueCheck

export const TEXTS: ValueCheck = {
  what: 'an array of strings',
  is: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
}

/** A signal that ends something. Those of other realms and of packages are no instances of `AbortSignal`. */
export const SIGNAL: ValueCheck = {
  what: 'an AbortSignal',
  is: (value) => typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
}

/** Options of something else, which checks them. */
export const OBJECT: ValueCheck = {
  what: 'an object',
  is: (value) => typeof value === 'object' && value !== null,
}

/** A whole number in a range, by default from 0 on. */
export function wholeNumber(least = 0, most: number = Number.MAX_SAFE_INTEGER): ValueCheck {
  return {
    what: `a whole number from ${least} to ${most}`,
    is: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  }
}

/** The most of something that there may be. */
export const LIMIT: ValueCheck = {
  what: 'a whole number from 1 on, or Infinity',
  is: (value) => value === Infinity || wholeNumber(1).is(value),
}

/** The names of all options of a type, checked by the compiler for missing and unknown ones, with what they may be. */
export type OptionNames<Options extends object> = Readonly<{
  [Name in keyof Options]-?: OptionCheck<NonNullable<Options[Name]>>
}>

/** The type of the options of a function without options. */
export type NoOptions = Readonly<Record<string, never>>

/**
 * Refuses options that do not exist: otherwise a mistyped name would silently change what a program does. An option
 * whose value is undefined counts, too.
 *
 * @param of the name, in messages, of the function with these options: `filter`
 * @throws TypeError (code ERR_INVALID_ARG_TYPE) when the options are not an object
 * @throws RangeError for an unknown option, with the name that was probably meant, and for a value of the wrong type
 */
export function checkOptions<Options extends object>(
  options: Options | undefined,
  names: OptionNames<Options>,
  of: string,
): void {
  if (options !== undefined) checkNeededOptions(options, names, of)
}

/**
 * Refuses options as `checkOptions` does, and also their absence: for functions that need options.
 *
 * @param of the name, in messages, of the function with these options: `filter`
 * @throws TypeError (code ERR_INVALID_ARG_TYPE) when the options are not an object
 * @throws RangeError for an unknown option, with the name that was probably meant, and for a value of the wrong type
 */
export function checkNeededOptions<Options extends object>(
  options: Options,
  names: OptionNames<Options>,
  of: string,
): void {
  // What a list, a map or a promise holds would be ignored.
  if (typeof options !== 'object' || options === null || Symbol.iterator in options || 'then' in options)
    throw wrongType(`${of}: the options must be a plain object, not ${showValue(options)}`)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(names, name)) throw unknownOption(name, names, of)
    const check = valueCheck(names[name as keyof Options])
    if (value === undefined || check === undefined || check.is(value)) continue
    throw new RangeError(`${of}: ${name} must be ${check.what}, not ${showValue(value)}`)
  }
}

/** What is made of the value of an option. @throws RangeError, with the option's name, for a value that is refused */
export function ofOption<Made>(of: string, name: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    throw new RangeError(`${of}: ${name}: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Refuses what is not the result of a sink, such as the promise of it.
 * @param sink the function that makes the sink: `profile`
 * @param has a property of its results
 * @throws TypeError (code ERR_INVALID_ARG_TYPE)
 */
export function needResult(given: unknown, sink: string, has: string, of: string): void {
  if ((given as Record<string, unknown> | null | undefined)?.[has] === undefined)
    throw wrongType(`${of}: the awaited result of ${sink}() is needed, not ${showValue(given)}`)
}

/** @throws RangeError unless the value of an option is a whole number in a range */
export function whole(name: string, value: number, least: number, most: number): number {
  const { what, is } = wholeNumber(least, most)
  if (is(value)) return value
  throw new RangeError(`${name} must be ${what}, not ${showValue(value)}`)
}

/** Values for messages: `a, b or c`. */
export function oneOf(values: readonly unknown[]): string {
  return [...(values.length > 1 ? [values.slice(0, -1).join(', ')] : []), values.at(-1)].join(' or ')
}

function valueCheck(check: unknown): ValueCheck | undefined {
  if (check === true) return undefined
  if (typeof check === 'string')
    return { what: `a ${check}`, is: (value) => typeof value === check && !Number.isNaN(value) }
  return Array.isArray(check) ? { what: oneOf(check), is: (value) => check.includes(value) } : (check as ValueCheck)
}

function unknownOption(name: string, names: object, of: string): RangeError {
  const known = Object.keys(names)
  const hint =
    didYouMean(name, known) || (known.length === 0 ? ' (there are no options)' : ` (expected ${known.join(', ')})`)
  return new RangeError(`${of}: unknown option ${showValue(name)}${hint}`)
}

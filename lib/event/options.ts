import { wrongType } from './error.js'
import { showValue } from './message-text.js'
import { didYouMean } from './suggest.js'

/** How the value of an option is checked: by `typeof`, or by a list of values; `true` where its function does that. */
type OptionCheck<Value> = [Value] extends [boolean]
  ? 'boolean'
  : [Value] extends [number]
    ? 'number'
    : [Value] extends [bigint]
      ? 'bigint'
      : [Value] extends [(...args: never) => unknown]
        ? 'function'
        : [Value] extends [string]
          ? 'string' | readonly Value[]
          : true

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
  if (typeof options !== 'object' || options === null)
    throw wrongType(`${of}: the options must be an object, not ${showValue(options)}`)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(names, name)) throw unknownOption(name, names, of)
    const check: unknown = names[name as keyof Options]
    if (value === undefined) continue
    if (typeof check === 'string' ? typeof value === check : !Array.isArray(check) || check.includes(value)) continue
    const hint = typeof check === 'string' ? `a ${check}` : (check as unknown[]).join(' or ')
    throw new RangeError(`${of}: ${name} must be ${hint}, not ${showValue(value)}`)
  }
}

/** @throws RangeError unless the value of an option is a whole number in a range */
export function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${showValue(value)}`)
}

function unknownOption(name: string, names: object, of: string): RangeError {
  const known = Object.keys(names)
  const hint =
    didYouMean(name, known) || (known.length === 0 ? ' (there are no options)' : ` (expected ${known.join(', ')})`)
  return new RangeError(`${of}: unknown option ${showValue(name)}${hint}`)
}

import { wrongType } from './error.js'
import { showValue } from './message-text.js'
import { didYouMean } from './suggest.js'

/** The names of all options of a type, checked by the compiler for missing and unknown ones. */
export type OptionNames<Options extends object> = Readonly<{ [Name in keyof Options]-?: true }>

/**
 * Refuses options that do not exist: otherwise a mistyped name would silently change what a program does. An option
 * whose value is undefined counts, too.
 *
 * @param of the name, in messages, of the function with these options: `filter`
 * @throws TypeError (code ERR_INVALID_ARG_TYPE) when the options are not an object
 * @throws RangeError for an unknown option, with the name that was probably meant
 */
export function checkOptions<Options extends object>(
  options: Options | undefined,
  names: OptionNames<Options>,
  of: string,
): void {
  if (options === undefined) return
  if (typeof options !== 'object' || options === null)
    throw wrongType(`${of}: the options must be an object, not ${showValue(options)}`)
  for (const name of Object.keys(options)) if (!Object.hasOwn(names, name)) throw unknownOption(name, names, of)
}

function unknownOption(name: string, names: object, of: string): RangeError {
  const known = Object.keys(names)
  const hint =
    didYouMean(name, known) || (known.length === 0 ? ' (there are no options)' : ` (expected ${known.join(', ')})`)
  return new RangeError(`${of}: unknown option ${showValue(name)}${hint}`)
}

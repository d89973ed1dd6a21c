import { canBeAllocator } from '../names/allocator-functions.js'
import { canDemangle, demangledNow, isMangled } from '../streams/symbols/demangle.js'

/** A line of a rule of valgrind about a function: the text before its name, and the name. */
const FUNCTION = /^(\s*fun:)(\S+)\s*$/
const HAS_WILDCARD = /[*?]/

/**
 * A file of rules whose functions also have the names of traces. valgrind writes the mangled symbols of C++ and Rust,
 * while traces have demangled names. A demangled name is added after a tab, as another name of the function, if it can
 * be found.
 * @returns the text, and warnings
 */
export function withDemangled(text: string): { text: string; warning?: string } {
  const lines = text.split('\n').map((line) => ({ line, name: FUNCTION.exec(line)?.[2] }))
  const symbols = [...new Set(lines.flatMap(({ name }) => (name !== undefined && isToDemangle(name) ? [name] : [])))]
  if (symbols.length === 0) return { text }
  const whole = symbols.filter((name) => !HAS_WILDCARD.test(name))
  const names = demangledNow(whole)
  const nameOf = new Map(whole.map((symbol, i) => [symbol, names[i]] as const))
  const isKnown = (symbol: string) => !isMangled(nameOf.get(symbol) ?? symbol)
  const rest = symbols.filter((symbol) => !isKnown(symbol))
  const withNames = lines.map(({ line, name }) =>
    name !== undefined && nameOf.has(name) && isKnown(name) ? `${line.trimEnd()}\t${nameOf.get(name)}` : line,
  )
  return { text: withNames.join('\n'), ...(rest.length > 0 && { warning: warningOf(rest) }) }
}

/** The names of functions that allocate are known without a program. */
function isToDemangle(name: string): boolean {
  return isMangled(name) && !canBeAllocator(name)
}

function warningOf([first, ...others]: readonly string[]): string {
  const which = others.length === 0 ? first : `${first} and ${others.length} more`
  const why = canDemangle() ? '' : ', because there is no c++filt'
  return (
    `fun:${which} cannot be demangled${why}, and fits only traces with mangled names; ` +
    'a rule may have names as the trace has them, such as fun:app::*'
  )
}

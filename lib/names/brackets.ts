/*
 * Names of C++ and Rust functions as a sequence of text and of groups in brackets. Symbols of operators are text, so
 * that `operator<<` opens nothing.
 */

/** A part of a name. `start` marks a group in angle brackets that begins a name instead of following one. */
export interface NamePart {
  readonly kind: 'text' | 'operator' | '<' | '(' | '{' | '['
  readonly text: string
  readonly start?: boolean
}

const OPERATOR =
  /operator(?:\(\)|\[\]|->\*?|<=>|<<=|>>=|<<(?=[<(\s@]|$)|>>|<=|>=|<|>|\s?""|\s(?:new|delete)(?:\s?\[\])?|(?=[\s=+\-*/%^&|~!,]))/y
const WORD = /[\w$]/
const CLOSING: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' }

/** The end of the symbol of an operator that begins at `at`; `at` where there is none. */
function operatorEnd(text: string, at: number): number {
  if (text[at] !== 'o' || (at > 0 && WORD.test(text[at - 1]))) return at
  OPERATOR.lastIndex = at
  return OPERATOR.test(text) ? OPERATOR.lastIndex : at
}

/** The end of the group that begins at `at`, or -1 if it is not closed. */
function groupEnd(text: string, at: number): number {
  const open: string[] = []
  for (let i = at; i < text.length; i++) {
    const end = operatorEnd(text, i)
    if (end > i) {
      i = end - 1
      continue
    }
    const char = text[i]
    if (char === '<' || char === '(' || char === '{' || char === '[') open.push(char)
    else if (char === '>') {
      // An arrow, or a comparison in parentheses, closes nothing.
      if (text[i - 1] !== '-' && open.at(-1) === '<') open.pop()
    } else if (CLOSING[char] !== undefined) {
      while (open.at(-1) === '<') open.pop()
      if (open.pop() !== CLOSING[char]) return -1
    }
    if (open.length === 0) return i + 1
  }
  return -1
}

/** The parts of a name, whose texts make the name; undefined if brackets are not closed. Takes linear time. */
export function nameParts(name: string): NamePart[] | undefined {
  const parts: NamePart[] = []
  let from = 0
  const flush = (to: number) => {
    if (to > from) parts.push({ kind: 'text', text: name.slice(from, to) })
  }
  for (let i = 0; i < name.length;) {
    const end = operatorEnd(name, i)
    const char = name[i]
    if (end > i) {
      flush(i)
      // The arguments of `operator< <int>` are separated by a space.
      from = name[end] === ' ' && name[end + 1] === '<' ? end + 1 : end
      parts.push({ kind: 'operator', text: name.slice(i, from) })
      i = from
    } else if (char === '<' || char === '(' || char === '{' || char === '[') {
      const close = groupEnd(name, i)
      if (close < 0) return undefined
      flush(i)
      const before = parts.at(-1)
      const start = before === undefined || (before.kind === 'text' && /(?:::|[\s&*])$/.test(before.text))
      parts.push({ kind: char, text: name.slice(i, close), start })
      from = i = close
    } else if (CLOSING[char] !== undefined) return undefined
    else i++
  }
  flush(name.length)
  return parts
}

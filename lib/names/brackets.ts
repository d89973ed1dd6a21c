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

/** The operators whose names have brackets, and others, of which only the word is needed. */
const BRACKETED = /\(\)|\[\]|->\*?|<=>|<<=|>>=|<<(?=[<(\s@]|$)|>>|<=|>=|<|>|\s?""|\s(?:new|delete)(?:\s?\[\])?/.source
const OTHER_OPERATOR = /(?=[\s=+\-*/%^&|~!,])/.source
const OPERATOR = new RegExp(`operator(?:${BRACKETED}|${OTHER_OPERATOR})`, 'y')
const WORD = /[\w$]/
/** The name of a namespace without one, which has brackets, and no group. */
export const ANONYMOUS = '(anonymous namespace)'
/** Stands for what is in a group. */
const OMITTED = '...'
const CLOSING: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' }

/**
 * A name of at most `longest` characters whose deepest groups are `<...>` and the like, so that its brackets still
 * match: `Map<Key<...>, int>::find`. Undefined if brackets are not closed, or the name without any group is too long.
 * Takes linear time.
 */
export function withoutDepth(name: string, longest: number): string | undefined {
  const depths = depthsOf(name)
  if (depths === undefined) return undefined
  // The number of characters inside of groups at each depth, and of groups that begin there.
  const [inside, groups] = [[0], [0]]
  depths.forEach((depth, i) => {
    inside[depth] = (inside[depth] ?? 0) + 1
    if (i > 0 && depth > depths[i - 1]) groups[depth] = (groups[depth] ?? 0) + 1
  })
  let [kept, length] = [-1, 0]
  for (let depth = 0; depth < inside.length; depth++) {
    length += inside[depth]
    if (length + OMITTED.length * (groups[depth + 1] ?? 0) <= longest) kept = depth
  }
  if (kept < 0) return undefined
  let text = ''
  for (let i = 0; i < name.length;) {
    const from = i
    const isKept = depths[i] <= kept
    while (i < name.length && depths[i] <= kept === isKept) i++
    text += isKept ? name.slice(from, i) : OMITTED
  }
  return text
}

/** The depth of groups at each character; brackets belong to what is around them. Undefined if one is not closed. */
function depthsOf(name: string): Uint32Array | undefined {
  const depths = new Uint32Array(name.length)
  const open: string[] = []
  for (let i = 0; i < name.length; i++) {
    const end = name.startsWith(ANONYMOUS, i) ? i + ANONYMOUS.length : operatorEnd(name, i)
    if (end > i) {
      depths.fill(open.length, i, end)
      i = end - 1
      continue
    }
    const char = name[i]
    const opening = char === '>' ? (name[i - 1] !== '-' && open.at(-1) === '<' ? '<' : undefined) : CLOSING[char]
    if (opening !== undefined) {
      if (char !== '>') while (open.at(-1) === '<') open.pop()
      if (open.pop() !== opening) return undefined
    }
    depths[i] = open.length
    if (char === '<' || char === '(' || char === '{' || char === '[') open.push(char)
  }
  return open.length === 0 ? depths : undefined
}

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

import { takeName } from '../take-name.js'

/** The languages that modules can be written in. */
export type Language = 'ts' | 'js'

/** Lines of code; those of an inner list are indented. */
export type Code = readonly (string | Code)[]

/** Code as text, two blanks for each level. */
export function render(code: Code, level = 0): string {
  return code.map((part) => (typeof part === 'string' ? line(part, level) : render(part, level + 1))).join('')
}

function line(text: string, level: number): string {
  return text === '' ? '\n' : `${'  '.repeat(level)}${text}\n`
}

/** Lines in parentheses or braces: `head {`, what is in it, `}`. */
export function block(head: string, body: Code, tail = '}'): Code {
  return [`${head} {`, body, tail]
}

/** The most columns of a line of text. */
const COLUMNS = 120

/** A documentation comment of some paragraphs, of which long ones are broken. */
export function comment(...paragraphs: string[]): string[] {
  const lines = paragraphs.flatMap((paragraph) => wrap(paragraph.replaceAll('*/', '* /'), COLUMNS - 10))
  if (lines.length === 1) return [`/** ${lines[0]} */`]
  return ['/**', ...lines.map((text) => (text === '' ? ' *' : ` * ${text}`)), ' */']
}

function wrap(text: string, columns: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1] as string
    if (last !== '' && last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

/** Text in single quotes. */
export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/**
 * The text of code without its comments, in which names stand that it does not use. There are no strings in it that
 * hold any.
 */
export function withoutComments(code: Code): string {
  return render(code).replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
}

/** Whether text, without its comments, has a name in it. */
export function uses(text: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(text)
}

/** Names that nothing else in the module may have. */
export class Names {
  /** Each name that is taken, and the last number that was added to it. */
  private readonly taken: Map<string, number>

  constructor(taken: Iterable<string>) {
    this.taken = new Map([...taken].map((name) => [name, 1]))
  }

  /** The name itself if it is free, else with the first number that makes it so. */
  take(name: string): string {
    return takeName(name, this.taken, '')
  }
}

/** `create_heap` as `createHeap`. */
export function camelCase(name: string): string {
  const words = name.split('_').filter((word) => word !== '')
  const [first = 'x', ...others] = words
  return [lowerFirst(first), ...others.map(upperFirst)].join('')
}

/** `create_heap` as `CreateHeap`. */
export function pascalCase(name: string): string {
  const joined = upperFirst(camelCase(name))
  // No name may begin with a digit, which only underscores kept from being the first.
  return /^[A-Z]/.test(joined) ? joined : `X${joined}`
}

function lowerFirst(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1)
}

function upperFirst(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

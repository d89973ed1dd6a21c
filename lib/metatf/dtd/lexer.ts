import { limitError, quote, syntaxError } from '../errors.js'
import type { Place } from '../model.js'

/** A word of the language. A `header` is a whole line that begins with `##`; the last token is `end`. */
export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'symbol' | 'header' | 'end'
  /** As written; of a header line what follows the `##`. */
  readonly text: string
  readonly at: Place
}

/** Spaces and comments, of which one may have no end. */
const SKIPPED = /(?:[ \t\r\n\f\v]+|\/\/[^\n]*|\/\*[^]*?\*\/)*(\/\*)?/y
/** One group for each kind. */
const TOKEN = /([:;,.*(){}=])|([A-Za-z_]\w*)|(-?[0-9]\w*)|("[^"\\\n]*(?:\\["\\][^"\\\n]*)*")|##([^\n]*)/y
const KINDS = ['symbol', 'name', 'number', 'string', 'header'] as const
const INTEGER = /^-?(?:0[xX][0-9A-Fa-f]+|[0-9]+)$/

/**
 * The maximum number of digits. A number of 64 bits has fewer, and leading zeros are rare, so a longer one is refused
 * without computing it.
 */
const MAX_DIGITS = 64

/** Splits the text of a DTD into tokens, on demand. */
export class Lexer {
  private position = 0
  private line = 1
  /** The start of the current line. */
  private lineStart = 0

  constructor(
    private readonly text: string,
    private readonly file: string,
  ) {}

  /** The next token; at the end of the text `end`, on every call. Throws a DtdError if there is no valid token. */
  next(): Token {
    const { text } = this
    const [skipped, open = ''] = this.match(SKIPPED) as RegExpExecArray
    this.skip(skipped.slice(0, skipped.length - open.length))
    const at = { file: this.file, line: this.line, column: this.position - this.lineStart + 1 }
    if (open !== '') throw syntaxError("a comment '/*' has no end '*/'", at)
    if (this.position === text.length) return { kind: 'end', text: '', at }
    const found = this.match(TOKEN)
    if (found === null) throw this.unexpected(at)
    const group = KINDS.findIndex((_, i) => found[i + 1] !== undefined)
    const kind = KINDS[group] as Token['kind']
    if (kind === 'header' && text.slice(this.lineStart, this.position).trim() !== '')
      throw syntaxError("'##' must begin a line", at)
    this.position += found[0].length
    return { kind, text: found[group + 1], at }
  }

  private match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.position
    return expression.exec(this.text)
  }

  /** Goes past spaces and comments, counting lines. */
  private skip(skipped: string): void {
    for (let feed = skipped.indexOf('\n'); feed >= 0; feed = skipped.indexOf('\n', feed + 1)) {
      this.lineStart = this.position + feed + 1
      this.line++
    }
    this.position += skipped.length
  }

  private unexpected(at: Place): Error {
    const code = this.text.codePointAt(this.position) as number
    const char = String.fromCodePoint(code)
    if (char === '"')
      return syntaxError(`a string must end on its line, and only \\" and \\\\ may follow a backslash in it`, at)
    const isPlain = code >= 0x20 && code <= 0x7e
    const shown = isPlain ? quote(char) : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    return syntaxError(`unexpected character ${shown}`, at)
  }
}

/** A token as messages name it. */
export function showToken({ kind, text }: Token): string {
  if (kind === 'end') return 'the end of the text'
  return kind === 'header' ? "a line '##'" : quote(text)
}

/** The value of a number. Throws a DtdError if it is none, or has more than 64 bits. */
export function integerOf({ text, at }: Token): bigint {
  if (!INTEGER.test(text)) throw syntaxError(`${quote(text)} is not a number`, at)
  const digits = text.replace('-', '')
  const magnitude = digits.length > MAX_DIGITS ? 1n << 64n : BigInt(digits)
  const value = text === digits ? magnitude : -magnitude
  if (value >= 1n << 64n || value < -(1n << 63n))
    throw limitError(`the number ${quote(text)} has more than 64 bits`, at)
  return value
}

/** The text of a string, without quotes and escapes. */
export function stringOf({ text }: Token): string {
  return text.slice(1, -1).replace(/\\(.)/g, '$1')
}

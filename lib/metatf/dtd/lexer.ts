import { limitError, quote, syntaxError } from '../errors.js'
import type { Place } from '../model.js'

/** A word of the language. A `header` is a whole line that begins with `##`; the last token is `end`. */
export interface Token {
  kind: 'name' | 'number' | 'string' | 'symbol' | 'header' | 'end'
  /** As written; of a header line what follows the `##`. */
  text: string
  /** Of a number. */
  number: bigint
  /** Of a string, without quotes and escapes. */
  string: string
  at: Place
}

const BLANKS = /[ \t\r\n\f\v]*/y
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y
const NUMBER = /-?[0-9][A-Za-z0-9_]*/y
const INTEGER = /^-?(?:0[xX][0-9A-Fa-f]+|[0-9]+)$/
const STRING = /"[^"\\\n]*(?:\\["\\][^"\\\n]*)*"/y
const LINE = /[^\n]*/y
const LINE_FEED = 10
const SYMBOLS = ':;,.*(){}='

/**
 * More digits than any 64-bit number has, leading zeros being rare: such a number need not be computed to be refused.
 */
const MAX_DIGITS = 64

/** Splits the text of a DTD into tokens, on demand. Comments and spaces are skipped. */
export class Lexer {
  private position = 0
  private line = 1
  /** Where the current line begins. */
  private lineStart = 0

  constructor(
    private readonly text: string,
    private readonly file: string,
  ) {}

  /** The next token; at the end of the text `end`, on every call. Throws a DtdError if there is no valid token. */
  next(): Token {
    this.skip()
    const at = this.place()
    const char = this.text[this.position]
    if (char === undefined) return token('end', '', at)
    if (SYMBOLS.includes(char)) {
      this.position++
      return token('symbol', char, at)
    }
    const word = this.match(WORD)
    if (word !== null) return token('name', word, at)
    const number = this.match(NUMBER)
    if (number !== null) return { ...token('number', number, at), number: integer(number, at) }
    if (char === '"') return this.quoted(at)
    if (this.text.startsWith('##', this.position)) return this.header(at)
    throw syntaxError(`unexpected character ${showCharacter(this.text.codePointAt(this.position) as number)}`, at)
  }

  /** Skips spaces and comments. */
  private skip(): void {
    for (;;) {
      this.match(BLANKS)
      if (this.text.startsWith('//', this.position)) {
        this.match(LINE)
      } else if (this.text.startsWith('/*', this.position)) {
        const end = this.text.indexOf('*/', this.position + 2)
        if (end < 0) throw syntaxError("a comment '/*' has no end '*/'", this.place())
        this.advance(end + 2)
      } else {
        return
      }
    }
  }

  private quoted(at: Place): Token {
    const text = this.match(STRING)
    if (text === null)
      throw syntaxError(`a string must end on its line, and only \\" and \\\\ may follow a backslash in it`, at)
    return { ...token('string', text, at), string: text.slice(1, -1).replace(/\\(.)/g, '$1') }
  }

  private header(at: Place): Token {
    if (this.text.slice(this.lineStart, this.position).trim() !== '') throw syntaxError("'##' must begin a line", at)
    return token('header', (this.match(LINE) as string).slice(2), at)
  }

  /** Takes what the expression finds here, or null. */
  private match(expression: RegExp): string | null {
    expression.lastIndex = this.position
    const found = expression.exec(this.text)
    if (found === null) return null
    this.advance(this.position + found[0].length)
    return found[0]
  }

  /** Goes forward, counting lines. */
  private advance(position: number): void {
    for (; this.position < position; this.position++) {
      if (this.text.charCodeAt(this.position) !== LINE_FEED) continue
      this.lineStart = this.position + 1
      this.line++
    }
  }

  private place(): Place {
    return { file: this.file, line: this.line, column: this.position - this.lineStart + 1 }
  }
}

/** A token as messages name it. */
export function showToken({ kind, text }: Token): string {
  if (kind === 'end') return 'the end of the text'
  return kind === 'header' ? "a line '##'" : quote(text)
}

function showCharacter(code: number): string {
  return code < 0x20 || code > 0x7e
    ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    : quote(String.fromCodePoint(code))
}

function token(kind: Token['kind'], text: string, at: Place): Token {
  return { kind, text, number: 0n, string: '', at }
}

function integer(text: string, at: Place): bigint {
  if (!INTEGER.test(text)) throw syntaxError(`${quote(text)} is not a number`, at)
  const digits = text.startsWith('-') ? text.slice(1) : text
  const magnitude = digits.length > MAX_DIGITS ? 1n << 64n : BigInt(digits)
  const value = text.startsWith('-') ? -magnitude : magnitude
  if (value >= 1n << 64n || value < -(1n << 63n))
    throw limitError(`the number ${quote(text)} has more than 64 bits`, at)
  return value
}

import { syntaxError } from './errors.js'
import { showToken, type Lexer, type Token } from './lexer.js'
import type { Name, NumberSyntax } from './syntax.js'

/** A place in the tokens of a text, and the steps that all rules of the grammar take from there. */
export class Cursor {
  /** Tokens that were looked at but not taken yet. */
  private readonly ahead: Token[] = []

  constructor(private readonly lexer: Lexer) {}

  /** The token that comes next, or the one after so many more. */
  protected peek(skip = 0): Token {
    while (this.ahead.length <= skip) this.ahead.push(this.lexer.next())
    return this.ahead[skip] as Token
  }

  /** Takes the next token, whatever it is. */
  protected take(): Token {
    return this.ahead.shift() ?? this.lexer.next()
  }

  /** Whether one of these symbols comes next, or after so many more tokens. */
  protected at(symbols: string, skip = 0): boolean {
    const { kind, text } = this.peek(skip)
    return kind === 'symbol' && symbols.includes(text)
  }

  /** Takes the next token if it is this symbol, and says whether it was. */
  protected accept(symbol: string): boolean {
    if (!this.at(symbol)) return false
    this.take()
    return true
  }

  /** Takes this symbol, or fails. */
  protected symbol(symbol: string, expected = `'${symbol}'`): Token {
    return this.at(symbol) ? this.take() : this.fail(expected)
  }

  /** Takes a name, or fails. */
  protected name(expected: string): Name {
    if (this.peek().kind !== 'name') this.fail(expected)
    const { text, at } = this.take()
    return { text, at }
  }

  /** Takes a number, or fails. */
  protected number(expected: string): NumberSyntax {
    if (this.peek().kind !== 'number') this.fail(expected)
    const { number, at } = this.take()
    return { kind: 'number', value: number, at }
  }

  /** Throws: something else stands where this was expected. */
  protected fail(expected: string): never {
    const found = this.peek()
    throw syntaxError(`expected ${expected}, found ${showToken(found)}`, found.at)
  }
}

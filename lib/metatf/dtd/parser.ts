import { limitError, meaningError, quote, syntaxError, MAX_DEPTH, MAX_RECORDS } from '../errors.js'
import type { HeaderLine, Version } from '../model.js'
import { PREDEFINED_FILE, PREDEFINED_TEXT } from './predefined.js'
import { integerOf, Lexer, showToken, stringOf, type Token } from './lexer.js'
import * as Syntax from './syntax.js'

/** The text of a DTD before names are looked up. */
export interface DtdSyntax {
  readonly version: Version
  readonly headers: readonly HeaderLine[]
  /** First the global scope, then the sections. */
  readonly scopes: readonly [Syntax.Scope, ...Syntax.Scope[]]
}

/** Names with a meaning of their own, that no section and no other record can have. */
const RESERVED = {
  '1.0': ['section', 'tag', 'vfield', 'comment', 'metadata', 'width', 'interpretation', 'value'],
  '1.2': ['section', 'tag', 'vfield', 'comment', 'metadata', 'int', 'string'],
} as const satisfies Record<Version, readonly string[]>

const MAX_SECTION = 255n

/** Parses the text of a DTD of either version. Throws a DtdError at the first fault. */
export function parseSyntax(text: string, file: string): DtdSyntax {
  const version = detectVersion(text, file)
  return new Parser(text, file, version, version === '1.0' ? predefinedRecords() : new Map()).document()
}

/** The predefined record types, in a separate scope, which no property of the DTD affects. */
function predefinedRecords(): ReadonlyMap<string, Syntax.Definition> {
  return new Parser(PREDEFINED_TEXT, PREDEFINED_FILE, '1.0', null).document().scopes[0].records
}

/**
 * The version of a DTD: from the header line `## MetaTF: 1.2 ...`, or the version whose specific syntax comes first;
 * 1.0 if there is neither.
 */
function detectVersion(text: string, file: string): Version {
  const lexer = new Lexer(text, file)
  let before: Token | undefined
  for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) {
    if (token.kind === 'header') {
      const { key, value, at } = headerLine(token)
      const version = value.split(/\s/, 1)[0]
      if (key === 'MetaTF' && (version === '1.0' || version === '1.2')) return version
      if (key === 'MetaTF') throw syntaxError(`Meta-TF version ${quote(version)} is not known; 1.0 and 1.2 are`, at)
    }
    if (token.text === '.' || token.text === '(') return '1.0'
    if (before?.text === ':' && token.text === '{') return '1.2'
    if (token.kind === 'name' && before?.kind === 'name' && isType(before.text)) return '1.2'
    before = token
  }
  return '1.0'
}

function headerLine({ text, at }: Token): HeaderLine {
  const colon = text.indexOf(':')
  if (colon < 0) throw syntaxError("a line '##' must read '## Key: value'", at)
  return { key: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim(), at }
}

function isType(name: string): name is 'int' | 'string' {
  return name === 'int' || name === 'string'
}

/** The grammar. The versions differ in the brackets of lists of fields, and in how properties are written. */
class Parser {
  private readonly lexer: Lexer
  private readonly open: string
  private readonly close: string
  private readonly reserved: readonly string[]
  /** Tokens that were looked at but not taken yet. */
  private readonly ahead: Token[] = []
  private records = 0

  /** @param predefined the record types that the language itself defines; null in their own definition */
  constructor(
    text: string,
    private readonly file: string,
    private readonly version: Version,
    private readonly predefined: ReadonlyMap<string, Syntax.Definition> | null,
  ) {
    this.lexer = new Lexer(text, file)
    this.open = version === '1.0' ? '(' : '{'
    this.close = version === '1.0' ? ')' : '}'
    this.reserved = predefined === null ? [] : RESERVED[version]
  }

  document(): DtdSyntax {
    const headers: HeaderLine[] = []
    while (this.peek().kind === 'header') headers.push(headerLine(this.take()))
    const name = { text: '', at: { file: this.file, line: 1, column: 1 } }
    // Predefined ones come first, in their own order, whether they are stated again or not.
    const records = new Map(this.predefined)
    const global: Syntax.Scope = { id: 0, name, parent: null, properties: new Map(), records }
    const scopes: [Syntax.Scope, ...Syntax.Scope[]] = [global]
    while (this.peek().kind !== 'end') {
      if (this.atSection()) scopes.push(this.section(scopes))
      else if (scopes.length === 1) this.definition(global)
      else this.fail('another section (global definitions come before the first one)')
    }
    return { version: this.version, headers, scopes }
  }

  /**
   * Whether a section begins here, and not a definition of the record `section` or a property of a field of that name.
   */
  private atSection(): boolean {
    const { kind, text } = this.peek()
    return kind === 'name' && text === 'section' && !this.at(':.=', 1)
  }

  private section([global, ...others]: readonly [Syntax.Scope, ...Syntax.Scope[]]): Syntax.Scope {
    this.take()
    const name = this.name("the section's name")
    const { value: id, at } = this.number("the section's ID")
    if (this.reserved.includes(name.text))
      throw meaningError(`${quote(name.text)} is reserved and cannot be a section`, name.at)
    const section = `section ${quote(name.text)}`
    if (id < 1n || id > MAX_SECTION) throw meaningError(`the ID of ${section} must be from 1 to 255, not ${id}`, at)
    for (const { name: other, id: taken } of others) {
      if (other.text === name.text)
        throw meaningError(`${section} is defined twice`, name.at, 'first defined', other.at)
      if (taken === Number(id))
        throw meaningError(`section ID ${id} is taken`, at, `section ${quote(other.text)} is defined`, other.at)
    }
    const scope: Syntax.Scope = { id: Number(id), name, parent: global, properties: new Map(), records: new Map() }
    this.symbol('{')
    while (!this.accept('}')) {
      if (this.atSection()) this.fail("a definition or '}' (sections cannot be inside each other)")
      this.definition(scope)
    }
    return scope
  }

  /** A record type, or a property that holds for all fields of a name in this scope. */
  private definition(scope: Syntax.Scope): void {
    if (this.at(':', 1)) this.record(scope)
    else if (this.version === '1.0') this.property(scope.properties, 'a definition', "':' or '.'")
    else if (this.atType()) this.declaration(scope.properties)
    else this.failAfter(this.name('a definition'), "':'")
  }

  private record(scope: Syntax.Scope): void {
    const name = this.name('a record name')
    const { text, at } = name
    const restates = (scope.parent === null && this.predefined?.get(text)) || null
    const before = scope.records.get(text)
    if (before !== undefined && before !== restates)
      throw meaningError(`record ${quote(text)} is defined twice`, at, 'first defined', before.name.at)
    if (restates === null && this.reserved.includes(text))
      throw meaningError(`${quote(text)} is reserved and cannot be a record defined here`, at)
    if (++this.records > MAX_RECORDS) throw limitError(`there are more than ${MAX_RECORDS} records`, at)
    this.symbol(':')
    const body = this.at(this.open) ? this.fields(0) : this.name(`${quote(this.open)} or a record type`)
    const properties: Syntax.PropertyTable = new Map()
    this.symbol('{')
    while (!this.accept('}')) this.recordProperty(properties)
    scope.records.set(text, { name, body, scope, properties, predefined: this.predefined === null, restates })
  }

  private fields(depth: number): Syntax.FieldSyntax[] {
    const { at } = this.symbol(this.open)
    if (depth === MAX_DEPTH) throw limitError(`fields are nested more than ${MAX_DEPTH} deep`, at)
    const fields = [this.field(depth)]
    while (this.accept(',')) fields.push(this.field(depth))
    this.symbol(this.close, `',' or ${quote(this.close)}`)
    return fields
  }

  private field(depth: number): Syntax.FieldSyntax {
    if (this.at(this.open) || !this.at('*', 1)) return this.simpleField(depth, 'a field')
    const count = this.name('a field')
    this.take()
    return { kind: 'repetition', count, field: this.simpleField(depth, `a field or ${quote(this.open)}`) }
  }

  private simpleField(depth: number, expected: string): Syntax.SimpleFieldSyntax {
    const { at } = this.peek()
    if (this.at(this.open)) return { kind: 'composite', fields: this.fields(depth + 1), at }
    const name = this.name(expected)
    return { kind: 'name', name, type: this.accept(':') ? this.name('a record type') : null }
  }

  private recordProperty(into: Syntax.PropertyTable): void {
    if (this.version === '1.0') return this.property(into, "a property or '}'", "'.'")
    if (this.atType()) return this.declaration(into)
    const field = this.name("a property or '}'")
    if (!this.accept('=')) this.failAfter(field, "'='")
    Syntax.setProperty(into, 'value', field, this.expression())
    this.symbol(';')
  }

  /** `field.width = 4;`, `field.value = 4;` or `field.interpretation = delta 0;` */
  private property(into: Syntax.PropertyTable, expected: string, expectedAfter: string): void {
    const field = this.name(expected)
    if (!this.accept('.')) this.failAfter(field, expectedAfter)
    const { text, at } = this.name('width, interpretation or value')
    if (text !== 'width' && text !== 'interpretation' && text !== 'value')
      throw syntaxError(`unknown property ${quote(text)}; there are width, interpretation and value`, at)
    this.symbol('=')
    if (text === 'interpretation') Syntax.setProperty(into, text, field, this.interpretation())
    else Syntax.setProperty(into, text, field, this.expression())
    this.symbol(';')
  }

  /** Whether a type follows, which begins a declaration, and not a record with the name of a type. */
  private atType(): boolean {
    const { kind, text } = this.peek()
    return kind === 'name' && isType(text) && !this.at(':=', 1)
  }

  /** `int field = default 0;` */
  private declaration(into: Syntax.PropertyTable): void {
    const type = this.take().text as 'int' | 'string'
    const field = this.name('a field')
    this.symbol('=')
    Syntax.setProperty(into, 'type', field, type)
    Syntax.setProperty(into, 'interpretation', field, this.interpretation())
    this.symbol(';')
  }

  private interpretation(): Syntax.InterpretationSyntax {
    const { text, at } = this.name('an interpretation')
    if (!Object.hasOwn(Syntax.INTERPRETATIONS, text)) {
      const known = Object.keys(Syntax.INTERPRETATIONS).join(', ')
      throw syntaxError(`unknown interpretation ${quote(text)}; there are ${known}`, at)
    }
    const name = text as Syntax.InterpretationName
    return {
      name,
      arguments: Syntax.INTERPRETATIONS[name].map(([label]) => this.expression(`the ${label} of ${name}`)),
      at,
    }
  }

  /** A number; in 1.0 also `field.value` or `field.width`, in 1.2 a string. */
  private expression(
    what = this.version === '1.0' ? "a number or 'field.value'" : 'a number or a string',
  ): Syntax.Expression {
    const { kind, at } = this.peek()
    if (kind === 'string' && this.version === '1.2') return { kind, value: stringOf(this.take()), at }
    if (kind !== 'name' || this.version === '1.2') return this.number(what)
    const field = this.name(what)
    this.symbol('.')
    const { text: property, at: place } = this.name("'value' or 'width'")
    if (property !== 'value' && property !== 'width')
      throw syntaxError(`expected 'value' or 'width', found ${quote(property)}`, place)
    return { kind: 'reference', field, property, at }
  }

  /** The token that comes next, or the one after this many more. */
  private peek(skip = 0): Token {
    while (this.ahead.length <= skip) this.ahead.push(this.lexer.next())
    return this.ahead[skip]
  }

  /** Takes the next token, whatever it is. */
  private take(): Token {
    return this.ahead.shift() ?? this.lexer.next()
  }

  /** Whether one of these symbols comes next, or after this many more tokens. */
  private at(symbols: string, skip = 0): boolean {
    const { kind, text } = this.peek(skip)
    return kind === 'symbol' && symbols.includes(text)
  }

  /** Takes the next token if it is this symbol, and returns whether it was. */
  private accept(symbol: string): boolean {
    const isNext = this.at(symbol)
    if (isNext) this.take()
    return isNext
  }

  private symbol(symbol: string, expected = `'${symbol}'`): Token {
    return this.at(symbol) ? this.take() : this.fail(expected)
  }

  private name(expected: string): Syntax.Name {
    if (this.peek().kind !== 'name') this.fail(expected)
    const { text, at } = this.take()
    return { text, at }
  }

  private number(expected: string): Syntax.Expression & { kind: 'number' } {
    if (this.peek().kind !== 'number') this.fail(expected)
    const token = this.take()
    return { kind: 'number', value: integerOf(token), at: token.at }
  }

  private fail(expected: string): never {
    const found = this.peek()
    throw syntaxError(`expected ${expected}, found ${showToken(found)}`, found.at)
  }

  private failAfter(name: Syntax.Name, expected: string): never {
    this.fail(`${expected} after ${quote(name.text)}`)
  }
}

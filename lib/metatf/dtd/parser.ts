import { limitError, quote, syntaxError, MAX_DEPTH } from '../errors.js'
import type { HeaderLine, Place, Version } from '../model.js'
import { Lexer, showToken, type Token } from './lexer.js'
import {
  INTERPRETATIONS,
  type DefinitionsSyntax,
  type DtdSyntax,
  type ExpressionSyntax,
  type FieldSyntax,
  type InterpretationName,
  type InterpretationSyntax,
  type Name,
  type NumberSyntax,
  type PropertySyntax,
  type RecordSyntax,
  type SectionSyntax,
  type SimpleFieldSyntax,
} from './syntax.js'

/** Parses the text of a DTD of either version. Throws a DtdError at the first fault. */
export function parseSyntax(text: string, file: string): DtdSyntax {
  return new Parser(new Lexer(text, file), detectVersion(text, file)).document(file)
}

/**
 * The version of a DTD: that of the header line `## MetaTF: 1.2 ...`, or the one whose specific syntax comes first; 1.0
 * if there is neither.
 */
function detectVersion(text: string, file: string): Version {
  const lexer = new Lexer(text, file)
  let before: Token | undefined
  for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) {
    if (token.kind === 'header') {
      const { key, value, at } = headerLine(token)
      if (key === 'MetaTF') return knownVersion(value, at)
    }
    if (token.text === '.' || token.text === '(') return '1.0'
    if (before?.text === ':' && token.text === '{') return '1.2'
    if (token.kind === 'name' && before?.kind === 'name' && (before.text === 'int' || before.text === 'string'))
      return '1.2'
    before = token
  }
  return '1.0'
}

function knownVersion(value: string, at: Place): Version {
  const version = value.split(/\s/, 1)[0] as string
  if (version === '1.0' || version === '1.2') return version
  throw syntaxError(`Meta-TF version ${quote(version)} is not known; 1.0 and 1.2 are`, at)
}

function headerLine({ text, at }: Token): HeaderLine {
  const colon = text.indexOf(':')
  if (colon < 0) throw syntaxError("a line '##' must read '## Key: value'", at)
  return { key: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim(), at }
}

/** A place in the tokens of a text, and the steps that all rules of the grammar take from there. */
class Cursor {
  /** Tokens that were looked at but not taken yet. */
  private readonly ahead: Token[] = []

  constructor(private readonly lexer: Lexer) {}

  /** The token that comes next, or the one after this many more. */
  protected peek(skip = 0): Token {
    while (this.ahead.length <= skip) this.ahead.push(this.lexer.next())
    return this.ahead[skip] as Token
  }

  /** Takes the next token, whatever it is. */
  protected take(): Token {
    return this.ahead.shift() ?? this.lexer.next()
  }

  /** Whether one of these symbols comes next, or after this many more tokens. */
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

  /** Throws: the next token is not the expected one. */
  protected fail(expected: string): never {
    const found = this.peek()
    throw syntaxError(`expected ${expected}, found ${showToken(found)}`, found.at)
  }
}

/** The rules for properties of fields, which the two versions write differently. */
class PropertyParser extends Cursor {
  constructor(
    lexer: Lexer,
    protected readonly version: Version,
  ) {
    super(lexer)
  }

  /** A property that holds for all fields of a name in a scope: `size.width = 4;`, or `int size = none;`. */
  protected scopeProperty(into: PropertySyntax[]): void {
    if (this.version === '1.0') {
      this.property(into, 'a definition', "':' or '.'")
    } else {
      if (!this.atType()) this.failAfter(this.name('a definition'), "':'")
      this.declaration(into)
    }
  }

  /** A property in a record: of 1.2 also `tag = 1;`. */
  protected recordProperty(into: PropertySyntax[]): void {
    if (this.version === '1.0') {
      this.property(into, "a property or '}'", "'.'")
    } else if (this.atType()) {
      this.declaration(into)
    } else {
      const field = this.name("a property or '}'")
      if (!this.accept('=')) this.failAfter(field, "'='")
      into.push({ property: 'value', field, value: this.expression(), at: field.at })
      this.symbol(';')
    }
  }

  /** `field.width = 4;`, `field.value = 4;` or `field.interpretation = delta 0;` */
  private property(into: PropertySyntax[], expected: string, expectedAfter: string): void {
    const field = this.name(expected)
    if (!this.accept('.')) this.failAfter(field, expectedAfter)
    const property = this.name('width, interpretation or value')
    const at = field.at
    if (!isProperty(property.text)) {
      throw syntaxError(
        `unknown property ${quote(property.text)}; there are width, interpretation and value`,
        property.at,
      )
    }
    this.symbol('=')
    if (property.text === 'interpretation')
      into.push({ property: property.text, field, value: this.interpretation(), at })
    else into.push({ property: property.text, field, value: this.expression(), at })
    this.symbol(';')
  }

  /** Whether a type stands here, so that a declaration begins, and not a record named like one. */
  private atType(): boolean {
    const { kind, text } = this.peek()
    return kind === 'name' && (text === 'int' || text === 'string') && !this.at(':=', 1)
  }

  /** `int field = default 0;` */
  private declaration(into: PropertySyntax[]): void {
    const type = this.take().text as 'int' | 'string'
    const field = this.name('a field')
    this.symbol('=')
    into.push({ property: 'type', field, value: type, at: field.at })
    into.push({ property: 'interpretation', field, value: this.interpretation(), at: field.at })
    this.symbol(';')
  }

  private interpretation(): InterpretationSyntax {
    const name = this.name('an interpretation')
    if (!isInterpretation(name.text)) {
      const known = Object.keys(INTERPRETATIONS).join(', ')
      throw syntaxError(`unknown interpretation ${quote(name.text)}; there are ${known}`, name.at)
    }
    const expected = INTERPRETATIONS[name.text]
    const found: ExpressionSyntax[] = []
    while (found.length < expected.length) found.push(this.expression(`the ${expected[found.length]} of ${name.text}`))
    return { name: name.text, arguments: found, at: name.at }
  }

  /** A number; in 1.0 also `field.value` or `field.width`, in 1.2 a string. */
  private expression(
    what = this.version === '1.0' ? "a number or 'field.value'" : 'a number or a string',
  ): ExpressionSyntax {
    const { kind, at } = this.peek()
    if (kind === 'name' && this.version === '1.0') {
      const field = this.name(what)
      this.symbol('.')
      const property = this.name("'value' or 'width'")
      if (property.text !== 'value' && property.text !== 'width') {
        throw syntaxError(`expected 'value' or 'width', found ${quote(property.text)}`, property.at)
      }
      return { kind: 'reference', field, property: property.text, at }
    }
    return kind === 'string' && this.version === '1.2' ? { kind, value: this.take().string, at } : this.number(what)
  }

  /** Throws: something else follows a name. */
  private failAfter(name: Name, expected: string): never {
    this.fail(`${expected} after ${quote(name.text)}`)
  }
}

function isProperty(name: string): name is 'width' | 'interpretation' | 'value' {
  return name === 'width' || name === 'interpretation' || name === 'value'
}

function isInterpretation(name: string): name is InterpretationName {
  return Object.hasOwn(INTERPRETATIONS, name)
}

/** Documents, sections, records and lists of fields, which differ between the versions in their brackets only. */
class Parser extends PropertyParser {
  private readonly open: string
  private readonly close: string

  constructor(lexer: Lexer, version: Version) {
    super(lexer, version)
    this.open = version === '1.0' ? '(' : '{'
    this.close = version === '1.0' ? ')' : '}'
  }

  /** The whole text. */
  document(file: string): DtdSyntax {
    const headers: HeaderLine[] = []
    while (this.peek().kind === 'header') headers.push(headerLine(this.take()))
    const definitions: DefinitionsSyntax = { records: [], properties: [] }
    const sections: SectionSyntax[] = []
    while (this.peek().kind !== 'end') {
      if (this.atSection()) sections.push(this.section())
      else if (sections.length === 0) this.definition(definitions)
      else this.fail('another section (global definitions come before the first one)')
    }
    return { version: this.version, file, headers, definitions, sections }
  }

  /**
   * Whether a section begins here, and not a definition of the record `section` or a property of a field of that name.
   */
  private atSection(): boolean {
    return this.peek().kind === 'name' && this.peek().text === 'section' && !this.at(':.=', 1)
  }

  private section(): SectionSyntax {
    this.take()
    const name = this.name("the section's name")
    const section: SectionSyntax = { name, id: this.number("the section's ID"), records: [], properties: [] }
    this.symbol('{')
    while (!this.accept('}')) {
      if (this.atSection()) this.fail("a definition or '}' (sections cannot be inside each other)")
      this.definition(section)
    }
    return section
  }

  /** A record type, or properties that hold for all fields of a name in this scope. */
  private definition(scope: DefinitionsSyntax): void {
    if (this.at(':', 1)) scope.records.push(this.record())
    else this.scopeProperty(scope.properties)
  }

  private record(): RecordSyntax {
    const name = this.name('a record name')
    this.symbol(':')
    const body = this.at(this.open) ? this.fields(0) : this.name(`${quote(this.open)} or a record type`)
    this.symbol('{')
    const record: RecordSyntax = { name, body, properties: [] }
    while (!this.accept('}')) this.recordProperty(record.properties)
    return record
  }

  private fields(depth: number): FieldSyntax[] {
    const { at } = this.symbol(this.open)
    if (depth === MAX_DEPTH) throw limitError(`fields are nested more than ${MAX_DEPTH} deep`, at)
    const fields = [this.field(depth)]
    while (this.accept(',')) fields.push(this.field(depth))
    this.symbol(this.close, `',' or ${quote(this.close)}`)
    return fields
  }

  private field(depth: number): FieldSyntax {
    if (this.at(this.open) || !this.at('*', 1)) return this.simpleField(depth, 'a field')
    const count = this.name('a field')
    this.take()
    return { kind: 'repetition', count, field: this.simpleField(depth, `a field or ${quote(this.open)}`), at: count.at }
  }

  private simpleField(depth: number, expected: string): SimpleFieldSyntax {
    const { at } = this.peek()
    if (this.at(this.open)) return { kind: 'composite', fields: this.fields(depth + 1), at }
    const name = this.name(expected)
    return { kind: 'name', name, type: this.accept(':') ? this.name('a record type') : null, at }
  }
}

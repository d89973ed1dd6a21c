import { limitError, quote, syntaxError } from './errors.js'
import { Lexer, type Token } from './lexer.js'
import { MAX_DEPTH } from './limits.js'
import type { HeaderLine, Place, Version } from './model.js'
import { PropertyParser } from './parse-property.js'
import type {
  DefinitionsSyntax,
  DtdSyntax,
  FieldSyntax,
  RecordSyntax,
  SectionSyntax,
  SimpleFieldSyntax,
} from './syntax.js'

/** Parses the text of a DTD of either version. Throws a DtdError at the first fault. */
export function parseSyntax(text: string, file: string): DtdSyntax {
  return new Parser(new Lexer(text, file), detectVersion(text, file)).document(file)
}

/**
 * The version that a DTD is written in: what the header line `## MetaTF: 1.2 ...` says, else that of the first piece of
 * text that only one of them has; 1.0 if there is none.
 */
export function detectVersion(text: string, file: string): Version {
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

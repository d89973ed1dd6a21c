import { Cursor } from './cursor.js'
import { quote, syntaxError } from './errors.js'
import type { Lexer } from './lexer.js'
import type { Version } from './model.js'
import {
  INTERPRETATIONS,
  type ExpressionSyntax,
  type InterpretationName,
  type InterpretationSyntax,
  type Name,
  type PropertySyntax,
} from './syntax.js'

/** The rules for properties of fields, which the two versions write differently. */
export class PropertyParser extends Cursor {
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

  /** Throws: something else than this stands behind a name. */
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

import { meaningError, quote } from '../errors.js'
import type { Place } from '../model.js'

/** A name and where it stands. */
export interface Name {
  readonly text: string
  readonly at: Place
}

/** Where names are defined: the global scope, or a section inside it. */
export interface Scope {
  /** ID of the section, 0 for the global scope. */
  readonly id: number
  readonly name: Name
  /** The global scope; null for itself. */
  readonly parent: Scope | null
  readonly properties: PropertyTable
  readonly records: Map<string, Definition>
}

/** A record type: `name : (a, b) { ... }`, or `name : type { ... }`. */
export interface Definition {
  readonly name: Name
  /** The listed fields, or the name of the record type that it is of. */
  readonly body: readonly FieldSyntax[] | Name
  readonly scope: Scope
  readonly properties: PropertyTable
  /** Whether the language itself defines it. */
  readonly predefined: boolean
  /** The predefined record type that this one states again, whose properties hold where this one has none. */
  readonly restates: Definition | null
}

/** A field in a list: `name`, `name : type`, `(a, b)`, `count * name` or `count * (a, b)`. */
export type FieldSyntax =
  SimpleFieldSyntax | { readonly kind: 'repetition'; readonly count: Name; readonly field: SimpleFieldSyntax }

/** A field that can be repeated. */
export type SimpleFieldSyntax =
  | { readonly kind: 'name'; readonly name: Name; readonly type: Name | null }
  | { readonly kind: 'composite'; readonly fields: readonly FieldSyntax[]; readonly at: Place }

/**
 * The properties that one scope or record gives to the fields of a name. `int field = none;` of 1.2 is a type and an
 * interpretation.
 */
export interface FieldProperties {
  readonly width?: Property<Expression>
  readonly value?: Property<Expression>
  readonly interpretation?: Property<InterpretationSyntax>
  readonly type?: Property<'int' | 'string'>
}

/** `field.width = 4;` and so on. */
export interface Property<PropertyValue> {
  readonly field: Name
  readonly value: PropertyValue
}

/** Properties by the name of the field. */
export type PropertyTable = Map<string, FieldProperties>

/** An interpretation and its arguments; their number is right. */
export interface InterpretationSyntax {
  readonly name: InterpretationName
  readonly arguments: readonly Expression[]
  readonly at: Place
}

/** A number from -2^63 to 2^64 - 1, a string (1.2 only), or `field.value` or `field.width` (1.0 only). */
export type Expression =
  | { readonly kind: 'number'; readonly value: bigint; readonly at: Place }
  | { readonly kind: 'string'; readonly value: string; readonly at: Place }
  | { readonly kind: 'reference'; readonly field: Name; readonly property: 'value' | 'width'; readonly at: Place }

/**
 * The interpretations in the order of their codes in metadata records, from 1. Of each argument: its name in messages,
 * its name in the model, and what it is: a number modulo 2^64 (`number`), one with a sign (`signed`), that or the value
 * of another field (`value`), the ID of a section, or a number of elements.
 */
export const INTERPRETATIONS = {
  none: [],
  baseOffset: [['base', 'base', 'value']],
  delta: [['initialValue', 'initial', 'number']],
  default: [['value', 'value', 'value']],
  sectionOffset: [['sectionNumber', 'section', 'section']],
  stride: [
    ['initialValue', 'initial', 'number'],
    ['stride', 'stride', 'signed'],
  ],
  sectionStride: [
    ['sectionNumber', 'section', 'section'],
    ['stride', 'stride', 'elements'],
  ],
} as const satisfies Readonly<Record<string, readonly Argument[]>>

/** An argument of an interpretation. */
export type Argument = readonly [
  label: string,
  key: string,
  type: 'number' | 'signed' | 'value' | 'section' | 'elements',
]

export type InterpretationName = keyof typeof INTERPRETATIONS

/** Puts a property into a table. Throws a DtdError if the field has it already. */
export function setProperty<Kind extends keyof FieldProperties>(
  table: PropertyTable,
  kind: Kind,
  field: Name,
  value: NonNullable<FieldProperties[Kind]>['value'],
): void {
  const entry = table.get(field.text)
  const before = entry?.[kind]
  if (before !== undefined) {
    const what = kind === 'type' ? quote(field.text) : `the ${kind} of ${quote(field.text)}`
    throw meaningError(`${what} is defined twice`, field.at, 'first defined', before.field.at)
  }
  table.set(field.text, { ...entry, [kind]: { field, value } })
}

/** The record type that a name means in a scope. */
export function findRecord({ records, parent }: Scope, name: string): Definition | undefined {
  return records.get(name) ?? parent?.records.get(name)
}

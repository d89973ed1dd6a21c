import type { HeaderLine, Place, Version } from '../model.js'

/**
 * The syntax of a DTD, before names are looked up: the parser's result, which `check` takes. The shapes are the same
 * for both versions.
 */
export interface DtdSyntax {
  version: Version
  file: string
  headers: HeaderLine[]
  definitions: DefinitionsSyntax
  sections: SectionSyntax[]
}

/** A name and where it stands. */
export interface Name {
  text: string
  at: Place
}

/** What one scope, global or a section, defines. */
export interface DefinitionsSyntax {
  records: RecordSyntax[]
  properties: PropertySyntax[]
}

/** `section heap 1 { ... }` */
export interface SectionSyntax extends DefinitionsSyntax {
  name: Name
  id: NumberSyntax
}

/** `name : (a, b) { ... }`, or `name : type { ... }`. */
export interface RecordSyntax {
  name: Name
  /** The listed fields, or the name of the record type that it is of. */
  body: FieldSyntax[] | Name
  properties: PropertySyntax[]
}

/** A field in a list: `name`, `name : type`, `(a, b)`, `count * name` or `count * (a, b)`. */
export type FieldSyntax = SimpleFieldSyntax | { kind: 'repetition'; count: Name; field: SimpleFieldSyntax; at: Place }

/** A field that can be repeated. */
export type SimpleFieldSyntax =
  { kind: 'name'; name: Name; type: Name | null; at: Place } | { kind: 'composite'; fields: FieldSyntax[]; at: Place }

/** `field.width = 4;` and so on; `int field = none;` of 1.2 is a type and an interpretation. */
export type PropertySyntax = ValueProperty | InterpretationProperty | TypeProperty

/** A width, or the value that the field always has. */
export interface ValueProperty {
  property: 'width' | 'value'
  field: Name
  value: ExpressionSyntax
  at: Place
}

/** How the field gets its value. */
export interface InterpretationProperty {
  property: 'interpretation'
  field: Name
  value: InterpretationSyntax
  at: Place
}

/** The type of a field, in 1.2. */
export interface TypeProperty {
  property: 'type'
  field: Name
  value: 'int' | 'string'
  at: Place
}

/** An interpretation and its arguments; their number is right. */
export interface InterpretationSyntax {
  name: InterpretationName
  arguments: ExpressionSyntax[]
  at: Place
}

/** A number, a string (1.2 only), or `field.value` or `field.width` (1.0 only). */
export type ExpressionSyntax =
  | NumberSyntax
  | { kind: 'string'; value: string; at: Place }
  | { kind: 'reference'; field: Name; property: 'value' | 'width'; at: Place }

/** An integer from -2^63 to 2^64 - 1. */
export interface NumberSyntax {
  kind: 'number'
  value: bigint
  at: Place
}

/** The interpretations, and what their arguments are called. */
export const INTERPRETATIONS = {
  none: [],
  baseOffset: ['base'],
  delta: ['initialValue'],
  default: ['value'],
  sectionOffset: ['sectionNumber'],
  stride: ['initialValue', 'stride'],
  sectionStride: ['sectionNumber', 'stride'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** The name of an interpretation. */
export type InterpretationName = keyof typeof INTERPRETATIONS

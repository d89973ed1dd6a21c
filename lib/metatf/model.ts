/**
 * A parsed DTD: the contents of a trace, and the layout of its bytes or, in 1.2, its words. It is plain data that never
 * changes, every name is resolved, and every rule of the language has been checked, so that readers, writers and the
 * compiler need no further lookups or checks. README.md describes the language.
 */
export interface Dtd {
  readonly version: Version
  /** The name of the text in messages. */
  readonly file: string
  /** The `## Key: value` lines at the beginning, in order. */
  readonly headers: readonly HeaderLine[]
  /** Bytes of every tag, 1 to 8; null in 1.2, where tags are decimal words. */
  readonly tagWidth: number | null
  /** First the implied global section, with ID 0 and no name, then the others in the order of the text. */
  readonly sections: readonly Section[]
}

/** 1.0 describes binary traces; 1.2, as far as known, ASCII traces. */
export type Version = '1.0' | '1.2'

/** A place in the text of a DTD. */
export interface Place {
  /** The name given to `parseDtd`, or `predefined` for what the language itself defines. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
}

/** A line `## Key: value` at the beginning of a DTD. */
export interface HeaderLine {
  readonly key: string
  /** Without the spaces around it. */
  readonly value: string
  readonly at: Place
}

/** A section of the trace, and its possible contents. */
export interface Section {
  /** Empty for the global section. */
  readonly name: string
  /** 1 to 255, or 0 for the global section. */
  readonly id: number
  /**
   * The record types that are defined in it, in the order of the text. In the global section of 1.0 the predefined ones
   * come first.
   */
  readonly records: readonly RecordType[]
  /**
   * The record of each tag in this section: its own records, records of the global section with other tags, and the
   * predefined ones.
   */
  readonly tags: ReadonlyMap<number, RecordType>
  /**
   * The element that a field with `sectionStride` takes from this section; null if the section is not a table of single
   * values.
   */
  readonly element: Element | null
  readonly at: Place
}

/**
 * The one kind of value that a section used as a table consists of: the leaf at `position` in `record`. A record
 * without a tag means that the section consists of these values only, in a separate part of the file.
 */
export interface Element {
  readonly record: RecordType
  readonly position: number
}

/** The role of a record. A `type` has no tag, and occurs only inside other records or as the element of a table. */
export type Role = 'data' | 'type' | 'comment' | 'section' | 'metadata'

/** A kind of record. */
export interface RecordType {
  readonly name: string
  /** ID of the section that it is defined in. */
  readonly section: number
  readonly role: Role
  /** The value of its tag, below 2^32; null for a `type`. With a tag, the first leaf is the tag. */
  readonly tag: number | null
  /** Whether the language defines it, and the DTD does not define it again. */
  readonly predefined: boolean
  /** The record type whose fields these are, in `name : of { ... }`; null if the fields were listed. */
  readonly of: string | null
  /** The fields in the order of the trace. */
  readonly fields: readonly Field[]
  /**
   * Every leaf in `fields`, including nested fields and record types used as fields, each once, in the order of the
   * text. The index is the leaf's `position`, by which metadata records and all references in this model mean it. They
   * are the same objects as in `fields`.
   */
  readonly leaves: readonly Leaf[]
  readonly at: Place
}

/** A part of a record. */
export type Field = Leaf | Composite | Repetition

/** Fields concatenated: `(a, b)`, or the fields of a record type, used as a field. */
export interface Composite {
  readonly kind: 'composite'
  /** The name in the record: `text` in `text : vfield`, `vfield` in `vfield`; empty for `(a, b)`. */
  readonly name: string
  /** The record type whose fields these are, or null for `(a, b)`. */
  readonly type: string | null
  readonly fields: readonly Field[]
  readonly at: Place
}

/** A repeated field. An earlier leaf of the record has the number of occurrences. */
export interface Repetition {
  readonly kind: 'repetition'
  /**
   * Position of the leaf with the number of occurrences. It is of type `int` and comes before this, and every
   * repetition around it is also around this one.
   */
  readonly count: number
  readonly field: Field
  readonly at: Place
}

/** A field with a value of its own. */
export interface Leaf {
  readonly kind: 'leaf'
  readonly name: string
  /** Index in the `leaves` of its record. */
  readonly position: number
  /**
   * `int`: an unsigned number of 64 bits. `bytes`, in 1.0 only: as many bytes as the width says, which may be more than
   * 8. `string`, in 1.2 only. This is the type in the DTD; metadata may give an `int` without interpretation a width
   * over 8, or a `bytes` leaf a smaller one.
   */
  readonly type: 'int' | 'bytes' | 'string'
  /** Bytes in the record before any metadata. Null in 1.2. Always 0 for `default`, `stride` and `sectionStride`. */
  readonly width: Width | null
  /**
   * The interpretation before any metadata; always `none` for a `bytes` leaf, and `none` or `default` for a `string`.
   */
  readonly interpretation: Interpretation
  /** The required value after interpretation; null if any. Tags always have one, other fields may have one. */
  readonly value: Value | null
  readonly at: Place
}

/** A number of bytes, or the position of the leaf whose value is that number. */
export type Width = { readonly kind: 'constant'; readonly bytes: number } | Reference

/** The value of another leaf of the same record: an earlier `int` that occurs once for each occurrence of this one. */
export interface Reference {
  readonly kind: 'reference'
  readonly position: number
}

/** A fixed number (0 to 2^64 - 1) or, in 1.2, string; or the value of another leaf. */
export type Value =
  { readonly kind: 'number'; readonly value: bigint } | { readonly kind: 'string'; readonly value: string } | Reference

/**
 * How a leaf gets its value. Arithmetic is modulo 2^64. Numbers are 0 to 2^64 - 1, negative ones in the text are taken
 * modulo 2^64; only `stride` is signed, -2^63 to 2^63 - 1. Stored numbers are signed for `baseOffset` and `delta`, and
 * unsigned otherwise.
 */
export type Interpretation =
  /** What is stored. */
  | { readonly kind: 'none' }
  /** The sum of `base` and the stored number. */
  | { readonly kind: 'baseOffset'; readonly base: NumberValue }
  /** The sum of the previous value of this leaf, initially `initial`, and the stored number. */
  | { readonly kind: 'delta'; readonly initial: bigint }
  /** `value`; nothing is stored. */
  | { readonly kind: 'default'; readonly value: Value }
  /** The stored number, an offset into section `section`. */
  | { readonly kind: 'sectionOffset'; readonly section: number }
  /** The sum of the previous value of this leaf, initially `initial`, and `stride`; nothing is stored. */
  | { readonly kind: 'stride'; readonly initial: bigint; readonly stride: bigint }
  /**
   * The element of table `section` at the section's offset, which begins at 0, then advances by `stride` (below 2^32),
   * and is shared by all fields that take from the section. Nothing is stored.
   */
  | { readonly kind: 'sectionStride'; readonly section: number; readonly stride: number }

/** A fixed number (0 to 2^64 - 1), or the value of another leaf. */
export type NumberValue = { readonly kind: 'number'; readonly value: bigint } | Reference

/**
 * A parsed DTD: what a trace may contain and how its bytes, or in 1.2 its words, are laid out. All of it is plain data
 * that never changes, every name is resolved, and every rule of the language has been checked, so that readers, writers
 * and the compiler need not look anything up or ask whether it makes sense. README.md describes the language.
 */
export interface Dtd {
  readonly version: Version
  /** The name that the text was parsed under, as in messages. */
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

/** A section of the trace, and what may stand in it. */
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
   * What each tag means in this section: its own records, those of the global section whose tags it does not take, the
   * predefined ones.
   */
  readonly tags: ReadonlyMap<number, RecordType>
  /** What a field with `sectionStride` takes from this section; null if the section is not a table of single values. */
  readonly element: Element | null
  readonly at: Place
}

/**
 * The one kind of value that a section used as a table consists of: the leaf at `position` in `record`. A record
 * without a tag means that the section is nothing but these values concatenated, in a part of the file of its
 * own.
 */
export interface Element {
  readonly record: RecordType
  readonly position: number
}

/** What a record is for. A `type` has no tag: it occurs only inside other records (or as the element of a table). */
export type Role = 'data' | 'type' | 'comment' | 'section' | 'metadata'

/** A kind of record. */
export interface RecordType {
  readonly name: string
  /** ID of the section that it is defined in. */
  readonly section: number
  readonly role: Role
  /** The value of its tag, below 2^32; null for a `type`. With a tag, the first leaf is the tag. */
  readonly tag: number | null
  /** Whether the language defines it, and the DTD does not state it itself. */
  readonly predefined: boolean
  /** The record type whose fields these are, in `name : of { ... }`; null if the fields were listed. */
  readonly of: string | null
  /** What the record consists of, in the order of the trace. */
  readonly fields: readonly Field[]
  /**
   * Every leaf in `fields`, those of nested fields and of record types used as fields too, each once, in the order of
   * the text. The index is the leaf's `position`, by which metadata records and all references in this model mean it.
   * They are the same objects as in `fields`.
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

/** As many occurrences of a field as an earlier leaf of the record says. */
export interface Repetition {
  readonly kind: 'repetition'
  /**
   * Position of the leaf with the number of occurrences: of type `int`, before this, and not inside a repetition that
   * this is outside of.
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
   * 8. `string`, in 1.2 only. This is what the DTD says; metadata may give an `int` without interpretation a width over
   * 8, or a `bytes` leaf one below.
   */
  readonly type: 'int' | 'bytes' | 'string'
  /** Bytes in the record before any metadata. Null in 1.2. Always 0 for `default`, `stride` and `sectionStride`. */
  readonly width: Width | null
  /** What the bytes mean before any metadata. Of a `bytes` leaf always `none`; of a `string` `none` or `default`. */
  readonly interpretation: Interpretation
  /** What the value, after interpretation, must always be; null if anything. A tag has it, other fields may. */
  readonly value: Value | null
  readonly at: Place
}

/** A number of bytes, or the position of the leaf whose value is that number. */
export type Width = { readonly kind: 'constant'; readonly bytes: number } | Reference

/** The value of another leaf of the same record: an `int` that comes before, and is there once where this one is. */
export interface Reference {
  readonly kind: 'reference'
  readonly position: number
}

/** A fixed number (0 to 2^64 - 1) or, in 1.2, string; or the value of another leaf. */
export type Value =
  { readonly kind: 'number'; readonly value: bigint } | { readonly kind: 'string'; readonly value: string } | Reference

/**
 * How a leaf gets its value. Arithmetic is modulo 2^64. Numbers are 0 to 2^64 - 1, negative ones in the text are taken
 * modulo 2^64; only `stride` is signed, -2^63 to 2^63 - 1. What is stored is signed for `baseOffset` and `delta`,
 * unsigned otherwise.
 */
export type Interpretation =
  /** What is stored. */
  | { readonly kind: 'none' }
  /** `base` and what is stored, added. */
  | { readonly kind: 'baseOffset'; readonly base: NumberValue }
  /** The previous value of this leaf, at first `initial`, and what is stored, added. */
  | { readonly kind: 'delta'; readonly initial: bigint }
  /** `value`; nothing is stored. */
  | { readonly kind: 'default'; readonly value: Value }
  /** What is stored, which is an offset into section `section`. */
  | { readonly kind: 'sectionOffset'; readonly section: number }
  /** The previous value of this leaf, at first `initial`, and `stride`, added; nothing is stored. */
  | { readonly kind: 'stride'; readonly initial: bigint; readonly stride: bigint }
  /**
   * The element of the table that section `section` is at the section's offset, which then advances by `stride`, below
   * 2^32; it begins at 0, and all fields that take from the section share it. Nothing is stored.
   */
  | { readonly kind: 'sectionStride'; readonly section: number; readonly stride: number }

/** A fixed number (0 to 2^64 - 1), or the value of another leaf. */
export type NumberValue = { readonly kind: 'number'; readonly value: bigint } | Reference

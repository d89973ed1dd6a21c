import { meaningError, quote } from './errors.js'
import type { Frame, Loop } from './frame.js'
import { initialInterpretation } from './interpretation.js'
import type { Leaf, Place, Value, Version, Width } from './model.js'
import { findProperty } from './scope.js'
import type { Name, ValueProperty } from './syntax.js'

/** What holds for all records of a DTD. */
export interface Layout {
  readonly version: Version
  /** Bytes of a tag, and where that was set; null in 1.2. */
  readonly tagWidth: { readonly bytes: number; readonly at: Place } | null
  /** Names that no field can have. */
  readonly reservedFields: ReadonlySet<string>
  /** IDs of the sections but the global one. */
  readonly sections: ReadonlySet<number>
  /** Gets every sectionStride that is found: the section must turn out to be a table. */
  readonly strides: { section: number; at: Place }[]
}

/** The field at hand: where it is, and what holds for it. */
export interface LeafContext {
  readonly name: Name
  readonly frame: Frame
  readonly loop: Loop | null
  readonly layout: Layout
}

/** The widest number. */
const INT_BYTES = 8

/** Tags are at most this, so that they are small integers everywhere. */
const MAX_TAG = 2n ** 32n - 1n

/**
 * A field without parts, with its properties looked up and checked. Throws a DtdError where one is missing or wrong.
 */
export function resolveLeaf(context: LeafContext, position: number): Leaf {
  const { name, layout } = context
  const { text, at } = name
  if (text === 'tag') {
    const width: Width | null = layout.tagWidth === null ? null : { kind: 'constant', bytes: layout.tagWidth.bytes }
    const value = tagValue(context)
    return { kind: 'leaf', name: text, position, type: 'int', width, interpretation: { kind: 'none' }, value, at }
  }
  const representation = layout.version === '1.0' ? binaryLeaf(context) : textLeaf(context)
  return { kind: 'leaf', name: text, position, ...representation, value: fixedValue(context, representation), at }
}

/** What a field is made of. */
type Representation = Pick<Leaf, 'type' | 'width' | 'interpretation'>

/** A field of 1.0: it must have a width and an interpretation. */
function binaryLeaf(context: LeafContext): Representation {
  const { name, frame } = context
  const width = findProperty(frame.chain, name.text, 'width')
  const interpretation = findProperty(frame.chain, name.text, 'interpretation')
  const field = `field ${quote(name.text)} of record ${quote(frame.name.text)}`
  const record = `record ${quote(frame.name.text)} is defined`
  if (interpretation === null) {
    if (width === null)
      throw meaningError(`${field} has neither width nor interpretation`, name.at, record, frame.name.at)
    throw meaningError(`${field} has no interpretation`, name.at, 'its width is defined', width.found.at)
  }
  const { value: syntax } = interpretation.found
  const result = initialInterpretation(syntax, 'int', context)
  if (result.kind === 'default' || result.kind === 'stride' || result.kind === 'sectionStride') {
    // A width from further outside is that of other fields of the name; the interpretation in here means that it is 0.
    if (width !== null && width.depth <= interpretation.depth && !isZero(width.found)) {
      const reason = `a field with interpretation ${result.kind} has width 0`
      throw meaningError(reason, width.found.at, 'the interpretation is defined', syntax.at)
    }
    return { type: 'int', width: { kind: 'constant', bytes: 0 }, interpretation: result }
  }
  if (width === null) {
    throw meaningError(`${field} has no width`, name.at, 'its interpretation is defined', interpretation.found.at)
  }
  const initial = initialWidth(width.found, context)
  const wide = initial.kind === 'constant' && initial.bytes > INT_BYTES
  if (wide && result.kind !== 'none') {
    const reason = `a field with interpretation ${result.kind} has at most ${INT_BYTES} bytes, not ${initial.bytes}`
    throw meaningError(reason, width.found.at, 'the interpretation is defined', syntax.at)
  }
  const type = result.kind === 'none' && (wide || initial.kind === 'reference') ? 'bytes' : 'int'
  return { type, width: initial, interpretation: result }
}

/** A field of 1.2: it must have been declared. */
function textLeaf(context: LeafContext): Representation {
  const { name, frame } = context
  const type = findProperty(frame.chain, name.text, 'type')?.found.value
  const interpretation = findProperty(frame.chain, name.text, 'interpretation')?.found.value
  if (type === undefined || interpretation === undefined) {
    const record = `record ${quote(frame.name.text)}`
    throw meaningError(
      `field ${quote(name.text)} of ${record} is not declared`,
      name.at,
      `${record} is defined`,
      frame.name.at,
    )
  }
  return { type, width: null, interpretation: initialInterpretation(interpretation, type, context) }
}

function initialWidth({ value, at }: ValueProperty, { name, frame, loop }: LeafContext): Width {
  if (value.kind === 'reference') {
    const leaf = frame.refer(value.field, loop, `the width of ${quote(name.text)}`)
    if (value.property === 'value') return { kind: 'reference', position: leaf.position }
    if (leaf.width?.kind === 'constant') return leaf.width
    throw meaningError(
      `the width of ${quote(name.text)} refers to a width that is not fixed`,
      value.at,
      'it is that of',
      leaf.at,
    )
  }
  if (value.kind !== 'number' || value.value < 0n || value.value > Number.MAX_SAFE_INTEGER) {
    throw meaningError(`the width of ${quote(name.text)} must be a number from 0 to 2^53 - 1`, value.at, 'defined', at)
  }
  return { kind: 'constant', bytes: Number(value.value) }
}

/** The value that a field always has, or null. */
function fixedValue({ name, frame, loop }: LeafContext, { type, width, interpretation }: Representation): Value | null {
  const property = findProperty(frame.chain, name.text, 'value')?.found
  if (property === undefined) return null
  const { value } = property
  const fail = (reason: string): never => {
    throw meaningError(`the value of ${quote(name.text)} ${reason}`, value.at, 'the field is', name.at)
  }
  if (value.kind === 'reference') {
    if (value.property === 'width') return fail('cannot be a width')
    if (type !== 'int') return fail('cannot be given, for its width is not that of a number')
    return { kind: 'reference', position: frame.refer(value.field, loop, `the value of ${quote(name.text)}`).position }
  }
  if (value.kind === 'string') {
    if (type !== 'string') return fail('must be a number')
  } else {
    if (type === 'string') return fail('must be a string')
    if (type === 'bytes') return fail('cannot be given, for its width is not that of a number')
    if (value.value < 0n) return fail('must not be negative')
    if (width?.kind === 'constant' && interpretation.kind === 'none' && value.value >> BigInt(width.bytes * 8) !== 0n) {
      return fail(`is ${value.value}, which does not fit its ${showBytes(width.bytes)}`)
    }
  }
  const standard = interpretation.kind === 'default' ? interpretation.value : null
  if (standard?.kind === value.kind && standard.value !== value.value) return fail('is not that of its default')
  return value.kind === 'number' ? { kind: 'number', value: value.value } : { kind: 'string', value: value.value }
}

/** What says which record it is. */
function tagValue({ name, frame, layout }: LeafContext): Value {
  const property = findProperty(frame.chain, 'tag', 'value')?.found
  const record = `record ${quote(frame.name.text)}`
  const note = `${record} is defined`
  if (property === undefined) throw meaningError(`the tag of ${record} has no value`, name.at, note, frame.name.at)
  const { value } = property
  if (value.kind !== 'number' || value.value < 0n || value.value > MAX_TAG) {
    throw meaningError(`the tag of ${record} must be a number from 0 to 2^32 - 1`, value.at, note, frame.name.at)
  }
  if (layout.tagWidth !== null && value.value >> BigInt(layout.tagWidth.bytes * 8) !== 0n) {
    const reason = `the tag of ${record} is ${value.value}, which does not fit ${showBytes(layout.tagWidth.bytes)}`
    throw meaningError(reason, value.at, 'the width is set', layout.tagWidth.at)
  }
  return { kind: 'number', value: value.value }
}

function isZero({ value }: ValueProperty): boolean {
  return value.kind === 'number' && value.value === 0n
}

function showBytes(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`
}

import { meaningError, quote } from '../errors.js'
import type { Interpretation, Leaf, NumberValue, Place, Value, Version, Width } from '../model.js'
import { findProperty, type Loop, type NameScope } from './scope.js'
import {
  INTERPRETATIONS,
  type ExpressionSyntax,
  type InterpretationSyntax,
  type Name,
  type ValueProperty,
} from './syntax.js'

/** What holds for all records of a DTD. */
export interface DtdContext {
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
interface LeafContext {
  readonly name: Name
  readonly names: NameScope
  readonly loop: Loop | null
  readonly dtd: DtdContext
}

/** The widest number. */
const INT_BYTES = 8

/** Tags are at most this, so that they are small integers everywhere. */
const MAX_TAG = 2n ** 32n - 1n

/**
 * A field without parts, with its properties looked up and checked. Throws a DtdError where one is missing or wrong.
 */
export function resolveLeaf(context: LeafContext, position: number): Leaf {
  const { name, dtd } = context
  const { text, at } = name
  if (text === 'tag') {
    const width: Width | null = dtd.tagWidth === null ? null : { kind: 'constant', bytes: dtd.tagWidth.bytes }
    const value = tagValue(context)
    return { kind: 'leaf', name: text, position, type: 'int', width, interpretation: { kind: 'none' }, value, at }
  }
  const representation = dtd.version === '1.0' ? binaryLeaf(context) : textLeaf(context)
  return { kind: 'leaf', name: text, position, ...representation, value: fixedValue(context, representation), at }
}

/** What a field is made of. */
type Representation = Pick<Leaf, 'type' | 'width' | 'interpretation'>

/** A field of 1.0: it must have a width and an interpretation. */
function binaryLeaf(context: LeafContext): Representation {
  const { name, names } = context
  const width = findProperty(names.chain, name.text, 'width')
  const interpretation = findProperty(names.chain, name.text, 'interpretation')
  const field = `field ${quote(name.text)} of record ${quote(names.name.text)}`
  const record = `record ${quote(names.name.text)} is defined`
  if (interpretation === null) {
    if (width === null)
      throw meaningError(`${field} has neither width nor interpretation`, name.at, record, names.name.at)
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
  const { name, names } = context
  const type = findProperty(names.chain, name.text, 'type')?.found.value
  const interpretation = findProperty(names.chain, name.text, 'interpretation')?.found.value
  if (type === undefined || interpretation === undefined) {
    const record = `record ${quote(names.name.text)}`
    throw meaningError(
      `field ${quote(name.text)} of ${record} is not declared`,
      name.at,
      `${record} is defined`,
      names.name.at,
    )
  }
  return { type, width: null, interpretation: initialInterpretation(interpretation, type, context) }
}

function initialWidth({ value, at }: ValueProperty, { name, names, loop }: LeafContext): Width {
  if (value.kind === 'reference') {
    const leaf = names.refer(value.field, loop, `the width of ${quote(name.text)}`)
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
function fixedValue({ name, names, loop }: LeafContext, { type, width, interpretation }: Representation): Value | null {
  const property = findProperty(names.chain, name.text, 'value')?.found
  if (property === undefined) return null
  const { value } = property
  const fail = (reason: string): never => {
    throw meaningError(`the value of ${quote(name.text)} ${reason}`, value.at, 'the field is', name.at)
  }
  if (value.kind === 'reference') {
    if (value.property === 'width') return fail('cannot be a width')
    if (type !== 'int') return fail('cannot be given, for its width is not that of a number')
    return { kind: 'reference', position: names.refer(value.field, loop, `the value of ${quote(name.text)}`).position }
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
function tagValue({ name, names, dtd }: LeafContext): Value {
  const property = findProperty(names.chain, 'tag', 'value')?.found
  const record = `record ${quote(names.name.text)}`
  const note = `${record} is defined`
  if (property === undefined) throw meaningError(`the tag of ${record} has no value`, name.at, note, names.name.at)
  const { value } = property
  if (value.kind !== 'number' || value.value < 0n || value.value > MAX_TAG) {
    throw meaningError(`the tag of ${record} must be a number from 0 to 2^32 - 1`, value.at, note, names.name.at)
  }
  if (dtd.tagWidth !== null && value.value >> BigInt(dtd.tagWidth.bytes * 8) !== 0n) {
    const reason = `the tag of ${record} is ${value.value}, which does not fit ${showBytes(dtd.tagWidth.bytes)}`
    throw meaningError(reason, value.at, 'the width is set', dtd.tagWidth.at)
  }
  return { kind: 'number', value: value.value }
}

function isZero({ value }: ValueProperty): boolean {
  return value.kind === 'number' && value.value === 0n
}

function showBytes(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`
}

/** The largest number of elements that sectionStride advances by. */
const MAX_SECTION_STRIDE = 2n ** 32n - 1n

/**
 * The interpretation of a field of that type as the model has it. Throws a DtdError where the arguments do not suit it.
 */
function initialInterpretation(syntax: InterpretationSyntax, type: Leaf['type'], context: LeafContext): Interpretation {
  const { name } = syntax
  if (type === 'string' && name !== 'none' && name !== 'default') {
    throw meaningError(`a string cannot have interpretation ${name}`, syntax.at, 'the field is', context.name.at)
  }
  const [first, second] = syntax.arguments as [ExpressionSyntax, ExpressionSyntax]
  switch (name) {
    case 'none':
      return { kind: name }
    case 'baseOffset':
      return { kind: name, base: numberArgument(syntax, first, context) }
    case 'delta':
      return { kind: name, initial: constant(syntax, 0, context) }
    case 'default':
      return {
        kind: name,
        value: type === 'string' ? stringArgument(first, context) : numberArgument(syntax, first, context),
      }
    case 'sectionOffset':
      return { kind: name, section: sectionNumber(syntax, context) }
    case 'stride':
      return {
        kind: name,
        initial: constant(syntax, 0, context),
        stride: BigInt.asIntN(64, constant(syntax, 1, context)),
      }
    case 'sectionStride': {
      const section = sectionNumber(syntax, context)
      const stride = constant(syntax, 1, context)
      if (stride > MAX_SECTION_STRIDE) {
        throw meaningError(
          'the stride of sectionStride must be from 0 to 2^32 - 1',
          second.at,
          'the field is',
          context.name.at,
        )
      }
      context.dtd.strides.push({ section, at: syntax.at })
      return { kind: name, section, stride: Number(stride) }
    }
  }
}

/** A number, or in 1.0 the value of another field. */
function numberArgument(syntax: InterpretationSyntax, argument: ExpressionSyntax, context: LeafContext): NumberValue {
  const { name, names, loop, dtd } = context
  const what = `the ${INTERPRETATIONS[syntax.name][0]} of ${syntax.name}`
  if (argument.kind === 'number') return { kind: 'number', value: BigInt.asUintN(64, argument.value) }
  if (argument.kind === 'reference' && argument.property === 'value') {
    return {
      kind: 'reference',
      position: names.refer(argument.field, loop, `${what} for ${quote(name.text)}`).position,
    }
  }
  const allowed = dtd.version === '1.0' ? 'a number or the value of a field' : 'a number'
  throw meaningError(`${what} must be ${allowed}`, argument.at, 'the field is', name.at)
}

function stringArgument(argument: ExpressionSyntax, { name }: LeafContext): Value {
  if (argument.kind === 'string') return { kind: 'string', value: argument.value }
  throw meaningError('the value of default must be a string', argument.at, 'the field is', name.at)
}

/** A number that must stand in the text itself, modulo 2^64. */
function constant(
  { name: interpretation, arguments: found }: InterpretationSyntax,
  index: 0 | 1,
  { name }: LeafContext,
): bigint {
  const argument = found[index] as ExpressionSyntax
  if (argument.kind === 'number') return BigInt.asUintN(64, argument.value)
  const what = INTERPRETATIONS[interpretation][index] as string
  throw meaningError(`the ${what} of ${interpretation} must be a number`, argument.at, 'the field is', name.at)
}

/** The ID of a section that exists. */
function sectionNumber(syntax: InterpretationSyntax, context: LeafContext): number {
  const section = Number(constant(syntax, 0, context))
  if (context.dtd.sections.has(section)) return section
  const { at } = syntax.arguments[0] as ExpressionSyntax
  throw meaningError(`there is no section ${section}`, at, 'the field is', context.name.at)
}

import { plural } from '../../event/message-text.js'
import { meaningError, quote } from '../errors.js'
import type { Interpretation, Leaf, Place, Value, Version, Width } from '../model.js'
import type { NameScope } from './names.js'
import {
  INTERPRETATIONS,
  type Argument,
  type Expression,
  type FieldProperties,
  type InterpretationSyntax,
  type Name,
  type Property,
} from './syntax.js'

/** Properties of all records of a DTD. */
export interface DtdContext {
  readonly version: Version
  /** Bytes of a tag, and where that was set; null in 1.2. */
  readonly tagWidth: { readonly bytes: number; readonly at: Place } | null
  /** IDs of the sections except the global one. */
  readonly sections: ReadonlySet<number>
  /** Every `sectionStride` is added here, because its section, which may follow later, must be a table. */
  readonly strides: { section: number; at: Place }[]
}

/** The widest number. */
const INT_BYTES = 8

/** Tags are at most this, so that they are small integers everywhere. */
const MAX_TAG = 2n ** 32n - 1n

/** The largest number of elements that sectionStride advances by. */
const MAX_SECTION_STRIDE = 2n ** 32n - 1n

/** The source of a field. */
type Representation = Pick<Leaf, 'type' | 'width' | 'interpretation'>

/** Looks up and checks the properties of a field without parts. Throws a DtdError where one is missing or wrong. */
export class LeafResolver {
  /** @param loop the path of the repetition that the field is in */
  constructor(
    private readonly name: Name,
    private readonly names: NameScope,
    private readonly loop: string,
    private readonly dtd: DtdContext,
  ) {}

  resolve(position: number): Leaf {
    const { name, dtd } = this
    const isTag = name.text === 'tag'
    const representation = isTag ? this.tag() : dtd.version === '1.0' ? this.binary() : this.text()
    const { type, width, interpretation } = representation
    const value = isTag ? this.tagValue() : this.fixedValue(representation)
    return { kind: 'leaf', name: name.text, position, type, width, interpretation, value, at: name.at }
  }

  private tag(): Representation {
    const { tagWidth } = this.dtd
    const width: Width | null = tagWidth === null ? null : { kind: 'constant', bytes: tagWidth.bytes }
    return { type: 'int', width, interpretation: { kind: 'none' } }
  }

  private find<Kind extends keyof FieldProperties>(kind: Kind) {
    return this.names.find(this.name.text, kind)?.found
  }

  /** `field 'size' of record 'a'` */
  private get field(): string {
    return `field ${quote(this.name.text)} of record ${quote(this.names.name.text)}`
  }

  private failInRecord(reason: string, at: Place): never {
    const { text, at: other } = this.names.name
    throw meaningError(reason, at, `record ${quote(text)} is defined`, other)
  }

  private fail(reason: string, at: Place): never {
    throw meaningError(reason, at, 'the field is', this.name.at)
  }

  /** A field of 1.0: it must have a width and an interpretation. */
  private binary(): Representation {
    const { name, names } = this
    const width = names.find(name.text, 'width')
    const how = names.find(name.text, 'interpretation')
    if (how === null) {
      if (width === null) return this.failInRecord(`${this.field} has neither width nor interpretation`, name.at)
      throw meaningError(`${this.field} has no interpretation`, name.at, 'its width is defined', width.found.field.at)
    }
    const interpretation = this.interpretation(how.found.value, 'int')
    const { kind } = interpretation
    const fail = (reason: string, at: Place): never => {
      throw meaningError(reason, at, 'the interpretation is defined', how.found.value.at)
    }
    if (kind === 'default' || kind === 'stride' || kind === 'sectionStride') {
      // A width from further outside belongs to other fields with this name; the interpretation here means that it is
      // 0.
      if (width !== null && width.depth <= how.depth && !isZero(width.found.value))
        return fail(`a field with interpretation ${kind} has width 0`, width.found.field.at)
      return { type: 'int', width: { kind: 'constant', bytes: 0 }, interpretation }
    }
    if (width === null)
      throw meaningError(`${this.field} has no width`, name.at, 'its interpretation is defined', how.found.field.at)
    const initial = this.width(width.found)
    const isWide = initial.kind === 'constant' && initial.bytes > INT_BYTES
    if (isWide && kind !== 'none') {
      const reason = `a field with interpretation ${kind} has at most ${INT_BYTES} bytes, not ${initial.bytes}`
      return fail(reason, width.found.field.at)
    }
    const isBytes = kind === 'none' && (isWide || initial.kind === 'reference')
    return { type: isBytes ? 'bytes' : 'int', width: initial, interpretation }
  }

  /** A field of 1.2: it must have been declared. */
  private text(): Representation {
    const type = this.find('type')?.value
    const how = this.find('interpretation')?.value
    if (type === undefined || how === undefined) return this.failInRecord(`${this.field} is not declared`, this.name.at)
    return { type, width: null, interpretation: this.interpretation(how, type) }
  }

  private width({ value, field }: Property<Expression>): Width {
    const what = `the width of ${quote(this.name.text)}`
    if (value.kind === 'reference') {
      const leaf = this.names.refer(value.field, this.loop, what)
      if (value.property === 'value') return { kind: 'reference', position: leaf.position }
      if (leaf.width?.kind === 'constant') return leaf.width
      throw meaningError(`${what} refers to a width that is not fixed`, value.at, 'it is that of', leaf.at)
    }
    if (value.kind !== 'number' || value.value < 0n || value.value > Number.MAX_SAFE_INTEGER)
      throw meaningError(`${what} must be a number from 0 to 2^53 - 1`, value.at, 'defined', field.at)
    return { kind: 'constant', bytes: Number(value.value) }
  }

  /** The value that a field always has, or null. */
  private fixedValue({ type, width, interpretation }: Representation): Value | null {
    const value = this.find('value')?.value
    if (value === undefined) return null
    const what = `the value of ${quote(this.name.text)}`
    const fail = (reason: string) => this.fail(`${what} ${reason}`, value.at)
    if (value.kind === 'reference' && value.property === 'width') return fail('cannot be a width')
    if (type === 'bytes') return fail('cannot be given, for its width is not that of a number')
    if (value.kind === 'reference')
      return { kind: 'reference', position: this.names.refer(value.field, this.loop, what).position }
    if (value.kind === 'string' && type !== 'string') return fail('must be a number')
    if (value.kind === 'number') {
      if (type === 'string') return fail('must be a string')
      if (value.value < 0n) return fail('must not be negative')
      if (width?.kind === 'constant' && interpretation.kind === 'none' && value.value >> BigInt(width.bytes * 8) !== 0n)
        return fail(`is ${value.value}, which does not fit its ${plural(width.bytes, 'byte')}`)
    }
    const standard = interpretation.kind === 'default' ? interpretation.value : null
    if (standard?.kind === value.kind && standard.value !== value.value) return fail('is not that of its default')
    return value.kind === 'number' ? { kind: 'number', value: value.value } : { kind: 'string', value: value.value }
  }

  /** The tag, which identifies the record. */
  private tagValue(): Value {
    const { name, names, dtd } = this
    const value = this.find('value')?.value
    const fail = (reason: string, at: Place) =>
      this.failInRecord(`the tag of record ${quote(names.name.text)} ${reason}`, at)
    if (value === undefined) return fail('has no value', name.at)
    if (value.kind !== 'number' || value.value < 0n || value.value > MAX_TAG)
      return fail('must be a number from 0 to 2^32 - 1', value.at)
    if (dtd.tagWidth !== null && value.value >> BigInt(dtd.tagWidth.bytes * 8) !== 0n) {
      const { bytes, at } = dtd.tagWidth
      const record = quote(names.name.text)
      const reason = `the tag of record ${record} is ${value.value}, which does not fit ${plural(bytes, 'byte')}`
      throw meaningError(reason, value.at, 'the width is set', at)
    }
    return { kind: 'number', value: value.value }
  }

  /** The interpretation as the model has it. */
  private interpretation({ name, arguments: found, at }: InterpretationSyntax, type: Leaf['type']): Interpretation {
    if (type === 'string' && name !== 'none' && name !== 'default')
      this.fail(`a string cannot have interpretation ${name}`, at)
    const expected: readonly Argument[] = INTERPRETATIONS[name]
    const values = expected.map(([label, key, sort], i) => {
      return [key, this.argument(found[i], type === 'string' ? 'string' : sort, `the ${label} of ${name}`)]
    })
    const result = { kind: name, ...Object.fromEntries(values) } as Interpretation
    if (result.kind === 'sectionStride') this.dtd.strides.push({ section: result.section, at })
    return result
  }

  /** An argument as the model has it. Numbers in the text are modulo 2^64. */
  private argument(value: Expression, sort: Argument[2] | 'string', what: string): bigint | number | Value {
    const { names, name, loop, dtd } = this
    if (sort === 'string') {
      if (value.kind === 'string') return { kind: 'string', value: value.value }
      return this.fail(`${what} must be a string`, value.at)
    }
    if (sort === 'value' && value.kind === 'reference' && value.property === 'value') {
      const { position } = names.refer(value.field, loop, `${what} for ${quote(name.text)}`)
      return { kind: 'reference', position }
    }
    const allowed = sort === 'value' && dtd.version === '1.0' ? 'a number or the value of a field' : 'a number'
    if (value.kind !== 'number') return this.fail(`${what} must be ${allowed}`, value.at)
    const number = BigInt.asUintN(64, value.value)
    if (sort === 'value') return { kind: 'number', value: number }
    if (sort === 'signed') return BigInt.asIntN(64, number)
    if (sort === 'number') return number
    if (sort === 'section' && !dtd.sections.has(Number(number)))
      return this.fail(`there is no section ${Number(number)}`, value.at)
    if (sort === 'elements' && number > MAX_SECTION_STRIDE)
      return this.fail(`${what} must be from 0 to 2^32 - 1`, value.at)
    return Number(number)
  }
}

function isZero(value: Expression): boolean {
  return value.kind === 'number' && value.value === 0n
}

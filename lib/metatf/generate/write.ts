import { FieldBit } from '../../event/fields.js'
import { isHex } from '../ascii/tokens.js'
import { hasRepetition, type LeafMapping, type RecordMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'
import * as Codes from './code.js'

/** The maximum number of bytes of a number: in binary, and in a line with the space before it. */
const NUMBER_BYTES = 8
const WORD_BYTES = 24

const REFRESH: Codes.Code = 'bytes = sink.bytes\nview = run.view()'

/**
 * An object whose values are being written: the code for it (null for an event that has no `fields`), and for the
 * number of its names that are known.
 */
interface Scope {
  readonly object: string | null
  readonly known: string
  /** Whether it belongs to the event, and not to a repetition. */
  readonly once: boolean
  /** The room that is needed for all of its numbers. */
  readonly room: number
}

/** Code that writes the records of one type. */
export class WriteCode {
  private readonly references: Codes.References
  private names = 0
  /** The variables with bytes and lists, which are needed for their lengths before they are written. */
  private readonly variables = new Map<Field, string>()
  /** By the position of a length, the variable with what it is the length of. */
  private readonly measured = new Map<number, string>()

  constructor(
    private readonly mapping: RecordMapping,
    private readonly target: Codes.Target,
  ) {
    this.references = Codes.referencesOf(mapping)
  }

  code(): Codes.Code {
    return `${Codes.recordComment(this.mapping)}\n${this.target.binary ? this.binaryRecord() : this.line()}`
  }

  private line(): Codes.Code {
    const { position: r } = this.mapping
    return `
      const L = byPosition[${r}]
      run.layout = L
      ${this.record()}
      ${this.room('1')}
      bytes[p++] = LINE_FEED
      if (p - pos > MAX_LINE) run.tooLong()
      ${Codes.isMoving(this.mapping) ? 'L.commit()' : ''}`
  }

  private binaryRecord(): Codes.Code {
    const { mapping, target } = this
    const { record, position: r } = mapping
    const isRepeated = hasRepetition(record.fields)
    const limits = Codes.isVariable(mapping)
      ? ` && p - pos <= MAX_RECORD${isRepeated ? ' && rounds <= p - pos + FREE_ROUNDS' : ''}`
      : ''
    const body = this.record()
    return `
      let L = byPosition[${r}]
      if (L === undefined) {
        L = run.enter(${r})
        byPosition = run.section.byPosition
        pos = sink.pos
        ${REFRESH}
      }
      run.layout = L
      ${Codes.declare('const', Object.entries({ H: 'L.how', W: 'L.width' }), body, target)}
      for (;;) {
        ${body}
        if (packer.misfits === 0${limits}) break
        const fits = run.adapt(L)
        pos = sink.pos
        ${REFRESH}
        if (!fits) {
          i++
          continue writing
        }
      }
      if (L.moving !== 0) run.commit(L)
      ${record.role === 'data' ? 'run.records++' : ''}`
  }

  /** Writes the values of a record. */
  private record(): Codes.Code {
    const { record, section, position: r, carries } = this.mapping
    const canHaveRest = (carries & FieldBit.fields) !== 0
    const room = this.roomFor(record.fields)
    const scope: Scope = { object: canHaveRest ? 'rest' : null, known: 'known', once: true, room }
    return `
      p = pos
      ${this.room(String(room))}
      ${canHaveRest ? `const rest = (m & ${FieldBit.fields}) === 0 ? undefined : run.rest(i, ${r})` : ''}
      ${canHaveRest ? `known = ${section === null ? 0 : 1}` : ''}
      ${hasRepetition(record.fields) ? `rounds = 0\nvalues = ${Codes.leafCount(record.fields)}` : ''}
      ${this.tag(record.tag as number)}
      ${this.object(record.fields.slice(1), scope)}`
  }

  private tag(tag: number): Codes.Code {
    const { binary, tagWidth } = this.target
    if (!binary) return Codes.each([...String(tag)], (digit) => `bytes[p++] = ${digit.charCodeAt(0)}`)
    if (tagWidth === 1) return `view.setUint8(p++, ${tag})`
    if (tagWidth !== 2 && tagWidth !== 4) return `p = run.tag(p, ${tagWidth}, ${tag})`
    return `view.setUint${8 * tagWidth}(p, ${tag}, little)\np += ${tagWidth}`
  }

  /** Makes room for this many bytes after `p`. */
  private room(length: string): Codes.Code {
    return `
      if (p + ${length} > bytes.length) {
        sink.pos = p
        sink.reserve(${length})
        sink.pos = pos
        ${this.target.binary ? REFRESH : 'bytes = sink.bytes'}
      }`
  }

  private roomFor(fields: readonly Field[]): number {
    return (this.target.binary ? NUMBER_BYTES : WORD_BYTES) * (1 + Codes.leafCount(fields))
  }

  /** Writes the fields of an object, its bytes and lists being in variables before. */
  private object(fields: readonly Field[], scope: Scope): Codes.Code {
    const { object, known } = scope
    return `
      ${this.variablesOf(fields, scope)}
      ${this.fields(fields, scope)}
      ${object === null ? '' : `if (${object} !== undefined) run.unknown(${object}, ${known})`}`
  }

  /** Writes the fields of an object of `fields` that is the value of `value`. */
  private inner(fields: readonly Field[], value: string, scope: Scope): Codes.Code {
    const i = this.names++
    return `
      const o${i} = object(${value})
      let n${i} = 0
      ${this.object(fields, { ...scope, object: `o${i}`, known: `n${i}` })}`
  }

  private variablesOf(fields: readonly Field[], scope: Scope): Codes.Code {
    return Codes.each(fields, (field) => {
      if (field.kind === 'composite') return this.isUnnamed(field) ? this.variablesOf(field.fields, scope) : ''
      if (field.kind === 'leaf' && field.type === 'int') return ''
      const i = this.names++
      const name = `${field.kind === 'leaf' ? 'b' : 'a'}${i}`
      this.variables.set(field, name)
      const length =
        field.kind === 'repetition' ? field.count : field.width?.kind === 'reference' && field.width.position
      const before = typeof length === 'number' ? this.measured.get(length) : ''
      // The number of elements must be right; the number of bytes may differ.
      if (
        typeof length === 'number' &&
        (before === undefined || (before.startsWith('b') && field.kind === 'repetition'))
      )
        this.measured.set(length, name)
      const own = this.own(field, scope)
      return field.kind === 'leaf' ? this.bytesOf(field, scope.once, name, own) : `${own}\nconst ${name} = list(v)`
    })
  }

  private isUnnamed(field: Field): boolean {
    return this.mapping.keys.get(field) === ''
  }

  private fields(fields: readonly Field[], scope: Scope): Codes.Code {
    return Codes.each(fields, (field) => {
      if (field.kind === 'repetition') return this.list(field, this.variables.get(field) as string, scope)
      if (field.kind === 'leaf')
        return field.type === 'int'
          ? this.number(field, scope, this.own(field, scope))
          : this.data(field, this.variables.get(field) as string, scope)
      if (this.isUnnamed(field)) return this.fields(field.fields, scope)
      return `${this.own(field, scope)}\n${this.inner(field.fields, 'v', scope)}`
    })
  }

  /** Puts what an object has for a field into `v`. */
  private own(field: Field, { object, known }: Scope): Codes.Code {
    const key = this.mapping.keys.get(field)
    if (key === undefined || key === '' || object === null) return 'v = undefined'
    const get = `(v = own(${object}, ${Codes.textCode(key, this.target)}))`
    return `v = undefined\nif (${object} !== undefined && ${get} !== undefined) ${known}++`
  }

  /** The code for a variable with the bytes of a leaf: from the event, from a value in `fields`, or none. */
  private bytesOf({ position: p }: Leaf, once: boolean, name: string, own: Codes.Code): Codes.Code {
    const { field } = this.mapping.leaves[p]
    const other = `v === undefined ? run.noData(L, ${p}) : run.dataOf(v)`
    if (!this.isColumn(p, once)) return `${own}\nconst ${name} = ${other}`
    return `
      let ${name} = NO_BYTES
      if ((m & ${Codes.columnFor(field).bit}) !== 0) {
        ${name} = run.columnData(L, ${p}, ${field}, i)
      }
      else {
        ${own}
        ${name} = ${other}
      }`
  }

  private list({ count, field }: Field & { kind: 'repetition' }, items: string, scope: Scope): Codes.Code {
    const i = this.names++
    const inner = { ...scope, once: false, room: this.roomFor([field]) }
    const max = this.target.maxValues
    return `
      if (count(L, ${count}) !== ${items}.length) run.mismatch(L, ${count})
      for (let j${i} = 0; j${i} < ${items}.length; j${i}++) {
        if (++rounds > ${max} || (values += ${Codes.leafCount([field])}) > ${max}) run.tooMany()
        ${this.room(String(inner.room))}
        const e${i} = ${items}[j${i}]
        ${this.element(field, `e${i}`, inner)}
      }
      ${this.room(String(scope.room))}`
  }

  private element(field: Field, item: string, scope: Scope): Codes.Code {
    if (field.kind === 'composite') return this.inner(field.fields, item, scope)
    const i = this.names++
    if (field.kind === 'repetition') return `const a${i} = list(${item})\n${this.list(field, `a${i}`, scope)}`
    if (field.type === 'int') return this.number(field, scope, `v = ${item}`)
    return `${this.bytesOf(field, false, `b${i}`, `v = ${item}`)}\n${this.data(field, `b${i}`, scope)}`
  }

  /** Writes a number. @param own the code that puts its value in `fields`, if it has one, into `v` */
  private number(leaf: Leaf, scope: Scope, own: Codes.Code): Codes.Code {
    const { position: p } = leaf
    const mapping = this.mapping.leaves[p]
    const { field, silent, role } = mapping
    const isColumn = this.isColumn(p, scope.once)
    const has = isColumn ? `(m & ${Codes.columnFor(field).bit}) !== 0` : 'false'
    if (leaf.value !== null) {
      const given = isColumn ? `${has} ? run.columnNumber(${field}, i) : v` : 'v'
      return `${own}\np = run.constant(L, ${p}, p, ${given})`
    }
    const measured = role === 'counted' ? this.measured.get(p) : undefined
    if (measured !== undefined) return this.length(leaf, `${measured}.length`, own, scope)
    const isSilent = silent && this.target.binary ? `if (v !== undefined || H[${p}] !== SILENT) ` : ''
    const given = `${own}\n${isSilent}p = run.given(L, ${p}, p, v)`
    return isColumn ? `if (${has}) {\n${this.column(mapping)}\n}\nelse {\n${given}\n}` : given
  }

  /** Whether an event has a field for a leaf. In ASCII a field with the default 0 cannot be represented. */
  private isColumn(p: number, once: boolean): boolean {
    const { field, silent } = this.mapping.leaves[p]
    return once && field >= 0 && (this.target.binary || !silent)
  }

  /** Writes the event's own number. */
  private column(mapping: LeafMapping): Codes.Code {
    const { leaf, field, type } = mapping
    const { references, target } = this
    const { local, wide } = Codes.columnFor(field)
    const load = wide
      ? `lo = ${local}[row + LO]\nhi = ${local}[row + HI]`
      : `lo = ${local}[i]\nhi = ${type === 'i32' ? 'lo >> 31' : '0'}`
    const isInline =
      target.inline && Codes.isPlain(leaf, references) && (target.binary || leaf.interpretation.kind === 'none')
    if (!isInline) return `${load}\np = run.put(L, ${leaf.position}, p, lo, hi)`
    return `${load}\n${target.binary ? this.binaryNumber(mapping) : word(isHex(leaf), wide)}`
  }

  private binaryNumber(mapping: LeafMapping): Codes.Code {
    const { position: p, interpretation } = mapping.leaf
    const general = `p = run.put(L, ${p}, p, lo, hi)`
    const ways = Codes.widthsInPlace(mapping).map((width) => {
      const fits = width === 8 ? '' : width === 4 ? ' && hi === 0' : ` && hi === 0 && lo < ${256 ** width}`
      return `if (H[${p}] === ${width}${fits}) {\n${setNumber(width)}\n}`
    })
    if (interpretation.kind === 'default') {
      const isSame = `lo === L.reference[${2 * p} + LO] && hi === L.reference[${2 * p} + HI]`
      ways.push(`if (H[${p}] !== BY_DEFAULT || !(${isSame})) {\n${general}\n}`)
      return ways.join('\nelse ')
    }
    return ways.length === 0 ? general : [...ways, `{\n${general}\n}`].join('\nelse ')
  }

  /** Writes the number of elements or bytes. */
  private length({ position: p, width }: Leaf, counted: string, own: Codes.Code, { object }: Scope): Codes.Code {
    const { counts, values } = this.references
    const general = `${own}\np = run.length(L, ${p}, p, v, ${counted})`
    const isByte = width?.kind === 'constant' && width.bytes === 1
    if (!this.target.inline || counts.has(p) || values.has(p) || !isByte) return general
    // References to the length find it among the latest values.
    return `
      if (${object === null ? '' : `${object} === undefined && `}H[${p}] === 1 && ${counted} < 256) {
        L.latest[${2 * p} + LO] = ${counted}
        L.latest[${2 * p} + HI] = 0
        view.setUint8(p++, ${counted})
      }
      else {
        ${general}
      }`
  }

  /** Writes bytes or a string. */
  private data({ position: p }: Leaf, name: string, { room }: Scope): Codes.Code {
    if (!this.target.binary)
      return `
        ${this.room(`4 * ${name}.length + ${room}`)}
        p = run.data(L, ${p}, p, ${name})
        bytes = sink.bytes
        ${this.room(String(room))}`
    const isGiven = (this.mapping.carries & FieldBit.fields) !== 0 ? ' || rest !== undefined' : ''
    return `
      if (${name}.length !== 0 || W[${p}] > 0${isGiven}) {
        ${this.room(`${name}.length + ${room}`)}
        p = run.data(L, ${p}, p, ${name})
      }`
  }
}

/** Writes `lo` and `hi` as a word of a line. */
function word(hex: boolean, wide: boolean): Codes.Code {
  const unsigned = wide ? '' : ' >>> 0'
  return `
    bytes[p++] = SPACE
    ${hex ? 'bytes[p++] = 48\nbytes[p++] = 120' : ''}
    p = ${hex ? 'writeHex' : 'writeDecimal'}(bytes, p, lo${unsigned}, hi${unsigned})`
}

/** Writes `lo` and `hi` as a number of 1, 2, 4 or 8 bytes at `p`. */
function setNumber(width: number): Codes.Code {
  if (width === 1) return 'view.setUint8(p++, lo)'
  if (width < 8) return `view.setUint${8 * width}(p, lo, little)\np += ${width}`
  return `
    view.setUint32(little ? p : p + 4, lo, little)
    view.setUint32(little ? p + 4 : p, hi, little)
    p += 8`
}

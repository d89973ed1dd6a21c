import { FieldBit, Kind } from '../../event/fields.js'
import { hasRepetition, SECTION_KEY, type LeafMapping, type RecordMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'
import * as Codes from './code.js'

/** Leaves the loop at a fault. */
export const STOP: Codes.Code = 'if (p < 0) break reading'

/** The batch has become large: this is its last record. */
const FULL: Codes.Code = 'if (strings.byteLength > BATCH_STRING_BYTES) limit = 0'

/** An unsigned number of 1, 2 or 4 bytes. */
export function getUint(at: string, width: number, little: boolean): Codes.Code {
  return `view.getUint${8 * width}(${at}${width > 1 && little ? ', true' : ''})`
}

/** An object in `fields` whose values are being read, or the event itself. */
interface Scope {
  /** Whether it is the event, and not inside of a repetition. */
  readonly once: boolean
  readonly atEnd: Codes.Code[]
}

/** Code that reads the records of one type. */
export class ReadCode {
  private readonly references: Codes.References
  private readonly r: number
  private names = 0

  constructor(
    private readonly mapping: RecordMapping,
    private readonly target: Codes.Target,
    private readonly little: boolean,
  ) {
    this.references = Codes.referencesOf(mapping)
    this.r = mapping.position
  }

  code(): Codes.Code {
    const { mapping, r, target } = this
    const { record, section, given, kind } = mapping
    const { binary } = target
    const isRepeated = hasRepetition(record.fields)
    const own =
      section === null ? "''" : Codes.textCode(`${JSON.stringify(SECTION_KEY)}:${JSON.stringify(section)}`, target)
    const always = !binary && kind === Kind.other
    const fields = this.object(record.fields.slice(1), true)
    const hasRest = always || section !== null || changesRest(fields)
    return `
      ${Codes.recordComment(mapping)}
      L = L${r}
      if ((C${r} & ~batch.columns) !== 0) {
        batch.addColumns(C${r})
        continue reading
      }
      fields = F${r}
      ${binary ? `p = pos + ${target.tagWidth}` : ''}
      ${hasRest ? `t = ${own}` : ''}
      ${isRepeated ? `rounds = 0\nvalues = ${Codes.leafCount(record.fields)}` : ''}
      ${fields}
      ${binary && Codes.isVariable(mapping) ? tooLarge(isRepeated) : ''}
      ${hasRest ? storeRest(always) : ''}
      ${this.given(given)}
      ${binary || Codes.isMoving(mapping) ? `if (M${r}) run.commit(L)` : ''}
      ${binary && record.role === 'data' ? 'if (left-- === 0) { p = run.excess(); break reading }' : ''}
      kind[n] = ${kind}
      mask[n] = fields`
  }

  /** Sets the fields that follow from the record's type. */
  private given(given: number): Codes.Code {
    const { record, api, outcome } = this.mapping
    return Codes.each(Codes.fieldsIn(given), (field) => {
      const { local, bit } = Codes.columnFor(field)
      const value =
        bit === FieldBit.api ? api : bit === FieldBit.outcome ? outcome : bit === FieldBit.code ? record.tag : null
      return `${local}[n] = ${value ?? `strings.internText(${Codes.textCode(record.name, this.target)})`}`
    })
  }

  private object(fields: readonly Field[], once: boolean): Codes.Code {
    const scope: Scope = { once, atEnd: [] }
    return [this.fields(fields, scope), ...scope.atEnd].join('\n')
  }

  private fields(fields: readonly Field[], scope: Scope): Codes.Code {
    return Codes.each(fields, (field) => {
      const key = this.mapping.keys.get(field) ?? ''
      if (field.kind === 'repetition') return this.repetition(field, key)
      if (field.kind === 'leaf') return this.leaf(this.mapping.leaves[field.position], key, scope)
      if (key === '') return this.fields(field.fields, scope)
      const i = this.names++
      const parts = this.object(field.fields, scope.once)
      if (!changesRest(parts)) return parts
      return `
        const t${i} = t
        t = ''
        ${parts}
        t = t === '' ? t${i} : member(t${i}, ${this.key(key)} + '{' + t + '}')`
    })
  }

  /** The code for the beginning of a value in `fields`: its name. */
  private key(name: string): Codes.Code {
    return Codes.textCode(`${JSON.stringify(name)}:`, this.target)
  }

  private repetition({ count, field }: Field & { kind: 'repetition' }, key: string): Codes.Code {
    const i = this.names++
    const name = this.key(key)
    return `
      const t${i} = t
      ${this.list(count, field, i)}
      t = member(t${i}, ${name} + '[' + a${i} + ']')`
  }

  /** Reads the elements of a repetition, so that `a` with the number `i` is their text. */
  private list(count: number, field: Field, i: number): Codes.Code {
    const { maxValues } = this.target
    const [element, value] = this.element(field)
    const isTooMuch = `++rounds > ${maxValues} || (values += ${Codes.leafCount([field])}) > ${maxValues}`
    return `
      let a${i} = ''
      if (v${count} > ${maxValues}) { p = run.tooMany(L); break reading }
      for (let i${i} = v${count}; i${i} > 0; i${i}--) {
        if (${isTooMuch}) { p = run.tooMany(L); break reading }
        if (a${i}.length > MAX_TEXT) { p = run.tooLong(L); break reading }
        ${element}
        a${i} += a${i} === '' ? ${value} : ',' + ${value}
      }`
  }

  /** Reads an element of a repetition: the code, and the expression for its text. */
  private element(field: Field): readonly [Codes.Code, Codes.Code] {
    if (field.kind === 'repetition') {
      const i = this.names++
      return [this.list(field.count, field.field, i), `'[' + a${i} + ']'`]
    }
    if (field.kind === 'composite') return [`t = ''\n${this.object(field.fields, false)}`, "'{' + t + '}'"]
    if (field.type === 'int') return [this.number(this.mapping.leaves[field.position]), 'number(lo, hi)']
    return [this.data(field), this.dataText()]
  }

  /** Reads a leaf, and stores it where it belongs. */
  private leaf(mapping: LeafMapping, key: string, scope: Scope): Codes.Code {
    return mapping.leaf.type === 'int' ? this.storeNumber(mapping, key, scope) : this.storeData(mapping, key, scope)
  }

  private storeNumber(mapping: LeafMapping, key: string, scope: Scope): Codes.Code {
    const { leaf, role, silent } = mapping
    const { binary } = this.target
    const store = this.numberStore(mapping, key, scope)
    const read = this.number(mapping)
    const isNoted = role === 'counted' && key !== '' && binary
    const lines = isNoted ? `${read}\n${this.noteLength(leaf.position, key, scope)}` : read
    if (!silent) return `${lines}\n${store}`
    if (!binary) return lines
    const isWanted = `if (H${this.r}[${leaf.position}] !== SILENT)`
    // A number on which nothing depends is not even read if the event does not have it.
    const isAlone = Codes.isPlain(leaf, this.references) && !this.references.lengths.has(leaf.position)
    if (isAlone) return `${isWanted} {\n${lines}\n${store}\n}`
    return store === '' ? lines : `${lines}\n${isWanted} {\n${store}\n}`
  }

  /** Stores the number in `lo` and `hi` in its column or in `fields`. */
  private numberStore({ field, type, role }: LeafMapping, key: string, { once }: Scope): Codes.Code {
    const toRest = () => `t = member(t, ${this.key(key)} + number(lo, hi))`
    if (!once || field < 0) return role === 'value' && key !== '' ? toRest() : ''
    const { local, bit, wide } = Codes.columnFor(field)
    if (wide) return `${local}[row + LO] = lo\n${local}[row + HI] = hi`
    return `
      if (hi === ${type === 'u32' ? '0' : '(lo >> 31) >>> 0'}) {
        ${local}[n] = lo
        fields |= ${bit}
      }
      ${key === '' ? '' : `else {\n${toRest()}\n}`}`
  }

  /** Keeps a length, which goes into `fields` if it differs from the actual length. */
  private noteLength(p: number, key: string, scope: Scope): Codes.Code {
    const { counts, lengths } = this.references
    if (counts.has(p) || !lengths.has(p)) return ''
    const isWanted = this.mapping.leaves[p].silent ? `d${p} && H${this.r}[${p}] !== SILENT` : `d${p}`
    scope.atEnd.push(`if (${isWanted}) t = member(t, ${this.key(key)} + number(l${p}, h${p}))`)
    return `const l${p} = lo, h${p} = hi\nlet d${p} = false`
  }

  /** Reads a number into `lo` and `hi`, and into a separate variable if it is a count or a length. */
  private number(mapping: LeafMapping): Codes.Code {
    const { position: p } = mapping.leaf
    const isCount = this.references.counts.has(p) || this.references.lengths.has(p)
    const keep = isCount ? `const v${p} = hi === 0 ? lo : hi * 4294967296 + lo` : ''
    return `${this.target.binary ? this.binaryNumber(mapping) : this.lineNumber(mapping)}\n${keep}`
  }

  private generalNumber(p: number): Codes.Code {
    return `
      p = run.number(L, ${p}, p)
      ${STOP}
      lo = value[LO]
      hi = value[HI]`
  }

  private lineNumber({ leaf, silent }: LeafMapping): Codes.Code {
    if (silent) return 'lo = 0\nhi = 0'
    const { position: p, interpretation } = leaf
    const isStored = interpretation.kind === 'none' || interpretation.kind === 'sectionOffset'
    if (!isStored || !Codes.isPlain(leaf, this.references)) return this.generalNumber(p)
    return `
      p = gap(bytes, p)
      if (p >= 0) p = lineNumber(bytes, p, value, 0)
      if (p < 0) { run.missing(L, ${p}, p); break reading }
      lo = value[LO]
      hi = value[HI]`
  }

  private binaryNumber(mapping: LeafMapping): Codes.Code {
    const { leaf } = mapping
    const { position: p, interpretation } = leaf
    const { little, r, target } = this
    const how = `H${r}[${p}]`
    const ways: Codes.Code[] = []
    if (target.inline && Codes.isPlain(leaf, this.references)) {
      if (interpretation.kind === 'default')
        ways.push(`if (${how} === BY_DEFAULT) {\nlo = R${r}[${2 * p} + LO]\nhi = R${r}[${2 * p} + HI]\n}`)
      for (const width of Codes.widthsInPlace(mapping)) {
        const [lo, hi] = little ? ['p', 'p + 4'] : ['p + 4', 'p']
        ways.push(`
          if (${how} === ${width}) {
            if (p + ${width} > end) { p = INCOMPLETE; break reading }
            lo = ${width === 8 ? getUint(lo, 4, little) : getUint('p', width, little)}
            hi = ${width === 8 ? getUint(hi, 4, little) : '0'}
            p += ${width}
          }`)
      }
    }
    if (ways.length === 0) return this.generalNumber(p)
    return `${ways.map((way) => way.trim()).join('\nelse ')}\nelse {\n${this.generalNumber(p)}\n}`
  }

  /** Reads bytes, from `w` to `p`; or a string into `run.text`. */
  private data({ position: p, width }: Leaf): Codes.Code {
    if (!this.target.binary) return `p = run.string(L, ${p}, p)\n${STOP}`
    const { r } = this
    const own = width?.kind === 'reference' ? width.position : -1
    const isMeasured = this.references.lengths.get(own) === p && this.isNoted(own)
    return `
      w = ${own < 0 ? `W${r}[${p}]` : `W${r}[${p}] < 0 ? v${own} : W${r}[${p}]`}
      ${isMeasured ? `if (w !== v${own}) d${own} = true` : ''}
      if (w !== 0) {
        p = run.data(L, ${p}, p, w)
        ${STOP}
      }
      w = p - w`
  }

  /** Whether `noteLength` keeps a length, because it is a value of an object. */
  private isNoted(p: number): boolean {
    const { leaves, keys } = this.mapping
    const { leaf, role } = leaves[p]
    return role === 'counted' && keys.has(leaf) && !this.references.counts.has(p)
  }

  private dataText(): Codes.Code {
    return this.target.binary ? 'run.base64(w, p)' : 'run.quoted()'
  }

  private storeData(mapping: LeafMapping, key: string, { once }: Scope): Codes.Code {
    const { leaf, field, role, silent } = mapping
    const { binary } = this.target
    if (!binary && silent) return ''
    const read = this.data(leaf)
    if (!once || field < 0) {
      return role === 'value' ? `${read}\nt = member(t, ${this.key(key)} + ${this.dataText()})` : read
    }
    const { bit, property } = Codes.columnFor(field)
    const store = `
      batch.addColumns(${bit})
      ${property}[n] = strings.intern(${binary ? 'bytes, w, p' : 'run.text.bytes, 0, run.text.pos'})
      fields |= ${bit}
      ${FULL}`
    return `${read}\n${binary && Codes.isOptional(mapping) ? `if (p > w) {\n${store}\n}` : store}`
  }
}

/** Whether code adds to the text of `fields`. */
function changesRest(code: Codes.Code): boolean {
  return /\bt = /.test(code)
}

function tooLarge(isRepeated: boolean): Codes.Code {
  return `
    if (p - pos > MAX_RECORD${isRepeated ? ' || rounds > p - pos + FREE_ROUNDS' : ''}) {
      p = run.tooLarge(L, p - pos)
      break reading
    }`
}

/** Stores the values without a field of their own. */
function storeRest(always: boolean): Codes.Code {
  const bit = FieldBit.fields
  return `
    ${always ? '{' : "if (t !== '') {"}
      if (t.length > MAX_TEXT) { p = run.tooLong(L); break reading }
      batch.addColumns(${bit})
      batch.fields[n] = strings.internText('{' + t + '}')
      fields |= ${bit}
      ${FULL}
    }`
}

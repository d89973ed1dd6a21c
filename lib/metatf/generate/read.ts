import { FieldBit, Kind } from '../../event/fields.js'
import { hasRepetition, SECTION_KEY, type LeafMapping, type RecordMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'
import {
  block,
  columnFor,
  fieldsIn,
  isOptional,
  isPlain,
  isVariable,
  keyCode,
  leafCount,
  recordComment,
  referencesOf,
  textCode,
  widthsInPlace,
  type Code,
  type References,
  type Target,
} from './code.js'

/** Leaves the loop if something is wrong. */
export const STOP = 'if (p < 0) break reading'

/** An unsigned number of 1, 2 or 4 bytes. */
export function getUint(at: string, width: number, little: boolean): string {
  return `view.getUint${8 * width}(${at}${width > 1 && little ? ', true' : ''})`
}

/** An object in `fields` whose values are being read, or the event itself. */
interface Scope {
  /** Whether it is the event, and not inside of a repetition. */
  readonly once: boolean
  /** Code for its end. */
  readonly atEnd: string[]
}

/** Code that reads the records of one type. */
export class ReadCode {
  private readonly references: References
  private readonly r: number
  private names = 0

  constructor(
    private readonly mapping: RecordMapping,
    private readonly target: Target,
    private readonly little: boolean,
  ) {
    this.references = referencesOf(mapping)
    this.r = mapping.position
  }

  lines(): Code {
    const { mapping, r, target } = this
    const { record, section, given, kind } = mapping
    const isRepeated = hasRepetition(record.fields)
    const own = section === null ? "''" : textCode(`${JSON.stringify(SECTION_KEY)}:${JSON.stringify(section)}`, target)
    const always = !target.binary && kind === Kind.other
    const scope: Scope = { once: true, atEnd: [] }
    const fields = this.fields(record.fields.slice(1), scope)
    const canHaveRest = section !== null || fields.concat(scope.atEnd).some((line) => /\bt = /.test(line))
    return [
      recordComment(mapping),
      `L = L${r}`,
      ...block(`if ((C${r} & ~batch.columns) !== 0)`, [`batch.addColumns(C${r})`, 'continue reading']),
      `fields = F${r}`,
      ...(target.binary ? [`p = pos + ${target.tagWidth}`] : []),
      ...(canHaveRest || always ? [`t = ${own}`] : []),
      ...(isRepeated
        ? ['rounds = 0', `values = ${record.fields.reduce((sum, field) => sum + leafCount(field), 0)}`]
        : []),
      ...fields,
      ...scope.atEnd,
      ...(target.binary && isVariable(mapping)
        ? block(`if (p - pos > MAX_RECORD${isRepeated ? ' || rounds > p - pos + FREE_ROUNDS' : ''})`, [
            'p = run.tooLarge(L, p - pos)',
            'break reading',
          ])
        : []),
      ...(canHaveRest || always ? this.storeRest(always) : []),
      ...this.given(given),
      ...(target.binary ||
      record.leaves.some(({ interpretation: { kind: how } }) => how === 'delta' || how === 'stride')
        ? [`if (M${r}) run.commit(L)`]
        : []),
      ...(target.binary && record.role === 'data' ? ['if (left-- === 0) { p = run.excess(); break reading }'] : []),
      `kind[n] = ${kind}`,
      'mask[n] = fields',
    ]
  }

  /** What the event has no other field for. */
  private storeRest(always: boolean): Code {
    const bit = FieldBit.fields
    return block(always ? '' : "if (t !== '')", [
      `if (t.length > MAX_TEXT) { p = run.tooLong(L); break reading }`,
      `batch.addColumns(${bit})`,
      "batch.fields[n] = strings.internText('{' + t + '}')",
      `fields |= ${bit}`,
      FULL,
    ])
  }

  /** What the record says by its type. */
  private given(given: number): Code {
    const { record, api, outcome } = this.mapping
    return fieldsIn(given).map((field) => {
      const { local, bit } = columnFor(field)
      const value =
        bit === FieldBit.api ? api : bit === FieldBit.outcome ? outcome : bit === FieldBit.code ? record.tag : null
      return `${local}[n] = ${value ?? `strings.internText(${textCode(record.name, this.target)})`}`
    })
  }

  private fields(fields: readonly Field[], scope: Scope): string[] {
    const { keys } = this.mapping
    return fields.flatMap((field) => {
      const key = keys.get(field) ?? ''
      if (field.kind === 'repetition') return this.repetition(field, key)
      if (field.kind === 'leaf') return this.leaf(field, key, scope)
      if (key === '') return this.fields(field.fields, scope)
      const i = this.names++
      const inner: Scope = { once: scope.once, atEnd: [] }
      const lines = this.fields(field.fields, inner)
      lines.push(...inner.atEnd)
      if (!lines.some((line) => /\bt = /.test(line))) return lines
      const all = `${keyCode(key, this.target)} + '{' + t + '}'`
      return [`const t${i} = t`, "t = ''", ...lines, `t = t === '' ? t${i} : member(t${i}, ${all})`]
    })
  }

  private repetition({ count, field }: Field & { kind: 'repetition' }, key: string): Code {
    const i = this.names++
    const all = `${keyCode(key, this.target)} + '[' + a${i} + ']'`
    return [`const t${i} = t`, ...this.list(count, field, i), `t = member(t${i}, ${all})`]
  }

  /** Reads the elements of a repetition, so that `a` with the number `i` is their text. */
  private list(count: number, field: Field, i: number): Code {
    let element: Code
    let value = ''
    if (field.kind === 'repetition') {
      const inner = this.names++
      element = this.list(field.count, field.field, inner)
      value = `'[' + a${inner} + ']'`
    } else if (field.kind === 'leaf') {
      const [lines, text] = this.element(field)
      element = lines
      value = text
    } else {
      const scope: Scope = { once: false, atEnd: [] }
      element = ["t = ''", ...this.fields(field.fields, scope), ...scope.atEnd]
      value = "'{' + t + '}'"
    }
    return [
      `let a${i} = ''`,
      `if (v${count} > ${this.target.maxValues}) { p = run.tooMany(L); break reading }`,
      ...block(`for (let i${i} = v${count}; i${i} > 0; i${i}--)`, [
        `if (++rounds > ${this.target.maxValues} || (values += ${leafCount(field)}) > ${this.target.maxValues}) { p = run.tooMany(L); break reading }`,
        `if (a${i}.length > MAX_TEXT) { p = run.tooLong(L); break reading }`,
        ...element,
        `a${i} += a${i} === '' ? ${value} : ',' + ${value}`,
      ]),
    ]
  }

  /** Reads a leaf that is an element itself: the code, and the expression for its text. */
  private element(leaf: Leaf): [Code, string] {
    const { position } = leaf
    if (leaf.type === 'int') return [this.number(this.mapping.leaves[position]), 'number(lo, hi)']
    return [this.data(leaf), this.dataText()]
  }

  /** Reads a leaf, and stores it where it belongs. */
  private leaf(leaf: Leaf, key: string, scope: Scope): Code {
    const mapping = this.mapping.leaves[leaf.position]
    return leaf.type === 'int' ? this.storeNumber(mapping, key, scope) : this.storeData(mapping, key, scope)
  }

  private storeNumber(mapping: LeafMapping, key: string, scope: Scope): Code {
    const { leaf, field, type, role, silent } = mapping
    const p = leaf.position
    const toRest = () => `t = member(t, ${keyCode(key, this.target)} + number(lo, hi))`
    let store: Code = []
    if (scope.once && field >= 0) {
      const { local, bit } = columnFor(field)
      if (type === 'u64' || type === 'address') store = [`${local}[row + LO] = lo`, `${local}[row + HI] = hi`]
      else {
        const sign = type === 'u32' ? '0' : '(lo >> 31) >>> 0'
        store = [
          ...block(`if (hi === ${sign})`, [`${local}[n] = lo`, `fields |= ${bit}`]),
          ...(key === '' ? [] : block('else', [toRest()])),
        ]
      }
    } else if (role === 'value' && key !== '') store = [toRest()]
    const lines = [...this.number(mapping)]
    if (role === 'counted' && key !== '' && this.target.binary) lines.push(...this.noteLength(p, key, scope))
    if (!silent) return [...lines, ...store]
    if (!this.target.binary) return lines
    const isWanted = `if (H${this.r}[${p}] !== SILENT)`
    // A number that nothing depends on is not even read where the event does not have it.
    if (this.isAlone(leaf)) return block(isWanted, [...lines, ...store])
    return [...lines, ...(store.length > 0 ? block(isWanted, store) : [])]
  }

  /** Whether no other leaf depends on a number. */
  private isAlone(leaf: Leaf): boolean {
    return isPlain(leaf, this.references) && !this.references.lengths.has(leaf.position)
  }

  /** Remembers a length, which is in `fields` if it is not that of what it should be the length of. */
  private noteLength(p: number, key: string, scope: Scope): Code {
    const { counts, lengths } = this.references
    if (counts.has(p) || !lengths.has(p)) return []
    const isWanted = this.mapping.leaves[p].silent ? `d${p} && H${this.r}[${p}] !== SILENT` : `d${p}`
    scope.atEnd.push(`if (${isWanted}) t = member(t, ${keyCode(key, this.target)} + number(l${p}, h${p}))`)
    return [`const l${p} = lo, h${p} = hi`, `let d${p} = false`]
  }

  /** Reads a number into `lo` and `hi`, and into a variable of its own where it is a number of other things. */
  private number(mapping: LeafMapping): Code {
    const { leaf, silent } = mapping
    const { references, target, r } = this
    const p = leaf.position
    const isCount = references.counts.has(p) || references.lengths.has(p)
    const keep = isCount ? [`const v${p} = hi === 0 ? lo : hi * 4294967296 + lo`] : []
    const general = [`p = run.number(L, ${p}, p)`, STOP, 'lo = value[LO]', 'hi = value[HI]']
    if (!target.binary) {
      if (silent) return ['lo = 0', 'hi = 0', ...keep]
      const isStored = leaf.interpretation.kind === 'none' || leaf.interpretation.kind === 'sectionOffset'
      if (!isStored || !isPlain(leaf, references)) return [...general, ...keep]
      return [
        'p = gap(bytes, p)',
        'if (p >= 0) p = lineNumber(bytes, p, value, 0)',
        `if (p < 0) { run.missing(L, ${p}, p); break reading }`,
        'lo = value[LO]',
        'hi = value[HI]',
        ...keep,
      ]
    }
    const ways = target.inline && isPlain(leaf, references) ? this.inPlace(mapping) : []
    if (leaf.interpretation.kind === 'default' && target.inline && isPlain(leaf, references)) {
      ways.unshift([`H${r}[${p}] === BY_DEFAULT`, [`lo = R${r}[${2 * p} + LO]`, `hi = R${r}[${2 * p} + HI]`]])
    }
    if (ways.length === 0) return [...general, ...keep]
    return [
      ...ways.flatMap(([condition, lines], i) => block(`${i > 0 ? 'else ' : ''}if (${condition})`, lines)),
      ...block('else', general),
      ...keep,
    ]
  }

  private inPlace(mapping: LeafMapping): [string, Code][] {
    const { little, r } = this
    return widthsInPlace(mapping).map((width) => {
      const [lo, hi] = little ? ['p', 'p + 4'] : ['p + 4', 'p']
      const read =
        width === 8
          ? [`lo = ${getUint(lo, 4, little)}`, `hi = ${getUint(hi, 4, little)}`]
          : [`lo = ${getUint('p', width, little)}`, 'hi = 0']
      const lines = [`if (p + ${width} > end) { p = INCOMPLETE; break reading }`, ...read, `p += ${width}`]
      return [`H${r}[${mapping.leaf.position}] === ${width}`, lines]
    })
  }

  /** Reads bytes, so that `w` is where they begin and `p` where they end; or a string into `run.text`. */
  private data({ position: p, width }: Leaf): Code {
    if (!this.target.binary) return [`p = run.string(L, ${p}, p)`, STOP]
    const { r } = this
    const own = width?.kind === 'reference' ? width.position : -1
    const length = own < 0 ? `W${r}[${p}]` : `W${r}[${p}] < 0 ? v${own} : W${r}[${p}]`
    const isMeasured = this.references.lengths.get(own) === p
    return [
      `w = ${length}`,
      ...(isMeasured && this.isNoted(own) ? [`if (w !== v${own}) d${own} = true`] : []),
      ...block('if (w !== 0)', [`p = run.data(L, ${p}, p, w)`, STOP]),
      'w = p - w',
    ]
  }

  /** Whether `noteLength` was asked about a length: it is a value of an object. */
  private isNoted(p: number): boolean {
    const { leaves, keys } = this.mapping
    const { leaf, role } = leaves[p]
    return role === 'counted' && keys.has(leaf) && !this.references.counts.has(p)
  }

  private dataText(): string {
    return this.target.binary ? 'run.base64(w, p)' : 'run.quoted()'
  }

  private storeData(mapping: LeafMapping, key: string, scope: Scope): Code {
    const { leaf, field, role, silent } = mapping
    const { target } = this
    const { binary } = target
    if (!binary && silent) return []
    const lines = this.data(leaf)
    if (!scope.once || field < 0) {
      return role === 'value' ? [...lines, `t = member(t, ${keyCode(key, target)} + ${this.dataText()})`] : lines
    }
    const { bit, property } = columnFor(field)
    const text = binary ? 'bytes, w, p' : 'run.text.bytes, 0, run.text.pos'
    const store = [`batch.addColumns(${bit})`, `${property}[n] = strings.intern(${text})`, `fields |= ${bit}`, FULL]
    return [...lines, ...(binary && isOptional(mapping) ? block('if (p > w)', store) : store)]
  }
}

/** The batch has become large: this is its last record. */
const FULL = 'if (strings.byteLength > BATCH_STRING_BYTES) limit = 0'

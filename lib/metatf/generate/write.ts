import { FieldBit } from '../../event/fields.js'
import { hasRepetition, type LeafMapping, type RecordMapping } from '../mapping.js'
import type { Field, Leaf } from '../model.js'
import { isHex } from '../ascii/tokens.js'
import {
  block,
  declare,
  columnFor,
  isPlain,
  isVariable,
  leafCount,
  partsOf,
  recordComment,
  referencesOf,
  setNumber,
  textCode,
  widthsInPlace,
  type Code,
  type References,
  type Target,
} from './code.js'

/** The most bytes of a number: in binary, and in a line with the space before it. */
const NUMBER_BYTES = 8
const WORD_BYTES = 24

/**
 * An object whose values are being written: the code for it (null for an event that has no `fields`), and for the
 * number of its names that are known.
 */
interface Scope {
  readonly object: string | null
  readonly known: string
  /** Whether it is that of the event, and not inside of a repetition. */
  readonly once: boolean
  /** The room that is needed for all of its numbers. */
  readonly room: number
}

/** Code that writes the records of one type. */
export class WriteCode {
  private readonly references: References
  private names = 0
  /** The variables with bytes and lists that were needed before they are written. */
  private readonly ready = new Map<Field, string>()

  constructor(
    private readonly mapping: RecordMapping,
    private readonly target: Target,
  ) {
    this.references = referencesOf(mapping)
  }

  lines(): Code {
    const { mapping, target } = this
    const { record, section, position: r } = mapping
    const { binary } = target
    const isRepeated = hasRepetition(record.fields)
    const canHaveRest = (mapping.carries & FieldBit.fields) !== 0
    const room = this.roomFor(record.fields)
    const scope: Scope = { object: canHaveRest ? 'rest' : null, known: 'known', once: true, room }
    const body = [
      'p = pos',
      ...this.room(String(scope.room)),
      ...(canHaveRest
        ? [
            `const rest = (m & ${FieldBit.fields}) === 0 ? undefined : run.rest(i, ${r})`,
            `known = ${section === null ? 0 : 1}`,
          ]
        : []),
      ...(isRepeated
        ? ['rounds = 0', `values = ${record.fields.reduce((sum, field) => sum + leafCount(field), 0)}`]
        : []),
      ...this.tag(record.tag as number),
      ...this.fields(record.fields.slice(1), scope),
      ...(canHaveRest ? ['if (rest !== undefined) run.unknown(rest, known)'] : []),
    ]
    const comment = recordComment(mapping)
    if (!binary) {
      return [
        comment,
        `const L = byPosition[${r}]`,
        'run.layout = L',
        ...body,
        ...this.room('1'),
        'bytes[p++] = LINE_FEED',
        'if (p - pos > MAX_LINE) run.tooLong()',
        ...(record.leaves.some(({ interpretation: { kind } }) => kind === 'delta' || kind === 'stride')
          ? ['L.commit()']
          : []),
      ]
    }
    const tooLarge = isVariable(mapping)
      ? ` && p - pos <= MAX_RECORD${isRepeated ? ' && rounds <= p - pos + FREE_ROUNDS' : ''}`
      : ''
    return [
      comment,
      `let L = byPosition[${r}]`,
      ...block('if (L === undefined)', [
        `L = run.enter(${r})`,
        'byPosition = run.section.byPosition',
        'pos = sink.pos',
        ...REFRESH,
      ]),
      'run.layout = L',
      ...declare(
        'const',
        [
          ['H', 'L.how'],
          ['W', 'L.width'],
        ],
        body,
        target,
      ),
      ...block('for (;;)', [
        ...body,
        `if (packer.misfits === 0${tooLarge}) break`,
        'const fits = run.adapt(L)',
        'pos = sink.pos',
        ...REFRESH,
        ...block('if (!fits)', ['i++', 'continue writing']),
      ]),
      'if (L.moving !== 0) run.commit(L)',
      ...(record.role === 'data' ? ['run.records++'] : []),
    ]
  }

  private tag(tag: number): Code {
    const { binary, tagWidth } = this.target
    if (!binary) return [...String(tag)].map((digit) => `bytes[p++] = ${digit.charCodeAt(0)}`)
    if (tagWidth === 1) return [`view.setUint8(p++, ${tag})`]
    if (tagWidth === 2 || tagWidth === 4) return [`view.setUint${8 * tagWidth}(p, ${tag}, little)`, `p += ${tagWidth}`]
    return [`p = run.tag(p, ${tagWidth}, ${tag})`]
  }

  /** Makes room for this many bytes after `p`. */
  private room(length: string): Code {
    const refresh = this.target.binary ? REFRESH : ['bytes = sink.bytes']
    return block(`if (p + ${length} > bytes.length)`, [
      'sink.pos = p',
      `sink.reserve(${length})`,
      'sink.pos = pos',
      ...refresh,
    ])
  }

  private roomFor(fields: readonly Field[]): number {
    const each = this.target.binary ? NUMBER_BYTES : WORD_BYTES
    return each * (1 + fields.reduce((sum, field) => sum + leafCount(field), 0))
  }

  /** @param after the fields of the same object that come after these */
  private fields(fields: readonly Field[], scope: Scope, after: readonly Field[] = []): Code {
    const { keys } = this.mapping
    return fields.flatMap((field, at): Code => {
      if (field.kind === 'leaf') {
        const behind = () => [...fields.slice(at + 1), ...after]
        const early = this.counted(field) ? this.early(field.position, behind(), scope) : null
        return [...(early?.lines ?? []), ...this.leaf(field, scope, early?.value)]
      }
      if (field.kind === 'repetition') {
        const ready = this.ready.get(field)
        const i = this.names++
        const lines = ready === undefined ? [...this.own(field, scope), `const a${i} = list(v)`] : []
        return [...lines, ...this.list(field, ready ?? `a${i}`, scope)]
      }
      if (keys.get(field) === '') return this.fields(field.fields, scope, [...fields.slice(at + 1), ...after])
      const i = this.names++
      const inner = { ...scope, object: `o${i}`, known: `n${i}` }
      return [
        ...this.own(field, scope),
        `const o${i} = object(v)`,
        `let n${i} = 0`,
        ...this.fields(field.fields, inner),
        `if (o${i} !== undefined) run.unknown(o${i}, n${i})`,
      ]
    })
  }

  /** Puts what an object has for a field into `v`. */
  private own(field: Field, { object, known }: Scope): Code {
    const key = this.mapping.keys.get(field)
    if (key === undefined || key === '' || object === null) return ['v = undefined']
    const get = `(v = own(${object}, ${textCode(key, this.target)}))`
    return ['v = undefined', `if (${object} !== undefined && ${get} !== undefined) ${known}++`]
  }

  private counted({ position }: Leaf): boolean {
    const { role, leaf } = this.mapping.leaves[position]
    return role === 'counted' && leaf.value === null
  }

  /** The code for the field that leaf c counts, among the fields after it, and for its length. */
  private early(c: number, fields: readonly Field[], scope: Scope): { lines: Code; value: string } | null {
    const all = partsOf(fields, this.mapping.keys)
    const list = all.find((field) => field.kind === 'repetition' && field.count === c)
    const found =
      list ??
      all.find(
        (field) =>
          field.kind === 'leaf' &&
          field.type !== 'int' &&
          field.width?.kind === 'reference' &&
          field.width.position === c,
      )
    if (found === undefined) return null
    const known = this.ready.get(found)
    if (known !== undefined) return { lines: [], value: `${known}.length` }
    const i = this.names++
    const lines = this.own(found, scope)
    if (found.kind === 'leaf') {
      this.ready.set(found, `b${i}`)
      return { lines: this.bytesOf(found, scope.once, `b${i}`, lines), value: `b${i}.length` }
    }
    this.ready.set(found, `a${i}`)
    return { lines: [...lines, `const a${i} = list(v)`], value: `a${i}.length` }
  }

  /** The code for a variable with the bytes of a leaf: from the event, from a value in `fields`, or none. */
  private bytesOf({ position: p }: Leaf, once: boolean, name: string, own: Code): Code {
    const { field } = this.mapping.leaves[p]
    const other = `v === undefined ? run.noData(L, ${p}) : run.dataOf(v)`
    if (!this.isColumn(p, once)) return [...own, `const ${name} = ${other}`]
    const column = `${name} = run.columnData(L, ${p}, ${field}, i)`
    return [
      `let ${name} = NO_BYTES`,
      ...block(`if ((m & ${columnFor(field).bit}) !== 0)`, [column]),
      ...block('else', [...own, `${name} = ${other}`]),
    ]
  }

  private list({ count, field }: Field & { kind: 'repetition' }, items: string, scope: Scope): Code {
    const i = this.names++
    const room = this.roomFor([field])
    let element: Code
    if (field.kind === 'leaf') {
      element = this.value(field, { ...scope, once: false, room }, [`v = e${i}`])
    } else if (field.kind === 'repetition') {
      const inner = this.names++
      element = [`const a${inner} = list(e${i})`, ...this.list(field, `a${inner}`, { ...scope, once: false, room })]
    } else {
      const inner: Scope = { object: `o${i}`, known: `n${i}`, once: false, room }
      element = [
        `const o${i} = object(e${i})`,
        `let n${i} = 0`,
        ...this.fields(field.fields, inner),
        `if (o${i} !== undefined) run.unknown(o${i}, n${i})`,
      ]
    }
    const max = this.target.maxValues
    return [
      `if (count(L, ${count}) !== ${items}.length) run.mismatch(L, ${count})`,
      ...block(`for (let j${i} = 0; j${i} < ${items}.length; j${i}++)`, [
        `if (++rounds > ${max} || (values += ${leafCount(field)}) > ${max}) run.tooMany()`,
        ...this.room(String(room)),
        `const e${i} = ${items}[j${i}]`,
        ...element,
      ]),
      ...this.room(String(scope.room)),
    ]
  }

  /** Writes a leaf of an object. @param counted the code for the number of what it counts */
  private leaf(leaf: Leaf, scope: Scope, counted: string | undefined): Code {
    const ready = this.ready.get(leaf)
    if (ready !== undefined) return this.data(leaf, ready, scope)
    return this.value(leaf, scope, this.own(leaf, scope), counted)
  }

  /** Writes a leaf. @param own the code that puts its value in `fields`, if it has one, into `v` */
  private value(leaf: Leaf, scope: Scope, own: Code, counted?: string): Code {
    const { position: p } = leaf
    const mapping = this.mapping.leaves[p]
    const { field, silent } = mapping
    const { binary } = this.target
    if (leaf.type !== 'int') {
      const name = `b${this.names++}`
      return [...this.bytesOf(leaf, scope.once, name, own), ...this.data(leaf, name, scope)]
    }
    const isColumn = this.isColumn(p, scope.once)
    const has = isColumn ? `(m & ${columnFor(field).bit}) !== 0` : 'false'
    if (leaf.value !== null) {
      const given = isColumn ? `${has} ? run.columnNumber(${field}, i) : v` : 'v'
      return [...own, `p = run.constant(L, ${p}, p, ${given})`]
    }
    if (counted !== undefined) return this.length(leaf, counted, own, scope)
    const isSilent = silent && binary ? `if (v !== undefined || H[${p}] !== SILENT) ` : ''
    const given = [...own, `${isSilent}p = run.given(L, ${p}, p, v)`]
    return isColumn ? [...block(`if (${has})`, this.column(mapping)), ...block('else', given)] : given
  }

  /** Whether an event has a field for a leaf. In ASCII a field with the default 0 cannot be represented. */
  private isColumn(p: number, once: boolean): boolean {
    const { field, silent } = this.mapping.leaves[p]
    return once && field >= 0 && (this.target.binary || !silent)
  }

  /** Writes the event's own number. */
  private column(mapping: LeafMapping): Code {
    const { leaf, field, type } = mapping
    const { references, target } = this
    const p = leaf.position
    const { local, wide } = columnFor(field)
    const load = wide
      ? [`lo = ${local}[row + LO]`, `hi = ${local}[row + HI]`]
      : [`lo = ${local}[i]`, `hi = ${type === 'i32' ? 'lo >> 31' : '0'}`]
    const general = `p = run.put(L, ${p}, p, lo, hi)`
    if (!target.inline || !isPlain(leaf, references)) return [...load, general]
    if (!target.binary) {
      if (leaf.interpretation.kind !== 'none') return [...load, general]
      const hex = isHex(leaf)
      return [
        ...load,
        'bytes[p++] = SPACE',
        ...(hex ? ['bytes[p++] = 48', 'bytes[p++] = 120'] : []),
        `p = ${hex ? 'writeHex' : 'writeDecimal'}(bytes, p, lo${wide ? '' : ' >>> 0'}, hi${wide ? '' : ' >>> 0'})`,
      ]
    }
    const ways = widthsInPlace(mapping).flatMap((width, i) => {
      const fits = width === 8 ? '' : width === 4 ? ' && hi === 0' : ` && hi === 0 && lo < ${256 ** width}`
      const condition = `${i > 0 ? 'else ' : ''}if (H[${p}] === ${width}${fits})`
      return block(condition, setNumber(width))
    })
    if (leaf.interpretation.kind === 'default') {
      const isSame = `lo === L.reference[${2 * p} + LO] && hi === L.reference[${2 * p} + HI]`
      return [...load, ...ways, ...block(`else if (H[${p}] !== BY_DEFAULT || !(${isSame}))`, [general])]
    }
    return ways.length === 0 ? [...load, general] : [...load, ...ways, ...block('else', [general])]
  }

  /** Writes the number of elements or bytes. */
  private length({ position: p, width }: Leaf, counted: string, own: Code, { object }: Scope): Code {
    const { counts, values } = this.references
    const general = `p = run.length(L, ${p}, p, v, ${counted})`
    const isByte = width?.kind === 'constant' && width.bytes === 1
    if (!this.target.inline || counts.has(p) || values.has(p) || !isByte) return [...own, general]
    // What refers to the length finds it among the latest values.
    const byte = [
      `L.latest[${2 * p} + LO] = ${counted}`,
      `L.latest[${2 * p} + HI] = 0`,
      `view.setUint8(p++, ${counted})`,
    ]
    return [
      ...block(`if (${object === null ? '' : `${object} === undefined && `}H[${p}] === 1 && ${counted} < 256)`, byte),
      ...block('else', [...own, general]),
    ]
  }

  /** Writes bytes or a string. */
  private data({ position: p }: Leaf, name: string, { room }: Scope): Code {
    if (!this.target.binary)
      return [
        ...this.room(`4 * ${name}.length + ${room}`),
        `p = run.data(L, ${p}, p, ${name})`,
        'bytes = sink.bytes',
        ...this.room(String(room)),
      ]
    const isGiven = (this.mapping.carries & FieldBit.fields) !== 0 ? ' || rest !== undefined' : ''
    return block(`if (${name}.length !== 0 || W[${p}] > 0${isGiven})`, [
      ...this.room(`${name}.length + ${room}`),
      `p = run.data(L, ${p}, p, ${name})`,
    ])
  }
}

const REFRESH: Code = ['bytes = sink.bytes', 'view = run.view()']

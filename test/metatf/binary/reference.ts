import type { FieldValue } from '../../../lib/event/json.js'
import type { Dtd, Field, Leaf, RecordType, Section } from '../../../lib/metatf/index.js'
import { mappingOf, type RecordMapping } from '../../../lib/metatf/mapping.js'

const MODES = ['', 'none', 'baseOffset', 'delta', 'default', 'sectionOffset', 'stride', 'sectionStride']
const STORED = ['none', 'baseOffset', 'delta', 'sectionOffset']

/** How a leaf is laid out, as one would write it down from the README. */
interface State {
  mode: string
  /** A number of bytes, or the position of the leaf that has it. */
  width: number | { position: number }
  reference: bigint | { position: number }
  stride: bigint
  touched: boolean
}

/** The record cannot be made. */
class Impossible extends Error {}

/**
 * Makes random traces without a header, and what must be read from them, in the plainest way: with BigInt, an object
 * for each field, and a copy of all states for each record. Elements of tables are i * 7 modulo 2^32 for i = 0, 1 ...
 */
export class Reference {
  readonly bytes: number[] = []
  /** What `fields` of each record must be, and its name. */
  readonly events: { type: string; fields: FieldValue }[] = []
  private section: Section
  private states = new Map<string, State[]>()
  private taken = 0n
  private readonly mapping

  /** @param pick gives a random number below n */
  constructor(
    private readonly dtd: Dtd,
    private readonly little: boolean,
    private readonly pick: (n: number) => number,
  ) {
    this.section = dtd.sections[0]
    this.mapping = mappingOf(dtd)
  }

  /** Adds a record of any sort. */
  step(): void {
    const what = this.pick(8)
    const before = { states: structuredClone(this.states), length: this.bytes.length, taken: this.taken }
    try {
      if (what === 0) this.toSection(this.dtd.sections[this.pick(3)])
      else if (what <= 2) this.metadata()
      else this.record()
    } catch (error) {
      if (!(error instanceof Impossible)) throw error
      this.states = before.states
      this.taken = before.taken
      this.bytes.length = before.length
    }
  }

  private toSection(section: Section): void {
    if (section.element?.record.tag === null) throw new Impossible()
    this.number(2n, this.dtd.tagWidth as number)
    this.number(BigInt(section.id), 1)
    this.section = section
  }

  private metadata(): void {
    const records = [...this.section.tags.values()].filter(({ role }) => role === 'data')
    if (records.length === 0) throw new Impossible()
    const record = records[this.pick(records.length)]
    const p = this.pick(record.leaves.length)
    const { name, type } = record.leaves[p]
    if (name === 'tag') throw new Impossible()
    const property = type === 'bytes' ? this.pick(2) : this.pick(8)
    const mode = MODES[property]
    const values: bigint[] = []
    if (property === 0) values.push(BigInt(this.pick(9)))
    else if (mode.startsWith('section')) values.push(mode === 'sectionStride' ? 255n : 2n)
    else if (mode !== 'none') values.push(BigInt(this.pick(2 ** 32)))
    if (mode === 'stride' || mode === 'sectionStride')
      values.push(BigInt(mode === 'stride' ? this.pick(2 ** 32) : this.pick(4)))
    const width = this.dtd.tagWidth as number
    this.number(3n, width)
    this.number(BigInt(record.tag as number), width)
    this.number(BigInt(p), 1)
    this.number(BigInt(property), 1)
    for (const value of values) this.number(value, 4)
    const state = this.stateOf(record)[p] as State & { stored?: State['width'] }
    const [first = 0n, second = 0n] = values
    state.touched = true
    state.stored ??= state.width
    if (property === 0) {
      if (first !== 0n) state.stored = Number(first)
      if (STORED.includes(state.mode)) state.width = Number(first)
      return
    }
    state.mode = mode
    state.width = STORED.includes(mode) ? state.stored : 0
    state.reference = first
    state.stride = mode === 'stride' ? BigInt.asIntN(32, second) : second
  }

  private record(): void {
    const { records } = this.mapping
    const here = records.filter(
      ({ record }) => record.role === 'data' && this.section.tags.get(record.tag as number) === record,
    )
    if (here.length === 0) throw new Impossible()
    const mapping = here[this.pick(here.length)]
    const { record } = mapping
    const counts = new Set<number>()
    const find = (fields: readonly Field[]): void => {
      for (const field of fields) {
        if (field.kind === 'leaf') {
          const { width } = this.stateOf(record)[field.position]
          if (typeof width === 'object') counts.add(width.position)
          if (field.width?.kind === 'reference') counts.add(field.width.position)
        } else if (field.kind === 'composite') find(field.fields)
        else {
          counts.add(field.count)
          find([field.field])
        }
      }
    }
    find(record.fields)
    const latest = new Map<number, bigint>()
    const fields = this.object(record.fields, { mapping, counts, latest, lengths: new Map() })
    if (mapping.section !== null) fields.unshift(['section', mapping.section])
    this.events.push({ type: record.name, fields: resolve(Object.fromEntries(fields)) as FieldValue })
  }

  private object(fields: readonly Field[], context: Context): [string, Said][] {
    return fields.flatMap((field): [string, Said][] => {
      const key = context.mapping.keys.get(field) ?? ''
      if (field.kind === 'leaf') {
        const value = this.leaf(field, context)
        return key !== '' && this.isSaid(field, context) ? [[key, this.said(field, value, context)]] : []
      }
      if (field.kind === 'composite') {
        const inner = this.object(field.fields, context)
        return key === '' ? inner : [[key, Object.fromEntries(inner)]]
      }
      return [[key, this.list(field, context)]]
    })
  }

  private list({ count, field }: Field & { kind: 'repetition' }, context: Context): Said[] {
    const length = Number(context.latest.get(count))
    return Array.from({ length }, () => {
      if (field.kind === 'leaf') return this.leaf(field, context)
      return field.kind === 'composite'
        ? Object.fromEntries(this.object(field.fields, context))
        : this.list(field, context)
    })
  }

  private isSaid({ position }: Leaf, { mapping }: Context): boolean {
    const { role, silent } = mapping.leaves[position] as RecordMapping['leaves'][number]
    const state = this.stateOf(mapping.record)
    if (silent && state[position]?.touched !== true) return false
    if (role === 'value') return true
    return role === 'counted' && !isCount(mapping.record.fields, position)
  }

  /** A value, or for a length what is said of it once all of what it should be the length of is there. */
  private said({ position }: Leaf, value: FieldValue, { mapping, lengths }: Context): Said {
    if (mapping.leaves[position]?.role !== 'counted') return value
    const measured = mapping.record.leaves.find(
      ({ width, type }) => type === 'bytes' && width?.kind === 'reference' && width.position === position,
    )
    if (measured === undefined) return new Length(value, [])
    const own: number[] = []
    lengths.set(measured.position, own)
    return new Length(value, own)
  }

  private leaf(leaf: Leaf, { mapping, counts, latest, lengths }: Context): FieldValue {
    const { position: p, type, value: fixed } = leaf
    const state = this.stateOf(mapping.record)[p]
    const of = (x: bigint | number | { position: number }) =>
      typeof x === 'object' ? (latest.get(x.position) as bigint) : BigInt(x)
    const width = Number(of(state.width))
    if (width > (type === 'bytes' ? 1000 : 8)) throw new Impossible()
    if (type === 'bytes') {
      const bytes = Array.from({ length: width }, () => this.pick(256))
      this.bytes.push(...bytes)
      lengths.get(p)?.push(width)
      return Buffer.from(bytes).toString('base64')
    }
    const wanted =
      fixed === null
        ? counts.has(p)
          ? BigInt(this.pick(4))
          : null
        : fixed.kind === 'reference'
          ? of(fixed)
          : BigInt(fixed.value)
    let value: bigint
    if (state.mode === 'default') value = of(state.reference)
    else if (state.mode === 'stride')
      state.reference = value = BigInt.asUintN(64, (state.reference as bigint) + state.stride)
    else if (state.mode === 'sectionStride') {
      if (this.taken >= 4000n) throw new Impossible()
      value = (this.taken * 7n) % 256n
      this.taken += state.stride
    } else {
      const base = state.mode === 'none' || state.mode === 'sectionOffset' ? null : of(state.reference)
      const wide = 8 * width
      const any = BigInt.asUintN(
        wide,
        BigInt(this.pick(2 ** 32)) * BigInt(this.pick(2 ** 32)) + BigInt(this.pick(2 ** 32)),
      )
      const stored = wanted === null ? any : BigInt.asUintN(wide, wanted - (base ?? 0n))
      value = base === null ? stored : BigInt.asUintN(64, base + BigInt.asIntN(wide, stored))
      this.number(stored, width)
      if (state.mode === 'delta') state.reference = value
    }
    if ((fixed !== null && value !== wanted) || (counts.has(p) && value > 20n)) throw new Impossible()
    latest.set(p, value)
    return value
  }

  private number(value: bigint, width: number): void {
    const bytes = Array.from({ length: width }, (_, i) => Number((value >> BigInt(8 * i)) & 255n))
    this.bytes.push(...(this.little ? bytes : bytes.toReversed()))
  }

  private stateOf(record: RecordType): State[] {
    const key = `${this.section.id} ${record.section} ${record.name}`
    let states = this.states.get(key)
    if (states === undefined) {
      states = record.leaves.map(({ width, interpretation: how }): State => {
        const ref = (x: { kind: string; position?: number; value?: unknown }) => {
          return x.kind === 'reference' ? { position: x.position as number } : (x.value as bigint)
        }
        return {
          mode: how.kind,
          width: width?.kind === 'reference' ? { position: width.position } : (width?.bytes ?? 0),
          reference:
            'initial' in how
              ? how.initial
              : how.kind === 'baseOffset'
                ? ref(how.base)
                : how.kind === 'default'
                  ? ref(how.value)
                  : 0n,
          stride: 'stride' in how ? BigInt(how.stride) : 0n,
          touched: false,
        }
      })
      this.states.set(key, states)
    }
    return states
  }
}

function isCount(fields: readonly Field[], p: number): boolean {
  return fields.some((field) => {
    if (field.kind === 'leaf') return false
    return field.kind === 'repetition' ? field.count === p || isCount([field.field], p) : isCount(field.fields, p)
  })
}

/** A length, which is said if something has another one. */
class Length {
  constructor(
    readonly value: FieldValue,
    readonly lengths: readonly number[],
  ) {}
}

type Said = FieldValue | Length | readonly Said[] | { readonly [name: string]: Said }

/** What is said in the end: objects without anything in them are left out, but in lists. */
function resolve(said: Said): FieldValue | undefined {
  if (said instanceof Length)
    return said.lengths.some((length) => BigInt(length) !== said.value) ? said.value : undefined
  if (Array.isArray(said)) return said.map((item: Said) => resolve(item) ?? {})
  if (typeof said !== 'object') return said
  const entries = Object.entries(said).map(([name, value]) => [name, resolve(value as Said)] as const)
  const kept = entries.filter(
    ([, value]) =>
      value !== undefined && (typeof value !== 'object' || Array.isArray(value) || Object.keys(value).length > 0),
  )
  return Object.fromEntries(kept) as FieldValue
}

interface Context {
  mapping: RecordMapping
  counts: ReadonlySet<number>
  latest: Map<number, bigint>
  lengths: Map<number, number[]>
}

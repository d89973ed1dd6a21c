import { FIELDS } from '../../../lib/event/fields.js'
import { mix, type Coder, type Table } from './coder.js'
import type { Names } from './names.js'

export const FORM = { plain: 0, makes: 1, ends: 2, moves: 3, drops: 4, keeps: 5 } as const
export const FLAG = { blockSize: 1, zero: 2, oldZero: 4 } as const

const ORDER = [
  'outcome',
  'code',
  'api',
  'module',
  'stack',
  'callSite',
  'function',
  'file',
  'line',
  'type',
  'heap',
  'node',
  'gfpFlags',
  'alignment',
  'count',
  'elementSize',
  'size',
  'usable',
]

/** The number of a field. */
export function fieldNumber(name: string): number {
  return FIELDS.findIndex((field) => field.name === name)
}

const SIZE = fieldNumber('size')

/** What recurs of events. */
export interface Descriptor {
  readonly kind: number
  readonly form: number
  readonly flags: number
  readonly mask: number
  /** By the number of the field. */
  readonly values: ReadonlyMap<number, bigint>
}

/** The descriptors by their numbers, and new ones. */
export class Descriptors {
  readonly #coder: Coder
  readonly #names: Names
  all: (Descriptor | undefined)[] = []
  /** The highest number in use plus 1. */
  count = 2
  #next = 2
  /** How many are of form *ends*, and the first of them. */
  ends = 0
  firstEnds = 0
  readonly #masks = new Map<number, number>()
  readonly #lasts = new Map<number, bigint>()
  readonly #g: bigint[] = Array.from({ length: 1 << 14 }, () => 0n)
  readonly #a
  readonly #b
  readonly #kind: Table
  readonly #form: Table
  readonly #flags: Table
  readonly #same: Table
  readonly #bits: Table

  constructor(coder: Coder, names: Names) {
    this.#coder = coder
    this.#names = names
    this.#a = coder.table(14)
    this.#b = coder.table(14)
    this.#kind = coder.table(4)
    this.#form = coder.table(7)
    this.#flags = coder.table(6)
    this.#same = coder.table(7)
    this.#bits = coder.table(9)
  }

  get(number: number): Descriptor {
    const it = this.all[number]
    if (it === undefined) throw new Error('no such descriptor')
    return it
  }

  /** Begins with new numbers, when names were forgotten. */
  forget(): void {
    this.#next = 2
    this.ends = 2
  }

  /** The number of a new descriptor. */
  make(): number {
    const coder = this.#coder
    const kind = coder.tree(4, (node) => coder.one(this.#kind.at(node)))
    const form = coder.tree(3, (node) => coder.one(this.#form.at(kind * 8 + node)))
    const flags = coder.tree(3, (node) => coder.one(this.#flags.at(form * 8 + node)))
    const place = (kind << 3) | form
    let mask = this.#masks.get(place) ?? 0
    if (coder.one(this.#same.at(place)) === 0) {
      mask = 0
      for (let i = 0; i < 31; i++) mask |= coder.one(this.#bits.at(kind * 32 + i)) << i
      this.#masks.set(place, mask)
    }
    const values = new Map<number, bigint>()
    let context = mix(place, 77)
    for (const name of ORDER) {
      const f = fieldNumber(name)
      if (((mask >>> f) & 1) === 0 || (f === SIZE && (flags & FLAG.blockSize) !== 0)) continue
      const v = this.#value(f, name, place, context)
      values.set(f, v)
      context = mix(Number((v & 0xffff_ffffn) ^ (v >> 32n)), f + (context & 0xffff))
    }
    const number = this.#next
    this.#next = number === 32_767 ? 2 : number + 1
    this.count = Math.max(this.count, number + 1)
    this.all[number] = { kind, form, flags, mask, values }
    if (form === FORM.ends && this.ends++ === 0) this.firstEnds = number
    return number
  }

  #value(f: number, name: string, place: number, context: number): bigint {
    const coder = this.#coder
    const type = FIELDS[f]?.type
    if (type === 'list') return BigInt(this.#names.list(context))
    if (type === 'string') return BigInt(this.#names.name(f, context))
    const at = mix(context, f) >>> 18
    let v = this.#g[at]
    if (coder.pair(this.#a.of(mix(context, f)), this.#b.of(mix(place, f)), 27) === 0) {
      if (name === 'api' || name === 'outcome') {
        v = BigInt(coder.tree(4, (node) => coder.one(this.#b.at(16 * (f & 1) + node))))
      } else if (name === 'line' || name === 'callSite' || name === 'heap') {
        v = BigInt.asUintN(64, (this.#lasts.get(f) ?? 0n) + coder.difference(f, mix(context, 5), 28))
      } else v = coder.pairNumber(f, mix(context, 6), 30)
    }
    this.#g[at] = v
    this.#lasts.set(f, v)
    return v
  }
}

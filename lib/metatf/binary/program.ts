import { HI, LO, WORD } from '../../bytes/u64.js'
import type { Field, Leaf, RecordType } from '../model.js'
import type { METADATA_PROPERTIES } from '../predefined.js'

/** The steps of a program. Each is followed by its one argument. */
export const Step = {
  /** A value; the argument is the leaf's position. */
  leaf: 0,
  /** A repetition begins; the argument is the position of the leaf with the count. */
  loop: 1,
  /** It ends; the argument is where its first step is. */
  again: 2,
  /**
   * The numbers at the end of a metadata record, as many as its property has; the argument is the position of their
   * leaf.
   */
  settings: 3,
} as const

/** How a leaf gets its value: the codes of the interpretations in metadata records. */
export const Mode = {
  none: 1,
  baseOffset: 2,
  delta: 3,
  default: 4,
  sectionOffset: 5,
  stride: 6,
  sectionStride: 7,
} as const satisfies Partial<Record<(typeof METADATA_PROPERTIES)[number]['name'], number>>

/** The positions of the leaves of a metadata record, which are the same in all DTDs. */
export const Metadata = { record: 1, field: 2, property: 3, value: 4 } as const

/** The value of `Program.fixed` for a leaf that may have any value. */
export const ANY = -2
/** The value of `Program.fixed` for a leaf whose value is always the number in `fixedWords`. */
export const NUMBER = -1

/** Widths above this are all the same: too wide. */
const WIDEST = 0x7fff_ffff

/**
 * A record type as readers and writers go through it: flat steps, and per leaf (by position) what the DTD says about
 * it. Never changes; what metadata changes is in a `RecordState`, which begins as a copy of `mode` to `section`.
 */
export interface Program {
  readonly record: RecordType
  /** The position in the list of all programs. */
  readonly id: number
  readonly steps: Int32Array
  /** How deep repetitions are nested. */
  readonly depth: number
  /** 1 for leaves that are bytes, 0 for numbers. */
  readonly isBytes: Uint8Array
  readonly mode: Uint8Array
  /** Bytes in the record, or `~position` of the leaf whose value that is. */
  readonly width: Int32Array
  /** Base, default, or what counts as the previous value. As word pairs, like all below. */
  readonly reference: Uint32Array
  /** The position of the leaf whose value is the base or the default, or -1 if it is in `reference`. */
  readonly referenceFrom: Int32Array
  readonly stride: Uint32Array
  /** The section that sectionOffset and sectionStride are about. */
  readonly section: Uint8Array
  /** What the value must be: that of the leaf at this position, or ANY or NUMBER. */
  readonly fixed: Int32Array
  readonly fixedWords: Uint32Array
}

/** Compiles a record type of 1.0. */
export function programOf(record: RecordType, id: number): Program {
  const { leaves } = record
  const steps: number[] = []
  const depth = addSteps(record.fields, steps, 0)
  if (record.role === 'metadata') steps[steps.length - 2] = Step.settings
  const n = leaves.length
  const program: Program = {
    record,
    id,
    steps: Int32Array.from(steps),
    depth,
    isBytes: Uint8Array.from(leaves, ({ type }) => Number(type === 'bytes')),
    mode: Uint8Array.from(leaves, ({ interpretation }) => Mode[interpretation.kind]),
    width: Int32Array.from(leaves, widthOf),
    reference: new Uint32Array(2 * n),
    referenceFrom: new Int32Array(n).fill(-1),
    stride: new Uint32Array(2 * n),
    section: new Uint8Array(n),
    fixed: new Int32Array(n).fill(ANY),
    fixedWords: new Uint32Array(2 * n),
  }
  leaves.forEach((leaf, p) => describe(leaf, p, program))
  return program
}

function widthOf({ width }: Leaf): number {
  if (width === null) throw new RangeError('a DTD of Meta-TF 1.2 describes no binary traces')
  return width.kind === 'reference' ? ~width.position : Math.min(width.bytes, WIDEST)
}

function describe({ interpretation: how, value }: Leaf, p: number, program: Program): void {
  const { reference, referenceFrom, stride, section, fixed, fixedWords } = program
  if (how.kind === 'delta' || how.kind === 'stride') setPair(reference, p, how.initial)
  if (how.kind === 'stride') setPair(stride, p, how.stride)
  if (how.kind === 'sectionOffset' || how.kind === 'sectionStride') section[p] = how.section
  if (how.kind === 'sectionStride') setPair(stride, p, BigInt(how.stride))
  const from = how.kind === 'baseOffset' ? how.base : how.kind === 'default' ? how.value : null
  if (from?.kind === 'reference') referenceFrom[p] = from.position
  else if (from?.kind === 'number') setPair(reference, p, from.value)
  if (value?.kind === 'reference') fixed[p] = value.position
  else if (value?.kind === 'number') {
    fixed[p] = NUMBER
    setPair(fixedWords, p, value.value)
  }
}

/** Adds the steps of fields, and returns how deep their repetitions are nested. */
function addSteps(fields: readonly Field[], steps: number[], depth: number): number {
  let deepest = depth
  for (const field of fields) {
    if (field.kind === 'leaf') steps.push(Step.leaf, field.position)
    else if (field.kind === 'composite') deepest = Math.max(deepest, addSteps(field.fields, steps, depth))
    else {
      steps.push(Step.loop, field.count)
      const first = steps.length
      deepest = Math.max(deepest, addSteps([field.field], steps, depth + 1))
      steps.push(Step.again, first)
    }
  }
  return deepest
}

/** Stores a number, modulo 2^64, as the words of leaf p. */
export function setPair(words: Uint32Array, p: number, value: bigint): void {
  words[2 * p + LO] = Number(BigInt.asUintN(32, value))
  words[2 * p + HI] = Number(BigInt.asUintN(32, value >> 32n))
}

/** The number in the words of leaf p. */
export function getPair(words: Uint32Array, p: number): bigint {
  return (BigInt(words[2 * p + HI] as number) << 32n) | BigInt(words[2 * p + LO] as number)
}

/** The number in the words of leaf p as a double: exact up to 2^53, and above that large in any case. */
export function getNumber(words: Uint32Array, p: number): number {
  return (words[2 * p + HI] as number) * WORD + (words[2 * p + LO] as number)
}

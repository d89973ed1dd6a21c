import type { Leaf } from '../model.js'

/** 2^64 values: all arithmetic is modulo that. */
const BITS = 64

/** The previous values of the leaves of one record type, which delta and stride go on from. */
export class RecordState {
  private previous: bigint[]

  constructor(leaves: readonly Leaf[]) {
    this.previous = leaves.map(({ interpretation }) =>
      interpretation.kind === 'delta' || interpretation.kind === 'stride' ? interpretation.initial : 0n,
    )
  }

  /**
   * The value of a leaf, from what is stored (nothing, where `isStored` is false), and what counts as previous from now
   * on.
   */
  value({ interpretation, position }: Leaf, stored: bigint): bigint {
    let value = stored
    if (interpretation.kind === 'baseOffset' && interpretation.base.kind === 'number')
      value += interpretation.base.value
    if (interpretation.kind === 'delta') value += this.previous[position] as bigint
    if (interpretation.kind === 'stride') value = (this.previous[position] as bigint) + interpretation.stride
    if (interpretation.kind === 'default' && interpretation.value.kind === 'number') value = interpretation.value.value
    return (this.previous[position] = BigInt.asUintN(BITS, value))
  }

  /**
   * What is to be stored for a value, and what counts as previous from now on; null if the leaf cannot have this value
   * now.
   */
  stored({ interpretation, position }: Leaf, value: bigint): bigint | null {
    const previous = this.previous[position] as bigint
    this.previous[position] = value
    switch (interpretation.kind) {
      case 'baseOffset':
        return BigInt.asIntN(BITS, value - (interpretation.base.kind === 'number' ? interpretation.base.value : 0n))
      case 'delta':
        return BigInt.asIntN(BITS, value - previous)
      case 'stride':
        return BigInt.asUintN(BITS, previous + interpretation.stride) === value ? 0n : null
      case 'default':
        return interpretation.value.kind === 'number' && interpretation.value.value === value ? 0n : null
      default:
        return value
    }
  }

  /** The value that a leaf that stores nothing has next; null if it stores something. */
  next({ interpretation, position }: Leaf): bigint | null {
    if (interpretation.kind === 'stride')
      return BigInt.asUintN(BITS, (this.previous[position] as bigint) + interpretation.stride)
    return interpretation.kind === 'default' && interpretation.value.kind === 'number'
      ? interpretation.value.value
      : null
  }

  /** What there is to go back to. */
  save(): readonly bigint[] {
    return [...this.previous]
  }

  /** Takes back everything since `save`. */
  restore(saved: readonly bigint[]): void {
    this.previous = [...saved]
  }
}

/** Whether a leaf takes a word in the line. */
export function isStored({ interpretation: { kind } }: Leaf): boolean {
  return kind !== 'default' && kind !== 'stride'
}

/** Whether what is stored may be negative. */
export function isSigned({ interpretation: { kind } }: Leaf): boolean {
  return kind === 'baseOffset' || kind === 'delta'
}

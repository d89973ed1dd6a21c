import { HEAD, Interpretation, Width } from '../layout.js'

/** One way of storing a field. */
export interface Layout {
  /** A code of `Interpretation`. */
  readonly interpretation: number
  /** A width code. */
  readonly width: number
}

/** Values as they are, in each of these widths. */
export function asIs(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Interpretation.none, width }))
}

/** Nothing, for runs of equal values. */
export const constant: Layout = { interpretation: Interpretation.default, width: 0 }

/** Signed distances from a base, in each of these widths. */
export function baseOffset(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Interpretation.baseOffset, width }))
}

/** Signed distances from the value before, in each of these widths. */
export function delta(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Interpretation.delta, width }))
}

/** Nothing, for runs of values that are equally far from each other. */
export const stride: Layout = { interpretation: Interpretation.stride, width: 0 }

/** The bytes of the metadata record that sets an interpretation, by its code. */
export const INTERPRETATION_BYTES = Uint8Array.of(HEAD, HEAD + 8, HEAD + 8, HEAD + 8, HEAD + 16)

/** The bytes that an occurrence takes. Of attributes only their length counts: the bytes themselves are there in any layout. */
export function storedBytes(width: number, isAttributes: boolean): number {
  if (!isAttributes) return width
  return width < Width.v1 ? 0 : width - Width.v1 + 1
}

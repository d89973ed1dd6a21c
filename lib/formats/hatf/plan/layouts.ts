import { Interpretation } from '../layout.js'

/** One way of storing a field. */
export interface Layout {
  /** A code of `Interpretation`. */
  readonly interpretation: number
  /** A width code. */
  readonly width: number
}

/** Plain values, in each of these widths. */
export function asIs(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Interpretation.none, width }))
}

/** Without stored bytes, for runs of equal values. */
export const constant: Layout = { interpretation: Interpretation.default, width: 0 }

/** Signed distances from a base, in each of these widths. */
export function baseOffset(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Interpretation.baseOffset, width }))
}

/** Signed distances from the previous value, in each of these widths. */
export function delta(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Interpretation.delta, width }))
}

/** Without stored bytes, for runs of equidistant values. */
export const stride: Layout = { interpretation: Interpretation.stride, width: 0 }

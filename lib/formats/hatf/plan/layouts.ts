import * as Code from '../../../kernel/layouts/hatf.js'

/** One way of storing a field. */
export interface Layout {
  /** How the value is derived from what is stored, as a code. */
  readonly interpretation: number
  /** A width code. */
  readonly width: number
}

/** Plain values, in each of these widths. */
export function asIs(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Code.NONE, width }))
}

/** Without stored bytes, for runs of equal values. */
export const constant: Layout = { interpretation: Code.DEFAULT, width: 0 }

/** Signed distances from a base, in each of these widths. */
export function baseOffset(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Code.BASE_OFFSET, width }))
}

/** Signed distances from the previous value, in each of these widths. */
export function delta(...widths: number[]): Layout[] {
  return widths.map((width) => ({ interpretation: Code.DELTA, width }))
}

/** Without stored bytes, for runs of equidistant values. */
export const stride: Layout = { interpretation: Code.STRIDE, width: 0 }

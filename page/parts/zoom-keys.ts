/** A part of the x axis of charts. */
export type Part = readonly [from: number, to: number]

/** By how much a key zooms, and how far it moves, as a part of what is shown. */
export interface ZoomStep {
  readonly zoom: number
  readonly move: number
}

/** What keys do. */
export const ZOOM_KEYS: Readonly<Record<string, ZoomStep>> = {
  '+': { zoom: 2, move: 0 },
  '=': { zoom: 2, move: 0 },
  '-': { zoom: 0.5, move: 0 },
  ArrowLeft: { zoom: 1, move: -0.25 },
  ArrowRight: { zoom: 1, move: 0.25 },
}

/** What is shown after a key: at the ends of what can be shown, it keeps its width. */
export function moved([min, max]: Part, { zoom, move }: ZoomStep, [first, last]: Part): Part {
  const width = (max - min) / zoom
  if (width >= last - first) return [first, last]
  const middle = (min + max) / 2 + (max - min) * move
  const from = Math.max(first, Math.min(last - width, middle - width / 2))
  return [from, from + width]
}

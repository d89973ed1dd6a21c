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

/** What is shown after a key. @param whole what can be shown */
export function moved([min, max]: Part, { zoom, move }: ZoomStep, [first, last]: Part): Part {
  const width = (max - min) / zoom
  const middle = (min + max) / 2 + (max - min) * move
  return [Math.max(first, middle - width / 2), Math.min(last, middle + width / 2)]
}

import { PRINTED } from './canvas.js'
import { resizeCharts } from './chart.js'
import { finishAll } from './later.js'

/** The width of pictures on paper, in CSS pixels: a page of A4 or letter in landscape, without its margins. */
export const PAPER_WIDTH = 950

/** Lays out what has to know its width, and has canvases painted at once: a browser prints what there is now. */
export function layOutForPaper(root: HTMLElement): void {
  finishAll()
  resizeCharts(PAPER_WIDTH)
  for (const picture of root.querySelectorAll('.picture')) picture.dispatchEvent(new Event(PRINTED))
}

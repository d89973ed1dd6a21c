import { fitting, type Ruler } from '../flame/fitting.js'
import { visible } from './text.js'

/** A vertical line. */
export interface Mark {
  readonly x: number
  readonly title: string
}

/** A vertical line in a picture, and its title. */
export interface MarkTitle {
  readonly at: number
  /** Empty if another title has its place. */
  readonly text: string
  readonly left: number
  /** The baseline of the title, above the top of the lines. */
  readonly above: number
}

/** Between a line and its title, and between titles, in pixels. */
const GAP = 6
/** The room for titles beyond the end of the x axis. */
const BEYOND = 30
/** The two lines of text that titles have. */
const ABOVE = [4, 16]

/**
 * Where vertical lines and their titles are. A title has the lower of two lines of text, unless it would be over an
 * earlier one, and loses its middle where there is no room for it.
 * @param ruler has the font of titles, of 12 pixels
 * @param toX the place of a position on the x axis, which goes from one place to another
 */
export function markTitles(
  ruler: Ruler,
  marks: readonly Mark[],
  toX: (x: number) => number,
  [from, to]: readonly [number, number],
): MarkTitle[] {
  const ends = ABOVE.map(() => -Infinity)
  return marks
    .toSorted((a, b) => a.x - b.x)
    .flatMap(({ x, title }) => {
      const at = toX(x)
      if (at < from || at > to) return []
      const [before, after] = [at - GAP, to + BEYOND - at - GAP]
      const whole = visible(title)
      const isBefore = before > after && ruler.measureText(whole).width > after
      const text = fitting(ruler, whole, isBefore ? before : after)
      const { width } = ruler.measureText(text)
      const left = isBefore ? before - width : at + GAP
      const line = ends.findIndex((end) => end < left)
      if (line < 0) return [{ at, text: '', left, above: 0 }]
      ends[line] = left + width + GAP
      return [{ at, text, left, above: ABOVE[line] as number }]
    })
}

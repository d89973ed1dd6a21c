import { withoutMiddle } from '../parts/text.js'

/* The texts of boxes. A picture has thousands of them, and is painted within one frame. */

/** The maximum number of names and texts whose colours and widths are kept. */
const MOST = 20_000
const widths = new Map<string, number>()

/** What measures texts: a context with the font of boxes. */
export interface Ruler {
  measureText(text: string): { readonly width: number }
}

/** The value of a key in a table, which is made and kept if it is missing. */
export function kept<Value>(table: Map<string, Value>, key: string, make: (key: string) => Value): Value {
  let value = table.get(key)
  if (value === undefined) {
    if (table.size >= MOST) table.clear()
    table.set(key, (value = make(key)))
  }
  return value
}

/** A text without as much of its middle as does not fit into a width. */
export function fitting(context: Ruler, text: string, width: number): string {
  const whole = kept(widths, text, () => context.measureText(text).width)
  if (whole <= width) return text
  // Characters have different widths, so that the proportion is only nearly right.
  let length = Math.min(text.length - 1, Math.floor((text.length * width) / whole) + 1)
  while (length >= 3 && context.measureText(withoutMiddle(text, length)).width > width) length--
  return length < 3 ? '' : withoutMiddle(text, length)
}

/** A name with its place if both fit into a width, as in `main app.c:12`; otherwise as much of the name as fits. */
export function fittingPlace(context: Ruler, name: string, place: string | undefined, width: number): string {
  if (place !== undefined) {
    const both = `${name} ${place}`
    if (kept(widths, both, () => context.measureText(both).width) <= width) return both
  }
  return fitting(context, name, width)
}

/** The least room for a name, beside an amount. */
const LEAST_NAME = 48

/**
 * An amount and a name that fit into a width: the name without its middle; or with the mark of the amount alone, since
 * a number that is not whole is wrong.
 * @param amount begins with a mark and a space
 */
export function fittingBoth(context: Ruler, amount: string, name: string, width: number): string {
  const [mark = ''] = amount
  for (const [before, least] of [
    [
      `${amount} `,
      Math.min(
        LEAST_NAME,
        kept(widths, name, () => context.measureText(name).width),
      ),
    ],
    [`${mark} `, 0],
  ] as const) {
    const room = width - kept(widths, before, () => context.measureText(before).width)
    const text = room < least ? '' : fitting(context, name, room)
    if (text !== '') return before + text
  }
  return kept(widths, mark, () => context.measureText(mark).width) <= width ? mark : ''
}

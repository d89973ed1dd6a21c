import type { Brush } from '../parts/svg-context.js'
import { withoutMiddle } from '../parts/text.js'

/* The colours and the texts of boxes. A picture has thousands of them, and is painted within one frame. */

/** The maximum number of names and texts whose colours and widths are kept. */
const MOST = 20_000
/** Colours of names, by theme and strength. */
const colours = [0, 1, 2, 3].map(() => new Map<string, string>())
const widths = new Map<string, number>()

/** What a table has for a key, or makes of it. */
function kept<Value>(table: Map<string, Value>, key: string, make: (key: string) => Value): Value {
  let value = table.get(key)
  if (value === undefined) {
    if (table.size >= MOST) table.clear()
    table.set(key, (value = make(key)))
  }
  return value
}

/** The colour of a name, the same everywhere, and warm, so that marks stand out. */
export function fill(name: string, dark: boolean, isPale: boolean): string {
  const table = colours[(dark ? 1 : 0) + (isPale ? 2 : 0)] as Map<string, string>
  return kept(table, name, () => colourOf(name, dark, isPale))
}

function colourOf(name: string, dark: boolean, isPale: boolean): string {
  let hash = 2166136261
  for (let c = 0; c < name.length && c < 64; c++) hash = Math.imul(hash ^ name.charCodeAt(c), 16777619)
  const spread = (hash >>> 8) % 1000
  const hue = 14 + (spread % 100) * (dark ? 0.22 : 0.36)
  const light = dark ? 33 + (spread % 7) : 72 + (spread % 9)
  const strong = isPale ? 14 : dark ? 42 : 74
  return `hsl(${hue} ${strong}% ${isPale && !dark ? light + 12 : light}%)`
}

/** A text without as much of its middle as does not fit into a width. The context has the font of boxes. */
export function fitting(context: Brush, text: string, width: number): string {
  const whole = kept(widths, text, () => context.measureText(text).width)
  if (whole <= width) return text
  // Characters have different widths, so that the proportion is only nearly right.
  let length = Math.min(text.length - 1, Math.floor((text.length * width) / whole) + 1)
  while (length >= 3 && context.measureText(withoutMiddle(text, length)).width > width) length--
  return length < 3 ? '' : withoutMiddle(text, length)
}

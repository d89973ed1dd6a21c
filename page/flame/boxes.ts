import { kept } from './fitting.js'

/** Colours of names, by theme and strength. */
const colours = [0, 1, 2, 3].map(() => new Map<string, string>())

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

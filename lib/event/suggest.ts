/** A candidate may differ from the word in one character of this many, and in two at least. */
const CHARACTERS_PER_EDIT = 3

/** Longer words are not compared: they are not typed by hand, and the time grows with the square of the length. */
const MAX_LENGTH = 64

/**
 * The candidate most likely meant by a mistyped word: the nearest one by insertions, deletions, replacements and swaps
 * of neighbors, or the only one that begins with the word. Case and separators are ignored.
 *
 * @returns undefined when none is near enough; of equally near ones, one that begins with the word, or the first
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = plain(word)
  if (typed === '' || typed.length > MAX_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = Infinity
  let isBeginning = false
  const longer: string[] = []
  for (const candidate of candidates) {
    const name = plain(candidate)
    if (name.length > MAX_LENGTH) continue
    if (typed.length > 1 && name.startsWith(typed)) longer.push(candidate)
    const allowed = Math.min(Math.max(2, Math.ceil(typed.length / CHARACTERS_PER_EDIT)), longest(typed, name) - 1)
    if (Math.abs(name.length - typed.length) > allowed) continue
    const edits = distance(typed, name)
    // More than half of a short word changed is another word.
    if (edits > allowed || 2 * edits > longest(typed, name)) continue
    // Letters are left out more often than replaced.
    const begins = name.startsWith(typed)
    if (edits < bestDistance || (edits === bestDistance && begins && !isBeginning)) {
      best = candidate
      bestDistance = edits
      isBeginning = begins
    }
  }
  if (best === undefined || bestDistance > 1) return longer.length === 1 ? longer[0] : best
  return best
}

/** ` (did you mean ...?)`, to be appended to a message, or nothing when no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const candidate = suggest(word, candidates)
  return candidate === undefined ? '' : ` (did you mean ${JSON.stringify(candidate)}?)`
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '')
}

function longest(a: string, b: string): number {
  return Math.max(a.length, b.length)
}

/** The number of insertions, deletions, replacements and swaps of neighbors between two words. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min(replaced, last[j] + 1, row[j - 1] + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2] + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[b.length]
}

/**
 * Whether a text fits a pattern of LeakSanitizer: the pattern occurs in it, `*` stands for any characters, `^` at the
 * beginning and `$` at the end hold it there. Takes time proportional to the product of the lengths at most.
 */
export function isTemplate(template: string, text: string): boolean {
  if (text === '') return false
  const isAnchored = template.startsWith('^')
  const rest = isAnchored ? template.slice(1) : template
  const end = rest.indexOf('$')
  return hasPieces((end < 0 ? rest : rest.slice(0, end)).split('*'), text, isAnchored, end >= 0)
}

/**
 * Whether pieces occur in a text one after the other, with any characters between them.
 * @param isFromStart whether the first one is at the beginning
 * @param isToEnd whether the last one is at the end
 */
export function hasPieces(pieces: readonly string[], text: string, isFromStart: boolean, isToEnd: boolean): boolean {
  let at = 0
  for (const [i, piece] of pieces.entries()) {
    const isLast = isToEnd && i === pieces.length - 1
    if (i === 0 && isFromStart) {
      if (!text.startsWith(piece) || (isLast && piece.length !== text.length)) return false
      at = piece.length
    } else if (isLast) {
      return text.length - piece.length >= at && text.endsWith(piece)
    } else {
      const found = text.indexOf(piece, at)
      if (found < 0) return false
      at = found + piece.length
    }
  }
  return true
}

/** Whether the whole of a text fits a pattern of valgrind: `*` stands for any characters, `?` for one. */
export function isGlob(pattern: string, text: string): boolean {
  let p = 0
  // The last star, and where the text after what it stands for begins.
  let star = -1
  let from = 0
  for (let t = 0; t < text.length;) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++
      from = t
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++from
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

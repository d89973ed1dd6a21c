/** Characters that change the direction of the text around them, or that cannot be seen. */
// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** A text in which every character can be seen, and none changes the direction of others: `a⟨U+202E⟩b`. */
export function visible(text: string): string {
  return text.replace(
    UNSEEN,
    (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}

/** A text without its middle: names differ at their ends. @param length the number of characters that remain */
export function withoutMiddle(text: string, length: number): string {
  if (text.length <= length) return text
  if (length < 4) return text.slice(0, Math.max(1, length - 1)).toWellFormed() + '…'
  const end = Math.ceil((length - 1) * 0.6)
  return `${text.slice(0, length - 1 - end)}…${text.slice(-end)}`.toWellFormed()
}

/** A text as a regular expression that matches it alone. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

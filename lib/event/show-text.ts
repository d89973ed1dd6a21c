/** Controls, which terminals obey, and characters that are not seen but change how others are. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Text from a file as messages show it: without anything that terminals would act on, and cut if it is long.
 * @param most how many characters it may have
 */
export function showText(text: string, most = 100): string {
  const short = text.length > most ? `${text.slice(0, most)}...` : text
  return short.replaceAll(HIDDEN, (hidden) => `\\u${(hidden.codePointAt(0) as number).toString(16).padStart(4, '0')}`)
}

/** A number of things in words: `1 event`, `2 events`. */
export function plural(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

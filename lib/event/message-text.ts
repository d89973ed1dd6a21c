/** Control characters, which terminals obey, and invisible characters that change how others are displayed. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The number of characters of a value that messages show. */
const MAX_SHOWN = 80

/** Larger integers are not written out: that would be slow and unreadable. */
const MAX_INTEGER = 10n ** BigInt(MAX_SHOWN)

/**
 * Formats text from a file for messages: characters that terminals interpret are escaped, and long text is truncated.
 * @param most the maximum number of characters to show
 */
export function showText(text: string, most = MAX_SHOWN): string {
  return withoutHidden(cut(text, most))
}

/**
 * Formats any value for messages. Text is quoted, characters that terminals interpret are escaped, and at most 80
 * characters are shown.
 */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return withoutHidden(JSON.stringify(cut(value, MAX_SHOWN)))
  if (typeof value === 'bigint') return isLong(value) ? LONG_INTEGER : `${value}n`
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'symbol') return showText(String(value))
  if (typeof value !== 'object' || value === null) return String(value)
  const name = (Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor?.name
  return typeof name === 'string' && name !== '' ? `an object of type ${showText(name)}` : 'an object'
}

/** Formats a value from JSON for messages, like `showValue`, but in the form of JSON: integers have no suffix `n`. */
export function showJson(value: unknown): string {
  if (typeof value === 'bigint') return isLong(value) ? LONG_INTEGER : String(value)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? 'an object' : showValue(value)
}

const LONG_INTEGER = `an integer of more than ${MAX_SHOWN} digits`

function isLong(value: bigint): boolean {
  return value >= MAX_INTEGER || value <= -MAX_INTEGER
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}...` : text
}

function withoutHidden(text: string): string {
  return text.replaceAll(HIDDEN, (hidden) => escapeOf(hidden.codePointAt(0) as number))
}

/** The escape of a code point: `\uNNNN`, or `\u{NNNNN}` above U+FFFF. */
export function escapeOf(code: number): string {
  const digits = code.toString(16)
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
}

/**
 * Text for formats that are UTF-8 as a whole: a byte that is not (`\udc80` to `\udcff`) becomes the four characters
 * `\xNN`, and any other unpaired surrogate U+FFFD.
 */
export function wellFormed(text: string): string {
  if (text.isWellFormed()) return text
  return text.replace(/[\ud800-\udfff]/gu, (unpaired) => {
    const code = unpaired.charCodeAt(0)
    return code >= 0xdc80 && code <= 0xdcff ? `\\x${(code & 0xff).toString(16)}` : '\ufffd'
  })
}

/** A number with a noun: `1 event`, `2 events`; or with other words that depend on it: `1 event is`, `2 events are`. */
export function plural(n: number | bigint, one: string, many = `${one}s`): string {
  return `${n} ${Number(n) === 1 ? one : many}`
}

/** The same with the digits in groups: `1,234 events`. */
export function many(n: number | bigint, one: string, more?: string): string {
  return plural(n, one, more).replace(/^\d+/, grouped)
}

/** `1,234,567` */
export function grouped(n: number | bigint | string): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A number to about three digits: `0.04`, `12.3`, `1,234`. */
export function rounded(value: number): string {
  const size = Math.abs(value)
  if (size >= 100 || size === 0) return grouped(BigInt(Math.round(value)))
  return size >= 10 ? value.toFixed(1) : value.toFixed(2)
}

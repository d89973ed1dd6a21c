/** ASCII codes that separate fields in text formats. */
export const TAB = 9
export const LF = 10
export const CR = 13
export const SPACE = 32
export const MINUS = 45
export const ZERO = 48
export const COLON = 58

/** The characters of an ASCII string as bytes. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0))
}

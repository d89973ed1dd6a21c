import type { Input } from '../bytes/input.js'

/** U+FEFF in UTF-8, which some editors and shells write at the beginning of text. */
const MARK = [0xef, 0xbb, 0xbf] as const

/** The bytes after a byte order mark, or all of them if there is none. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return hasMark(bytes, 0) ? bytes.subarray(MARK.length) : bytes
}

/** Skips a byte order mark if the input is at the beginning of its stream. Decoders of text call this before a line. */
export function skipMark(input: Input): void {
  if (input.offset === 0 && input.left >= MARK.length && hasMark(input.bytes, input.pos)) input.skip(MARK.length)
}

function hasMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === MARK[0] && bytes[at + 1] === MARK[1] && bytes[at + 2] === MARK[2]
}

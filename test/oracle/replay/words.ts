import { ascii, CR, LF, SPACE, TAB } from '../../../lib/text/ascii.js'

/** The names of the actions, as bytes. */
export const Word = {
  malloc: ascii('malloc'),
  calloc: ascii('calloc'),
  memalign: ascii('memalign'),
  realloc: ascii('realloc'),
  free: ascii('free'),
  thread_done: ascii('thread_done'),
} as const

/**
 * Passes over spaces and a carriage return to the line feed; if something else stands before it, `~position` of that.
 */
export function endOfLine(bytes: Uint8Array, p: number): number {
  let c = bytes[p]
  while (c === SPACE || c === TAB) c = bytes[++p]
  if (c === CR) c = bytes[++p]
  return c === LF ? p : ~p
}

/** Whether an action's name stands here. Something may follow it without a gap. */
export function isWord(bytes: Uint8Array, p: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[p + i] !== name[i]) return false
  return true
}

/** The position of the first byte that no action's name has there. */
export function longestMatch(bytes: Uint8Array, p: number): number {
  const lengths = Object.values(Word).map((name) => {
    let n = 0
    while (n < name.length && bytes[p + n] === name[n]) n++
    return n
  })
  return p + Math.max(...lengths)
}

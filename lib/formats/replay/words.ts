import { ascii } from '../../text/ascii.js'

/** The names of the actions, as bytes. */
const Word = {
  malloc: ascii('malloc'),
  calloc: ascii('calloc'),
  memalign: ascii('memalign'),
  realloc: ascii('realloc'),
  free: ascii('free'),
  thread_done: ascii('thread_done'),
} as const

/** The position of the first byte at which no action's name matches. */
export function longestMatch(bytes: Uint8Array, p: number): number {
  const lengths = Object.values(Word).map((name) => {
    let n = 0
    while (n < name.length && bytes[p + n] === name[n]) n++
    return n
  })
  return p + Math.max(...lengths)
}

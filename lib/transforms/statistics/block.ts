import { WORD } from '../../bytes/u64.js'
import { APIS } from '../../event/fields.js'
import { API_FAMILIES, type ApiFamily } from './result.js'
import type { Sum } from './sums.js'

/*
 * The words that the ledger keeps for each live block. 64-bit integers take two words, the low one first.
 */

/** The number of the event that allocated it, among the events about blocks. */
export const EVENT = 0
/** The bytes asked for. */
export const SIZE = 2
/** Bytes allocated before, from the beginning of the stream, with the block itself: the low 64 bits. */
export const CLOCK = 4
/** What the bits of `Flag` say, and bits 64 to 79 of the clock. */
export const FLAGS = 6
/** Rows of the site and the thread that allocated or resized it last. */
export const SITE = 7
export const THREAD = 8
/** The CPU that allocated it. */
export const CPU = 9
/** The time when it was allocated. */
export const TIME = 10
/** How many words there are. */
export const BLOCK_WORDS = 12

/** Bits of `FLAGS`. The lowest three are the family of the function that allocated or resized the block, 0 if unknown. */
export const Flag = { family: 7, cpu: 8, time: 16 } as const
const CLOCK_SHIFT = 16
const CLOCK_TOP = 0xffff

const FAMILY_OF_API: Readonly<Record<(typeof APIS)[number], ApiFamily>> = {
  malloc: 'malloc',
  calloc: 'malloc',
  memalign: 'malloc',
  realloc: 'malloc',
  free: 'malloc',
  new: 'new',
  delete: 'new',
  kmalloc: 'kmalloc',
  kfree: 'kmalloc',
  kmem_cache_alloc: 'kmem_cache',
  kmem_cache_free: 'kmem_cache',
  pages: 'pages',
}

/** From an api's code to its family: 1 + its position in `API_FAMILIES`. */
export const FAMILIES = Uint8Array.from(APIS, (api) => 1 + API_FAMILIES.indexOf(FAMILY_OF_API[api]))

/** Writes the clock into a block's words. */
export function storeClock(words: Uint32Array, at: number, clock: Sum): void {
  words[at + CLOCK] = clock.lo
  words[at + CLOCK + 1] = clock.hi
  // Only the sizes of a damaged trace add up to more than 64 bits.
  if (clock.hi >= WORD) {
    const top = Math.min(CLOCK_TOP, Math.floor(clock.hi / WORD))
    words[at + FLAGS] = (words[at + FLAGS] as number) | (top << CLOCK_SHIFT)
  }
}

/** What is above the low word of a block's clock, as a whole double. */
export function clockHigh(words: Uint32Array): number {
  return (words[CLOCK + 1] as number) + ((words[FLAGS] as number) >>> CLOCK_SHIFT) * WORD
}

/**
 * glibc's allocator as it is on some machine. What differs between machines has to be known to predict addresses.
 */
export interface PtmallocSettings {
  readonly allocator: 'ptmalloc'
  /** The minor version of glibc: 36 for 2.36. From 23 to 43. */
  readonly version: number
  /** The size of a word: 32 or 64 bits. */
  readonly bits: 32 | 64
  /** The number of cores, which limits the number of arenas. Default 0: there is no limit. */
  readonly cores?: number
  /** How many bytes are mapped for the stack of a new thread. Default `THREAD_STACK`; 0: stacks are not simulated. */
  readonly stack?: number
}

/** What the simulated allocator is. */
export type AllocatorSettings = PtmallocSettings

/** The bytes that are mapped for a thread's stack by default: 8 MiB and a guard page. */
export const THREAD_STACK = 0x80_1000

/** The versions of glibc that differ in the addresses of some program, each up to the last one that is equal. */
export const PTMALLOC_VERSIONS: readonly (readonly [first: number, last: number])[] = [
  [23, 25],
  [26, 29],
  [30, 34],
  [35, 36],
  [37, 37],
  [38, 40],
  [41, 41],
  [42, 42],
  [43, 43],
]

/** The number of an allocator in the kernel. */
export const PTMALLOC = 1

import { JEMALLOC, PTMALLOC } from '../kernel/layouts/allocators.js'

/** glibc's allocator on some machine. Predictions need the settings that differ between machines. */
export interface PtmallocSettings {
  readonly allocator: 'ptmalloc'
  /** The minor version of glibc: 36 for 2.36. From 23 to 43. */
  readonly version: number
  /** The size of a word: 32 or 64 bits. */
  readonly bits: 32 | 64
  /** The number of cores, which limits the number of arenas. Default 0: there is no limit. */
  readonly cores?: number
  /**
   * The number of bytes that are mapped for the stack of a new thread. Default `THREAD_STACK`; 0: stacks are not
   * simulated.
   */
  readonly stack?: number
  /**
   * Whether the first address in an arena of a thread shows if the version is before 2.35 or not, where both are
   * possible: 2.30 to 2.41 with words of 64 bits. Default: no.
   */
  readonly learns?: boolean
}

/** jemalloc on some machine: versions 3 and 4 as on Android, 5 as in Linux distributions. */
export interface JemallocSettings {
  readonly allocator: 'jemalloc'
  /** The major version: 3, 4 or 5. */
  readonly version: number
  /** The size of a word: 32 or 64 bits; 64 for version 5. */
  readonly bits: 32 | 64
  /** The number of cores, which limits the number of arenas in version 5. Default 0: there is no limit. */
  readonly cores?: number
  /**
   * The sizes of the blocks that the recorder itself made: before each free, and after each other call. Android's
   * malloc_debug makes such blocks. Default: none.
   */
  readonly entries?: readonly [beforeFree: number, afterOthers: number]
}

/** The simulated allocator. */
export type AllocatorSettings = PtmallocSettings | JemallocSettings

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

/** The first and the last version of glibc, and of jemalloc, that are simulated. */
export const PTMALLOC_RANGE = [PTMALLOC_VERSIONS[0][0], PTMALLOC_VERSIONS[PTMALLOC_VERSIONS.length - 1][1]] as const
export const JEMALLOC_RANGE = [3, 5] as const

/** The settings of jemalloc that traces may come from, the likeliest first. */
export function jemallocCandidates(bits: 32 | 64): readonly JemallocSettings[] {
  const allocator = 'jemalloc'
  const android = bits === 32 ? ([[16, 24]] as const) : ([[32, 32], [32, 48]] as const) // prettier-ignore
  return [
    ...(bits === 64 ? [{ allocator, version: 5, bits } as const] : []),
    ...[3, 4].flatMap((version) => [
      ...android.map((entries) => ({ allocator, version, bits, entries }) as const),
      { allocator, version, bits } as const,
    ]),
  ]
}

/** The number of the settings' allocator in the kernel. */
export function numberOf({ allocator }: AllocatorSettings): number {
  return allocator === 'ptmalloc' ? PTMALLOC : JEMALLOC
}

/** Whether the simulation learns from the first arena. */
export function learns(settings: AllocatorSettings): boolean {
  return settings.allocator === 'ptmalloc' && settings.learns === true
}

/**
 * The kernel's parameters besides version, bits and cores: the size of a stack, or the sizes of the recorder's blocks.
 */
export function detailOf(settings: AllocatorSettings): number {
  if (settings.allocator === 'ptmalloc') return settings.stack ?? THREAD_STACK
  const [beforeFree, afterOthers] = settings.entries ?? [0, 0]
  return beforeFree + 65_536 * afterOthers
}

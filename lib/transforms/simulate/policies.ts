import type { LifetimePredictor } from './lifetimes/predictor.js'

/* Policies of allocation and their options, as data: commands show them without loading the simulation. */

/**
 * What is simulated. `ideal` is the least memory that any policy needs: it moves all blocks together at each event, and
 * has no addresses.
 */
export const POLICIES = [
  'first-fit',
  'next-fit',
  'best-fit',
  'binary-buddy',
  'double-buddy',
  'weighted-buddy',
  'segregated',
  'bump',
  'ptmalloc',
  'jemalloc',
  'ideal',
] as const

/** The name of a policy. */
export type PolicyName = (typeof POLICIES)[number]

/** The orders in which first fit looks at free blocks; the number of each in the kernel is its place. */
export const LIST_ORDERS = ['address', 'lifo', 'fifo'] as const

/** When a free block is merged with its neighbours. */
export const COALESCING = ['immediate', 'deferred'] as const

/** Names of lists of size classes. */
export const CLASS_RULES = ['power-of-two', 'two-per-power', 'jemalloc', 'mimalloc', 'tcmalloc'] as const

/** The policies that are whole allocators, each of one process. */
export const WHOLE: readonly PolicyName[] = ['ptmalloc', 'jemalloc']

/** The policies that have free blocks of any size. */
export const GENERAL = ['first-fit', 'next-fit', 'best-fit'] as const
export const FITS: readonly PolicyName[] = GENERAL

/** A policy for the blocks that are not in arenas. */
export type GeneralPolicy = (typeof GENERAL)[number]

/** The version of glibc whose allocator `ptmalloc` is by default. */
export const GLIBC = '2.39'

/** The versions of jemalloc, and which one `jemalloc` is by default; whether its threads have caches. */
export const JEMALLOCS = ['3', '4', '5'] as const
export const JEMALLOC = '5'
export const TCACHE = ['on', 'off'] as const

/** The bytes that are allocated during the lifetime of a short-lived block, at most: as Barrett and Zorn have it. */
export const LIFETIME_THRESHOLD = 32_768
/** The arenas for blocks that are expected to be short-lived, and the bytes of each: the same. */
export const ARENAS = 16
export const ARENA_SIZE = 4096

/** How a policy is simulated. */
export interface SimulateOptions {
  readonly policy: PolicyName
  /** Of first fit: the order of the free blocks. Default `address`. */
  readonly list?: (typeof LIST_ORDERS)[number]
  /** Of first, next and best fit: deferred until a search fails. Default `immediate`. */
  readonly coalescing?: (typeof COALESCING)[number]
  /** The bytes before each block. Default 8 for first, next and best fit, otherwise 0. */
  readonly header?: number
  /** The alignment of all blocks, a power of two from 8 to 4096. Default 16. */
  readonly alignment?: number
  /** The size of the smallest block with its header. Default 32 for first, next and best fit, otherwise 16. */
  readonly smallest?: number
  /** The size of a page, a power of two from 1024 to 2^24. Default 4096. */
  readonly page?: number
  /** Of first, next and best fit: so much free memory at the end of the heap is returned. Default: never. */
  readonly trim?: number
  /** Of segregated storage: a rule, or the sizes in bytes. Default `jemalloc`. */
  readonly classes?: (typeof CLASS_RULES)[number] | readonly number[]
  /** Of ptmalloc: the version of glibc, from `2.23` to `2.43`. Default `2.39`. */
  readonly glibc?: string
  /** Of jemalloc: the version. Default `5`. */
  readonly jemalloc?: (typeof JEMALLOCS)[number]
  /** Of jemalloc: the size of a word, 32 or 64 bits; 64 for version 5. Default 64. */
  readonly bits?: number
  /** Of jemalloc: whether threads have caches. Default `on`. */
  readonly tcache?: (typeof TCACHE)[number]
  /** Of bump: blocks that this expects to be short-lived are in arenas, others in the heap of another policy. */
  readonly predict?: LifetimePredictor
  /** With `predict`: that other policy, of which all options apply. Default `first-fit`. */
  readonly general?: GeneralPolicy
  /** With `predict`: the number of arenas, from 1 to 1024, and the bytes of each, from 64 to 2^20. Default 16, 4096. */
  readonly arenas?: number
  readonly arenaSize?: number
}

/** All options, with their values. */
export interface SimulateSettings {
  readonly policy: PolicyName
  readonly list: (typeof LIST_ORDERS)[number] | null
  readonly coalescing: (typeof COALESCING)[number] | null
  readonly header: number
  readonly alignment: number
  readonly smallest: number
  readonly page: number
  readonly trim: number | null
  readonly classes: readonly number[] | null
  readonly glibc: string | null
  readonly jemalloc: (typeof JEMALLOCS)[number] | null
  readonly bits: number | null
  readonly tcache: (typeof TCACHE)[number] | null
  /** Of bump with predicted lifetimes; header, smallest, coalescing and trim are those of the general policy. */
  readonly prediction: PredictionSettings | null
}

/** How lifetimes are predicted, and what for. */
export interface PredictionSettings {
  readonly general: GeneralPolicy
  /** The most bytes that are allocated during the lifetime of a short-lived block. */
  readonly threshold: number
  /** The innermost frames of a stack that are the site; null: all. */
  readonly frames: number | null
  readonly arenas: number
  readonly arenaSize: number
}

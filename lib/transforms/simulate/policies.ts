import type { LifetimePredictor } from './lifetimes/predictor.js'

/* Policies of allocation and their options, as data: commands show them without loading the simulation. */

/**
 * The simulated policies. `ideal` is the least memory that any policy needs: it moves all blocks together at each
 * event, and has no addresses.
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

export type PolicyName = (typeof POLICIES)[number]

/** The orders in which first fit searches free blocks. The position of each is its number in the kernel. */
export const LIST_ORDERS = ['address', 'lifo', 'fifo'] as const

/** When a free block is merged with its neighbours. */
export const COALESCING = ['immediate', 'deferred'] as const

/** The names of rules for size classes. */
export const CLASS_RULES = ['power-of-two', 'two-per-power', 'jemalloc', 'mimalloc', 'tcmalloc'] as const

/** The policies that are whole allocators, each with one process. */
export const WHOLE: readonly PolicyName[] = ['ptmalloc', 'jemalloc']

/** The policies that have free blocks of any size. */
export const GENERAL = ['first-fit', 'next-fit', 'best-fit'] as const
export const FITS: readonly PolicyName[] = GENERAL

/** A policy for the blocks that are not in arenas. */
export type GeneralPolicy = (typeof GENERAL)[number]

/** The default version of glibc for `ptmalloc`. */
export const GLIBC = '2.39'

/** The versions of jemalloc, and the default one; whether its threads have caches. */
export const JEMALLOCS = ['3', '4', '5'] as const
export const JEMALLOC = '5'
export const TCACHE = ['on', 'off'] as const

/** The maximum bytes allocated during the lifetime of a short-lived block, as in Barrett and Zorn. */
export const LIFETIME_THRESHOLD = 32_768
/** The number of arenas for blocks that are expected to be short-lived, and the bytes of each, also as there. */
export const ARENAS = 16
export const ARENA_SIZE = 4096

/** Options of a simulated policy. */
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
  /** Of first, next and best fit: free memory at the end of the heap is returned from this size on. Default: never. */
  readonly trim?: number
  /** Of segregated storage: a rule, or the sizes in bytes. Default `jemalloc`. */
  readonly classes?: (typeof CLASS_RULES)[number] | readonly number[]
  /** Of ptmalloc: the version of glibc, from `2.23` to `2.43`. Default `2.39`. */
  readonly glibc?: string
  /** Of jemalloc: the version. Default `5`. */
  readonly jemalloc?: (typeof JEMALLOCS)[number]
  /** Of jemalloc: the size of a word, 32 or 64 bits; 64 for version 5. Default 64. */
  readonly bits?: number
  /** Of ptmalloc (from version 2.26 on) and jemalloc: whether threads have caches. Default `on`. */
  readonly tcache?: (typeof TCACHE)[number]
  /** Of bump: blocks that this expects to be short-lived are in arenas, others in the heap of another policy. */
  readonly predict?: LifetimePredictor
  /** With `predict`: the other policy, whose options apply as well. Default `first-fit`. */
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
  /** Of bump with predicted lifetimes. Header, smallest, coalescing and trim apply to the general policy. */
  readonly prediction: PredictionSettings | null
}

/** Options for the prediction of lifetimes. */
export interface PredictionSettings {
  readonly general: GeneralPolicy
  /** The maximum bytes allocated during the lifetime of a short-lived block. */
  readonly threshold: number
  /** The number of innermost frames of a stack that are the site; null: all. */
  readonly frames: number | null
  readonly arenas: number
  readonly arenaSize: number
}

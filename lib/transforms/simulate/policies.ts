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

/** The policies that have free blocks of any size. */
export const FITS: readonly PolicyName[] = ['first-fit', 'next-fit', 'best-fit']

/** The version of glibc whose allocator `ptmalloc` is by default. */
export const GLIBC = '2.39'

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
}

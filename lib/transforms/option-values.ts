/* The options of transforms as commands show them: names and defaults, as data that needs no transform to be loaded. */

/**
 * How to divide events into parts. The keys of the parts are
 * - `thread`, `process`, `cpu`: the number in decimal; `heap`: in hexadecimal, such as `0x7f00`
 * - `kind`, `api`: the name
 * - `size-class`: the smallest power of two that is not below the size, in decimal; 0 for size 0
 * - `shard`: the number of the shard, from 0. All events of a block are in the same shard
 */
export const PARTITIONS = ['thread', 'process', 'heap', 'cpu', 'kind', 'api', 'size-class', 'shard'] as const

/** A way to divide events. */
export type Partition = (typeof PARTITIONS)[number]

/**
 * Faults of a trace whose bytes are sound:
 * - `unknown-free`: a free or realloc of a block that is not live and was not freed recently
 * - `double-free`: a free of a block that ended before, among the last 262,144 that did
 * - `live-address`: an allocation at the address (or with the index) of a live block
 * - `overlap`: an allocation that shares bytes with a live block that starts elsewhere
 * - `zero-size`: an allocation of 0 bytes
 * - `absurd-size`: an allocation larger than any address space, or beyond the last address
 * - `time-backwards`: a time or sequence number below that of the previous event
 * - `missing-end`: the trace is truncated
 */
export const FAULTS = [
  'unknown-free',
  'double-free',
  'live-address',
  'overlap',
  'zero-size',
  'absurd-size',
  'time-backwards',
  'missing-end',
] as const

export type FaultName = (typeof FAULTS)[number]

/** The default limit of plausible sizes: 2^47, the address space of a process on today's 64-bit machines. */
export const MAX_SIZE = 2n ** 47n

/** The default number of events by which an event may be late in its input and still be put in order. */
export const MERGE_WINDOW = 1024

/** The default memory for sorting in bytes, in addition to the memory for reading and writing. */
export const SORT_MEMORY = 33_554_432

/**
 * Figures of the stacks of a profile, in bytes and in blocks:
 * - `allocated`: everything that was allocated
 * - `peak`: what was live at the peak of live bytes
 * - `live`: what was live at the profile's moment, or at the end of the trace if it has none
 * - `temporary`: what is temporary by the definition of the profile, see `TEMPORARY_DEFINITIONS`
 * - `foreign-frees`: blocks that were freed by another thread than the one that allocated them
 */
export const PROFILE_VALUES = [
  'allocated-bytes',
  'allocated-blocks',
  'peak-bytes',
  'peak-blocks',
  'live-bytes',
  'live-blocks',
  'temporary-bytes',
  'temporary-blocks',
  'foreign-frees',
] as const

/**
 * Which allocations are temporary, see `TEMPORARY_BY` for the default:
 * - `heaptrack`: the next call of the process frees the block
 * - `memray`: the thread that made it frees the block, and has made at most one other allocation in between
 */
export const TEMPORARY_DEFINITIONS = ['heaptrack', 'memray'] as const

/** A definition of temporary allocations. */
export type TemporaryDefinition = (typeof TEMPORARY_DEFINITIONS)[number]

/** The default definition of temporary allocations. */
export const TEMPORARY_BY: TemporaryDefinition = 'heaptrack'

/** @throws RangeError when it is not one of the definitions */
export function checkDefinition(by: TemporaryDefinition): TemporaryDefinition {
  if (TEMPORARY_DEFINITIONS.includes(by)) return by
  throw new RangeError(`temporaryBy must be ${TEMPORARY_DEFINITIONS.join(' or ')}, not ${String(by)}`)
}

/**
 * The parts of a frame that must be equal for frames of two profiles to match:
 * - `names`: the function; where there is none, the file, or the module with the offset in it. Lines, and addresses in
 *   functions, change with every build and are not compared. Of an address in a module that each run loaded elsewhere,
 *   the last 12 bits are compared, which do not change.
 * - `lines`: function, file and line
 * - `all`: addresses, too, such as call sites
 */
export const PROFILE_MATCHES = ['names', 'lines', 'all'] as const

/**
 * The unit of a figure, which decides what K, M and G after a number mean: powers of 1,024 of bytes, of 1,000 of
 * others.
 */
export type FigureUnit = 'bytes' | 'blocks' | 'events'

/** Figures that have budgets: their descriptions and units, and whether functions have them, too. */
export const BUDGET_FIGURES = {
  peak: { title: 'peak memory', unit: 'bytes', ofFunctions: true },
  blocks: { title: 'peak block count', unit: 'blocks', ofFunctions: false },
  allocated: { title: 'bytes allocated', unit: 'bytes', ofFunctions: true },
  allocations: { title: 'allocations', unit: 'blocks', ofFunctions: true },
  leaked: { title: 'bytes leaked', unit: 'bytes', ofFunctions: true },
  'leaked-blocks': { title: 'blocks leaked', unit: 'blocks', ofFunctions: true },
  temporary: { title: 'temporary allocations', unit: 'blocks', ofFunctions: true, whole: 'allocations' },
  wasted: { title: 'bytes wasted', unit: 'bytes', ofFunctions: true, whole: 'taken' },
  'double-frees': { title: 'double frees', unit: 'events', ofFunctions: false },
  'unknown-frees': { title: 'frees of unknown blocks', unit: 'events', ofFunctions: false },
  overlaps: { title: 'overlaps', unit: 'blocks', ofFunctions: false },
  mismatches: { title: 'blocks freed by another family', unit: 'blocks', ofFunctions: false },
  'failed-allocations': { title: 'failed allocations', unit: 'events', ofFunctions: false },
} as const satisfies Record<string, { title: string; unit: FigureUnit; ofFunctions: boolean; whole?: string }>

/** The name of a figure that has budgets. */
export type BudgetFigure = keyof typeof BUDGET_FIGURES

/** A figure of budgets, differences or profiles. */
type FigureName = BudgetFigure | (typeof PROFILE_VALUES)[number]

/** Whether the definition of temporary allocations decides a figure. */
export function isTemporary(figure: FigureName): boolean {
  return figure === 'temporary' || figure === 'temporary-bytes' || figure === 'temporary-blocks'
}

/** The title of a figure, with the definition of temporary allocations where it decides and is not the default. */
export function titleBy(title: string, figure: FigureName, by: TemporaryDefinition): string {
  return isTemporary(figure) && by !== TEMPORARY_BY ? `${title} (${by})` : title
}

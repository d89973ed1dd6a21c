/* Models of classic benchmarks and their options, as data: commands show them without loading the models. */

/** The models of traces: classic benchmarks of allocators. */
export const MODELS = ['mstress', 'larson', 'random', 'sh6bench', 'xmalloc'] as const

export type ModelName = (typeof MODELS)[number]

/** The threads of each model, unless others are asked for. */
export const MODEL_THREADS: Readonly<Record<ModelName, number>> = {
  mstress: 8,
  larson: 8,
  random: 1,
  sh6bench: 1,
  xmalloc: 4,
}

/** The events of a model, unless others are asked for. */
export const MODEL_EVENTS = 1_000_000
/** Limits of the options. */
export const MOST_THREADS = 1024
export const MOST_SCALE = 1_000_000
/** The maximum number of blocks of a benchmark that keeps its live set at one size. */
const MOST_BLOCKS = 2 ** 28

/** @throws RangeError for more live blocks than a benchmark may have */
export function checkBlocks(blocks: number): number {
  if (blocks <= MOST_BLOCKS) return blocks
  throw new RangeError(`scale must be smaller: of ${blocks} live blocks, there may be ${MOST_BLOCKS}`)
}

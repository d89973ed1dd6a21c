/** The best level of compact traces: the same as kernel/compact.ts, with a model that mixes predictions. */

// @ts-ignore: decorator
@global
const COMPACT_BEST = true

export * from './compact'

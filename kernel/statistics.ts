/** The live set of a trace, and what statistics count of it. */
export {
  BEGINS,
  BEGUN,
  EFFECTS,
  clear,
  ENDED,
  ENDS,
  find,
  follow,
  INTENTS,
  isSeeded,
  live,
  numbers,
  seed,
} from './live/follow'
export { API, CPU, KIND, MASK, PRESENT, SIZE, TIME, USABLE } from './shared/columns'
export * from './statistics/count'
export { FAMILIES, MISMATCHES, RESIDENT, TEMPORARY, CROSS_CPU } from './statistics/lives'
export { LIFE_BYTES, LIFE_EVENTS, LIFE_TIME } from './statistics/lives'
export { PEAK_BLOCKS, PEAK_BYTES, TOTALS } from './statistics/totals'
export { LARGE, SIZES, SMALL, SMALLEST } from './statistics/sizes'
export { SITE_BYTES, siteTable, THREAD_BYTES, threadTable } from './statistics/rows'

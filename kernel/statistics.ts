/** The live set of a trace, and the statistics about it. */
export {
  BEGINS,
  BEGUN,
  EFFECTS,
  clear,
  ENDED,
  ENDS,
  find,
  follow,
  gone,
  goneCount,
  INTENTS,
  isSeeded,
  live,
  numbers,
  seed,
  watch,
} from './live/follow'
export { intend, SPACES } from './live/keys'
export {
  ADDRESS,
  API,
  CPU,
  INDEX,
  KIND,
  MASK,
  OLD_ADDRESS,
  OUTCOME,
  PRESENT,
  SIZE,
  TIME,
  USABLE,
} from './shared/columns'
export * from './statistics/count'
export { addInfos, countInfos, INFOS } from './statistics/infos'
export { CROSS_CPU, FAMILIES, LIFE_BYTES, LIFE_EVENTS, LIFE_TIME, MISMATCHES, RESIDENT } from './statistics/lives'
export { RESIDENT_SET } from './statistics/resident-set'
export { siteTable, threadTable } from './statistics/owners'
export { HANDOFFS, isShared, shares, sharesOverflowed, shareTable } from './statistics/site-threads'
export { OTHER_SIZES, OTHER_SMALLEST, sizeRows, sizeTable } from './statistics/sizes'
export { HEAPTRACK, MEMRAY } from './statistics/temporary'
export { partEvents, PARTS, parts } from './statistics/timeline'
export { PEAK_BLOCKS, PEAK_BYTES, TOTALS } from './statistics/totals'

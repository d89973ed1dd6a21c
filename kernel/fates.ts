/** The live set of a trace, and the fates of its blocks. */
export * from './live'
export { judgeRows } from './fates/rows'
export { FATES, PROCESSES, THREADS } from './live/fates'
export { endTotals as endLevel } from './statistics/totals'

/** The figures of a report that need every event, in addition to the statistics. */
export { ADDRESS, API, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE } from './shared/columns'
export * from './report/observe'
export { clearGenerations, endTrace, GENERATIONS, GONE, leaveProcess, SITE_GENERATIONS } from './report/ends'
export { END_PAGES, keepPages, PAGES, PEAK_PAGES, mostTouched, touched } from './report/pages'
export { lost, matrix, joinColumns, REGION_KEYS, regions, regionShift, snapshot } from './report/regions'
export { siteTable } from './report/sites'
export { seedHashes as seed } from './shared/hash'

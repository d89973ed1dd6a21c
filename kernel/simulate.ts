/** The live set of a trace, and the addresses that its blocks would have under a policy of allocation. */
export * from './live'
export { ALIGNMENT, ELEMENTS, THREAD } from './shared/columns'
export { changes, PEAKS, samples, SAMPLES, SIZES, sumLive, sumUsed } from './simulate/figures'
export { PREDICTED, PREDICTIONS, setArenas } from './simulate/arenas'
export { heaps } from './simulate/heaps'
export * from './simulate/place'
export { examined, longest, searches, used } from './simulate/settings'
export { CLASSES } from './simulate/spans'

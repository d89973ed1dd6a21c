/** Simulated allocators: which addresses a program gets from its calls. */
export { AllocatorReplay, Prediction } from './replay.js'
export { PTMALLOC_VERSIONS, THREAD_STACK, type AllocatorSettings, type PtmallocSettings } from './settings.js'
export { AllocatorSurvey, TRIAL_EVENTS, type AllocatorReport } from './survey.js'

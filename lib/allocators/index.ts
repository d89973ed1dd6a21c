/** Simulated allocators: which addresses a program gets from its calls. */
export { AllocatorReplay, Prediction } from './replay.js'
export {
  jemallocCandidates,
  PTMALLOC_VERSIONS,
  THREAD_STACK,
  type AllocatorSettings,
  type JemallocSettings,
  type PtmallocSettings,
} from './settings.js'
export { AllocatorSurvey, TRIAL_EVENTS, type AllocatorReport } from './survey.js'

/** A simulated allocator, and a comparison of the addresses of a trace with its own. */
export {
  simCalloc,
  simFix,
  simFree,
  simMalloc,
  simMemalign,
  simRealloc,
  simStart,
  simThreadEnd,
  simUnknown,
} from './allocators/simulator'
export { ADDRESS, ALIGNMENT, API, ELEMENTS, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD } from './shared/columns'
export * from './allocators/replay'

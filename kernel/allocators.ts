/** A simulated allocator, and a comparison of the addresses of a trace with its own. */
export {
  simCall,
  simCalloc,
  simFix,
  simFree,
  simHandle,
  simMalloc,
  simMemalign,
  simRealloc,
  simRelease,
  simSettle,
  simStart,
  simThreadEnd,
  simUnknown,
} from './allocators/simulator'
export { ADDRESS, ALIGNMENT, API, ELEMENTS, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD } from './shared/columns'
export { seed } from './allocators/hash'
export * from './allocators/replay'

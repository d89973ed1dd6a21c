/** A simulated allocator, and a comparison of the addresses of a trace with its own. */
export {
  simCall,
  simFix,
  simFree,
  simHandle,
  simMake,
  simRealloc,
  simRelease,
  simSettle,
  simStart,
  simThreadEnd,
} from './allocators/simulator'
export { ADDRESS, ALIGNMENT, API, ELEMENTS, KIND, MASK, OLD_ADDRESS, OUTCOME, SIZE, THREAD } from './shared/columns'
export { seed } from './allocators/hash'
export * from './allocators/replay'

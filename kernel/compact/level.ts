/** Which level a kernel is of. Each level has a kernel of its own, so that neither pays for the other. */

/** Whether it is the best level. kernel/compact-best.ts defines the name. */
// @ts-ignore: decorator
export const BEST: bool = isDefined(COMPACT_BEST)

/** The level of a kernel. Each level has its own kernel, so that neither slows the other down. */

/** Whether it is the best level. kernel/compact-best.ts defines the name. */
// @ts-ignore: decorator
export const BEST: bool = isDefined(COMPACT_BEST)

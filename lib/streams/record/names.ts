/** The names of all recorders, in the order in which they are tried. */
export const RECORDER_NAMES = ['recorder', 'heaptrack', 'glibc', 'valgrind', 'ltrace', 'perf'] as const

export type RecorderName = (typeof RECORDER_NAMES)[number]

/** The number of frames of a stack that heapflow's own recorder keeps by default. */
export const STACK_DEPTH = 512
/** The maximum number of frames of a stack. */
export const MAX_STACK_DEPTH = 1024

/** The names of all recorders, in the order in which they are tried. */
export const RECORDER_NAMES = ['recorder', 'heaptrack', 'glibc', 'valgrind', 'ltrace', 'perf'] as const

/** The name of a recorder. */
export type RecorderName = (typeof RECORDER_NAMES)[number]

/** How many frames of a stack heapflow's own recorder keeps if it is not told, and how many it can keep. */
export const STACK_DEPTH = 512
/** The most frames of a stack. */
export const MAX_STACK_DEPTH = 1024

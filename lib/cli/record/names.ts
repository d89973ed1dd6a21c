/** The names of all recorders, in the order in which they are tried. */
export const RECORDER_NAMES = ['heaptrack', 'glibc', 'valgrind', 'ltrace', 'perf'] as const

/** The name of a recorder. */
export type RecorderName = (typeof RECORDER_NAMES)[number]

/**
 * The resident set of all processes: the number of events with the resident set of a process, and the offsets of three
 * of them: the one with the most bytes, the first one after the peak of live bytes was reached, and the last one.
 */
export const RS_EVENTS = 0
export const RS_MOST = 8
export const RS_AT_PEAK = 72
export const RS_LAST = 136
export const RESIDENT_SET_BYTES = 200

/** One of them: resident bytes, live bytes then, its number, whether its time is known, and its time. */
export const RS_BYTES = 0
export const RS_LIVE = 16
export const RS_EVENT = 32
export const RS_TIMED = 40
export const RS_TIME = 48
export const RS_SAMPLE = 64

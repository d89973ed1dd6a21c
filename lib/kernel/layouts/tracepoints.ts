/** The most bytes of a line with an event. Others are skipped, however long. */
export const MAX_LINE = 8192

/** How the times of a trace are written: no line has had one yet; in seconds; as ticks of some clock. */
export const NO_STYLE = 0
export const SECONDS = 1
export const TICKS = 2

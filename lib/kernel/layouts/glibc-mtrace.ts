/** Longer lines are refused: the name of a file has up to 4096 bytes, but a symbol's name may have any length. */
export const MAX_LINE = 32_768

/** The text after the lines passed to `decode`: other lines, none, or possibly one that is too long. */
export const MORE_LINES = 0
export const NO_LINES = 1
export const TOO_FAR = 2

/** The fault of a line: it is too long, or truncated within an event. */
export const TOO_LONG = 1
export const CUT = 2

/** Longer lines are refused. */
export const MAX_LINE = 65_536

/** The expected text where a line does not match, or the fault of the line. */
export const NOTHING = 0
export const LINE_FEED = 1
export const THREAD_ID = 2
export const COLON = 3
export const POINTER_AND_SIZE = 4
export const POINTER = 5
export const POINTERS_AND_SIZE = 6
export const POINTER_AND_SIZES = 7
export const POINTER_ALIGNMENT_SIZE = 8
export const ACTION = 9
export const END_TIME_OR_END = 10
export const TIMES_OR_END = 11
export const PRESENT_OR_END = 12
export const END = 13
export const TOO_LONG = 14

/** The losses of an event that was written or dropped: bits of a set, reported in this order. */
export const NO_ADDRESS = 1 << 0
export const EXISTING_AS_MALLOC = 1 << 1
export const NOT_THE_FORMS_FIELDS = 1 << 2
export const OTHER_OUTCOME = 1 << 3
export const OTHER_API = 1 << 4
export const NOT_THE_PRODUCT = 1 << 5
export const CALLOC_WITHOUT_SIZE = 1 << 6
export const NOT_DIVISIBLE = 1 << 7
export const NO_SIZE = 1 << 8
export const ONE_TIME = 1 << 9
export const TIME_OF_DONE = 1 << 10
export const TIME_TOO_LARGE = 1 << 11
export const TIME_AS_END = 1 << 12
export const PRESENT_WITHOUT_TIMES = 1 << 13
export const NO_COUNT = 1 << 14
export const NULL_OF_DONE = 1 << 15

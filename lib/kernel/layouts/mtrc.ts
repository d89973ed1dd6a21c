/** The longest encoding that is read, in bytes; bytes beyond a number's bits are zero padding. */
export const MAX_LEB = 32
/** The longest name that is read or written, in bytes without its NUL. */
export const MAX_NAME = 65_536
/** The entries of a name cache are numbered from 1 to this. */
export const NAME_ENTRIES = 32

/**
 * The reason why `decode` stopped: the input ended, the batch is full, an `M` is in place of a record, or there is a
 * fault.
 */
export const SHORT = 0
export const FULL = 1
export const MARK = 2
export const FAULT = 3

/** The faults of records. */
export const NUMBER_TOO_WIDE = 1
export const NUMBER_TOO_LONG = 2
export const LINE_TOO_LARGE = 3
export const NO_SUCH_ENTRY = 4
export const ENTRY_UNDEFINED = 5
export const NAME_TOO_LONG = 6
export const UNKNOWN_TYPE = 7
export const NO_MEMORY = 8

/** Notes on an event that `encode` wrote, changed or dropped: bits of a set, reported in this order. */
export const OTHER_TYPE = 1 << 0
export const EXISTING_AS_ALLOC = 1 << 1
export const ALLOC_NOWHERE = 1 << 2
export const FREE_OF_NULL = 1 << 3
export const FREE_OF_UNKNOWN = 1 << 4
export const NULL_TO_NULL = 1 << 5
export const REALLOC_OF_NULL = 1 << 6
export const REALLOC_FAILED = 1 << 7
export const REALLOC_TO_NOTHING = 1 << 8
export const REALLOC_OF_UNKNOWN = 1 << 9
export const NO_ADDRESS = 1 << 10
export const NO_SIZE = 1 << 11
export const NO_INDEX_LEFT = 1 << 12
export const INDEX_OF_OTHER = 1 << 13
export const ADDRESS_OF_UNKNOWN = 1 << 14
export const SIZE_OF_UNKNOWN = 1 << 15
export const OLD_ADDRESS_OF_UNKNOWN = 1 << 16
export const OTHER_ADDRESS = 1 << 17
export const OTHER_SIZE = 1 << 18
export const OTHER_OLD_ADDRESS = 1 << 19
export const UNFIT_FUNCTION = 1 << 20
export const UNFIT_FILE = 1 << 21
export const ADDRESS_IN_USE = 1 << 22

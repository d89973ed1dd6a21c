/** The first byte of each record. */
export const TAG_ALLOC = 0
export const TAG_FREE = 1
/** A realloc that left the block where it was. */
export const TAG_REALLOC_NONE = 2
/** A realloc to a new block: alloc and free. */
export const TAG_REALLOC_MOVED = 3
/** A realloc of the null pointer: alloc only. */
export const TAG_REALLOC_ALLOCATED = 4
/** A realloc to size 0: free only. */
export const TAG_REALLOC_FREED = 5
export const TAG_CREATE_HEAP = 6
export const TAG_DESTROY_HEAP = 7
export const TAG_CREATE_THREAD = 8
export const TAG_DESTROY_THREAD = 9
export const TAG_COMMENT = 10
export const TAG_METADATA = 11

/** The second byte of a metadata record. */
export const FIELD_SIZE = 1
export const FIELD_INTERPRETATION = 2

/** The third byte of a metadata record: the field it concerns. */
export const F_SIZE = 0
export const F_ADDRESS = 1
export const F_TIME = 2
export const F_THREAD = 3
export const F_HEAP = 4
export const F_ATTRIBUTES = 5
export const FIELD_COUNT = 6

/**
 * The widths of attributes that start with their length, in one byte or in two. Other widths are 0, 1, 2, 4 and 8
 * bytes.
 */
export const V1 = 9
export const V2 = 10

/** How a field's value is derived from what is stored. */
export const NONE = 0
export const DEFAULT = 1
export const BASE_OFFSET = 2
export const DELTA = 3
export const STRIDE = 4

/**
 * The reason why `decode` stopped: the input is used up, the batch is full, a comment, whose text is the data, or
 * attributes of the last event, which are the data; or a fault.
 */
export const USED_UP = 0
export const FULL = 1
export const COMMENT = 2
export const HAS_DATA = 3
export const UNKNOWN_TAG = 4
export const UNKNOWN_OPERATION = 5
export const UNKNOWN_FIELD = 6
export const UNKNOWN_WIDTH = 7
export const WIDTH_OF_ATTRIBUTES = 8
export const UNKNOWN_INTERPRETATION = 9
export const NUMERIC_ATTRIBUTES = 10

/**
 * What the encoder has to do for an event: nothing; add attributes to its last record; or write a comment, because the
 * event has no record.
 */
export const NOTHING = 0
export const ATTRIBUTES_OF = 1
export const COMMENT_FOR = 2

/** The strategies that choose a field's layouts, and the bytes for the layouts of a field. */
export const PLAIN = 0
export const SINGLE = 1
export const CHOICE = 2
export const LAYOUTS_BYTES = 18

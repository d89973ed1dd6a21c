/** The kernel's number for a layout: a set of these bits. Narrow layouts are always timed. */
export const BIG = 1
export const TIMED = 2
export const NARROW = 4

/** No record begins after this many bytes of output; a record that begins earlier has room. */
export const OUTPUT_BYTES = 114_688

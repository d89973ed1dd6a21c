/** The records of MTRC, and their addresses in memory. */

const INPUT_BYTES: usize = 262_144
/** The input buffer for records, followed by room for what readers examine beyond a record. */
export const INPUT: usize = memory.data(262_912)
/** The output buffer for records. An instance either reads or writes. */
export const OUTPUT: usize = INPUT
/** Zeros after any input, with which readers continue after a fault, as numbers of 0 and no names. */
export const NOWHERE: usize = INPUT + INPUT_BYTES + 256

/** The types of records, and the mark at the beginning and end of a trace. */
export const A: u8 = 0x41
export const F: u8 = 0x46
export const H: u8 = 0x48
export const I: u8 = 0x49
export const M: u8 = 0x4d
export const R: u8 = 0x52

/** The most bytes of a number and of a name. */
export const MAX_LEB: usize = 32
export const MAX_NAME: usize = 65_536
/** The entries of a cache, from 1, and the bit that says that a name follows its entry. */
export const NAME_ENTRIES: u32 = 32
export const NAME_DEFINES: u8 = 0x80

/** `internal`, the type of memory that mpatrol reserves for itself. */
export const INTERNAL: usize = memory.data<u8>([0x69, 0x6e, 0x74, 0x65, 0x72, 0x6e, 0x61, 0x6c, 0, 0, 0, 0, 0, 0, 0, 0])

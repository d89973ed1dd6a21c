/** The records of MTRC, and their addresses in memory. */

import { KERNEL_INPUT } from '../../lib/kernel/layouts/input'

/** The input buffer for records, followed by room for what readers examine beyond a record. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 768)
/** The output buffer for records. An instance either reads or writes. */
export const OUTPUT: usize = INPUT
/** Zeros after any input, with which readers continue after a fault, as numbers of 0 and no names. */
export const NOWHERE: usize = INPUT + KERNEL_INPUT + 256

/** The types of records, and the mark at the beginning and end of a trace. */
export const A: u8 = 0x41
export const F: u8 = 0x46
export const H: u8 = 0x48
export const I: u8 = 0x49
export const M: u8 = 0x4d
export const R: u8 = 0x52

export const NAME_DEFINES: u8 = 0x80

/** `internal`, the type of memory that mpatrol reserves for itself. */
export const INTERNAL: usize = memory.data<u8>([0x69, 0x6e, 0x74, 0x65, 0x72, 0x6e, 0x61, 0x6c, 0, 0, 0, 0, 0, 0, 0, 0])

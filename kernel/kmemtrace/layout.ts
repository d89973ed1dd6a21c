/** The records of kmemtrace, and their addresses in memory. */

import { KERNEL_INPUT } from '../../lib/kernel/layouts/input'
import { BIG, NARROW, OUTPUT_BYTES, TIMED } from '../../lib/kernel/layouts/kmemtrace'
import * as Event from '../shared/event'

/** The input buffer: 262144 bytes, followed by room for the fields that a free does not have. */
export const INPUT: usize = memory.data(KERNEL_INPUT + 64)
/** The output buffer, followed by room for the longest record that begins there. */
export const OUTPUT: usize = memory.data(OUTPUT_BYTES + 65_600)

/** Event ids are the codes of the kinds. */
export const ALLOC: u32 = <u32>Event.KIND_ALLOC
export const FREE: u32 = <u32>Event.KIND_FREE

/** The function, at the event id plus twice the type id. There is no type 3. */
export const APIS: usize = memory.data(8)
store<u8>(APIS, Event.API_KMALLOC)
store<u8>(APIS + 1, Event.API_KFREE)
store<u8>(APIS + 2, Event.API_KMEM_CACHE_ALLOC)
store<u8>(APIS + 3, Event.API_KMEM_CACHE_FREE)
store<u8>(APIS + 4, Event.API_PAGES)
store<u8>(APIS + 5, Event.API_PAGES)

/** The type id, at the function plus 16 times the event id, or `NO_TYPE`. Function 15 stands for none. */
export const TYPES: usize = memory.data(32)
const NO_TYPE: u32 = 0xff
memory.fill(TYPES, <u8>NO_TYPE, 32)
for (let type: u32 = 0; type < 3; type++) {
  store<u8>(TYPES + load<u8>(APIS + 2 * type), <u8>type)
  store<u8>(TYPES + 16 + load<u8>(APIS + 2 * type + 1), <u8>type)
}

/** The offset of the call site in a record. */
export function siteAt(form: u32): usize {
  return form & TIMED ? 16 : 8
}

/** The length of a free. */
export function coreSize(form: u32): usize {
  return siteAt(form) + (form & NARROW ? 8 : 16)
}

/** The length of an allocation. */
export function allocSize(form: u32): usize {
  return coreSize(form) + (form & NARROW ? 16 : 24)
}

/** The first word of a record as this machine reads it, without the type. */
export function headOf(form: u32, event: u32, length: usize): u32 {
  return event | (<u32>(form & BIG ? length << 24 : length << 16))
}

/** Converts two 64-bit words between the byte orders of the records and of this machine. */
export function order64(form: u32, value: v128): v128 {
  return form & BIG ? v128.shuffle<u8>(value, value, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8) : value
}

/** Converts four 32-bit words between the byte orders of the records and of this machine. */
export function order32(form: u32, value: v128): v128 {
  return form & BIG ? v128.shuffle<u8>(value, value, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12) : value
}

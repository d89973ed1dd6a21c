/**
 * The columns of one batch, as in lib/event/batch.ts: the address of each in memory, with room for 4096 events. Only
 * those that a kernel mentions take memory. A kernel exports the columns that it fills or reads, and the wrappers copy
 * them to or from an `EventBatch`.
 *
 * Each column is 192 bytes longer than necessary. If their distances were powers of two, the values of one event would
 * compete for the same lines of the processor's first-level cache.
 */

export const MASK: usize = memory.data(16576)
export const KIND: usize = memory.data(4288)
export const API: usize = memory.data(4288)
export const PROCESS: usize = memory.data(32960)
export const THREAD: usize = memory.data(32960)
export const CPU: usize = memory.data(16576)
export const NODE: usize = memory.data(16576)
export const SEQUENCE: usize = memory.data(16576)
export const TIME: usize = memory.data(32960)
export const END_TIME: usize = memory.data(32960)
export const HEAP: usize = memory.data(32960)
export const INDEX: usize = memory.data(32960)
export const ADDRESS: usize = memory.data(32960)
export const OLD_ADDRESS: usize = memory.data(32960)
export const SIZE: usize = memory.data(32960)
export const ELEMENTS: usize = memory.data(32960)
export const ELEMENT_SIZE: usize = memory.data(32960)
export const ALIGNMENT: usize = memory.data(32960)
export const USABLE: usize = memory.data(32960)
export const PRESENT: usize = memory.data(32960)
export const GFP_FLAGS: usize = memory.data(16576)
export const CALL_SITE: usize = memory.data(32960)
export const OUTCOME: usize = memory.data(4288)
export const FUNCTION: usize = memory.data(16576)
export const FILE: usize = memory.data(16576)
export const LINE: usize = memory.data(16576)
export const TYPE: usize = memory.data(16576)
export const STACK: usize = memory.data(16576)
export const TEXT: usize = memory.data(16576)
export const ATTRIBUTES: usize = memory.data(16576)
export const CODE: usize = memory.data(16576)
export const FIELDS: usize = memory.data(16576)
export const MODULE: usize = memory.data(16576)

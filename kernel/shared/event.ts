/** The codes of lib/event/fields.ts, which AssemblyScript cannot import. A test compares them. */

export { BATCH_EVENTS } from '../../lib/event/limits'

export const KIND_ALLOC: u8 = 0
export const KIND_FREE: u8 = 1
export const KIND_REALLOC: u8 = 2
export const KIND_EXISTING: u8 = 3
export const KIND_RESERVE: u8 = 4
export const KIND_HEAP_CREATE: u8 = 5
export const KIND_HEAP_DESTROY: u8 = 6
export const KIND_THREAD_CREATE: u8 = 7
export const KIND_THREAD_DESTROY: u8 = 8
export const KIND_COMMENT: u8 = 9
export const KIND_LOST: u8 = 10
export const KIND_OTHER: u8 = 11
export const KIND_PROCESS_END: u8 = 12

export const API_MALLOC: u8 = 0
export const API_CALLOC: u8 = 1
export const API_MEMALIGN: u8 = 2
export const API_REALLOC: u8 = 3
export const API_FREE: u8 = 4
export const API_NEW: u8 = 5
export const API_DELETE: u8 = 6
export const API_KMALLOC: u8 = 7
export const API_KFREE: u8 = 8
export const API_KMEM_CACHE_ALLOC: u8 = 9
export const API_KMEM_CACHE_FREE: u8 = 10
export const API_PAGES: u8 = 11

export const OUTCOME_NONE: u8 = 0
export const OUTCOME_MOVED: u8 = 1
export const OUTCOME_ALLOCATED: u8 = 2
export const OUTCOME_FREED: u8 = 3

export const HAS_API: u32 = 1 << 0
export const HAS_PROCESS: u32 = 1 << 1
export const HAS_THREAD: u32 = 1 << 2
export const HAS_CPU: u32 = 1 << 3
export const HAS_NODE: u32 = 1 << 4
export const HAS_SEQUENCE: u32 = 1 << 5
export const HAS_TIME: u32 = 1 << 6
export const HAS_END_TIME: u32 = 1 << 7
export const HAS_HEAP: u32 = 1 << 8
export const HAS_INDEX: u32 = 1 << 9
export const HAS_ADDRESS: u32 = 1 << 10
export const HAS_OLD_ADDRESS: u32 = 1 << 11
export const HAS_SIZE: u32 = 1 << 12
export const HAS_COUNT: u32 = 1 << 13
export const HAS_ELEMENT_SIZE: u32 = 1 << 14
export const HAS_ALIGNMENT: u32 = 1 << 15
export const HAS_USABLE: u32 = 1 << 16
export const HAS_PRESENT: u32 = 1 << 17
export const HAS_GFP_FLAGS: u32 = 1 << 18
export const HAS_CALL_SITE: u32 = 1 << 19
export const HAS_OUTCOME: u32 = 1 << 20
export const HAS_FUNCTION: u32 = 1 << 21
export const HAS_FILE: u32 = 1 << 22
export const HAS_LINE: u32 = 1 << 23
export const HAS_TYPE: u32 = 1 << 24
export const HAS_STACK: u32 = 1 << 25
export const HAS_TEXT: u32 = 1 << 26
export const HAS_ATTRIBUTES: u32 = 1 << 27
export const HAS_CODE: u32 = 1 << 28
export const HAS_FIELDS: u32 = 1 << 29
export const HAS_MODULE: u32 = 1 << 30

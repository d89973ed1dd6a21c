/** The fields of events by number: the address and width of the column, and the kind of its values. */

import * as Column from './columns'

/** Fields by their bits. */
export const F_API: u32 = 0
export const F_CPU: u32 = 3
export const F_SEQUENCE: u32 = 5
export const F_TIME: u32 = 6
export const F_END_TIME: u32 = 7
export const F_HEAP: u32 = 8
export const F_INDEX: u32 = 9
export const F_SIZE: u32 = 12
export const F_COUNT: u32 = 13
export const F_ALIGNMENT: u32 = 15
export const F_PRESENT: u32 = 17
export const F_CALL_SITE: u32 = 19
export const F_LINE: u32 = 23

/** The kinds of values. */
const WIDE: u8 = 0
export const WORD: u8 = 1
export const BYTE: u8 = 2
export const NAME: u8 = 3
export const LIST: u8 = 4

/** Of the fields in the order of `AT`. */
const SORTS: StaticArray<u8> = [
  2, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 3, 3, 1, 3, 4, 3, 3, 1, 3, 3,
]

const AT: StaticArray<usize> = [
  Column.API,
  Column.PROCESS,
  Column.THREAD,
  Column.CPU,
  Column.NODE,
  Column.SEQUENCE,
  Column.TIME,
  Column.END_TIME,
  Column.HEAP,
  Column.INDEX,
  Column.ADDRESS,
  Column.OLD_ADDRESS,
  Column.SIZE,
  Column.ELEMENTS,
  Column.ELEMENT_SIZE,
  Column.ALIGNMENT,
  Column.USABLE,
  Column.PRESENT,
  Column.GFP_FLAGS,
  Column.CALL_SITE,
  Column.OUTCOME,
  Column.FUNCTION,
  Column.FILE,
  Column.LINE,
  Column.TYPE,
  Column.STACK,
  Column.TEXT,
  Column.ATTRIBUTES,
  Column.CODE,
  Column.FIELDS,
  Column.MODULE,
]

/** The kinds of values of fields. */
// @ts-ignore: decorator
@inline
export function sortOf(field: u32): u8 {
  return unchecked(SORTS[field])
}

/** The value of a field of an event; for a name or list, its id in the batch. */
// @ts-ignore: decorator
@inline
export function valueOf(field: u32, row: u32): u64 {
  const at = unchecked(AT[field])
  switch (unchecked(SORTS[field])) {
    case WIDE:
      return load<u64>(at + ((<usize>row) << 3))
    case BYTE:
      return load<u8>(at + row)
    default:
      return load<u32>(at + ((<usize>row) << 2))
  }
}

export function setValue(field: u32, row: u32, value: u64): void {
  const at = unchecked(AT[field])
  switch (unchecked(SORTS[field])) {
    case WIDE:
      store<u64>(at + ((<usize>row) << 3), value)
      break
    case BYTE:
      store<u8>(at + row, <u8>value)
      break
    default:
      store<u32>(at + ((<usize>row) << 2), <u32>value)
  }
}

import { EventBatch } from './batch.js'
import { FIELDS } from './fields.js'
import { GROUP_WIDE, GroupColumns, newColumn, positions } from './groups.js'
import type { TraceHeader } from './header.js'
import { BYTE_FIELDS, bytesPerEvent, columnOf, countBits, U64Column, U64_FIELDS, type ColumnName } from './storage.js'
import { StringTable } from './strings.js'

/*
 * A batch's columns packed into a piece of memory, in this machine's byte order; this many events, no more:
 *
 *   2 words      how many events, the set of columns
 *   8-byte data  the 64-bit columns
 *   4-byte data  masks, the 32-bit columns
 *   bytes        kinds, the columns of bytes, and up to 7 to fill up 8 bytes
 *
 * If there are fields of groups, the set of columns has GROUPED, and these follow:
 *
 *   2 words      the set of their columns, and 0
 *   8-byte data  the 64-bit columns
 *   4-byte data  their masks, the 32-bit columns, and up to 4 bytes to fill up 8
 */
const HEAD_BYTES = 8
const ALIGN = 8
const GROUPED = 0x8000_0000
/** The words before a table of strings: how many strings, lists, and ids in all lists. */
const STRINGS_HEAD = 3
const WORD_FIELDS = ~(U64_FIELDS | BYTE_FIELDS)

/** The bytes that an event takes in columns of the core and of groups, including its kind and masks. */
export function rowLength(columns: number, groups = 0): number {
  return 5 + bytesPerEvent(columns) + (groups === 0 ? 0 : 4 * groupWords(groups))
}

/** The packed size of a batch's columns: a multiple of 8. */
export function packedLength({ count, columns, groups }: EventBatch): number {
  return coreLength(count, columns) + (groups === undefined ? 0 : groupsLength(count, groups.columns))
}

function coreLength(count: number, columns: number): number {
  return HEAD_BYTES + Math.ceil((rowLength(columns) * count) / ALIGN) * ALIGN
}

function groupsLength(count: number, columns: number): number {
  return HEAD_BYTES + Math.ceil((4 * groupWords(columns) * count) / ALIGN) * ALIGN
}

/** The words that an event takes in columns of groups, including its mask there. */
function groupWords(columns: number): number {
  return 2 * countBits(columns & GROUP_WIDE) + 1 + countBits(columns & ~GROUP_WIDE)
}

/** Packs a batch's columns, without its strings, into a buffer at `offset`, a multiple of 8. */
export function packColumns(batch: EventBatch, buffer: ArrayBuffer, offset: number): void {
  const { count, columns, groups } = batch
  const bytes = new Uint8Array(buffer, offset)
  new Uint32Array(buffer, offset, 2).set([count, groups === undefined ? columns : columns | GROUPED])
  let at = HEAD_BYTES
  const put = (column: Uint8Array | Uint32Array | Int32Array, n: number) => {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, n * column.BYTES_PER_ELEMENT), at)
    at += n * column.BYTES_PER_ELEMENT
  }
  for (const name of columnsOf(columns & U64_FIELDS)) put((batch[name] as U64Column).words, 2 * count)
  put(batch.mask, count)
  for (const name of columnsOf(columns & WORD_FIELDS)) put(batch[name] as Uint32Array, count)
  put(batch.kind, count)
  for (const name of columnsOf(columns & BYTE_FIELDS)) put(batch[name] as Uint8Array, count)
  if (groups === undefined) return
  at = coreLength(count, columns)
  new Uint32Array(buffer, offset + at, 2).set([groups.columns, 0])
  at += HEAD_BYTES
  for (const g of positions(groups.columns & GROUP_WIDE)) put((groups.at(g) as U64Column).words, 2 * count)
  put(groups.mask, count)
  for (const g of positions(groups.columns & ~GROUP_WIDE)) put(groups.at(g) as Uint32Array, count)
}

/**
 * The batch that was packed into a buffer at `offset`. Its columns are views of the buffer.
 * @param strings the string table that its string columns refer to
 */
export function viewColumns(
  buffer: ArrayBuffer,
  offset: number,
  header: TraceHeader,
  strings: StringTable,
): EventBatch {
  const [count, marked] = new Uint32Array(buffer, offset, 2) as unknown as [number, number]
  const columns = marked & ~GROUPED
  const views: Record<string, unknown> = { capacity: count, count, columns }
  if (columns !== marked) views['groups'] = viewGroups(buffer, offset + coreLength(count, columns), count)
  let at = offset + HEAD_BYTES
  const place = (bytes: number) => (at += bytes) - bytes
  for (const name of columnsOf(columns & U64_FIELDS)) views[name] = new U64Column(buffer, place(8 * count), count)
  views['mask'] = new Uint32Array(buffer, place(4 * count), count)
  for (const name of columnsOf(columns & WORD_FIELDS)) {
    const isSigned = EMPTY[name] instanceof Int32Array
    views[name] = new (isSigned ? Int32Array : Uint32Array)(buffer, place(4 * count), count)
  }
  views['kind'] = new Uint8Array(buffer, place(count), count)
  for (const name of columnsOf(columns & BYTE_FIELDS)) views[name] = new Uint8Array(buffer, place(count), count)
  return Object.assign(new EventBatch(0, 0, header, strings), views)
}

function viewGroups(buffer: ArrayBuffer, offset: number, count: number): GroupColumns {
  const [columns] = new Uint32Array(buffer, offset, 2) as unknown as [number]
  let at = offset + HEAD_BYTES
  const place = (bytes: number) => (at += bytes) - bytes
  const wide = positions(columns & GROUP_WIDE).map((g) => [g, new U64Column(buffer, place(8 * count), count)] as const)
  const groups = new GroupColumns(count, new Uint32Array(buffer, place(4 * count), count))
  for (const [g, column] of wide) groups.set(g, column)
  for (const g of positions(columns & ~GROUP_WIDE)) {
    const isSigned = newColumn(g, 0) instanceof Int32Array
    groups.set(g, new (isSigned ? Int32Array : Uint32Array)(buffer, place(4 * count), count))
  }
  return groups
}

/** Shows the type of each column. */
const EMPTY = new EventBatch(0, 0, { format: '' })

/** The packed size of a string table: a multiple of 8. */
export function packedStringsLength(strings: StringTable): number {
  const { bytes, starts, lists, listed } = strings.flat()
  const words = STRINGS_HEAD + starts.length + lists.length + listed.length
  return Math.ceil((4 * words + bytes.length) / ALIGN) * ALIGN
}

/**
 * Packs a string table into a buffer at `offset`, a multiple of 4. First come words: the number of strings, of lists,
 * and of ids in all lists; where each string starts and the last one ends; the same for lists; the ids. The bytes of
 * the strings follow.
 */
export function packStrings(strings: StringTable, buffer: ArrayBuffer, offset: number): void {
  const { bytes, starts, lists, listed } = strings.flat()
  const words = new Uint32Array(buffer, offset, STRINGS_HEAD + starts.length + lists.length + listed.length)
  words.set([strings.size, strings.listCount, listed.length])
  words.set(starts, STRINGS_HEAD)
  words.set(lists, STRINGS_HEAD + starts.length)
  words.set(listed, STRINGS_HEAD + starts.length + lists.length)
  new Uint8Array(buffer, offset + words.byteLength).set(bytes)
}

/** The string table that was packed into a buffer at `offset`, copied out of it. */
export function unpackStrings(buffer: ArrayBuffer, offset: number): StringTable {
  const [strings, lists, ids] = new Uint32Array(buffer, offset, STRINGS_HEAD) as unknown as [number, number, number]
  let at = offset + 4 * STRINGS_HEAD
  const words = (n: number) => {
    at += 4 * n
    return new Uint32Array(buffer.slice(at - 4 * n, at))
  }
  const starts = words(strings + 1)
  const flat = { starts, lists: words(lists + 1), listed: words(ids) }
  return StringTable.of({ bytes: new Uint8Array(buffer.slice(at, at + starts[strings])), ...flat })
}

/** The columns of a set of fields. */
function columnsOf(set: number): ColumnName[] {
  const names: ColumnName[] = []
  for (let f = 0; f < FIELDS.length; f++) if ((set >>> f) & 1) names.push(columnOf(f))
  return names
}

import { HI, LO } from '../bytes/u64.js'
import { KERNEL_EVENTS } from './load.js'
import { columnOf, EventBatch, U64Column } from '../event/batch.js'
import { ALL_FIELDS, ALL_GROUP_FIELDS, FIELDS } from '../event/fields.js'
import type { TraceHeader } from '../event/header.js'
import { selectMemory } from './select-memory.js'
import type { Column } from '../event/storage.js'

/**
 * Below this share of the rows (as a divisor), fetching values one by one is faster than copying whole columns to the
 * kernel.
 */
const FEW = 16

/**
 * Copies the events `rows[0..n)` of a batch, in that order, into a new batch that shares its strings.
 * @param rows numbers of events of the batch, the first one being 0
 * @param columns the fields of the core to copy (others become absent)
 * @param header the header of the new batch
 * @param groups the fields of groups to copy: by default all if all fields of the core are copied, otherwise none
 */
export function selectRows(
  source: EventBatch,
  rows: Int32Array,
  n: number,
  columns: number = ALL_FIELDS,
  header: TraceHeader = source.header,
  groups: number = columns === ALL_FIELDS ? ALL_GROUP_FIELDS : 0,
): EventBatch {
  const { count } = source
  const set = source.columns & columns
  const target = EventBatch.unfilled(n, set, header, source.strings)
  const byKernel = count <= KERNEL_EVENTS && n <= KERNEL_EVENTS && n * FEW >= count
  if (byKernel) selectMemory().rows.set(rows.subarray(0, n))
  const gather = (from: Column, to: Column) =>
    byKernel ? gatherByKernel(from, to, count, n) : gatherHere(from, to, rows, n)
  gather(source.kind, target.kind)
  gather(source.mask, target.mask)
  if (set !== source.columns) for (let j = 0; j < n; j++) target.mask[j] = target.mask[j] & set
  for (let f = 0; f < FIELDS.length; f++) if ((set >>> f) & 1) gather(source[columnOf(f)], target[columnOf(f)])
  target.groups = source.groups?.select(rows, n, groups)
  target.count = n
  return target
}

/** Copies `n` events of a batch, from event `from` on, with these fields of the core: see `selectRows`. */
export function rowsFrom(source: EventBatch, from: number, n: number, columns?: number): EventBatch {
  const rows = Int32Array.from({ length: n }, (_, i) => from + i)
  return selectRows(source, rows, n, columns)
}

/** Gathers the values of the rows that are in the kernel's memory. */
function gatherByKernel(from: Column, to: Column, count: number, n: number): void {
  const { run, source, gathered } = selectMemory()
  if (from instanceof U64Column) {
    source[8].set(from.words.subarray(0, 2 * count))
    run.gather8(n)
    ;(to as U64Column).words.set(gathered[8].subarray(0, 2 * n))
  } else if (from instanceof Uint8Array) {
    source[1].set(from.subarray(0, count))
    run.gather1(n)
    ;(to as Uint8Array).set(gathered[1].subarray(0, n))
  } else {
    source[4].set(from.subarray(0, count))
    run.gather4(n)
    ;(to as Uint32Array).set(gathered[4].subarray(0, n))
  }
}

function gatherHere(from: Column, to: Column, rows: Int32Array, n: number): void {
  if (from instanceof U64Column) gatherWords(from.words, (to as U64Column).words, rows, n)
  else gatherValues(from, to as typeof from, rows, n)
}

function gatherWords(from: Uint32Array, to: Uint32Array, rows: Int32Array, n: number): void {
  for (let j = 0; j < n; j++) {
    const i = rows[j]
    to[2 * j + LO] = from[2 * i + LO]
    to[2 * j + HI] = from[2 * i + HI]
  }
}

function gatherValues(from: Uint8Array | Uint32Array | Int32Array, to: typeof from, rows: Int32Array, n: number): void {
  for (let j = 0; j < n; j++) to[j] = from[rows[j]]
}

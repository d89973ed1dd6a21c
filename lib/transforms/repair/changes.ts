import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { plural } from '../../event/message-text.js'
import { Api, FieldBit, fieldSet, Kind } from '../../event/fields.js'

/** The functions that free the blocks of a kernel's allocation functions. */
export const FREED_BY: Readonly<Record<string, 'kfree' | 'kmem_cache_free' | 'pages'>> = {
  kmalloc: 'kfree',
  kmem_cache_alloc: 'kmem_cache_free',
  pages: 'pages',
}

/** Turns a realloc of an unknown block into an allocation. */
export function makeAllocation(batch: EventBatch, row: number): void {
  const isRealloc = (batch.mask[row] & FieldBit.api) !== 0 && batch.api[row] === Api.realloc
  placeInAddress(batch, row)
  batch.kind[row] = Kind.alloc
  batch.mask[row] = batch.mask[row] & ~(FieldBit.oldAddress | FieldBit.outcome | (isRealloc ? FieldBit.api : 0))
}

/** A realloc in place may have only the old address. */
function placeInAddress(batch: EventBatch, row: number): void {
  if ((batch.mask[row] & (FieldBit.index | FieldBit.address | FieldBit.oldAddress)) !== FieldBit.oldAddress) return
  batch.addColumns(FieldBit.address)
  batch.address.values[row] = batch.oldAddress.values[row]
  batch.mask[row] = batch.mask[row] | FieldBit.address
}

/** The fields that an event keeps when it becomes a free: which block ended, when, and on which thread. */
const OF_FREE = fieldSet('process', 'thread', 'cpu', 'node', 'time', 'heap', 'index', 'address')

/** Turns an allocation, or a realloc, into a free of the block whose address, or index, it takes. */
export function makeFree(batch: EventBatch, row: number): void {
  const fields = batch.mask[row]
  placeInAddress(batch, row)
  // Pages have a separate address space.
  const isOfPages = (fields & FieldBit.api) !== 0 && batch.api[row] === Api.pages
  batch.kind[row] = Kind.free
  batch.mask[row] = batch.mask[row] & (OF_FREE | (isOfPages ? FieldBit.api : 0))
  if (batch.groups !== undefined) batch.groups.mask[row] = 0
}

/** A sentence about how often a free stands for the end of a block; undefined if never. */
export function freeWarnings(count: number): string[] {
  if (count === 0) return []
  return [`${plural(count, 'block')} ended without a free, where another one begins: a free is written for each`]
}

/** Sets an event's time. Its end is then not before it and, for a moved event, not after it either. */
export function setTime(batch: EventBatch, row: number, lo: number, hi: number, isMoved: boolean): void {
  batch.time.words[2 * row + LO] = lo
  batch.time.words[2 * row + HI] = hi
  if ((batch.mask[row] & FieldBit.endTime) === 0) return
  const end = batch.endTime.values
  const time = batch.time.values[row]
  if (isMoved || end[row] < time) end[row] = time
}

import { HI, LO } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { Api, FieldBit, Kind } from '../../event/fields.js'

/** The functions that free the blocks of a kernel's allocation functions. */
export const FREED_BY: Readonly<Record<string, 'kfree' | 'kmem_cache_free' | 'pages'>> = {
  kmalloc: 'kfree',
  kmem_cache_alloc: 'kmem_cache_free',
  pages: 'pages',
}

/** Turns a realloc of an unknown block into an allocation. */
export function makeAllocation(batch: EventBatch, row: number): void {
  const isRealloc = (batch.mask[row] & FieldBit.api) !== 0 && batch.api[row] === Api.realloc
  if ((batch.mask[row] & (FieldBit.index | FieldBit.address | FieldBit.oldAddress)) === FieldBit.oldAddress) {
    // A realloc in place may have only the old address.
    batch.addColumns(FieldBit.address)
    batch.address.values[row] = batch.oldAddress.values[row]
    batch.mask[row] = batch.mask[row] | FieldBit.address
  }
  batch.kind[row] = Kind.alloc
  batch.mask[row] = batch.mask[row] & ~(FieldBit.oldAddress | FieldBit.outcome | (isRealloc ? FieldBit.api : 0))
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

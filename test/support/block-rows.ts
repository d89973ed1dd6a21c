import { expect } from 'vitest'
import type { EventBatch } from '../../lib/event/batch.js'
import { BlockTable } from '../../lib/transforms/block-table/block-table.js'
import { BLOCK_ROWS, type BlockRow } from '../../lib/transforms/block-table/columns.js'

/** The rows of a table of blocks, taken whenever there are some, of all events of some batches. */
export function blockRows(batches: Iterable<EventBatch>, table = new BlockTable()): BlockRow[] {
  const found: BlockRow[] = []
  const take = () => {
    for (let rows = table.next(); rows !== null; rows = table.next()) {
      expect(rows.count).toBeLessThanOrEqual(BLOCK_ROWS)
      for (let i = 0; i < rows.count; i++) found.push(rows.row(i))
    }
  }
  for (const batch of batches) {
    table.feed(batch)
    take()
  }
  table.end()
  take()
  return found
}

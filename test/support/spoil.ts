import { columnOf, U64Column, type EventBatch } from '../../lib/event/batch.js'
import { positions, type GroupColumn } from '../../lib/event/groups.js'

/** Makes nonsense of all that a batch has, as the next user of its memory may do. */
export function spoil(batch: EventBatch): void {
  batch.mask.fill(0xffff_ffff)
  batch.kind.fill(0xff)
  for (const f of positions(batch.columns)) spoilColumn(batch[columnOf(f)])
  const { groups } = batch
  if (groups === undefined) return
  groups.mask.fill(0xffff_ffff)
  for (const g of positions(groups.columns)) spoilColumn(groups.at(g))
}

function spoilColumn(column: GroupColumn | Uint8Array): void {
  if (column instanceof U64Column) column.words.fill(0xffff_ffff)
  else column.fill(0x7f)
}

import { reviseBatch, type EventBatch } from '../event/batch.js'
import { FieldBit } from '../event/fields.js'
import { StringTable } from '../event/strings.js'

/**
 * A batch whose stacks have only their innermost frames. It shares its columns with the given one.
 * @param depth the maximum number of frames, at least 1
 */
export function withStackDepth(batch: EventBatch, depth: number): EventBatch {
  if ((batch.columns & FieldBit.stack) === 0) return batch
  const { bytes, starts, listed, lists } = batch.strings.flat()
  const count = lists.length - 1
  const kept = new Uint32Array(listed.length)
  const ends = new Uint32Array(count + 1)
  let end = 0
  for (let list = 0; list < count; list++) {
    const from = lists[list]
    const to = Math.min(lists[list + 1], from + depth)
    for (let i = from; i < to; i++) kept[end++] = listed[i]
    ends[list + 1] = end
  }
  return reviseBatch(batch, 0, StringTable.of({ bytes, starts, listed: kept, lists: ends }))
}

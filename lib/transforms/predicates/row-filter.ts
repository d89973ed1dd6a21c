import type { EventBatch, U64FieldName } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { MAX_RANGES, selectMemory } from '../../kernel/select-memory.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { rangeWords, type Range } from './ranges.js'

/** Narrows a selection of a batch's rows, as a `Predicate` does. */
type RowFilter = (batch: EventBatch, rows: Int32Array, n: number) => number

/**
 * Keeps the rows whose field is in one of some ranges.
 * @throws RangeError as `rangeWords`, and when there are more than 65,536
 */
export function byRanges(field: U64FieldName, wanted: readonly Range[]): RowFilter {
  const bounds = rangeWords(wanted)
  if (bounds.length > 2 * MAX_RANGES)
    throw new RangeError(`${bounds.length / 2} ranges or values, of which there may be ${MAX_RANGES}`)
  const has = FieldBit[field]
  return (batch, rows, n) => {
    if ((batch.columns & has) === 0 || bounds.length === 0) return 0
    const memory = selectMemory()
    const { run, source } = memory
    memory.useRanges(bounds)
    const { words } = batch.u64(field)
    return inParts(batch, rows, n, (from, to, part) => {
      source[8].set(words.subarray(2 * from, 2 * to))
      return bounds.length === 2 ? run.inRange(has, part) : run.inRanges(has, bounds.length / 2, part)
    })
  }
}

/** Keeps the rows with a wanted code. `wanted` has 256 entries, 1 for each wanted code. */
export function byCodes(column: 'kind' | 'api', wanted: Uint8Array): RowFilter {
  const has = column === 'kind' ? 0 : FieldBit[column]
  return (batch, rows, n) => {
    if ((batch.columns & has) !== has) return 0
    const memory = selectMemory()
    memory.useCodes(wanted)
    return inParts(batch, rows, n, (from, to, part) => {
      memory.source[1].set(batch[column].subarray(from, to))
      return memory.run.isWanted(has, part)
    })
  }
}

/** Narrows rows in the kernel, as many events at a time as it has room for: usually the whole batch. */
function inParts(
  batch: EventBatch,
  rows: Int32Array,
  n: number,
  narrow: (from: number, to: number, n: number) => number,
): number {
  const { mask, rows: part } = selectMemory()
  const { count } = batch
  let kept = 0
  for (let from = 0, j = 0; j < n; from += KERNEL_EVENTS) {
    const to = Math.min(count, from + KERNEL_EVENTS)
    let next = n
    if (to < count) for (next = j; next < n && rows[next] < to;) next++
    part.set(rows.subarray(j, next))
    if (from > 0) for (let k = 0; k < next - j; k++) part[k] = part[k] - from
    mask.set(batch.mask.subarray(from, to))
    const m = narrow(from, to, next - j)
    rows.set(part.subarray(0, m), kept)
    if (from > 0) for (let k = kept; k < kept + m; k++) rows[k] = rows[k] + from
    kept += m
    j = next
  }
  return kept
}

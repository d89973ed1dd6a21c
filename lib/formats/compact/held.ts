import { Kind } from '../../event/fields.js'
import type { EventBatch } from '../../event/batch.js'
import { gatherRows } from '../../event/gather.js'
import { rowsFrom } from '../../kernel/select.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { BLOCK_EVENTS } from './layout.js'

/** Limits on the bytes of strings held back, and on the number of batches, above which small ones are joined. */
const MAX_STRING_BYTES = 1 << 24
const MAX_BATCHES = 256

/** The number of events in each of the first batches. */
const FEW_EVENTS = 512

/** Copies of the first events of a trace, a block at most, until it is known which allocator assigned addresses. */
export class HeldEvents {
  batches: EventBatch[] = []
  /** The number of events, and the number of those that create blocks. */
  private count = 0
  allocations = 0
  private stringBytes = 0

  get isFull(): boolean {
    return this.count === BLOCK_EVENTS || this.stringBytes > MAX_STRING_BYTES
  }

  /** Copies the first events of a batch, as many as there is room for. @returns their number */
  take(batch: EventBatch): number {
    const taken = Math.min(batch.count, BLOCK_EVENTS - this.count)
    for (let from = 0; from < taken;) {
      // The first batches are small, so that an allocator that does not fit is abandoned early.
      const rows = Math.min(this.count + from < FEW_EVENTS ? FEW_EVENTS : KERNEL_EVENTS, taken - from)
      this.batches.push(rowsFrom(batch, from, rows))
      from += rows
    }
    for (let i = 0; i < taken; i++) if (batch.kind[i] === Kind.alloc) this.allocations++
    this.count += taken
    this.stringBytes += batch.strings.memory
    if (this.batches.length > MAX_BATCHES) this.batches = joined(this.batches)
    return taken
  }
}

/** The same events in fewer batches. */
function joined(batches: readonly EventBatch[]): EventBatch[] {
  const result: EventBatch[] = []
  for (let first = 0; first < batches.length;) {
    let next = first
    let rows = 0
    while (next < batches.length && rows + batches[next].count <= KERNEL_EVENTS) rows += batches[next++].count
    const sources = batches.slice(first, next)
    first = next
    if (sources.length === 1) {
      result.push(sources[0])
      continue
    }
    const from = new Int32Array(rows)
    const row = new Int32Array(rows)
    let at = 0
    sources.forEach(({ count }, s) => {
      for (let i = 0; i < count; i++, at++) {
        from[at] = s
        row[at] = i
      }
    })
    result.push(gatherRows(sources[0].header, sources, from, row, rows))
  }
  return result
}

import { Kind } from '../../event/fields.js'
import type { EventBatch } from '../../event/batch.js'
import { gatherRows } from '../../event/gather.js'
import { selectRows } from '../../kernel/select.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'

/** With so many bytes of strings, or with so many batches, no more is held, or small ones are joined. */
const MAX_STRING_BYTES = 1 << 24
const MAX_BATCHES = 256

/** The first batches are of so many events. */
const FEW_EVENTS = 512

/** Copies of the first events of a trace, until it is known which allocator gave their addresses. */
export class HeldEvents {
  batches: EventBatch[] = []
  /** How many events there are, and how many of them make blocks. */
  count = 0
  allocations = 0
  private stringBytes = 0

  /** @param capacity how many events are held at most */
  constructor(private readonly capacity: number) {}

  get isFull(): boolean {
    return this.count === this.capacity || this.stringBytes > MAX_STRING_BYTES
  }

  /** Takes the first events of a batch, for as many as there is room. @returns how many */
  take(batch: EventBatch): number {
    const taken = Math.min(batch.count, this.capacity - this.count)
    for (let from = 0; from < taken;) {
      // The first ones are few, so that what does not fit at all is soon given up.
      const rows = Math.min(this.count + from < FEW_EVENTS ? FEW_EVENTS : KERNEL_EVENTS, taken - from)
      this.batches.push(
        selectRows(
          batch,
          Int32Array.from({ length: rows }, (_, i) => from + i),
          rows,
        ),
      )
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
    while (next < batches.length && rows + (batches[next] as EventBatch).count <= KERNEL_EVENTS)
      rows += (batches[next++] as EventBatch).count
    const sources = batches.slice(first, next)
    first = next
    if (sources.length === 1) {
      result.push(sources[0] as EventBatch)
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
    result.push(gatherRows((sources[0] as EventBatch).header, sources, from, row, rows))
  }
  return result
}

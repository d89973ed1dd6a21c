import type { EventBatch } from '../../lib/event/batch.js'
import type { Merger } from '../../lib/transforms/merge.js'
import type { PartMerger } from '../../lib/transforms/merge-parts.js'
import { Partitioner, type PartitionOptions } from '../../lib/transforms/split.js'

/** The parts of traces by key. */
export function partsOf(batches: Iterable<EventBatch>, options: PartitionOptions): Map<string, EventBatch[]> {
  const partitioner = new Partitioner(options)
  const parts = new Map<string, EventBatch[]>()
  const add = ({ key, batch }: { key: string; batch: EventBatch }) => parts.set(key, [...(parts.get(key) ?? []), batch])
  for (const batch of batches) for (const part of partitioner.partition(batch)) add(part)
  for (const part of partitioner.end()) add(part)
  return parts
}

/** What a merger makes of its inputs, fed as it wants them. */
export function merge(merger: PartMerger | Merger, parts: readonly (readonly EventBatch[])[]): EventBatch[] {
  const queues = parts.map((part) => [...part])
  const merged: EventBatch[] = []
  for (;;) {
    for (let batch = merger.next(); batch !== null; batch = merger.next()) merged.push(batch)
    const input = merger.wants()
    if (input < 0) return merged
    const batch = queues[input]?.shift()
    if (batch === undefined) merger.end(input)
    else merger.feed(input, batch)
  }
}

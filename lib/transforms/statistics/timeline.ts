import * as Part from '../../kernel/layouts/timeline.js'
import type { StatisticsKernel } from './kernel.js'
import type { TimelinePart } from './result.js'

/** The timeline from the kernel. @param events the number of events */
export function timelineOf(kernel: StatisticsKernel, events: number): TimelinePart[] {
  const { PARTS, parts, partEvents } = kernel.run
  const timeline: TimelinePart[] = []
  let [allocations, frees, allocatedBytes] = [0, 0, 0n]
  for (let part = 0; part < parts.value; part++) {
    const at = PARTS.value + part * Part.PART_BYTES
    const [allocationsHere, freesHere] = [kernel.number(at + Part.COUNT), kernel.number(at + Part.FREED)]
    const bytesHere = kernel.sum(at + Part.BYTES)
    const resident = kernel.sum(at + Part.RESIDENT_MOST)
    timeline.push({
      event: Math.min(events, (part + 1) * Number(partEvents.value)),
      ...(kernel.number(at + Part.TIMED) > 0 && { time: kernel.integer(at + Part.CLOCK) }),
      live: { blocks: kernel.number(at + Part.BLOCKS), bytes: kernel.sum(at + Part.LEVEL) },
      minBytes: kernel.sum(at + Part.LEAST),
      maxBytes: kernel.sum(at + Part.HIGHEST),
      minBlocks: kernel.number(at + Part.FEWEST),
      maxBlocks: kernel.number(at + Part.MOST_BLOCKS),
      ...(resident > 0n && { resident }),
      allocated: { blocks: allocationsHere - allocations, bytes: bytesHere - allocatedBytes },
      frees: freesHere - frees,
    })
    allocations = allocationsHere
    frees = freesHere
    allocatedBytes = bytesHere
  }
  return timeline
}

/**
 * A timeline of at most `n` parts, each of which joins neighbouring parts of the given one: the same number for each,
 * or one more.
 */
export function joinTimeline(timeline: readonly TimelinePart[], n: number): TimelinePart[] {
  if (timeline.length <= n) return [...timeline]
  return Array.from({ length: n }, (_, part) => {
    const from = Math.floor((part * timeline.length) / n)
    const to = Math.floor(((part + 1) * timeline.length) / n)
    return joined(timeline, from, to)
  })
}

/** The parts from one to another as one: without an object for each, because most results have two thousand. */
function joined(timeline: readonly TimelinePart[], from: number, to: number): TimelinePart {
  const [first, last] = [timeline[from], timeline[to - 1]] as [TimelinePart, TimelinePart]
  let { time, minBytes, maxBytes, minBlocks, maxBlocks, resident, frees } = first
  let { blocks, bytes } = first.allocated
  for (let n = from + 1; n < to; n++) {
    const part = timeline[n]
    time = part.time ?? time
    if (part.minBytes < minBytes) minBytes = part.minBytes
    if (part.maxBytes > maxBytes) maxBytes = part.maxBytes
    if (part.minBlocks < minBlocks) minBlocks = part.minBlocks
    if (part.maxBlocks > maxBlocks) maxBlocks = part.maxBlocks
    if (resident === undefined || (part.resident !== undefined && part.resident > resident)) resident = part.resident
    blocks += part.allocated.blocks
    bytes += part.allocated.bytes
    frees += part.frees
  }
  return {
    event: last.event,
    ...(time !== undefined && { time }),
    live: last.live,
    minBytes,
    maxBytes,
    minBlocks,
    maxBlocks,
    ...(resident !== undefined && { resident }),
    allocated: { blocks, bytes },
    frees,
  }
}

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
    timeline.push({
      event: Math.min(events, (part + 1) * Number(partEvents.value)),
      ...(kernel.number(at + Part.TIMED) > 0 && { time: kernel.integer(at + Part.CLOCK) }),
      live: { blocks: kernel.number(at + Part.BLOCKS), bytes: kernel.sum(at + Part.LEVEL) },
      minBytes: kernel.sum(at + Part.LEAST),
      maxBytes: kernel.sum(at + Part.HIGHEST),
      minBlocks: kernel.number(at + Part.FEWEST),
      maxBlocks: kernel.number(at + Part.MOST_BLOCKS),
      ...(kernel.integer(at + Part.RESIDENT_MOST) > 0n && { resident: kernel.integer(at + Part.RESIDENT_MOST) }),
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
    return timeline.slice(from, to).reduce(joined)
  })
}

function joined(first: TimelinePart, second: TimelinePart): TimelinePart {
  const time = second.time ?? first.time
  const resident = largest(first.resident, second.resident)
  return {
    event: second.event,
    ...(time !== undefined && { time }),
    live: second.live,
    minBytes: first.minBytes < second.minBytes ? first.minBytes : second.minBytes,
    maxBytes: first.maxBytes > second.maxBytes ? first.maxBytes : second.maxBytes,
    minBlocks: Math.min(first.minBlocks, second.minBlocks),
    maxBlocks: Math.max(first.maxBlocks, second.maxBlocks),
    ...(resident !== undefined && { resident }),
    allocated: {
      blocks: first.allocated.blocks + second.allocated.blocks,
      bytes: first.allocated.bytes + second.allocated.bytes,
    },
    frees: first.frees + second.frees,
  }
}

function largest(a?: bigint, b?: bigint): bigint | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a
}

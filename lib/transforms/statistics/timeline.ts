import type { StatisticsKernel } from './kernel.js'
import type { TimelinePart } from './result.js'

/** The offsets in a part of kernel/statistics/timeline.ts, in bytes. */
const [LEAST, HIGHEST, LEVEL, BLOCKS, COUNT, FREED, BYTES, CLOCK, TIMED] = [0, 16, 32, 48, 56, 64, 72, 88, 96]
const [FEWEST, MOST_BLOCKS] = [104, 112]

/** The timeline from the kernel. @param events the number of events */
export function timelineOf(kernel: StatisticsKernel, events: number): TimelinePart[] {
  const { PARTS, PART_BYTES, parts, partEvents } = kernel.run
  const timeline: TimelinePart[] = []
  let [allocations, frees, allocatedBytes] = [0, 0, 0n]
  for (let part = 0; part < parts.value; part++) {
    const at = PARTS.value + part * PART_BYTES.value
    const [allocationsHere, freesHere] = [kernel.number(at + COUNT), kernel.number(at + FREED)]
    const bytesHere = kernel.sum(at + BYTES)
    timeline.push({
      event: Math.min(events, (part + 1) * Number(partEvents.value)),
      ...(kernel.number(at + TIMED) > 0 && { time: kernel.integer(at + CLOCK) }),
      live: { blocks: kernel.number(at + BLOCKS), bytes: kernel.sum(at + LEVEL) },
      minBytes: kernel.sum(at + LEAST),
      maxBytes: kernel.sum(at + HIGHEST),
      minBlocks: kernel.number(at + FEWEST),
      maxBlocks: kernel.number(at + MOST_BLOCKS),
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
  return {
    event: second.event,
    ...(time !== undefined && { time }),
    live: second.live,
    minBytes: first.minBytes < second.minBytes ? first.minBytes : second.minBytes,
    maxBytes: first.maxBytes > second.maxBytes ? first.maxBytes : second.maxBytes,
    minBlocks: Math.min(first.minBlocks, second.minBlocks),
    maxBlocks: Math.max(first.maxBlocks, second.maxBlocks),
    allocated: {
      blocks: first.allocated.blocks + second.allocated.blocks,
      bytes: first.allocated.bytes + second.allocated.bytes,
    },
    frees: first.frees + second.frees,
  }
}

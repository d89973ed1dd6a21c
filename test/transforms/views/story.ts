import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { blocksByMap } from '../../blocks/blocks.js'

/** What happened to the blocks of a trace. Every view of it has to say the same, as far as it says anything. */
export interface Story {
  allocated: Amount
  freed: Amount
  overlaps: Amount
  /** Live at the end of the trace, or at that of their process. */
  leaked: Amount
  peak: Amount & { event: number }
  temporary: Record<'heaptrack' | 'memray', Amount>
  /** Frees by another thread than the one that allocated. */
  foreign: number
  /** The numbers of events about blocks from the birth of each block to its free. */
  lifetimes: { count: number; sum: number }
  unknownFrees: number
  doubleFrees: number
  /** Frees and reallocs of blocks that were freed before. */
  again: number
  unknownReallocs: number
  nullFrees: number
  /** Allocations and reallocs without a result. */
  failed: number
}

export interface Amount {
  blocks: number
  bytes: bigint
}

interface Block {
  size: bigint
  /** The events at which it began, and was allocated or resized last. */
  birth: number
  since: number
  owner: string
  /** The number of its first event among those about blocks; undefined if it was there before. */
  born: number | undefined
}

/** The plain model: which blocks events are about by `blocksByMap`, and what follows from that. */
export function storyOf(events: readonly TraceEvent[]): Story {
  const none = (): Amount => ({ blocks: 0, bytes: 0n })
  const story: Story = {
    allocated: none(),
    freed: none(),
    overlaps: none(),
    leaked: none(),
    peak: { event: 0, ...none() },
    temporary: { heaptrack: none(), memray: none() },
    foreign: 0,
    lifetimes: { count: 0, sum: 0 },
    unknownFrees: 0,
    doubleFrees: 0,
    again: 0,
    unknownReallocs: 0,
    nullFrees: 0,
    failed: 0,
  }
  const live = new Map<number, Block>()
  const calls = new Map<bigint | undefined, number>()
  const recent = new Map<string, number[]>()
  let blockEvents = 0
  const add = (to: Amount, { size }: { size: bigint }) => {
    to.blocks++
    to.bytes += size
  }
  const leak = (block: number) => {
    add(story.leaked, live.get(block) as Block)
    live.delete(block)
  }
  blocksByMap(events).deeds.forEach(({ did, ended, overwritten, gone }, e) => {
    const { kind, process, thread, size = 0n } = events[e] as TraceEvent
    const caller = thread === undefined && process === undefined ? 'none' : `${process} ${thread}`
    if (kind === 'process-end') calls.delete(process)
    for (const block of gone ?? []) leak(block)
    if (did.length === 0) return
    blockEvents++
    if (did.includes('unknown')) {
      if (did.includes('again')) story.again++
      if (kind === 'realloc') story.unknownReallocs++
      else if (did.includes('again')) story.doubleFrees++
      else story.unknownFrees++
    }
    if (did.includes('failed')) story.failed++
    if (did.includes('nothing') && kind === 'free') story.nullFrees++
    const old = ended === undefined ? undefined : live.get(ended)
    if (ended !== undefined && old !== undefined) {
      add(story.freed, old)
      if (old.owner !== caller) story.foreign++
      if (calls.get(process) === old.since) add(story.temporary.heaptrack, old)
      if (old.owner === caller && recent.get(caller)?.includes(old.since)) add(story.temporary.memray, old)
      if (!did.includes('began') && old.born !== undefined) {
        story.lifetimes.count++
        story.lifetimes.sum += blockEvents - old.born
      }
      live.delete(ended)
    }
    if (did.includes('unknown') || did.includes('ended')) calls.delete(process)
    if (!did.includes('began')) return
    if (overwritten !== undefined && overwritten !== ended) {
      const other = live.get(overwritten)
      if (other !== undefined) add(story.overlaps, other)
      live.delete(overwritten)
    }
    if (kind !== 'existing') {
      calls.set(process, e)
      recent.set(caller, [e, ...(recent.get(caller) ?? [])].slice(0, 2))
    }
    const birth = ended ?? e + 1
    const born = old === undefined ? (kind === 'existing' ? undefined : blockEvents) : old.born
    const block = { size, birth, since: e, owner: caller, born }
    live.set(birth, block)
    add(story.allocated, block)
    const level = [...live.values()].reduce((bytes, one) => bytes + one.size, 0n)
    if (level > story.peak.bytes) story.peak = { event: e + 1, blocks: live.size, bytes: level }
  })
  for (const block of live.keys()) leak(block)
  return story
}

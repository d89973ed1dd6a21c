import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { blocksByMap } from '../../blocks/blocks.js'

interface Block {
  address: bigint
  space: string
  size: bigint
  born: number
  event: number
  thread: string
  resized: number
  /** It was there before, so its lifetime is not known. */
  isUnborn: boolean
}

/** What a report has beyond the statistics, written down as directly as can be. */
export interface ReportFacts {
  /** Freed blocks by bits of size and of lifetime. */
  heat: Record<string, number>
  /** Blocks by the thread that allocated them and the one that freed them. */
  matrix: Record<string, { blocks: number; bytes: bigint }>
  /** Blocks by how many times they were resized. */
  chains: Record<number, number>
  resizes: { grown: number; shrunk: number; same: number; moved: number; grownBytes: bigint; shrunkBytes: bigint }
  zeroSizes: number
  problems: { kind: string; event: number }[]
  /** The numbers of the events that allocated or resized last the live set at the ends, with the bytes. */
  ends: { event: number; size: bigint }[]
  /** Pages by steps of 256 live bytes. */
  pagesAtPeak: number[]
  pagesAtEnd: number[]
  mostPages: number
  sparse: { pages: number; bytes: number }
  /** Live bytes after each event. */
  levels: bigint[]
}

const bits = (value: bigint) => (value === 0n ? 0 : value.toString(2).length)

/** Parts of pages that live blocks have, and how many pages they cover as a whole. */
function pagesOf(blocks: Iterable<Block>): { parts: Map<string, { live: number; of: Block[] }>; whole: number } {
  const parts = new Map<string, { live: number; of: Block[] }>()
  let whole = 0
  for (const block of blocks) {
    const { address, space, size } = block
    if (address === 0n || size === 0n) continue
    const end = address + size - 1n > 2n ** 64n - 1n ? 2n ** 64n - 1n : address + size - 1n
    const [first, last] = [address >> 12n, end >> 12n]
    const add = (page: bigint, bytes: bigint) => {
      const key = `${space} ${page}`
      const part = parts.get(key) ?? { live: 0, of: [] }
      parts.set(key, { live: part.live + Number(bytes), of: [...part.of, block] })
    }
    if (first === last) add(first, end - address + 1n)
    else {
      add(first, 4096n - (address & 4095n))
      add(last, (end & 4095n) + 1n)
      whole += Number(last - first - 1n)
    }
  }
  return { parts, whole }
}

function histogram(blocks: Iterable<Block>): number[] {
  const { parts, whole } = pagesOf(blocks)
  const steps = Array.from({ length: 16 }, () => 0)
  steps[15]! += whole
  for (const { live } of parts.values()) steps[Math.min(15, Math.floor((live - 1) / 256))]!++
  return steps
}

export function factsOf(traces: readonly { header: TraceHeader; events: readonly TraceEvent[] }[]): ReportFacts {
  const facts: ReportFacts = {
    heat: {},
    matrix: {},
    chains: {},
    resizes: { grown: 0, shrunk: 0, same: 0, moved: 0, grownBytes: 0n, shrunkBytes: 0n },
    zeroSizes: 0,
    problems: [],
    ends: [],
    pagesAtPeak: histogram([]),
    pagesAtEnd: histogram([]),
    mostPages: 0,
    sparse: { pages: 0, bytes: 0 },
    levels: [],
  }
  let [number, blockNumber, peak] = [0, 0, 0n]
  const endChain = ({ resized }: Block) => {
    if (resized > 0) facts.chains[resized] = (facts.chains[resized] ?? 0) + 1
  }
  for (const { events } of traces) {
    const { deeds } = blocksByMap(events)
    const blocks = new Map<number, Block>()
    const liveBytes = () => [...blocks.values()].reduce((sum, { size }) => sum + size, 0n)
    events.forEach((event, e) => {
      number++
      take(event, e)
      facts.levels.push(liveBytes())
    })
    function take(event: TraceEvent, e: number): void {
      if (!['alloc', 'free', 'realloc', 'existing'].includes(event.kind)) return
      blockNumber++
      const { did, ended, overwritten } = deeds[e]!
      const problem = (kind: string) => facts.problems.push({ kind, event: number })
      if (did.includes('unknown'))
        problem(event.kind === 'realloc' ? 'unknownRealloc' : did.includes('again') ? 'doubleFree' : 'unknownFree')
      if (did.includes('failed')) problem('failedAllocation')
      if (overwritten !== undefined) problem('overlap')
      const who =
        event.thread === undefined && event.process === undefined
          ? 'none'
          : `${event.process ?? ''} ${event.thread ?? ''}`
      const old = ended === undefined ? undefined : blocks.get(ended)!
      if (old !== undefined) {
        blocks.delete(ended!)
        const cell = `${old.thread} > ${who}`
        const { blocks: n, bytes } = facts.matrix[cell] ?? { blocks: 0, bytes: 0n }
        facts.matrix[cell] = { blocks: n + 1, bytes: bytes + old.size }
        if (!did.includes('began')) {
          const heat = `${bits(old.size)} ${bits(BigInt(blockNumber - old.born))}`
          if (!old.isUnborn) facts.heat[heat] = (facts.heat[heat] ?? 0) + 1
          endChain(old)
        }
      }
      if (!did.includes('began')) return
      if (overwritten !== undefined) {
        endChain(blocks.get(overwritten)!)
        blocks.delete(overwritten)
      }
      const { size = 0n } = event
      if (event.size === 0n) {
        facts.zeroSizes++
        problem('zeroSize')
      }
      if (old !== undefined) {
        const { resizes } = facts
        if (size > old.size) {
          resizes.grown++
          resizes.grownBytes += size - old.size
        } else if (size < old.size) {
          resizes.shrunk++
          resizes.shrunkBytes += old.size - size
        } else resizes.same++
        const hasBoth = event.address !== undefined && event.oldAddress !== undefined
        if (event.outcome === 'moved') resizes.moved++
        else if (event.outcome !== 'none' && hasBoth && event.address !== event.oldAddress) resizes.moved++
      }
      blocks.set(ended ?? e + 1, {
        address: event.address || old?.address || event.oldAddress || 0n,
        space: event.api === 'pages' ? 'pages' : `${event.process ?? 'none'}`,
        size,
        born: old?.born ?? blockNumber,
        event: number,
        thread: who,
        resized: old === undefined ? 0 : old.resized + 1,
        isUnborn: old?.isUnborn ?? event.kind === 'existing',
      })
      const pages = histogram(blocks.values())
      facts.mostPages = Math.max(
        facts.mostPages,
        pages.reduce((all, n) => all + n),
      )
      if (liveBytes() > peak) {
        peak = liveBytes()
        facts.pagesAtPeak = pages
      }
    }
    for (const block of blocks.values()) {
      endChain(block)
      facts.ends.push({ event: block.event, size: block.size })
    }
    facts.pagesAtEnd = facts.pagesAtEnd.map((n, i) => n + histogram(blocks.values())[i]!)
    for (const { live } of pagesOf(blocks.values()).parts.values()) {
      if (live > 1024) continue
      facts.sparse.pages++
      facts.sparse.bytes += 4096 - live
    }
  }
  return facts
}

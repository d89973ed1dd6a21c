import { SLICE_BITS, SLICE_BLOCKS, SLICE_BYTES, SLICE_SUM } from '../../kernel/layouts/report.js'
import type { Calendar } from './plain.js'
import { integer } from './plain.js'
import type { ReportKernel } from './kernel.js'
import type { ReportGenerations } from './result.js'

/** The maximum number of slices. */
const MOST_SLICES = 32
/** The maximum number of sites that are followed, for each trace and in total: those with the most live bytes. */
const FOLLOWED = 200
const MOST_SITES = 2000
/** The number of sites that are shown. */
const SHOWN = 50
/** In keys of sites, the slice is below this value. */
const SITE = 2 ** SLICE_BITS

/** Blocks and bytes of each slice. */
interface Slices {
  blocks: number[]
  bytes: bigint[]
}

/** The logarithm of the number of events of a slice, for this total number of events. */
export function sliceShift(events: number): number {
  let shift = 0
  while (events > MOST_SLICES * 2 ** shift) shift++
  return shift
}

/** The live blocks at the end of each trace or their process, by the slice of the stream that allocated them. */
export class Generations {
  private shift = 0
  private all: Slices = { blocks: [], bytes: [] }
  private readonly sites = new Map<number, Slices>()

  /** Adds the kernel's figures. @param shift the logarithm of the size of its slices */
  take(kernel: ReportKernel, shift: number): void {
    const { run } = kernel
    while (this.shift < shift) {
      this.all = joined(this.all)
      for (const [site, slices] of this.sites) this.sites.set(site, joined(slices))
      this.shift++
    }
    for (let slice = 0; slice < MOST_SLICES; slice++) {
      const at = run.GENERATIONS.value + slice * SLICE_BYTES
      add(this.all, slice, kernel.number(at + SLICE_BLOCKS), kernel.sum(at + SLICE_SUM))
    }
    const here = new Map<number, Slices>()
    for (const { key, blocks, bytes } of kernel.pairs(run.SITE_GENERATIONS.value)) {
      const site = Math.floor(key / SITE)
      const slices = here.get(site) ?? { blocks: [], bytes: [] }
      add(slices, key % SITE, blocks, bytes)
      here.set(site, slices)
    }
    const whole = (slices: Slices) => Number(slices.bytes.reduce((sum, bytes) => sum + (bytes ?? 0n), 0n))
    const most = [...here].map(([site, slices]) => ({ site, slices, bytes: whole(slices) }))
    for (const { site, slices } of most.toSorted((a, b) => b.bytes - a.bytes).slice(0, FOLLOWED)) {
      const known = this.sites.get(site)
      if (known === undefined && this.sites.size === MOST_SITES) continue
      const to = known ?? { blocks: [], bytes: [] }
      slices.blocks.forEach((blocks, slice) => add(to, slice, blocks, slices.bytes[slice]))
      this.sites.set(site, to)
    }
  }

  /**
   * @param events the total number of events
   * @param siteOf the row of a site in the report, and the number of its blocks that are live at the end; -1 for none
   */
  result(
    events: number,
    calendar: Calendar,
    siteOf: (row: number) => { site: number; endBlocks: number },
  ): ReportGenerations {
    const size = 2 ** this.shift
    const count = Math.ceil(events / size)
    const ends = Array.from({ length: count }, (_, slice) => Math.min(events, (slice + 1) * size))
    const moments = ends.map((event) => calendar.at(event))
    const allocated = moments.map((moment, i) => ({
      blocks: (moment?.allocatedBlocks ?? 0) - (moments[i - 1]?.allocatedBlocks ?? 0),
      bytes: (moment?.allocatedBytes ?? 0n) - (moments[i - 1]?.allocatedBytes ?? 0n),
    }))
    const bytesOf = ({ bytes }: Slices) => ends.map((_, slice) => bytes[slice] ?? 0n)
    const blocksOf = ({ blocks }: Slices) => ends.map((_, slice) => blocks[slice] ?? 0)
    const shown = [...this.sites]
      .map(([row, slices]) => ({ ...siteOf(row), blocks: blocksOf(slices), bytes: bytesOf(slices) }))
      // A site with incomplete data is left out.
      .filter(({ site, endBlocks, blocks }) => site >= 0 && endBlocks === blocks.reduce((sum, n) => sum + n, 0))
      .map((one) => ({ ...one, sum: Number(one.bytes.reduce((sum, bytes) => sum + bytes, 0n)) }))
      .toSorted((a, b) => b.sum - a.sum || a.site - b.site)
      .slice(0, SHOWN)
    return {
      ...calendar.moments(ends),
      allocatedBytes: allocated.map(({ bytes }) => integer(bytes)),
      allocatedBlocks: allocated.map(({ blocks }) => blocks),
      endBytes: bytesOf(this.all).map(integer),
      endBlocks: blocksOf(this.all),
      sites: {
        site: shown.map(({ site }) => site),
        endBytes: shown.map(({ bytes }) => bytes.map(integer)),
        endBlocks: shown.map(({ blocks }) => blocks),
      },
    }
  }
}

function add({ blocks, bytes }: Slices, slice: number, moreBlocks: number, moreBytes: bigint): void {
  if (moreBlocks === 0) return
  blocks[slice] = (blocks[slice] ?? 0) + moreBlocks
  bytes[slice] = (bytes[slice] ?? 0n) + moreBytes
}

/** Joins every two slices. */
function joined(slices: Slices): Slices {
  const to: Slices = { blocks: [], bytes: [] }
  slices.blocks.forEach((blocks, slice) => add(to, slice >> 1, blocks, slices.bytes[slice]))
  return to
}

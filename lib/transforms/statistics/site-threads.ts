import type { Pair } from '../../kernel/counting.js'
import { FIRST } from '../../kernel/layouts/owners.js'
import { SHARE_BYTES, SHARE_SITE, SHARE_THREAD, THREAD_BITS } from '../../kernel/layouts/site-threads.js'
import type { StatisticsKernel } from './kernel.js'
import type { Handoff, SiteThread } from './result.js'
import { descending } from './site-table.js'
import type { ThreadTable } from './thread-table.js'

const THREADS = 2 ** THREAD_BITS

/** The figures of each site and thread. The kernel has them once a second thread has allocated or freed a block. */
export class SiteThreads {
  constructor(
    private readonly kernel: StatisticsKernel,
    private readonly threads: ThreadTable,
  ) {}

  /** Whether some pairs of a site and a thread have no row. */
  get overflowed(): boolean {
    return this.kernel.run.sharesOverflowed.value !== 0
  }

  /** Whether some blocks that another thread freed are counted only by site. */
  get lacksHandoffs(): boolean {
    const { kernel } = this
    return kernel.rest(kernel.run.HANDOFFS.value).blocks > 0
  }

  /** The rows of sites and threads, and their figures. */
  *rows(): Generator<{ site: number; thread: number; at: number }> {
    const { kernel } = this
    const { shareTable, shares } = kernel.run
    for (let row = FIRST; row < shares.value; row++) {
      const at = kernel.word(shareTable.value) + row * SHARE_BYTES
      yield { site: kernel.word(at + SHARE_SITE), thread: kernel.word(at + SHARE_THREAD), at }
    }
  }

  /** Blocks that another thread freed, by the rows of their site, and of the allocating and the freeing thread. */
  *handoffs(): Generator<Omit<Pair, 'key'> & { site: number; from: number; to: number }> {
    for (const { key, ...amount } of this.kernel.pairs(this.kernel.run.HANDOFFS.value)) {
      const threads = Math.floor(key / THREADS)
      yield { site: Math.floor(threads / THREADS), from: threads % THREADS, to: key % THREADS, ...amount }
    }
  }

  /** What each thread allocated at a site, by the site's row: the most bytes first, equal ones by thread. */
  bySite(): Map<number, SiteThread[]> {
    const { kernel, threads } = this
    const freed = new Map<string, { row: number; handoff: Handoff }[]>()
    for (const { site, from, to, blocks, bytes } of this.handoffs()) {
      const key = `${site} ${from}`
      const one = { row: to, handoff: { ...threads.name(to), blocks, bytes } }
      const others = freed.get(key)
      if (others === undefined) freed.set(key, [one])
      else others.push(one)
    }
    const found = new Map<number, { row: number; figures: SiteThread }[]>()
    for (const { site, thread, at } of this.rows()) {
      const freedBy = freed
        .get(`${site} ${thread}`)
        ?.toSorted((a, b) => descending(a.handoff.bytes, b.handoff.bytes) || a.row - b.row)
        .map(({ handoff }) => handoff)
      const figures = { ...threads.name(thread), ...kernel.shares(at), ...(freedBy && { freedBy }) }
      const others = found.get(site)
      if (others === undefined) found.set(site, [{ row: thread, figures }])
      else others.push({ row: thread, figures })
    }
    const sorted = [...found].map(([site, rows]): [number, SiteThread[]] => [
      site,
      rows
        .toSorted((a, b) => descending(a.figures.allocated.bytes, b.figures.allocated.bytes) || a.row - b.row)
        .map(({ figures }) => figures),
    ])
    return new Map(sorted)
  }
}

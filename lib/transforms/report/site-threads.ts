import type { StatisticsKernel } from '../statistics/kernel.js'
import type { SiteThreads } from '../statistics/site-threads.js'
import { integer } from './plain.js'
import type { ReportThreads } from './result.js'

/** The maximum number of rows of each list. */
const MOST = 1000

/** Maps rows of the tables of sites and of threads to rows of the report, which has rows for all others. */
export interface ReportRows {
  site(row: number): number
  thread(row: number): number
}

/** Figures by site and thread, and blocks that another thread freed; nothing if there is one thread. */
export function siteThreadsOf(
  kernel: StatisticsKernel,
  siteThreads: SiteThreads,
  rows: ReportRows,
): Pick<ReportThreads, 'sites' | 'handoffs'> {
  const shares = new Sums(6)
  for (const { site, thread, at } of siteThreads.rows()) {
    const { allocated, atPeak, leaked } = kernel.shares(at)
    const values = [allocated, atPeak, leaked].flatMap(({ blocks, bytes }) => [BigInt(blocks), bytes])
    shares.add([rows.site(site), rows.thread(thread)], values)
  }
  if (shares.size === 0) return {}
  const handoffs = new Sums(2)
  for (const { site, from, to, blocks, bytes } of siteThreads.handoffs())
    handoffs.add([rows.site(site), rows.thread(from), rows.thread(to)], [BigInt(blocks), bytes])
  const own = shares.top(MOST)
  const foreign = handoffs.top(MOST)
  const key = (list: readonly Sum[], i: number) => list.map(({ keys }) => keys[i])
  const blocks = (list: readonly Sum[], i: number) => list.map(({ values }) => Number(values[i]))
  const bytes = (list: readonly Sum[], i: number) => list.map(({ values }) => integer(values[i]))
  return {
    sites: {
      site: key(own, 0),
      thread: key(own, 1),
      allocatedBlocks: blocks(own, 0),
      allocatedBytes: bytes(own, 1),
      peakBlocks: blocks(own, 2),
      peakBytes: bytes(own, 3),
      endBlocks: blocks(own, 4),
      endBytes: bytes(own, 5),
    },
    handoffs: {
      site: key(foreign, 0),
      from: key(foreign, 1),
      to: key(foreign, 2),
      blocks: blocks(foreign, 0),
      bytes: bytes(foreign, 1),
    },
  }
}

/** Values by some keys. */
interface Sum {
  readonly keys: readonly number[]
  readonly values: bigint[]
}

/** Sums of values by keys, of which the second one is a number of bytes. */
class Sums {
  private readonly all = new Map<string, Sum>()

  /** @param n the number of values */
  constructor(private readonly n: number) {}

  get size(): number {
    return this.all.size
  }

  add(keys: readonly number[], values: readonly bigint[]): void {
    const name = keys.join(' ')
    let sum = this.all.get(name)
    if (sum === undefined) this.all.set(name, (sum = { keys, values: Array.from({ length: this.n }, () => 0n) }))
    for (let i = 0; i < this.n; i++) sum.values[i] = sum.values[i] + values[i]
  }

  /** The entries with the most bytes; of equal ones, smaller keys come first. */
  top(n: number): Sum[] {
    const [blocks, bytes] = [0, 1]
    const order = (a: Sum, b: Sum, i: number) => Number(b.values[i] - a.values[i])
    const byKeys = (a: Sum, b: Sum) => a.keys.reduce((sign, key, i) => sign || key - b.keys[i], 0)
    return [...this.all.values()]
      .toSorted((a, b) => order(a, b, bytes) || order(a, b, blocks) || byKeys(a, b))
      .slice(0, n)
  }
}

import { NONE } from '../../blocks/bounded-keys.js'
import { NOTHING, plus } from '../statistics/amounts.js'
import type { StatisticsCollector } from '../statistics/collector.js'
import type { Amount, ThreadStatistics } from '../statistics/result.js'
import { threadName } from '../profile/stacks.js'
import type { ReportKernel } from './kernel.js'
import { integer } from './plain.js'
import type { ReportThreads } from './result.js'
import { siteThreadsOf } from './site-threads.js'

/** The number of threads that have their own row. */
const MOST_THREADS = 32
/** In keys of the matrix, the freeing thread is below this value. */
const THREAD = 2 ** 32

/**
 * The actions of each thread, and the frees between threads.
 * @param infosFreed what was freed without a thread, besides what the kernel counted
 * @param siteOf the row of the report for a row of the table of sites
 */
export function threadsOf(
  kernel: ReportKernel,
  { threads: table, siteThreads, kernel: counted }: StatisticsCollector,
  infosFreed: Amount,
  siteOf: (row: number) => number,
): ReportThreads {
  const ranked = table.ranked()
  const shown = ranked.slice(0, MOST_THREADS)
  const others = ranked.slice(MOST_THREADS).map(({ statistics }) => statistics)
  const hasOthers = others.length > 0
  const rows = shown.map(({ statistics }) => statistics)
  if (hasOthers) rows.push(others.reduce(added))
  const rowOf = new Map(shown.map(({ row }, i) => [row, i]))
  const column = <T>(of: (thread: ThreadStatistics) => T) => rows.map(of)
  return {
    name: [...shown.map(({ statistics }) => threadName(statistics)), ...(hasOthers ? [''] : [])],
    process: rows.map(({ process }, i) => signed(i < shown.length ? process : undefined)),
    thread: rows.map(({ thread }, i) => signed(i < shown.length ? thread : undefined)),
    events: column(({ events }) => events),
    allocatedBlocks: column(({ allocated }) => allocated.blocks),
    allocatedBytes: column(({ allocated }) => integer(allocated.bytes)),
    peakBlocks: column(({ atPeak }) => atPeak.blocks),
    peakBytes: column(({ atPeak }) => integer(atPeak.bytes)),
    endBlocks: column(({ leaked }) => leaked.blocks),
    endBytes: column(({ leaked }) => integer(leaked.bytes)),
    frees: column(({ frees }) => frees),
    foreignFrees: column(({ foreignFrees }) => foreignFrees),
    ...matrixOf(kernel, rowOf, shown.length, infosFreed),
    ...siteThreadsOf(counted, siteThreads, {
      site: siteOf,
      thread: (row) => rowOf.get(row) ?? shown.length,
    }),
  }
}

function signed(number: bigint | undefined): ReportThreads['thread'][number] {
  return number === undefined ? null : integer(BigInt.asIntN(64, number))
}

/**
 * @param rowOf rows of the report by rows of the table
 * @param others the row of all threads without a row
 * @param unnamed what was freed without a thread, besides what the kernel counted
 */
function matrixOf(
  kernel: ReportKernel,
  rowOf: ReadonlyMap<number, number>,
  others: number,
  unnamed: Amount,
): Pick<ReportThreads, 'matrix' | 'othersForeign'> {
  const { MATRIX } = kernel.run
  const cells = new Map<number, Amount>()
  let othersForeign = 0
  const count = (cell: number, amount: Amount) => cells.set(cell, plus(cells.get(cell) ?? NOTHING, amount))
  const side = others + 1
  for (const { key, ...amount } of kernel.pairs(MATRIX.value)) {
    const [from, to] = [Math.floor(key / THREAD), key % THREAD]
    const row = rowOf.get(from) ?? others
    const column = rowOf.get(to) ?? others
    count(row * side + column, amount)
    if (row === others && column === others && from !== to) othersForeign += amount.blocks
  }
  if (unnamed.blocks > 0) {
    const row = rowOf.get(NONE) ?? others
    count(row * side + row, unnamed)
  }
  const rest = kernel.rest(MATRIX.value)
  if (rest.blocks > 0) count(others * side + others, rest)
  const sorted = [...cells].toSorted(([a], [b]) => a - b)
  return {
    matrix: {
      from: sorted.map(([cell]) => Math.floor(cell / side)),
      to: sorted.map(([cell]) => cell % side),
      blocks: sorted.map(([, { blocks }]) => blocks),
      bytes: sorted.map(([, { bytes }]) => integer(bytes)),
    },
    othersForeign,
  }
}

function added(a: ThreadStatistics, b: ThreadStatistics): ThreadStatistics {
  return {
    events: a.events + b.events,
    allocated: plus(a.allocated, b.allocated),
    atPeak: plus(a.atPeak, b.atPeak),
    leaked: plus(a.leaked, b.leaked),
    temporary: {
      heaptrack: plus(a.temporary.heaptrack, b.temporary.heaptrack),
      memray: plus(a.temporary.memray, b.temporary.memray),
    },
    frees: a.frees + b.frees,
    foreignFrees: a.foreignFrees + b.foreignFrees,
  }
}

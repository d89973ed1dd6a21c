import { COLUMNS, KERNEL_PAGES, PAGE_SHIFT, SPACE_BITS, STEP_SHIFT, STEPS } from '../../kernel/layouts/report.js'
import type { ThreadTable } from '../statistics/thread-table.js'
import type { Clock } from './clock.js'
import type { ReportKernel } from './kernel.js'
import { integer, type Calendar } from './plain.js'
import type { AddressRange, ReportAddresses } from './result.js'
import { largest } from './samples.js'

/** The maximum number of rows of the map. */
const MOST_ROWS = 256
/** In keys of regions, the number of the region is below this value. */
const SPACE = 2 ** SPACE_BITS
/** The bytes of a step of live bytes. */
const STEP = 2 ** STEP_SHIFT
/** Address spaces with less than this share of the largest one's live bytes have no rows. */
const LEAST_SHARE = 0.01
/** The maximum number of listed sites with sparse pages. */
const MOST_SITES = 100

const PAGE = 2 ** PAGE_SHIFT

/** A row of the map: contiguous memory. */
interface Region {
  space: number
  number: number
  /** Live bytes at each moment. */
  bytes: Float32Array
}

/**
 * The use of addresses; undefined if no block has one.
 * @param columns moments of the map
 * @param sparse by row of the report: shares of nearly empty pages, and their bytes that are not live
 */
export function addressesOf(
  kernel: ReportKernel,
  { moments }: Clock,
  calendar: Calendar,
  threads: ThreadTable,
  columns: number,
  sparse: { pages: number[]; bytes: number[] },
): ReportAddresses | undefined {
  const { run } = kernel
  if (run.placed.value === 0n) return undefined
  const pagesAt = (at: number) => Array.from(kernel.integers(at, STEPS), Number)
  const steps = Array.from({ length: STEPS }, (_, step) => step * STEP)
  const sites = largest(Float64Array.from(sparse.bytes), MOST_SITES)
  return {
    map: mapOf(kernel, moments, calendar, threads, columns),
    pageBytes: PAGE,
    mostPages: Number(run.mostTouched.value),
    pages: {
      from: steps,
      to: steps.map((from) => from + STEP),
      atPeak: pagesAt(run.PEAK_PAGES.value),
      atEnd: pagesAt(run.END_PAGES.value),
    },
    use: {
      ...calendar.moments(moments.map(({ event }) => event)),
      liveBytes: moments.map(({ liveBytes }) => integer(liveBytes)),
      pages: moments.map(({ pages }) => pages),
    },
    sparse: {
      site: sites,
      pages: sites.map((site) => sparse.pages[site]),
      bytes: sites.map((site) => Math.round(sparse.bytes[site])),
    },
  }
}

function mapOf(
  kernel: ReportKernel,
  moments: Clock['moments'],
  calendar: Calendar,
  threads: ThreadTable,
  columns: number,
): ReportAddresses['map'] {
  const step = Math.ceil(moments.length / columns)
  const shown = moments.map((_, i) => i).filter((i) => (moments.length - 1 - i) % step === 0)
  const { regions, shift, small } = regionsOf(kernel, shown)
  const rowBytes = 2 ** shift
  const ranges: AddressRange[] = []
  regions.forEach(({ space, number }, row) => {
    const before = regions[row - 1]
    const range = ranges.at(-1)
    const to = `0x${(BigInt(number + 1) << BigInt(shift)).toString(16)}`
    if (range !== undefined && before?.space === space && before.number === number - 1) {
      range.rows++
      range.to = to
      return
    }
    const process = space === KERNEL_PAGES ? undefined : threads.process(space)
    const from = `0x${(BigInt(number) << BigInt(shift)).toString(16)}`
    const owner =
      space === KERNEL_PAGES ? 'pages of the kernel' : process === undefined ? '' : processName(threads, process)
    ranges.push({
      name: '',
      owner,
      from,
      to,
      ...(process !== undefined && { process: integer(process) }),
      row,
      rows: 1,
    })
  })
  for (const range of ranges) range.name = [range.owner, `${range.from} to ${range.to}`].filter(Boolean).join(': ')
  return {
    ...calendar.moments(shown.map((i) => moments[i].event)),
    rowBytes: integer(BigInt(rowBytes)),
    ranges,
    cells: regions.map(({ bytes }) => Array.from(bytes.map((live) => thousandths(live / rowBytes)))),
    small,
  }
}

function processName(threads: ThreadTable, process: bigint): string {
  const command = threads.command(process)
  return command === undefined ? `process ${process}` : `process ${process}, ${command}`
}

/** A row with any live bytes shows at least one thousandth. */
function thousandths(share: number): number {
  return share === 0 ? 0 : Math.max(1, Math.min(1000, Math.round(1000 * share)))
}

/** The regions of the large address spaces in order of addresses, enlarged until there are few enough. */
function regionsOf(
  kernel: ReportKernel,
  columns: readonly number[],
): { regions: Region[]; shift: number; small: number } {
  const { run } = kernel
  const all = Array.from({ length: run.regions.value }, (_, i): Region => {
    const key = kernel.integer(run.REGION_KEYS.value + 8 * i)
    const row = new Float32Array(run.memory.buffer, run.matrix.value + 4 * COLUMNS * i, COLUMNS)
    const bytes = Float32Array.from(columns, (column) => row[column])
    return { space: Number(key / BigInt(SPACE)), number: Number(key % BigInt(SPACE)), bytes }
  })
  const most = mostBytes(all)
  const least = LEAST_SHARE * Math.max(0, ...most.values())
  const isLarge = (space: number) => (most.get(space) ?? 0) >= least
  let regions = all.filter(({ space }) => isLarge(space)).toSorted((a, b) => a.space - b.space || a.number - b.number)
  let shift = run.regionShift.value
  // Each space needs a row; the kernel maps fewer spaces than there are rows.
  for (; regions.length > MOST_ROWS && shift < 64; shift++) {
    const larger: Region[] = []
    for (const { space, number, bytes } of regions) {
      const half = Math.floor(number / 2)
      const last = larger.at(-1)
      if (last?.space === space && last.number === half)
        bytes.forEach((live, i) => (last.bytes[i] = last.bytes[i] + live))
      else larger.push({ space, number: half, bytes })
    }
    regions = larger
  }
  return {
    regions: regions.slice(0, MOST_ROWS),
    shift,
    small: [...most.keys()].filter((space) => !isLarge(space)).length,
  }
}

/** The maximum of the live bytes of each address space. */
function mostBytes(regions: readonly Region[]): Map<number, number> {
  const sums = new Map<number, Float64Array>()
  for (const { space, bytes } of regions) {
    const sum = sums.get(space) ?? new Float64Array(bytes.length)
    bytes.forEach((live, i) => (sum[i] += live))
    sums.set(space, sum)
  }
  return new Map([...sums].map(([space, sum]) => [space, Math.max(...sum)]))
}

import type * as Result from '../../transforms/statistics/result.js'
import { plus, sumOfShares } from '../../transforms/statistics/amounts.js'
import { descending } from '../../transforms/statistics/site-table.js'
import type { TemporaryDefinition } from '../../transforms/option-values.js'
import { grouped, share, tableLines, tableOf, visible, type Column } from './columns.js'
import { byOwnFrame, CallerTree, type FrameGroup } from './caller-tree.js'
import { amount, labelledSites, threadColumns, type SiteNames } from './names.js'
import { actingThreads, sharesByProcess } from '../../transforms/statistics/thread-table.js'
import { topOf } from './top-of.js'

/** The figures of a size; of all others without one. */
interface SizeShares extends Result.Shares {
  readonly size?: bigint
}

/** The figures of a process; of the events without one if it has no number. */
interface ProcessShares extends Result.Shares {
  readonly value?: bigint
  readonly command?: string
}

/** The name of the row of events without a process: in a recording, those of the first one. */
export const NO_PROCESS = '(no number)'

/** One row of a table. */
type Holder = Result.SiteStatistics | Result.ThreadStatistics | ProcessShares | SizeShares

/** Rows of one kind, and the columns that name them. Sites have none: their labels depend on the other rows. */
interface Holders {
  readonly what: 'sites' | 'functions' | 'modules' | 'sizes' | 'threads' | 'processes'
  readonly rows: readonly Holder[]
  readonly columns: readonly Column<Holder>[]
  /** A last column, whose texts are long. */
  readonly commands?: Column<Holder>
}

/** The live memory at the peak: by site, or by size if no event names its site; and by thread. */
export function peakSections(statistics: Result.Statistics, top: number, names: SiteNames): string[][] {
  const whole = statistics.peakBytes
  return holdersOf(statistics, names).map((holders) =>
    holdings(holders, 'live at the peak', 'atPeak', whole, top, names),
  )
}

/** The leaks, in the same form. */
export function leakSections(statistics: Result.Statistics, top: number, names: SiteNames): string[][] {
  const { leaked, suppressed } = statistics
  return holdersOf(statistics, names).map((holders) => {
    // Suppressed leaks are only known by site.
    if (suppressed === undefined || suppressed.blocks === 0 || holders.rows.some(isSite))
      return holdings(holders, 'leaked', 'leaked', leaked, top, names)
    return holdings(holders, 'leaked, with suppressed ones', 'leaked', plus(leaked, suppressed), top, names)
  })
}

/**
 * The temporary allocations: by site, or by size if no event names its site.
 * @param by the definition by which those with the most come first; the other one is beside it
 */
export function temporarySection(
  statistics: Result.Statistics,
  top: number,
  names: SiteNames,
  by: TemporaryDefinition,
): string[] {
  const other = by === 'memray' ? 'heaptrack' : 'memray'
  const [holders] = holdersOf(statistics, names)
  const { what, rows } = holders
  const some = rows.filter(({ temporary: { heaptrack, memray } }) => heaptrack.blocks + memray.blocks > 0)
  if (some.length === 0 || top === 0) return []
  const isLess = ({ temporary: a }: Holder, { temporary: b }: Holder) =>
    b[by].blocks - a[by].blocks || b[other].blocks - a[other].blocks
  const columns: Column<Holder>[] = [
    ['allocations', ({ allocated }) => allocated.blocks],
    [by, ({ temporary }) => temporary[by].blocks],
    ['of these', ({ temporary, allocated }) => share(temporary[by].blocks, allocated.blocks)],
    [other, ({ temporary }) => temporary[other].blocks],
  ]
  const title = `Top ${what} by temporary allocations (${grouped(some.length)} in all)`
  return holderLines(title, holders, topOf(some, isLess, top), columns, names)
}

/** A table of the rows with the largest values of a figure. */
function holdings(
  holders: Holders,
  state: string,
  key: 'atPeak' | 'leaked',
  whole: Result.Amount,
  top: number,
  names: SiteNames,
): string[] {
  const members = new Map<Holder, FrameGroup<Result.SiteStatistics>>()
  const all = names.tree === true && holders.what === 'sites' ? treeRows(holders.rows, names, members) : holders.rows
  const some = all.filter((row) => inclusiveOf(row)[key].blocks > 0)
  if (some.length === 0 || top === 0) return []
  let sum = 0n
  const isGrouped = holders.what === 'functions' || holders.what === 'modules'
  const columns: Column<Holder>[] = [
    ['bytes', (row) => row[key].bytes],
    ['share', (row) => share(row[key].bytes, whole.bytes)],
    isGrouped && ['inclusive', (row) => inclusiveOf(row)[key].bytes],
    isGrouped && ['share', (row) => share(inclusiveOf(row)[key].bytes, whole.bytes)],
    !isGrouped && ['cumulative', (row) => share((sum += row[key].bytes), whole.bytes)],
    ['blocks', (row) => row[key].blocks],
    !isGrouped && key === 'leaked' && ['of allocations', (row) => share(row[key].blocks, row.allocated.blocks)],
  ]
  const title = `Top ${holders.what} by bytes ${state} (${grouped(some.length)} in all)`
  const order = (a: Holder, b: Holder) =>
    descending(a[key].bytes, b[key].bytes) ||
    b[key].blocks - a[key].blocks ||
    descending(inclusiveOf(a)[key].bytes, inclusiveOf(b)[key].bytes)
  const shown = topOf(some, order, top)
  if (members.size === 0) return holderLines(title, holders, shown, columns, names)
  const sites = holders.rows.filter((row) => isSite(row) && row[key].blocks > 0) as Result.SiteStatistics[]
  const tree = new CallerTree(sites, {
    own: names.own,
    full: names.full ?? false,
    stackOf: ({ stack }) => stack,
    amountOf: (site) => site[key],
    show: amount,
  })
  const below = (row: number, width: number) => {
    const { frame, items } = members.get(shown[row]) as FrameGroup<Result.SiteStatistics>
    return tree.lines({ frame, items: items.filter((site) => site[key].blocks > 0) }, width)
  }
  return holderLines(title, holders, shown, columns, names, below)
}

/** The rows of sites added up by the innermost frame of the program's own. @param members gets the sites of each */
function treeRows(
  rows: readonly Holder[],
  { own }: SiteNames,
  members: Map<Holder, FrameGroup<Result.SiteStatistics>>,
): Holder[] {
  const sites = rows.filter(isSite)
  return byOwnFrame(sites, ({ stack }) => stack, own).map((group) => {
    const [first, ...others] = group.items as [Result.SiteStatistics, ...Result.SiteStatistics[]]
    const { allocated, atPeak, leaked, temporary } = others.reduce<Result.Shares>(sumOfShares, first)
    const stack = group.frame !== undefined && { stack: [group.frame] }
    const row = { ...first, ...stack, allocated, atPeak, leaked, temporary }
    members.set(row, group)
    return row
  })
}

/** A table of some rows. Labels of sites and commands are long, so they come last; all others are short. */
function holderLines(
  title: string,
  holders: Holders,
  rows: readonly Holder[],
  figures: readonly Column<Holder>[],
  names: SiteNames,
  below?: (row: number, width: number) => string[],
): string[] {
  const sites = rows.filter(isSite)
  if (sites.length > 0) return labelledSites(tableOf(title, rows, figures), sites, names, below)
  const columns = [...holders.columns, ...figures, holders.commands ?? false]
  return tableLines(tableOf(title, rows, columns), names.columns)
}

/** The keys of the tables: sites or otherwise sizes; processes if there are several; and threads if there are more. */
function holdersOf(statistics: Result.Statistics, { by = 'site' }: SiteNames): [Holders, ...Holders[]] {
  const { sites, sizes, threads } = statistics
  const first: Holders = hasSites(sites)
    ? { what: by === 'thread' ? 'sites' : `${by}s`, rows: sites, columns: [] }
    : { what: 'sizes', rows: sizeHolders(sizes), columns: [['size', (row) => (row as SizeShares).size ?? '(others)']] }
  const rows = actingThreads(threads)
  const ofThreads: Holders = { what: 'threads', rows, columns: threadColumns(rows) as Column<Holder>[] }
  if (by === 'thread') return [rows.length === 0 ? first : ofThreads]
  const ofProcesses = processHolders(statistics)
  const hasMoreThreads = rows.length > Math.max(1, ofProcesses?.rows.length ?? 0)
  return [first, ...(ofProcesses ? [ofProcesses] : []), ...(hasMoreThreads ? [ofThreads] : [])]
}

/** The processes with blocks, and the events without a process; undefined for less than two. */
function processHolders({ threads, processes }: Result.Statistics): Holders | undefined {
  const commands = new Map<bigint | undefined, string | undefined>(
    processes.map(({ value, command }) => [value, command]),
  )
  const all = [...(sharesByProcess(threads) ?? [])].filter(([, { allocated }]) => allocated.blocks > 0)
  if (all.length < 2) return undefined
  const rows = all.map(([value, shares]): ProcessShares => ({ ...shares, value, command: commands.get(value) }))
  return {
    what: 'processes',
    rows,
    columns: [['process', (row) => String((row as ProcessShares).value ?? NO_PROCESS)]],
    commands: rows.some(({ command }) => command !== undefined) && [
      ' command',
      (row) => visible((row as ProcessShares).command ?? ''),
    ],
  }
}

function isSite(row: Holder): row is Result.SiteStatistics {
  return 'ownPeak' in row
}

/** The figures of a row, including the functions that it calls. */
function inclusiveOf(row: Holder): Result.Shares {
  return ('inclusive' in row ? row.inclusive : undefined) ?? row
}

/** Whether any allocation names its site. */
export function hasSites(sites: readonly Result.Site[]): boolean {
  return sites.some(({ rest }) => rest !== 'none')
}

function sizeHolders({ exact, others }: Result.Statistics['sizes']): SizeShares[] {
  const rows: SizeShares[] = exact.map((one) => ({ size: one.size, ...sizeShares(one) }))
  return others === undefined ? rows : [...rows, others]
}

/** The figures of a size in blocks and bytes. */
export function sizeShares({ size, count, atPeak, leaked, temporary }: Result.SizeStatistics): Result.Shares {
  const amountOf = (blocks: number): Result.Amount => ({ blocks, bytes: size * BigInt(blocks) })
  return {
    allocated: amountOf(count),
    atPeak: amountOf(atPeak),
    leaked: amountOf(leaked),
    temporary: { heaptrack: amountOf(temporary.heaptrack), memray: amountOf(temporary.memray) },
  }
}

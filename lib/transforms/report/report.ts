import { grouped, many } from '../../event/message-text.js'
import { checkOptions, TEXTS, type OptionNames } from '../../event/options.js'
import { GROWN, MOVED, REALLOCS, SHRUNK, SITE_BYTES, SPARSE_BYTES, SPARSE_PAGES } from '../../kernel/layouts/report.js'
import { OwnFrames } from '../../names/own-frames.js'
import type { ReplayResult } from '../drive/comparison.js'
import { ownTree } from '../profile/own-stacks.js'
import type { Profile } from '../profile/profile.js'
import type { Stacks } from '../profile/stacks.js'
import type { StatisticsCollector } from '../statistics/collector.js'
import type { Amount } from '../statistics/result.js'
import { addressesOf } from './addresses.js'
import { churnOf } from './churn.js'
import type { Clock } from './clock.js'
import { comparisonOf, type Compared } from './comparison.js'
import { FrameList } from './frame-list.js'
import type { Generations } from './generations.js'
import type { ReportKernel } from './kernel.js'
import type { Levels } from './levels.js'
import { Calendar } from './plain.js'
import type { RecorderNotes } from './notes.js'
import type { Problems } from './problems.js'
import type { ReportAddresses, ReportComparison, ReportData, ReportSuppression } from './result.js'
import { Samples, type SiteExtra } from './samples.js'
import { peakSitesOf, SiteRows, sitesOf, type SiteSources } from './sites.js'
import { notesOf, summaryOf, timelineOf } from './summary.js'
import { foldTree } from './tree.js'
import { threadsOf } from './threads.js'
import { wellFormed } from '../../event/message-text.js'

/** Limits of the parts of a report that grow with the trace. */
export interface ReportLimits {
  /** Nodes of the tree of stacks. */
  readonly nodes: number
  readonly sites: number
  /** Nodes of the tree of stacks that differ from another run. */
  readonly changes: number
  readonly problems: number
  /** Characters of a name. */
  readonly name: number
  /** Moments of the map of addresses. */
  readonly moments: number
}

/** The limits of a report, and smaller ones for traces whose report would otherwise be too large. */
export const REPORT_LIMITS: readonly [ReportLimits, ...ReportLimits[]] = [
  { nodes: 10_000, sites: 1000, changes: 500_000, problems: 1000, name: 512, moments: 512 },
  { nodes: 10_000, sites: 1000, changes: 100_000, problems: 1000, name: 512, moments: 512 },
  { nodes: 10_000, sites: 1000, changes: 20_000, problems: 1000, name: 512, moments: 512 },
  { nodes: 5000, sites: 500, changes: 5000, problems: 500, name: 256, moments: 256 },
  { nodes: 2000, sites: 200, changes: 2000, problems: 200, name: 128, moments: 128 },
  { nodes: 500, sites: 50, changes: 500, problems: 50, name: 64, moments: 64 },
]

export interface ReportDataOptions {
  /** The name of the trace; `trace` if absent. */
  readonly name?: string
  /**
   * Whether the trace is a complete file with this name; true if absent. Otherwise the page shows no commands that read
   * it.
   */
  readonly isFile?: boolean
  /** Whether frames got names that the file does not have, as from hf-symbolize. */
  readonly isSymbolized?: boolean
  /** The program that makes the report, and its version. */
  readonly generator?: string
  /** Another trace that this one is compared with. */
  readonly compared?: Compared
  /** What real allocators need for the calls of the trace. */
  readonly replay?: ReplayResult
  /** The frames that the flame graph omits at the inner ends of stacks. Default: wrappers of allocation. */
  readonly own?: OwnFrames
  readonly limits?: ReportLimits
  /** The view that is shown first, if not the overview. */
  readonly view?: 'comparison'
  /** The rules that excluded leaks, if the page has the trace. */
  readonly suppression?: ReportSuppression
  /** Other omissions, as sentences. */
  readonly omitted?: readonly string[]
}

const OPTIONS: OptionNames<ReportDataOptions> = {
  name: 'string',
  isFile: 'boolean',
  isSymbolized: 'boolean',
  generator: 'string',
  compared: true,
  replay: true,
  own: true,
  limits: true,
  view: ['comparison'],
  suppression: true,
  omitted: TEXTS,
}

/** The data from which a report is made. */
export interface ReportSources {
  readonly collector: StatisticsCollector
  readonly kernel: ReportKernel
  readonly clock: Clock
  readonly levels: Levels
  readonly generations: Generations
  readonly problems: Problems
  readonly notes: RecorderNotes
  /** Whether the addresses of a trace are not the program's. */
  readonly hasInvented: boolean
  /** What was freed in traces with infos, whose events have no thread. */
  readonly infosFreed: Amount
  /** See `ReportData.fields`. */
  readonly fields: string[]
  readonly profile: Profile
  readonly stacks: Stacks
  /** The positions of the samples whose leaks are suppressed. */
  readonly suppressed: ReadonlySet<number>
}

/** The note about traces whose decoder invented addresses. */
const INVENTED = [
  'Addresses and pages of interpreted heaptrack files: they have none.',
  'Temporary allocations, lifetimes and generations of interpreted heaptrack files: the files do not say which ' +
    'block is freed.',
]

/** The data collected from a trace for a report. */
export class Report {
  private readonly samples: Samples
  private readonly calendar: Calendar

  constructor(private readonly sources: ReportSources) {
    const { collector, clock, profile, stacks, suppressed } = sources
    const { statistics } = profile
    const [hasCpus, isTimed] = [statistics.crossCpuFrees !== undefined, statistics.time !== undefined]
    this.calendar = new Calendar(clock, isTimed ? profile.elapsed : undefined)
    const options = { hasCpus, isTimed, suppressed }
    this.samples = new Samples(stacks, collector.sites, (row) => this.extra(row), options)
  }

  /** The profile of the trace, for comparison with a report of another run. */
  get profile(): Profile {
    return this.sources.profile
  }

  /** The data that the report shows. @throws RangeError for unknown options */
  data(options: ReportDataOptions = {}): ReportData {
    checkOptions(options, OPTIONS, 'Report.data')
    const {
      name = 'trace',
      isFile = true,
      isSymbolized = false,
      generator = 'heapflow',
      compared,
      replay,
      own = new OwnFrames(),
      limits = REPORT_LIMITS[0],
      view,
      suppression,
      omitted = [],
    } = options
    const { collector, kernel, clock, levels, generations, problems, notes, profile } = this.sources
    const { statistics, frames, tree } = profile
    const { samples, calendar } = this
    const list = new FrameList(limits.name)
    const whole = ownTree(profile, samples.nodes, own)
    const folded = foldTree(whole.tree, frames, samples, samples.nodes.map(whole.nodeOf), list, limits.nodes)
    const rows = new SiteRows(samples, limits.sites)
    const sources: SiteSources = { statistics, kernel, rows, levels: levels.all, calendar }
    const sites = sitesOf(
      sources,
      (node) => folded.nodeOf(whole.nodeOf(node)),
      (node) => list.stackOf(node, tree, frames),
    )
    const sparse = {
      pages: rows.chosen.map((_, row) => rows.extra(row).sparsePages),
      bytes: rows.chosen.map((_, row) => rows.extra(row).sparseBytes),
    }
    const addresses = addressesOf(kernel, clock, calendar, collector.threads, limits.moments, sparse)
    const problemRows = problems.result(statistics, Number(kernel.run.zeroSizes.value), list, limits.problems)
    const comparison = compared && comparisonOf(compared, list, limits.changes)
    return {
      version: 1,
      name: wellFormed(name),
      isFile,
      ...(isSymbolized && { isSymbolized }),
      generator,
      fields: this.sources.fields,
      ...(view !== undefined && { view }),
      ...(suppression !== undefined && { suppression }),
      notes: [...notesOf(statistics), ...notes.sentences],
      omitted: [
        ...(folded.folded > 0
          ? [
              `Of ${grouped(whole.tree.parents.length)} nodes of the tree of stacks, ` +
                `${many(folded.folded, 'small one is', 'small ones are')} in (other).`,
            ]
          : []),
        ...(rows.hasOthers
          ? [
              `Of ${grouped(samples.rows.length)} sites, ${grouped(rows.chosen.length)} are listed, ` +
                'and all others in one row.',
            ]
          : []),
        ...foldedOf(comparison),
        ...(list.shortened > 0
          ? [`${many(list.shortened, 'name was', 'names were')} shortened to ${limits.name} characters.`]
          : []),
        ...this.omittedOf(problemRows, addresses),
        ...omitted,
      ],
      summary: summaryOf(statistics, samples.rows.length, calendar),
      timeline: timelineOf(statistics, calendar),
      ...notes.result(calendar, limits.name),
      tree: folded.tree,
      sites,
      generations: generations.result(collector.count, calendar, (row) => {
        const site = rows.of(row)
        return { site, endBlocks: site < 0 ? 0 : sites.endBlocks[site] }
      }),
      peakSites: peakSitesOf(sources),
      churn: churnOf(kernel, statistics, collector.sizes.listed),
      threads: threadsOf(kernel, collector, this.sources.infosFreed, (row) => {
        const site = rows.of(row)
        return site < 0 ? rows.chosen.length : site
      }),
      ...(addresses ? { addresses } : { noAddresses: this.sources.hasInvented ? 'invented' : 'none' }),
      problems: problemRows,
      ...(comparison && { comparison }),
      ...(replay && { replay }),
      // The list of frames must come last, because all other parts may add frames.
      frames: list.all,
    }
  }

  private omittedOf(problems: ReportData['problems'], addresses: ReportAddresses | undefined): string[] {
    const { run } = this.sources.kernel
    const all = Object.values(problems.counts).reduce((sum, count) => sum + count, 0)
    const sentences: string[] = []
    if (all > problems.kind.length)
      sentences.push(`Of ${grouped(all)} problems, the first ${grouped(problems.kind.length)} are listed.`)
    const heat = this.sources.kernel.rest(run.SITE_HEAT.value).blocks
    if (heat > 0) sentences.push(`The sizes and lifetimes of ${many(heat, 'block')} are not known by site.`)
    const matrix = this.sources.kernel.rest(run.MATRIX.value).blocks
    if (matrix > 0) sentences.push(`The threads of ${many(matrix, 'freed block')} are counted as others.`)
    if (this.sources.hasInvented) sentences.push(...INVENTED)
    if (addresses === undefined) return sentences
    const { unfollowed, unmapped, lost } = run
    if (unfollowed.value > 0n)
      sentences.push(
        `${many(unfollowed.value, 'block is', 'blocks are')} of processes whose addresses are not followed.`,
      )
    if (unmapped.value > 0n)
      sentences.push(`${many(unmapped.value, 'block is', 'blocks are')} of processes that the map does not have.`)
    const { small } = addresses.map
    if (small > 0)
      sentences.push(
        `The map leaves out ${many(small, 'process', 'processes')} with less than 1 % of the largest one's bytes.`,
      )
    if (lost.value > 0n) sentences.push(`${many(lost.value, 'byte')} of blocks are not in the map.`)
    return sentences
  }

  private extra(row: number): SiteExtra {
    const { kernel } = this.sources
    const at = kernel.word(kernel.run.siteTable.value) + row * SITE_BYTES
    const floats = new Float64Array(kernel.run.memory.buffer, at + SPARSE_PAGES, 2)
    return {
      reallocs: kernel.number(at + REALLOCS),
      grown: kernel.number(at + GROWN),
      shrunk: kernel.number(at + SHRUNK),
      moved: kernel.number(at + MOVED),
      sparsePages: floats[0],
      sparseBytes: floats[(SPARSE_BYTES - SPARSE_PAGES) / 8],
    }
  }
}

/** A note about the stacks that the tree of differences omits. */
function foldedOf(comparison: ReportComparison | undefined): string[] {
  const folded = comparison?.changes.folded.reduce((sum, stacks) => sum + stacks, 0) ?? 0
  if (comparison === undefined || folded === 0) return []
  const some = many(folded, 'with a small difference is', 'with small differences are')
  return [`Of ${comparison.differing} stacks that differ, ${some} in (other).`]
}

import type { Stacks } from '../profile/stacks.js'
import { NOTHING } from '../statistics/amounts.js'
import type { Amount } from '../statistics/result.js'
import type { SiteFigures, SiteTable } from '../statistics/site-table.js'
import { TREE_METRICS, type TreeMetric } from './result.js'

/** The figures by which the sites with the largest values are listed. */
const RANKED = [...TREE_METRICS, 'ownPeakBytes', 'reallocs', 'sparseBytes'] as const
type Ranked = (typeof RANKED)[number]

/** A figure of a site that the tree also has. */
export const VALUE_OF: Readonly<Record<TreeMetric, (figures: SiteFigures) => number | bigint>> = {
  allocatedBytes: ({ allocated }) => allocated.bytes,
  allocatedBlocks: ({ allocated }) => allocated.blocks,
  peakBytes: ({ atPeak }) => atPeak.bytes,
  peakBlocks: ({ atPeak }) => atPeak.blocks,
  endBytes: ({ leaked }) => leaked.bytes,
  endBlocks: ({ leaked }) => leaked.blocks,
  temporaryBlocks: ({ temporary }) => temporary.heaptrack.blocks,
  foreignFrees: ({ foreignFrees }) => foreignFrees,
}

/** Further data of a site. */
export interface SiteExtra {
  reallocs: number
  grown: number
  shrunk: number
  moved: number
  /** Nearly empty pages that its blocks keep, and the bytes in them that are not live. */
  sparsePages: number
  sparseBytes: number
}

/** Which of the figures the trace has, and the positions of the samples whose leaks are suppressed. */
interface SampleOptions {
  readonly hasCpus: boolean
  readonly isTimed: boolean
  readonly suppressed: ReadonlySet<number>
}

/** All sites that allocated a block: their rows, nodes and, as doubles, the figures by which they are ranked. */
export class Samples {
  readonly rows: number[] = []
  readonly nodes: number[] = []
  readonly ranked: Record<Ranked, Float64Array>
  /** The sums of figures without totals in the statistics. */
  readonly whole = { foreignFrees: 0, events: 0n, time: 0n, reallocs: 0, grown: 0, shrunk: 0, moved: 0 }

  constructor(
    { rows }: Stacks,
    private readonly sites: SiteTable,
    readonly extra: (row: number) => SiteExtra,
    private readonly options: SampleOptions,
  ) {
    for (const { row, node } of rows()) {
      this.rows.push(row)
      this.nodes.push(node)
    }
    const column = () => new Float64Array(this.rows.length)
    this.ranked = Object.fromEntries(RANKED.map((name) => [name, column()])) as Record<Ranked, Float64Array>
    const { whole } = this
    for (let i = 0; i < this.rows.length; i++) {
      const figures = this.figures(i)
      const { reallocs, grown, shrunk, moved, sparseBytes } = extra(this.rows[i])
      whole.foreignFrees += figures.foreignFrees
      whole.events += figures.lived.events
      whole.time += figures.lived.time ?? 0n
      whole.reallocs += reallocs
      whole.grown += grown
      whole.shrunk += shrunk
      whole.moved += moved
      for (const metric of TREE_METRICS) this.ranked[metric][i] = Number(VALUE_OF[metric](figures))
      this.ranked.ownPeakBytes[i] = Number(figures.ownPeak.bytes)
      this.ranked.reallocs[i] = reallocs
      this.ranked.sparseBytes[i] = sparseBytes
    }
  }

  /** The figures of a sample. */
  figures(i: number): SiteFigures {
    const figures = this.allFigures(i)
    return this.options.suppressed.has(i) ? { ...figures, leaked: NOTHING } : figures
  }

  /** The part of a sample's leaks that rules exclude. */
  suppressed(i: number): Amount {
    return this.options.suppressed.has(i) ? this.allFigures(i).leaked : NOTHING
  }

  private allFigures(i: number): SiteFigures {
    const { hasCpus, isTimed } = this.options
    return this.sites.figures(this.rows[i], hasCpus, isTimed)
  }

  /**
   * The samples with the largest values, the same number for each figure; all samples if there are no more than `n`.
   */
  top(n: number): number[] {
    const size = this.rows.length
    if (size <= n) return this.rows.map((_, i) => i)
    const orders = RANKED.map((name) => largest(this.ranked[name], n))
    const chosen = new Set<number>()
    for (let rank = 0; rank < n; rank++) {
      for (const order of orders) {
        const i = order[rank]
        if (i !== undefined && chosen.size < n) chosen.add(i)
      }
    }
    return [...chosen].toSorted((a, b) => a - b)
  }
}

/** The positions of the n largest values above zero, the largest first. */
export function largest(values: Float64Array, n: number): number[] {
  const sorted = values.toSorted()
  const limit = Math.max(sorted[Math.max(0, values.length - n)] ?? 0, Number.MIN_VALUE)
  const places: number[] = []
  values.forEach((value, i) => {
    if (value >= limit) places.push(i)
  })
  return places.toSorted((a, b) => values[b] - values[a] || a - b).slice(0, n)
}

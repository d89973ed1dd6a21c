import type { EventBatch } from '../../event/batch.js'
import { TraceError } from '../../event/error.js'
import { OneBatch } from '../../event/one-batch.js'
import * as Data from '../../exports/simulation/data.js'
import { poolSentence } from '../../exports/simulation/pools.js'
import type { ShortLivedSite } from '../../transforms/simulate/lifetimes/predictor.js'
import type { HeapMoment, PredictionFigures, SimulationResult } from '../../transforms/simulate/result.js'
import { MOST_RESULTS, type Simulator } from '../../transforms/simulate/simulator.js'
import { counted, grouped, pairLines, rounded, tableLines, tableOf, wrapped } from './columns.js'
import { poolGain } from './pool-gain.js'

const NONE = '-'

/** Simulates policies side by side, and reports their figures: the text is made when it is requested. */
export class SimulationReport extends OneBatch<Uint8Array> {
  readonly consumes = true
  /** Those that cannot simulate the traces, and why: the table has no figures of them. */
  private readonly without = new Map<Simulator, string>()

  /**
   * @param isAgainst whether the report is about the first of two, and the second is what it is compared with
   * @param shortSites the predicted sites, for a sentence about pools
   */
  constructor(
    private readonly simulators: readonly Simulator[],
    private readonly isJson: boolean,
    private readonly isAgainst = false,
    private readonly shortSites: readonly ShortLivedSite[] = [],
  ) {
    super()
  }

  /** @throws what the simulators throw */
  next(): null {
    const batch = this.fed()
    if (batch === null) return null
    for (const simulator of this.simulators) if (!this.without.has(simulator)) this.run(simulator, batch)
    return null
  }

  private run(simulator: Simulator, batch: EventBatch): void {
    simulator.feed(batch)
    try {
      // A fault comes after the events before it.
      while (simulator.next() !== null);
    } catch (error) {
      const isLast = this.without.size + 1 === this.simulators.length
      if (isLast || this.isAgainst || !(error instanceof TraceError) || error.code !== 'ERR_TRACE_LIMIT') throw error
      this.without.set(simulator, error.message)
    }
  }

  dispose(): void {
    for (const simulator of this.simulators) simulator.dispose()
  }

  /** The figures of the events so far, by trace; none if there was no trace. */
  traces(): Data.SimulatedTrace[] {
    const without = [...this.without].map(([{ settings }, reason]) => ({ policy: settings.policy, reason }))
    return this.byTrace().map((results) => ({
      simulations: results.map(Data.figuresOf),
      without,
      pools: poolGain(results, this.shortSites),
    }))
  }

  /** A sentence about traces without figures, if there are any. */
  get unlisted(): string | undefined {
    const more = Math.max(...this.simulators.map(({ traces }) => traces)) - MOST_RESULTS
    return more <= 0 ? undefined : `the first ${MOST_RESULTS} traces have figures, and ${grouped(more)} more have none`
  }

  /** The report of the events so far, in lines of a number of columns; empty if there was no trace. */
  text(columns: number): string {
    const byTrace = this.byTrace()
    if (this.isJson) return `${JSON.stringify({ traces: this.traces() })}\n`
    return byTrace
      .map((list, i) => {
        const heading = byTrace.length === 1 ? [] : [`trace ${i + 1}`, '']
        const isOne = this.simulators.length === 1 || this.isAgainst
        const [first, second] = list as [SimulationResult, SimulationResult?]
        const pools = poolGain(list, this.shortSites)
        const more = pools === null ? [] : ['', ...wrapped(poolSentence(pools), columns)]
        return [
          ...heading,
          ...(isOne ? single(columns, first, second) : compared(columns, list, this.without)),
          ...more,
          '',
        ].join('\n')
      })
      .join('\n')
  }

  private byTrace(): SimulationResult[][] {
    const results = this.simulators.map((simulator) => (this.without.has(simulator) ? [] : simulator.results()))
    const traces = Math.max(0, ...results.map(({ length }) => length))
    return Array.from({ length: traces }, (_, i) => results.flatMap((list) => list[i] ?? []))
  }
}

function percent(part: number | null): string {
  return part === null ? NONE : `${(100 * part).toFixed(1)} %`
}

/** The figures of one policy. @param alone the result without arenas */
function single(columns: number, result: SimulationResult, alone?: SimulationResult): string[] {
  const {
    settings,
    events,
    changes,
    heaps,
    unknown,
    reused,
    unaligned,
    stayed,
    moved,
    searches,
    pageFaults,
    fragmentation,
    sizes,
  } = result
  const pairs: [string, string][] = [
    ['policy', Data.optionsOf(result)],
    ['events', `${grouped(events)}, of which ${grouped(changes)} changed the live set`],
  ]
  if (heaps > 1) pairs.push(['heaps', grouped(heaps)])
  if (stayed + moved > 0) pairs.push(['reallocs', `${grouped(stayed)} in place, ${grouped(moved)} moved`])
  if (unknown > 0)
    pairs.push(['not live', `${counted(unknown, 'free or realloc', 'frees or reallocs')} of blocks that were not live`])
  if (reused > 0) pairs.push(['not freed', `${counted(reused, 'block')} whose address was allocated again`])
  if (unaligned > 0)
    pairs.push([
      'not aligned',
      `${counted(unaligned, 'block')} with an alignment that is no power of two, or above 2^45`,
    ])
  if (searches !== null) {
    const { count, mean, longest } = searches
    pairs.push(['searches', `${grouped(count)}, ${rounded(mean)} blocks on average, ${grouped(longest)} at most`])
  }
  if (pageFaults !== null && result.mostPages !== null)
    pairs.push(['page faults', `${grouped(pageFaults)}, if pages without live blocks are returned at once`])
  const lines = pairLines('simulation', pairs, columns)
  const { mostLive, largestHeap, mostPages } = result
  if (mostLive === null || largestHeap === null || mostPages === null) return [...lines, '', 'no blocks']
  const moments = [mostLive, largestHeap, mostPages]
  const row = (name: string, cell: (moment: HeapMoment) => string) => [name, ...moments.map(cell)]
  const moment = (name: string, key: keyof HeapMoment) => row(name, (at) => grouped(at[key]))
  lines.push(
    '',
    ...tableLines(
      {
        title: 'heap, in bytes',
        heads: [' when', 'most is live', 'heap is largest', 'most pages'],
        rows: [
          moment('event', 'event'),
          moment('live blocks', 'blocks'),
          moment('requested', 'requested'),
          moment('granted', 'granted'),
          moment('heap', 'heap'),
          moment(`pages of ${settings.page}`, 'pages'),
          row('internal fragmentation', (at) => percent(Data.wasteOf(at).internal)),
          row('external fragmentation', (at) => percent(Data.wasteOf(at).external)),
        ],
      },
      columns,
    ),
    '',
    ...pairLines(
      'heap over requested bytes, less 1',
      [
        ['average', percent(fragmentation.average)],
        ['when most is live', percent(fragmentation.atMostLive)],
        ['when the heap is largest', percent(fragmentation.atLargestHeap)],
        ['largest heap, most live', percent(fragmentation.ofMaxima)],
      ],
      columns,
    ),
    '',
    ...predictionLines(columns, result, alone),
    ...tableLines(
      tableOf(`allocations by size${settings.classes === null ? '' : ' class'}`, sizes, [
        ['up to', ({ upTo }) => upTo],
        ['blocks', ({ allocations }) => allocations],
        ['requested', ({ requested }) => requested],
        ['granted', ({ granted }) => granted],
        ['internal', ({ requested, granted }) => (granted === 0 ? NONE : percent(1 - requested / granted))],
      ]),
      columns,
    ),
  )
  return lines
}

/** What was predicted, how much of it was right, and what it changed. */
function predictionLines(
  columns: number,
  { settings, prediction, largestHeap }: SimulationResult,
  alone?: SimulationResult,
): string[] {
  if (settings.prediction === null || prediction === null) return []
  const { threshold, general } = settings.prediction
  const { blocks, bytes } = prediction
  const row = (name: string, key: keyof PredictionFigures, of: keyof PredictionFigures = 'allocated') => [
    name,
    ...[blocks, bytes].flatMap((figures) => [
      grouped(figures[key]),
      percent(figures[of] === 0 ? null : figures[key] / figures[of]),
    ]),
  ]
  const most = grouped(threshold)
  const title = `prediction: blocks are short-lived if at most ${most} bytes are allocated in their lifetime`
  const lines = tableLines(
    {
      title,
      heads: [' ', 'blocks', 'share', 'bytes', 'share'],
      rows: [
        row('allocated', 'allocated'),
        row('short-lived', 'short'),
        row('predicted', 'predicted'),
        row('in arenas', 'inArenas'),
        row('not short-lived, of those in arenas', 'late', 'inArenas'),
      ],
    },
    columns,
  )
  const [heap, other] = [largestHeap?.heap ?? 0, alone?.largestHeap?.heap ?? 0]
  if (other > 0) {
    const change = heap / other - 1
    const words = `${percent(Math.abs(change))} ${change > 0 ? 'more' : 'less'} than the ${grouped(other)}`
    const text = `largest heap: ${grouped(heap)} bytes, ${words} of ${general} alone`
    lines.push(...wrapped(text, columns - 2).map((line) => `  ${line}`))
  }
  return [...lines, '']
}

/** One line for each policy. @param without those that cannot simulate the traces, and why */
function compared(
  columns: number,
  results: readonly SimulationResult[],
  without: ReadonlyMap<Simulator, string>,
): string[] {
  const heads = [' policy', ...Data.COMPARED.map(({ title }) => title)]
  const rows = results.map((result) => {
    const figures = Data.figuresOf(result)
    const cells = Data.COMPARED.map(({ unit, of }) => {
      const value = of(figures)
      if (value === null) return NONE
      return unit === 'bytes' ? grouped(value) : unit === 'part' ? percent(value) : rounded(value)
    })
    return [Data.policyTitle(result), ...cells]
  })
  const notes = new Map<string, string[]>()
  for (const [{ settings }, reason] of without) {
    rows.push([settings.policy, ...heads.slice(1).map(() => NONE)])
    notes.set(reason, [...(notes.get(reason) ?? []), settings.policy])
  }
  const live = results[0]?.mostLive
  const title =
    live === null || live === undefined
      ? 'no blocks'
      : `${counted(live.blocks, 'live block')} of ${counted(live.requested, 'byte')} at the peak`
  const said = [...notes].flatMap(([reason, policies]) => [
    '',
    ...wrapped(`${policies.join(', ')}: ${reason}`, columns),
  ])
  return [...tableLines({ title, heads, rows }, columns), ...said]
}

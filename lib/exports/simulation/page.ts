import { escaped, shortened } from '../report/html.js'
import { list, table, type Cell, type Column } from '../report/html-table.js'
import { MAX_PAGE_BYTES, packed, partsOf } from '../report/template.js'
import { COMPARED, policyTitle, type SimulatedTrace, type SimulationData } from './data.js'
import { poolSentence } from './pools.js'

/** The moments of each curve: if the page would be too large, the next smaller number. */
const MOMENTS = [1024, 256, 64, 16]

export interface SimulationPageOptions {
  /** The page without data: dist/page/simulation.html. */
  readonly template: string
  /** Compresses bytes as gzip. */
  readonly gzip: (bytes: Uint8Array) => Uint8Array
  /** The maximum size of the page in bytes; `MAX_PAGE_BYTES` if absent. */
  readonly most?: number
}

const encoder = new TextEncoder()

/**
 * Simulated heaps as a self-contained page, in pieces. If it would be too large, curves have fewer moments; the other
 * figures stay as they are.
 * @throws Error for an invalid template
 * @throws RangeError if even the smallest page is too large
 */
export function simulationPage(data: SimulationData, options: SimulationPageOptions): Uint8Array[] {
  const { template, gzip, most = MAX_PAGE_BYTES } = options
  const [start, beforeTables, beforeData, end] = partsOf(template).map((part) => encoder.encode(part))
  const title = encoder.encode(`${escaped(shortened(data.name))} - heapflow simulation`)
  const tables = encoder.encode([...staticTables(data)].join(''))
  for (const moments of MOMENTS) {
    const shown = { ...data, traces: data.traces.map((trace) => thinned(trace, moments)) }
    const pieces = [
      start,
      title,
      beforeTables,
      tables,
      beforeData,
      ...packed('report-data', [gzip(encoder.encode(JSON.stringify(shown)))]),
      end,
    ] as Uint8Array[]
    if (pieces.reduce((sum, { length }) => sum + length, 0) <= most) return pieces
  }
  throw new RangeError(`the smallest page has more than ${most} bytes`)
}

/** Curves with at most this number of moments, at equal distances, including the last one. */
function thinned({ simulations, ...rest }: SimulatedTrace, moments: number): SimulatedTrace {
  const of = <Moment>(timeline: readonly Moment[]) => {
    const step = Math.ceil(timeline.length / moments)
    return step < 2 ? timeline : timeline.filter((_, n) => (timeline.length - 1 - n) % step === 0)
  }
  return { ...rest, simulations: simulations.map((one) => ({ ...one, timeline: of(one.timeline) })) }
}

/** The table of each trace, for readers without JavaScript. */
function* staticTables({ name, generator, notes, traces }: SimulationData): Generator<string> {
  yield list('Simulated policies of allocation', [
    ['trace', name],
    ['made by', generator],
    ...notes.map((note) => ['note', note] as const),
    ...traces.flatMap(({ pools }) => (pools === null ? [] : [['pools', poolSentence(pools)] as const])),
  ])
  for (const [n, { simulations, without }] of traces.entries()) {
    const cells = ({ unit, of }: (typeof COMPARED)[number]): Cell[] => [
      ...simulations.map((figures) => {
        const value = of(figures)
        if (value === null) return ''
        return unit === 'part' ? `${(100 * value).toFixed(1)} %` : unit === 'mean' ? value.toFixed(2) : value
      }),
      ...without.map(() => ''),
    ]
    const columns: Column[] = [
      ['policy', [...simulations.map(policyTitle), ...without.map(({ policy }) => policy)]],
      ...COMPARED.map((column): Column => [column.title, cells(column)]),
    ]
    yield table(traces.length === 1 ? 'Policies' : `Policies, trace ${n + 1}`, columns)
  }
}

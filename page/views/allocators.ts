import { rounded } from '../../lib/event/message-text.js'
import { callsOf, type AllocatorFigures, type ReplayResult } from '../../lib/transforms/drive/comparison.js'
import type { View } from '../app.js'
import { block } from '../parts/bars.js'
import { ChartGroup } from '../parts/chart.js'
import { bytesColumn, countColumn } from '../parts/columns.js'
import { el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, share } from '../parts/format.js'
import { table, type Column } from '../parts/table.js'

/** The number of curves that differ by their colours. */
const MOST_CURVES = 10

/** Real allocators with the calls of the trace, as `hf-replay` compares them. */
export const allocators: View = {
  title: 'Allocators',
  has: ({ data }) => data.replay !== undefined,
  mount({ model }) {
    const { replay, summary } = model.data
    if (replay === undefined) return { element: el('section') }
    const { trace, options, driver, verdict } = replay
    const calls = callsOf(trace)
    const facts =
      `${counted(calls, 'call')} of ${counted(trace.threads, 'thread')}, ${counted(options.runs, 'run')} each; ` +
      `${counted(trace.peak.blocks, 'live block')}, ${exactBytes(trace.peak.bytes)} at their peaks.`
    const isOther = trace.events !== summary.events
    return {
      element: el(
        'section',
        {},
        isOther
          ? el(
              'p',
              { class: 'note' },
              `The replay was of ${counted(trace.events, 'event')}, and this trace has ${grouped(summary.events)}.`,
            )
          : undefined,
        ...verdict.map((sentence) => el('p', { class: 'lead' }, sentence)),
        block(
          'Figures of each allocator',
          `${facts} The driver's own ${rounded(driver.median / Math.max(1, calls))} ns a call are subtracted. Equal ` +
            'ranks are ties. The last four columns are ns of sampled calls.',
          figuresTable(replay.allocators, calls),
        ),
        residentChart(replay),
      ),
    }
  },
}

function figuresTable(all: readonly AllocatorFigures[], calls: number): HTMLElement {
  const perCall = (ns: number) => ns / Math.max(1, calls)
  const rank = (title: string, of: (row: AllocatorFigures) => number | null): Column<AllocatorFigures> => ({
    title,
    help: '1 and the number of allocators that certainly need less: the quartiles do not overlap',
    key: (row) => of(row) ?? Infinity,
    cell: (row) => String(of(row) ?? '–'),
  })
  const ns = (key: keyof NonNullable<AllocatorFigures['percentiles']>): Column<AllocatorFigures> => ({
    title: key === '100' ? 'Longest' : `${key} %`,
    help: key === '100' ? 'the longest sampled call, in ns' : `${key} % of the sampled calls take at most this, in ns`,
    key: ({ percentiles }) => percentiles?.[key] ?? -1,
    cell: ({ percentiles }) => (percentiles === null ? '–' : grouped(percentiles[key])),
  })
  const list = table<AllocatorFigures>(
    [
      {
        title: 'Allocator',
        isText: true,
        key: ({ name }) => name,
        cell: ({ name, library }) => el('bdi', { class: 'strong', title: library ?? 'the C library' }, name),
      },
      rank('Rank by time', ({ timeRank }) => timeRank),
      {
        title: 'ns a call',
        help: 'processor time of all calls, without that of the driver, by their number: the median of the runs',
        key: ({ time }) => time.median,
        cell: ({ time }) => rounded(perCall(time.median)),
      },
      {
        title: 'Quartiles',
        help: 'of the runs, in ns a call',
        cell: ({ time }) => `${rounded(perCall(time.low))}–${rounded(perCall(time.high))}`,
      },
      rank('Rank by memory', ({ peakRank }) => peakRank),
      bytesColumn('Peak', ({ peak }) => Math.round(peak.median), 'the resident set at its peak, without the driver'),
      {
        title: 'Maxima',
        help: 'the peak over the most live bytes of the program, less 1',
        key: ({ fragmentation }) => fragmentation ?? -1,
        cell: ({ fragmentation }) => (fragmentation === null ? '–' : share(fragmentation, 1)),
      },
      bytesColumn('At end', ({ final }) => Math.round(final.median), 'the resident set at the end'),
      countColumn('Page faults', ({ pageFaults }) => Math.round(pageFaults.median)),
      ...(['50', '99', '99.9', '100'] as const).map(ns),
      ...(all.some(({ failed }) => failed > 0)
        ? [countColumn<AllocatorFigures>('Failed', ({ failed }) => failed, 'calls that got no memory')]
        : []),
    ],
    { label: 'allocators', empty: 'There is no allocator.' },
  )
  list.set(all)
  return list.element
}

/** The resident set over the calls. Threads take turns differently with each allocator, so the moments differ. */
function residentChart({ allocators: all, trace }: ReplayResult): HTMLElement | undefined {
  const drawn = all.filter(({ moments }) => moments.length > 0).slice(0, MOST_CURVES)
  if (drawn.length === 0) return undefined
  const x = [...new Set(drawn.flatMap(({ moments }) => moments.map(({ calls }) => calls)))].toSorted((a, b) => a - b)
  const levels = ({ moments }: AllocatorFigures) => {
    const sorted = moments.toSorted((a, b) => a.calls - b.calls)
    let n = -1
    return x.map((calls) => {
      while (n + 1 < sorted.length && sorted[n + 1].calls <= calls) n++
      return sorted[n]?.resident ?? null
    })
  }
  const left = all.length - drawn.length
  return block(
    'Resident set over the calls',
    `From one additional run with samples. The program has at most ${bytes(trace.peak.bytes)} live.` +
      (left > 0 ? ` ${counted(left, 'further allocator')} not drawn.` : ''),
    new ChartGroup().chart({
      title: 'Resident set, without that of the driver',
      x,
      series: drawn.map((one, n) => ({
        title: one.name,
        values: levels(one),
        colour: `series-${n}`,
        isDashed: n % 2 === 1,
      })),
      xAxis: { title: 'call', quantity: { kind: 'count' }, text: (call) => grouped(Math.round(call)) },
      yAxis: { title: 'resident set', quantity: { kind: 'bytes' } },
      showY: (value) => `${bytes(value)} (${exactBytes(value)})`,
    }).element,
  )
}

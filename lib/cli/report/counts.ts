import type { HistogramResult, Statistics } from '../../transforms/statistics/result.js'
import { bar, bytes, grouped, pairLines, rounded, share, tableLines, tableOf } from './columns.js'

/** Anomalies, and frees of the null pointer. */
export function anomalies({ faults: f, reallocs: r, mismatches }: Statistics, columns: number): string[] {
  const pairs: (readonly [string, number, string?])[] = [
    ['frees of unknown blocks', f.unknownFrees],
    ['double frees', f.doubleFrees],
    ['reallocs of unknown blocks', r.unknown],
    ['allocations at live addresses', f.overlaps.blocks, `, ${bytes(f.overlaps.bytes)} lost`],
    ['failed allocations', f.failedAllocations],
    ['failed reallocs', r.failed],
    ['free(NULL)', f.nullFrees],
    ...mismatches.map(
      ({ allocatedBy, freedBy, count }) => [`allocated by ${allocatedBy}, freed by ${freedBy}`, count] as const,
    ),
  ]
  const found = pairs
    .filter(([, count]) => count > 0)
    .map(([name, count, more = '']) => [name, grouped(count) + more] as const)
  return found.length === 0 ? [] : pairLines('Anomalies', found, columns)
}

/** Events by kind, and by the function that made them. */
export function eventCounts({ kinds, apis, events }: Statistics, columns: number): string[] {
  const counts = [
    ...Object.entries(kinds),
    ...Object.entries(apis).map(([name, count]) => [`by ${name}`, count] as const),
  ]
  const rows = counts.map(([name, count]) => [name, grouped(count), share(count, events)])
  return tableLines({ title: 'Events', heads: [' kind', 'events', 'share'], rows }, columns)
}

export function reallocs({ reallocs: r, kinds }: Statistics, columns: number): string[] {
  const all = kinds.realloc ?? 0
  const outcomes = [
    ['in place', r.inPlace],
    ['moved', r.moved],
    ['resized, moved or not', r.resized],
    ['of NULL, as malloc', r.allocated],
    ['to nothing, as free', r.freed],
    ['failed', r.failed],
    ['of NULL to nothing', r.nothing],
    ['of unknown blocks', r.unknown],
  ] as const
  if (all === 0) return []
  const rows = outcomes.filter(([, n]) => n > 0).map(([name, n]) => [name, grouped(n), share(n, all)])
  return tableLines({ title: 'Reallocs', heads: [' outcome', 'events', 'share'], rows }, columns)
}

/** Values by powers of two, with bars. */
export function histogram(
  title: string,
  what: string,
  { bars, count, mean }: HistogramResult,
  columns: number,
): string[] {
  if (count === 0) return []
  const largest = Math.max(...bars.map((entry) => entry.count))
  const table = tableOf(`${title} (mean ${rounded(mean)})`, bars, [
    ['from', ({ from }) => from],
    ['to', ({ to }) => to],
    [what, (entry) => entry.count],
    ['share', (entry) => share(entry.count, count)],
    [' ', (entry) => bar(entry.count, largest)],
  ])
  return tableLines(table, columns)
}

import { KIB, MIB } from '../../bytes/units.js'
import type { PoolGain } from '../../exports/simulation/pools.js'
import { callsOf, type ReplayComparison, type Spread } from '../../transforms/drive/comparison.js'
import type { PreparedReplay } from '../../transforms/drive/result.js'
import type { Run } from '../drive/runs.js'
import { counted, grouped, rounded, tableLines, tableOf, visible, wrapped } from './columns.js'
import { failure, verdict } from './replay-verdict.js'

/** The report of a comparison: the verdict, and a table. @param pools the savings by pools, for the verdict */
export function replayText(comparison: ReplayComparison, columns: number, pools: PoolGain | null = null): string {
  const { trace, allocators, options, driver } = comparison
  const answer = verdict(comparison, pools).flatMap((text) => wrapped(text, columns))
  const calls = callsOf(trace)
  if (calls === 0) return [...answer, ''].join('\n')
  const perCall = (ns: number) => rounded(ns / calls)
  const title =
    `${counted(calls, 'call')} of ${counted(trace.threads, 'thread')}, ${counted(options.runs, 'run')} each; ` +
    `${counted(trace.peak.blocks, 'live block')}, ${counted(trace.peak.bytes, 'byte')} at their peaks`
  const table = tableOf(title, allocators, [
    [' allocator', ({ name }) => visible(name)],
    ['rank', ({ timeRank }) => timeRank ?? '-'],
    ['ns a call', ({ time }) => perCall(time.median)],
    ['quartiles', ({ time }) => `${perCall(time.low)}-${perCall(time.high)}`],
    ['peak KiB', ({ peak }) => kibibytes(peak)],
    ['rank', ({ peakRank }) => peakRank ?? '-'],
    ['maxima', ({ fragmentation }) => (fragmentation === null ? '-' : `${(100 * fragmentation).toFixed(1)} %`)],
    ['final KiB', ({ final }) => kibibytes(final)],
    ['faults', ({ pageFaults }) => Math.round(pageFaults.median)],
    ['50 %', ({ percentiles }) => percentiles?.['50'] ?? '-'],
    ['99 %', ({ percentiles }) => percentiles?.['99'] ?? '-'],
    ['99.9 %', ({ percentiles }) => percentiles?.['99.9'] ?? '-'],
    ['longest', ({ percentiles }) => percentiles?.['100'] ?? '-'],
  ])
  return [
    ...answer,
    ...(answer.length > 0 ? [''] : []),
    ...tableLines(table, columns),
    ...wrapped(
      `The driver's own ${perCall(driver.median)} ns a call are subtracted. maxima: the peak over the most live ` +
        'bytes, less 1. The last four columns are ns of sampled calls.',
      columns,
    ),
    '',
  ].join('\n')
}

/** Faults that verification found, one line for each allocator. */
export function verifiedText(
  trace: PreparedReplay,
  results: readonly { readonly name: string; readonly run: Run }[],
  columns: number,
): string {
  const table = tableOf('contents of all blocks', results, [
    [' allocator', ({ name }) => visible(name)],
    ['damaged', ({ run }) => run.damaged],
    ['misaligned', ({ run }) => run.misaligned],
    ['failed', ({ run }) => run.failed],
  ])
  const failures = results.flatMap(({ name, run: { failed } }) =>
    failed === 0 ? [] : wrapped(`${failure(name, failed, trace, 'these blocks could not be verified')}.`, columns),
  )
  return [...failures, ...tableLines(table, columns), ''].join('\n')
}

/** The output of memory_replay for a dump. */
export function androidText(file: string, trace: PreparedReplay, comparison: ReplayComparison, watched: Run): string {
  const [figures] = comparison.allocators
  const info = (preamble: string, resident: number, mapped: number) => [
    `${preamble}Native RSS: ${KIB * resident} bytes ${((KIB * resident) / MIB).toFixed(2)}MB`,
    `${preamble}Native VA Space: ${KIB * mapped} bytes ${((KIB * mapped) / MIB).toFixed(2)}MB`,
  ]
  const time = Math.round(figures?.time.median ?? 0)
  return [
    `Processing: ${visible(file)}`,
    `Maximum threads available:   ${trace.threads}`,
    `Maximum allocations in dump: ${trace.peak.blocks}`,
    `Total pointers available:    ${trace.slots}`,
    '',
    ...info('Initial ', watched.start, watched.startData),
    ...(watched.moments ?? []).flatMap(([calls, , resident, mapped]) => [
      `  At line ${calls}:`,
      ...info('    ', resident, mapped),
    ]),
    ...info('Final ', watched.final, watched.finalData),
    `Total Allocation/Free Time: ${time}ns ${(time / 1e9).toFixed(2)}s`,
    '',
  ].join('\n')
}

const ABSURD = 'allocations of more than 2^46 bytes and calls that end their blocks'

/** The calls that are not replayed exactly, as one line; undefined if there is nothing. */
export function skippedText({ skipped, processes }: PreparedReplay): string | undefined {
  const { unknown, again, reused, left, existing, failed, absurd, unaligned, later } = skipped
  const counts: (readonly [number, string, string?])[] = [
    [unknown, 'free or realloc of an unknown block', 'frees or reallocs of unknown blocks'],
    [again, 'double free'],
    [existing, 'event of a block from before the recording', 'events of blocks from before the recording'],
    [failed, 'failed call'],
    [absurd, 'allocation of more than 2^46 bytes or call that ends its block', ABSURD],
    [later, 'event of further traces', 'events of further traces'],
  ]
  const parts = counts.filter(([n]) => n > 0).map(([n, one, many]) => counted(n, one, many))
  const lines = [
    ...(parts.length > 0 ? [`skipped: ${parts.join(', ')}`] : []),
    ...(reused > 0 ? [`freed before their address is allocated again: ${counted(reused, 'block')}`] : []),
    ...(left > 0 ? [`freed when their process ended: ${counted(left, 'block')}`] : []),
    ...(unaligned > 0
      ? [`changed: ${counted(unaligned, 'alignment that is', 'alignments that are')} no power of two or above 2^30`]
      : []),
    ...(processes > 1 ? [`the blocks of ${grouped(processes)} processes are in one heap`] : []),
  ]
  return lines.length === 0 ? undefined : lines.join('; ')
}

function kibibytes({ median }: Spread): number {
  return Math.round(median / KIB)
}

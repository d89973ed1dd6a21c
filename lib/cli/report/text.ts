import type { TimeUnit } from '../../event/header.js'
import type { Amount, HistogramResult, Peak, Statistics } from '../../transforms/statistics/result.js'
import { bar, bytes, grouped, pairLines, rounded, share, tableLines, visible } from './columns.js'
import { siteSections } from './site-sections.js'

type Pair = readonly [string, string]

/**
 * The statistics for people: a summary, then one table for each thing that the trace tells about.
 * @param top how many rows tables of sites, sizes and the like have at most
 */
export function reportText(statistics: Statistics, top: number): string {
  const { lifetimes } = statistics
  const sections = [
    summary(statistics),
    faults(statistics),
    eventCounts(statistics),
    reallocs(statistics),
    histogram('Sizes, in bytes', 'allocations', statistics.sizes.histogram),
    exactSizes(statistics, top),
    histogram('Lifetimes of freed blocks, in events', 'blocks', lifetimes.events),
    histogram('Lifetimes of freed blocks, in bytes allocated meanwhile', 'blocks', lifetimes.bytes),
    ...(lifetimes.time === undefined
      ? []
      : [histogram(`Lifetimes of freed blocks, in ${unitName(statistics.time?.unit)}`, 'blocks', lifetimes.time)]),
    ...siteSections(statistics, top),
    threads(statistics, top),
    values('CPUs', 'cpu', statistics.cpus, top),
    values('Processes', 'process', statistics.processes, top),
    notes(statistics),
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function summary(statistics: Statistics): string[] {
  const { allocated, freed, leaked, temporary, sizes, mpatrol, overhead, resident, crossCpuFrees, threads } = statistics
  const { peakBytes, peakBlocks } = statistics
  const unit = statistics.time?.unit
  const foreign = threads.reduce((sum, { foreignFrees }) => sum + foreignFrees, 0)
  const pairs: Pair[] = [
    [
      'traces',
      `${statistics.traces} (${visible(statistics.formats.join(', '))})${statistics.complete ? '' : ', cut short'}`,
    ],
    ['events', `${grouped(statistics.events)}, ${grouped(statistics.blockEvents)} of them about blocks`],
    ...timePairs(statistics),
    ['allocated', amount(allocated)],
    ['freed', amount(freed)],
    ['live at the end', amount(leaked)],
    ['most bytes live', peak(peakBytes, `${bytes(peakBytes.bytes)}, ${blocks(peakBytes.blocks)}`, unit)],
    ['most blocks live', peak(peakBlocks, amount(peakBlocks), unit)],
    ['sizes', `${grouped(sizes.smallest)} to ${bytes(sizes.largest)}, ${rounded(sizes.histogram.mean)} on average`],
    ['mean lifetime', meanLife(statistics)],
    ['freed at once', `${amount(temporary)}; ${share(temporary.blocks, allocated.blocks) || '0 %'} of allocations`],
  ]
  if (mpatrol.reserved.blocks > 0) pairs.push(['reserved', amount(mpatrol.reserved, 'areas')])
  if (mpatrol.internal.blocks > 0) pairs.push(['internal', amount(mpatrol.internal, 'areas')])
  if (overhead !== undefined) {
    const wasted = share(overhead.wasted, overhead.allocated)
    pairs.push([
      'overhead',
      `${bytes(overhead.requested)} requested, ${bytes(overhead.allocated)} taken, ${wasted} of it wasted`,
    ])
  }
  if (resident !== undefined) {
    pairs.push([
      'resident when freed',
      `${bytes(resident.present)} of ${bytes(resident.size)} in ${blocks(resident.blocks)}`,
    ])
  }
  if (threads.length > 1) pairs.push(['freed by another thread', blocks(foreign)])
  if (crossCpuFrees !== undefined) pairs.push(['freed on another CPU', blocks(crossCpuFrees)])
  return pairLines('Summary', pairs)
}

function timePairs({ time }: Statistics): Pair[] {
  if (time === undefined) return []
  const pairs: Pair[] = [['time', `${grouped(time.span)} ${unitName(time.unit)}, from ${grouped(time.first)}`]]
  const { rates } = time
  if (rates !== undefined) {
    pairs.push([
      'per second',
      `${rounded(rates.events)} events, ${rounded(rates.allocations)} allocations, ${rounded(rates.bytes)} bytes`,
    ])
  }
  return pairs
}

function meanLife({ lifetimes: { events, bytes: meanwhile, time: lasted }, time }: Statistics): string {
  const duration = lasted === undefined ? '' : `, ${rounded(lasted.mean)} ${unitName(time?.unit)}`
  return `${rounded(events.mean)} events, ${rounded(meanwhile.mean)} bytes allocated meanwhile${duration}`
}

function peak({ event, allocatedBytes, time }: Peak, what: string, unit?: TimeUnit): string {
  if (event === 0) return 'none'
  const when = time === undefined ? '' : `, time ${grouped(time)}${unit === undefined ? '' : ` ${unit}`}`
  return `${what}, at event ${grouped(event)}${when}, ${grouped(allocatedBytes)} bytes allocated`
}

function faults({ faults: f, reallocs: r, mismatches }: Statistics): string[] {
  const pairs: (readonly [string, number, string?])[] = [
    ['frees of unknown blocks', f.unknownFrees],
    ['double frees', f.doubleFrees],
    ['reallocs of unknown blocks', r.unknown],
    ['allocations at live addresses', f.overlaps.blocks, `, ${bytes(f.overlaps.bytes)} lost`],
    ['failed allocations', f.failedAllocations],
    ['failed reallocs', r.failed],
    ['frees of null', f.nullFrees],
    ...mismatches.map(
      ({ allocatedBy, freedBy, count }) => [`allocated by ${allocatedBy}, freed by ${freedBy}`, count] as const,
    ),
  ]
  const found = pairs
    .filter(([, count]) => count > 0)
    .map(([name, count, more = '']): Pair => [name, grouped(count) + more])
  return found.length === 0 ? [] : pairLines('Out of the ordinary', found)
}

function eventCounts({ kinds, apis, events }: Statistics): string[] {
  const counts = [
    ...Object.entries(kinds),
    ...Object.entries(apis).map(([name, count]) => [`by ${name}`, count] as const),
  ]
  const rows = counts.map(([name, count]) => [name, grouped(count), share(count, events)])
  return tableLines({ title: 'Events', heads: [' kind', 'events', 'share'], rows })
}

function reallocs({ reallocs: r, kinds }: Statistics): string[] {
  const all = kinds.realloc ?? 0
  const outcomes = [
    ['in place', r.inPlace],
    ['moved', r.moved],
    ['resized, moved or not', r.resized],
    ['of null, as malloc', r.allocated],
    ['to nothing, as free', r.freed],
    ['failed', r.failed],
    ['of null to nothing', r.nothing],
    ['of unknown blocks', r.unknown],
  ] as const
  if (all === 0) return []
  const rows = outcomes.filter(([, n]) => n > 0).map(([name, n]) => [name, grouped(n), share(n, all)])
  return tableLines({ title: 'Reallocs', heads: [' outcome', 'events', 'share'], rows })
}

function histogram(title: string, what: string, { bars, count, mean }: HistogramResult): string[] {
  if (count === 0) return []
  const largest = Math.max(...bars.map((entry) => entry.count))
  return tableLines({
    title: `${title} (${rounded(mean)} on average)`,
    heads: ['from', 'to', what, 'share', ' '],
    rows: bars.map(({ from, to, count: n }) => [
      grouped(from),
      grouped(to),
      grouped(n),
      share(n, count),
      bar(n, largest),
    ]),
  })
}

function exactSizes({ sizes, allocated }: Statistics, top: number): string[] {
  const shown = sizes.exact.slice(0, top)
  if (shown.length === 0) return []
  return tableLines({
    title: `The ${shown.length} most frequent of ${grouped(sizes.exact.length)} sizes`,
    heads: ['size', 'allocations', 'share', 'bytes', 'share'],
    rows: shown.map(({ size, count }) => {
      const sum = size * BigInt(count)
      return [grouped(size), grouped(count), share(count, allocated.blocks), grouped(sum), share(sum, allocated.bytes)]
    }),
  })
}

function threads({ threads: all, events }: Statistics, top: number): string[] {
  if (all.length < 2 || top === 0) return []
  const hasProcesses = all.some(({ process }) => process !== undefined)
  const shown = all.slice(0, top)
  return tableLines({
    title: `The ${shown.length} busiest of ${grouped(all.length)} threads`,
    heads: [
      ' thread',
      ...(hasProcesses ? ['process'] : []),
      'events',
      'share',
      'allocations',
      'bytes',
      'frees',
      'of others’',
    ],
    rows: shown.map((thread) => [
      thread.thread === undefined ? '(others)' : String(BigInt.asIntN(64, thread.thread)),
      ...(hasProcesses ? [String(thread.process ?? '')] : []),
      grouped(thread.events),
      share(thread.events, events),
      grouped(thread.allocated.blocks),
      grouped(thread.allocated.bytes),
      grouped(thread.frees),
      grouped(thread.foreignFrees),
    ]),
  })
}

function values(title: string, name: string, all: Statistics['cpus'], top: number): string[] {
  if (all.length < 2 || top === 0) return []
  const sum = all.reduce((events, entry) => events + entry.events, 0)
  const rows = all.slice(0, top).map(({ value, events }) => [String(value), grouped(events), share(events, sum)])
  return tableLines({ title, heads: [name, 'events', 'share'], rows })
}

function notes({ full, exact }: Statistics): string[] {
  const lines = exact ? [] : ['Sums beyond 2^85 are rounded.']
  if (full.length > 0)
    lines.push(
      `Too many distinct ${full.join(', ')} to tell all of them apart: those that came last are counted as others.`,
    )
  return lines
}

function amount({ blocks: n, bytes: size }: Amount, what?: string): string {
  return `${what === undefined ? blocks(n) : `${grouped(n)} ${what}`}, ${bytes(size)}`
}

function blocks(n: number): string {
  return `${grouped(n)} ${n === 1 ? 'block' : 'blocks'}`
}

function unitName(unit: TimeUnit | undefined): string {
  return unit ?? 'units of time'
}

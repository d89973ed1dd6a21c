import type { TimeUnit } from '../../event/header.js'
import { plural } from '../../event/message-text.js'
import type { Peak, ResidentMoment, Statistics, Suppressed } from '../../transforms/statistics/result.js'
import { joinTimeline } from '../../transforms/statistics/timeline.js'
import { bytes, counted, grouped, pairLines, rounded, share, visible } from './columns.js'
import { UNKNOWN_FIGURE } from './identity.js'
import { amount, blocks, unitName } from './names.js'
import { actingThreads } from '../../transforms/statistics/thread-table.js'

type Pair = readonly [string, string]

/** The most columns of the curve of live bytes. */
const CURVE = 60
const LEVELS = '▁▂▃▄▅▆▇█'

/** The figures of the whole trace. */
export function summary(statistics: Statistics, columns: number): string[] {
  const { allocated, freed, leaked, temporary, sizes, mpatrol, overhead, resident, crossCpuFrees, threads } = statistics
  const { peakBytes, peakBlocks, suppressed } = statistics
  const foreign = threads.reduce((sum, { foreignFrees }) => sum + foreignFrees, 0)
  const temporaryPair = (by: 'heaptrack' | 'memray'): Pair => [
    `temporary (${by})`,
    !statistics.identified
      ? UNKNOWN_FIGURE
      : `${amount(temporary[by])}; ${share(temporary[by].blocks, allocated.blocks) || '0 %'} of allocations`,
  ]
  const pairs: Pair[] = [
    [
      'traces',
      `${statistics.traces} (${visible(statistics.formats.join(', '))})${statistics.complete ? '' : ', truncated'}`,
    ],
    ['events', `${grouped(statistics.events)} (block events: ${grouped(statistics.blockEvents)})`],
    ...lostPair(statistics),
    ...timePairs(statistics),
    ['allocated', amount(allocated)],
    ...existingPair(statistics),
    ['freed', amount(freed)],
    ['leaked', `${amount(leaked)} (still live ${endOf(statistics)})`],
    ...(suppressed === undefined ? [] : [['suppressed leaks', suppressedText(suppressed)] as const]),
    ['peak memory', peak(statistics, peakBytes, `${bytes(peakBytes.bytes)} in ${blocks(peakBytes.blocks)}`)],
    [
      'peak block count',
      peakBlocks.event === peakBytes.event && peakBlocks.event > 0
        ? `${blocks(peakBlocks.blocks)}, at the same event`
        : peak(statistics, peakBlocks, amount(peakBlocks)),
    ],
    ...curve(statistics, columns),
    ...residentPairs(statistics),
    ['sizes', `${grouped(sizes.smallest)} to ${bytes(sizes.largest)}, mean ${rounded(sizes.histogram.mean)}`],
    ['mean lifetime', meanLife(statistics)],
    temporaryPair('heaptrack'),
    temporaryPair('memray'),
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
  if (actingThreads(threads).length > 1) pairs.push(['cross-thread frees', blocks(foreign)])
  if (crossCpuFrees !== undefined) pairs.push(['cross-CPU frees', blocks(crossCpuFrees)])
  return pairLines('Summary', pairs, columns)
}

/** Where blocks are live that count as leaked. */
function endOf({ complete, endsEarly = false }: Statistics): string {
  if (!complete) return 'where the input ends'
  return endsEarly ? 'when the recording ended' : 'at exit'
}

function lostPair({ kinds, lostEvents: lost = 0 }: Statistics): Pair[] {
  if (kinds.lost === undefined) return []
  const where = `in ${plural(kinds.lost, 'place')}`
  return [['lost by the recorder', lost > 0 ? `${counted(lost, 'event')}, ${where}` : where]]
}

function existingPair({ kinds: { existing } }: Statistics): Pair[] {
  if (existing === undefined) return []
  return [['  existing', `${counted(existing, 'block')} of these: of a parent process, or from before the recording`]]
}

function timePairs({ time }: Statistics): Pair[] {
  if (time === undefined) return []
  const span = `${grouped(time.span)} ${unitName(time.unit)}${readable(time.span, time.unit)}`
  const pairs: Pair[] = [['time', `${span}, from ${grouped(time.first)}`]]
  const { rates } = time
  if (rates !== undefined) {
    pairs.push([
      'per second',
      `${rounded(rates.events)} events, ${rounded(rates.allocations)} allocations, ${rounded(rates.bytes)} bytes`,
    ])
  }
  return pairs
}

/** A duration of a millisecond or more, in parentheses: ` (1.70 s)`. */
function readable(duration: bigint | number, unit: TimeUnit | undefined): string {
  const short = inShort(duration, unit)
  return short === undefined ? '' : ` (${short})`
}

/** The same without parentheses; undefined for shorter durations, and those of an unknown unit. */
function inShort(duration: bigint | number, unit: TimeUnit | undefined): string | undefined {
  const ms = unit === undefined ? 0 : Number(duration) / (unit === 'ns' ? 1e6 : 1e3)
  if (ms < 1) return undefined
  return ms < 1000 ? `${rounded(ms)} ms` : `${rounded(ms / 1000)} s`
}

function meanLife({ identified, lifetimes: { events, bytes: between, time: lasted }, time }: Statistics): string {
  if (!identified || events.count === 0) return UNKNOWN_FIGURE
  const duration =
    lasted === undefined ? '' : `, ${rounded(lasted.mean)} ${unitName(time?.unit)}${readable(lasted.mean, time?.unit)}`
  return `${rounded(events.mean)} events, ${rounded(between.mean)} bytes allocated in between${duration}`
}

function peak(
  { events, time: times, traces }: Statistics,
  { event, time, allocatedBytes }: Peak,
  what: string,
): string {
  if (event === 0) return 'none'
  const when = time === undefined ? '' : `, ${moment(time, times, traces)}`
  const where = `at event ${grouped(event)} of ${grouped(events)} (${share(event, events)})`
  return `${what}, ${where}${when}, ${grouped(allocatedBytes)} bytes allocated`
}

/** The time of a peak: since the first event, if that is of the same trace. */
function moment(time: bigint, times: Statistics['time'], traces: number): string {
  const unit = times?.unit
  if (times === undefined || unit === undefined || traces > 1)
    return `time ${grouped(time)}${unit === undefined ? '' : ` ${unit}`}`
  const since = time - times.first
  return `after ${inShort(since, unit) ?? `${grouped(since)} ${unit}`}`
}

/** The level of live bytes from the first event to the last, as a row of blocks. */
function curve({ timeline, peakBytes }: Statistics, columns: number): Pair[] {
  if (peakBytes.bytes === 0n || timeline.length < 2) return []
  const marks = joinTimeline(timeline, Math.min(CURVE, columns - 25)).map(({ maxBytes }) => {
    const level = Math.ceil((Number(maxBytes) / Number(peakBytes.bytes)) * LEVELS.length)
    return LEVELS[Math.max(1, level) - 1]
  })
  return [['live bytes', marks.join('')]]
}

/** The resident set of all processes, and how it differs from live bytes. */
function residentPairs({ residentSet, events: all }: Statistics): Pair[] {
  if (residentSet === undefined) return []
  const { most, atPeak, last } = residentSet
  const text = ({ bytes: resident, live }: ResidentMoment) =>
    resident < live
      ? `${bytes(resident)}, below live bytes by ${bytes(live - resident)}`
      : `${bytes(resident)}, beyond live bytes by ${bytes(resident - live)}`
  return [
    ['resident set, most', `${text(most)}, at event ${grouped(most.event)} (${share(most.event, all)})`],
    ...(atPeak === undefined || atPeak.event === most.event ? [] : [['  at peak memory', text(atPeak)] as const]),
    ...(last.event === most.event ? [] : [['  at the end', text(last)] as const]),
    ['  beyond live bytes', 'what the allocator keeps, and other memory: code, stacks, mapped files'],
  ]
}

/** The suppressed amount, and the number of rules. */
export function suppressedText(suppressed: Suppressed): string {
  const rules = suppressed.rules.length
  const by = rules === 0 ? '' : `, by ${counted(rules, 'rule')}`
  return `${amount(suppressed)}${by}`
}

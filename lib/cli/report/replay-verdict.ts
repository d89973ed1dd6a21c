import { MIB } from '../../bytes/units.js'
import { poolSentence, type PoolGain } from '../../exports/simulation/pools.js'
import { callsOf, type AllocatorFigures, type ReplayComparison } from '../../transforms/drive/comparison.js'
import type { PreparedReplay } from '../../transforms/drive/result.js'
import { peakMargin, TIME_MARGIN } from '../drive/margins.js'
import { bestClass } from '../drive/best-class.js'
import { grouped, rounded, visible } from './columns.js'

/** Less than this is not worth a sentence. */
const NOTABLE = 0.1

/** The same for a size class. */
const NOTABLE_CLASS = 0.02

/** The verdict on a trace without calls. */
export const NOTHING = 'Nothing to replay: the trace has no calls that can be made again.'

/**
 * The consequence of failed calls, as a sentence without its end.
 * @param name of the allocator
 * @param failed the number of calls that got no memory
 * @param consequence the consequence of that
 */
export function failure(name: string, failed: number, trace: PreparedReplay, consequence: string): string {
  const all = callsOf(trace) - trace.calls.free
  return `${visible(name)} gave no memory to ${grouped(failed)} of ${grouped(all)} allocations, so ${consequence}`
}

/**
 * The answer in words: which allocator needs less, what is waste, and what would bring more.
 * @param pools the savings by pools; null if that is little, or not known
 */
export function verdict(
  { trace, allocators, options, driver }: ReplayComparison,
  pools: PoolGain | null = null,
): string[] {
  if (callsOf(trace) === 0) return [NOTHING]
  const [present, ...rest] = allocators
  if (present === undefined) return []
  const failures = allocators.flatMap(({ name, failed }) =>
    failed === 0 ? [] : [`Failed: ${failure(name, failed, trace, 'it has no rank')}.`],
  )
  const saved = pools === null ? [] : [poolSentence(pools)]
  if (present.failed > 0) return [...failures, ...saved]
  const others = rest.filter(({ failed }) => failed === 0)
  return [
    ...failures,
    memory(present, others, trace.threads, options.paced),
    time(present, others, trace),
    ...(options.touch === 'all' ? waste(present, trace) : []),
    ...saved,
    ...(present.time.median < driver.median && others.length > 0
      ? ['The calls take less time than the driver itself, so their times are rough.']
      : []),
  ]
}

function memory(
  present: AllocatorFigures,
  others: readonly AllocatorFigures[],
  threads: number,
  isPaced: boolean,
): string {
  const marginOf = (...names: readonly string[]) => peakMargin([present.name, ...names], threads, isPaced)
  const within = (...names: readonly string[]) =>
    `(margin: ${Math.round(100 * marginOf(...names))} % of the program's peak${threads === 1 ? '' : ', with threads'})`
  const own = `${mebibytes(present.peak.median)} at the peak`
  if (others.length === 0) return `Resident set: ${present.name} needs ${own} ${within()}.`
  const candidates = others
    .filter(({ peak }) => peak.high < present.peak.low)
    .toSorted((a, b) => a.peak.median - b.peak.median)
  const gain = ({ peak }: AllocatorFigures) => 1 - peak.median / present.peak.median
  const one = candidates.find((other) => gain(other) >= marginOf(other.name))
  if (one !== undefined)
    return (
      `Resident set: ${one.name} needs ${percent(gain(one))} less than ${present.name}, ` +
      `${mebibytes(one.peak.median)} instead of ${own} ${within(one.name)}.`
    )
  const [least] = candidates
  if (least === undefined) return `Resident set: no other allocator needs less than ${present.name}, ${own}.`
  return (
    `Resident set: no other allocator needs less than ${present.name} by more than the margin, ${own}: ` +
    `${least.name} ${percent(gain(least))} ${within(least.name)}.`
  )
}

function time(
  present: AllocatorFigures,
  others: readonly AllocatorFigures[],
  trace: ReplayComparison['trace'],
): string {
  const calls = callsOf(trace)
  const of = (figures: AllocatorFigures) => `${rounded(figures.time.median / calls)} ns a call`
  const promise =
    trace.threads === 1
      ? `(margin: ${Math.round(100 * TIME_MARGIN)} points of the program's processor time)`
      : '(no promise: with threads, the change of a real program is another)'
  const whole = `${seconds(present.time.median)} for all calls`
  if (others.length === 0) return `Processor time: ${present.name} takes ${of(present)}, ${whole} ${promise}.`
  const [one] = others
    .filter((other) => other.time.high < present.time.low)
    .toSorted((a, b) => a.time.median - b.time.median)
  if (one === undefined)
    return (
      `Processor time: no other allocator is certainly faster than ${present.name}, ${of(present)}, ` +
      `${whole} ${promise}.`
    )
  return (
    `Processor time: ${one.name} takes ${of(one)} instead of ${of(present)} with ${present.name}, ` +
    `${seconds(present.time.median - one.time.median)} less for all calls ${promise}.`
  )
}

/** The memory that the present allocator takes beyond the requested bytes, and further possible savings. */
function waste(present: AllocatorFigures, { peak, peakSizes, final }: ReplayComparison['trace']): string[] {
  const { median } = present.peak
  if (median === 0) return []
  const rest = Math.max(0, median - peak.bytes)
  const lines = [
    `Waste: of ${present.name}'s resident set at the peak, ${percent(rest / median)} (${mebibytes(rest)}) is not ` +
      `what the program asked for: headers, rounding, free memory.`,
  ]
  const unused = Math.max(0, present.final.median - final.bytes)
  if (unused > NOTABLE * median)
    lines.push(
      `More: at the end, ${mebibytes(unused)} of ${mebibytes(present.final.median)} is resident and not live: ` +
        'trimming (malloc_trim, or a shorter decay) gives back some of it.',
    )
  if (rest > NOTABLE * median && peak.blocks > 0) {
    const mean = peak.bytes / peak.blocks
    lines.push(
      `More: a live block has ${grouped(Math.round(mean))} bytes on average and takes ` +
        `${rounded(rest / peak.blocks)} bytes besides: hf-simulate --compare all shows which policy or size classes ` +
        'save them.',
    )
  }
  const one = bestClass(present.name, peakSizes)
  if (one !== undefined && one.saved > NOTABLE_CLASS * median)
    lines.push(
      `More: a pool for blocks of ${one.size} bytes would save ${mebibytes(one.saved)} ` +
        `(${percent(one.saved / median)}): ${present.name} gives ${one.granted} bytes to each of the ` +
        `${grouped(one.blocks)} live blocks of ${one.size - 7} to ${one.size} bytes.`,
    )
  return lines
}

/** `12 %`, or with one digit after the point below 10 %. */
function percent(part: number): string {
  return `${(100 * part).toFixed(part < 0.095 ? 1 : 0)} %`
}

function mebibytes(bytes: number): string {
  return `${rounded(bytes / MIB)} MiB`
}

function seconds(ns: number): string {
  return ns >= 1e9 ? `${rounded(ns / 1e9)} s` : `${rounded(ns / 1e6)} ms`
}

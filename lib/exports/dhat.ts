import type { Frame, Profile, Sample } from '../transforms/profile/profile.js'
import { hasLifetimes } from '../transforms/statistics/times.js'
import { textBytes } from '../event/strings.js'
import { NANOSECONDS, type ExportOptions } from './writer.js'

/** Blocks that live shorter than this many units are short-lived to the viewer. */
const SHORT_LIVED = 10

/** The unit of moments: microseconds if the trace states its time unit and all blocks have times, or block events. */
interface Clock {
  readonly unit: string
  /** The name of a million units. */
  readonly million: string
  readonly end: bigint
  readonly peak: bigint
  lived(sample: Sample): bigint
}

/**
 * A file of valgrind's DHAT, version 2: for each stack the allocated bytes, the maximum of live bytes, the live bytes
 * at the peak and at the end, and the total lifetime of its blocks.
 * @see https://valgrind.org/docs/manual/dh-manual.html
 */
export function dhat(profile: Profile, options: ExportOptions = {}): Iterable<Uint8Array> {
  return textBytes(pieces(profile, options))
}

function* pieces(profile: Profile, { name = 'heap' }: ExportOptions): Generator<string> {
  const clock = clockOf(profile)
  // Without lifetimes, the viewer shows none.
  const hasLifetimes = profile.statistics.identified
  yield `{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":${hasLifetimes},"bkacc":false`
  yield `,"tu":"${clock.unit}","Mtu":"${clock.million}","tuth":${SHORT_LIVED}`
  yield `,"cmd":${JSON.stringify(profile.command ?? name)},"pid":0`
  yield `,"tg":${clock.peak},"te":${clock.end},"pps":[`
  let isNext = false
  for (const [node, one] of pointsOf(profile, clock)) {
    const { parents, frames } = profile.tree
    const path: number[] = []
    for (let at = node; at > 0; at = parents[at]) path.push(frames[at] + 1)
    const text = Object.entries(one)
      .filter(([key]) => hasLifetimes || key !== 'tl')
      .map(([key, value]) => `"${key}":${value},`)
      .join('')
    yield `${isNext ? ',' : ''}\n{${text}"fs":[${path.join(',')}]}`
    isNext = true
  }
  yield '],\n"ftbl":["[root]"'
  for (const [f, frame] of profile.frames.entries()) yield `,\n${JSON.stringify(addressed(frame, f))}`
  yield ']}\n'
}

/** The figures of a stack by the names of the format. */
type Point = Record<'tb' | 'tbk' | 'tl' | 'mb' | 'mbk' | 'gb' | 'gbk' | 'eb' | 'ebk', bigint>

/** The figures of each node that has some: no two points may have the same stack. */
function* pointsOf(profile: Profile, clock: Clock): Generator<readonly [node: number, point: Point]> {
  const seen = new Uint8Array(profile.tree.parents.length)
  const shared = new Map<number, Point>()
  for (const { node } of profile.samples()) {
    if (seen[node] === 1)
      shared.set(node, { tb: 0n, tbk: 0n, tl: 0n, mb: 0n, mbk: 0n, gb: 0n, gbk: 0n, eb: 0n, ebk: 0n })
    seen[node] = 1
  }
  for (const sample of profile.samples()) {
    const point = pointOf(sample, clock)
    const sum = shared.get(sample.node)
    if (sum === undefined) yield [sample.node, point]
    else addPoint(sum, point)
  }
  yield* shared
}

/**
 * Adds the figures of a point with the same stack. Maxima of live bytes are of different moments: that of the sum is at
 * least the largest, and at least the live bytes at the peak of the whole trace.
 */
function addPoint(sum: Point, point: Point): void {
  const { mb, mbk } = point.mb > sum.mb ? point : sum
  for (const key of Object.keys(point) as (keyof Point)[]) sum[key] += point[key]
  const [most, blocks] = sum.gb > mb ? [sum.gb, sum.gbk] : [mb, mbk]
  sum.mb = most
  sum.mbk = blocks
}

function pointOf(sample: Sample, clock: Clock): Point {
  const { allocated, ownPeak, atPeak, leaked } = sample
  return {
    tb: allocated.bytes,
    tbk: BigInt(allocated.blocks),
    tl: clock.lived(sample),
    mb: ownPeak.bytes,
    mbk: BigInt(ownPeak.blocks),
    gb: atPeak.bytes,
    gbk: BigInt(atPeak.blocks),
    eb: leaked.bytes,
    ebk: BigInt(leaked.blocks),
  }
}

function clockOf({ statistics, elapsed }: Profile): Clock {
  const { time, peakBytes, blockEvents } = statistics
  if (time?.unit === undefined || !hasLifetimes(statistics)) {
    const end = BigInt(blockEvents)
    const peak = BigInt(Math.min(peakBytes.event, blockEvents))
    return { unit: 'events', million: 'Mevents', end, peak, lived: ({ lived }) => lived.events }
  }
  const inMicroseconds = (value: bigint) => (value * NANOSECONDS[time.unit as 'ns' | 'us']) / 1000n
  const { event, time: moment } = peakBytes
  return {
    unit: 'µs',
    million: 's',
    end: inMicroseconds(time.span),
    peak: inMicroseconds(moment === undefined ? 0n : elapsed({ event, time: moment })),
    lived: ({ lived }) => inMicroseconds(lived.time ?? 0n),
  }
}

/** A frame in the form that readers of the format expect. It has its number where the code address is unknown. */
function addressed({ name, file, line, module, address }: Frame, f: number): string {
  const place = file === undefined ? `in ${module ?? '?'}` : `${file}:${line ?? 0}`
  return `0x${(address ?? f + 1).toString(16)}: ${name} (${place})`
}

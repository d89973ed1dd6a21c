import type { Profile } from '../transforms/profile/profile.js'
import { textBytes } from '../event/strings.js'
import type { Peak } from '../transforms/statistics/result.js'
import type { ExportOptions } from './writer.js'

/** Units of a timestamp's microsecond. */
const PER_MICROSECOND = { ns: 1000, us: 1 } as const

/**
 * Counters over time, in the format of Chrome's traces: live bytes and blocks, and how much was allocated and freed
 * since the moment before. There are at most 2,001 moments, one of which is the peak. Several traces come one after the
 * other. If the trace has no time unit, an event takes a microsecond.
 * @see https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
export function chrome(profile: Profile, options: ExportOptions = {}): Iterable<Uint8Array> {
  return textBytes(pieces(profile, options))
}

function* pieces(profile: Profile, { name = 'heap' }: ExportOptions): Generator<string> {
  const { time, timeline, peakBytes } = profile.statistics
  const perMicrosecond = time?.unit === undefined ? undefined : PER_MICROSECOND[time.unit]
  let latest = 0n
  // Moments without a time are at the last one before, as are those at which the clock had gone back.
  const at = ({ event, time: moment }: Pick<Peak, 'event' | 'time'>) => {
    if (perMicrosecond === undefined) return event
    const elapsed = moment === undefined ? 0n : profile.elapsed({ event, time: moment })
    if (elapsed > latest) latest = elapsed
    return Number(latest) / perMicrosecond
  }
  const counter = (title: string, ts: number, args: object) =>
    `,\n${JSON.stringify({ ph: 'C', pid: 1, ts, name: title, args })}`
  const process = { ph: 'M', pid: 1, name: 'process_name', args: { name } }
  yield `{"displayTimeUnit":"ns","traceEvents":[\n${JSON.stringify(process)}`
  let isPeakDue = peakBytes.event > 0
  for (const part of timeline) {
    const { event, live, allocated, frees } = part
    if (isPeakDue && peakBytes.event <= event) {
      const ts = at(peakBytes)
      yield counter('live bytes', ts, { bytes: Number(peakBytes.bytes) })
      yield counter('live blocks', ts, { blocks: peakBytes.blocks })
      isPeakDue = false
    }
    const ts = at(part)
    yield counter('live bytes', ts, { bytes: Number(live.bytes) })
    yield counter('live blocks', ts, { blocks: live.blocks })
    yield counter('allocated', ts, { bytes: Number(allocated.bytes) })
    yield counter('operations', ts, { allocations: allocated.blocks, frees })
  }
  yield '\n]}\n'
}

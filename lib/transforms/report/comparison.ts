import { isEqual, type ProfileDifference } from '../profile/difference.js'
import type { Profile } from '../profile/profile.js'
import type { Statistics } from '../statistics/result.js'
import { byName, changesOf, VALUE_OF } from './changes.js'
import type { FrameList } from './frame-list.js'
import { integer } from './plain.js'
import type { Integer, ReportComparison } from './result.js'

/** The old run of a comparison. */
export interface Compared {
  /** The name of the old trace. */
  readonly name: string
  readonly difference: ProfileDifference
  /** The statistics of the old trace, for its live bytes over time. */
  readonly statistics?: Pick<Statistics, 'timeline' | 'time' | 'events'>
  /** The definition of its profile, if there may be several traces. */
  readonly elapsed?: Profile['elapsed']
}

/** The maximum number of parts of the old timeline. */
const MOST_PARTS = 500

/** The stacks that differ, as a tree. @param limit the maximum number of its nodes */
export function comparisonOf(
  { name, difference, statistics, elapsed }: Compared,
  frames: FrameList,
  limit: number,
): ReportComparison {
  const differing = difference.stacks.filter((stack) => !isEqual(stack))
  const totals = (side: 'old' | 'new') =>
    byName((figure): Integer => integer(BigInt(VALUE_OF[figure](difference[side]))))
  return {
    old: name,
    totals: { old: totals('old'), new: totals('new') },
    differing: differing.length,
    changes: changesOf(differing, frames, limit),
    ...(statistics !== undefined && { timeline: oldTimeline(statistics, elapsed) }),
  }
}

/** The highest levels of live bytes of the old run, in no more parts than are drawn. */
function oldTimeline(
  { timeline, time }: Pick<Statistics, 'timeline' | 'time'>,
  elapsed: Profile['elapsed'] = (moment) => moment.time - (time?.first ?? 0n),
): NonNullable<ReportComparison['timeline']> {
  const step = Math.ceil(timeline.length / MOST_PARTS)
  const parts = Array.from({ length: Math.ceil(timeline.length / step) || 0 }, (_, n) =>
    timeline.slice(n * step, (n + 1) * step),
  )
  const times = parts.map((some) => {
    const { event = 0, time: last } = some.at(-1) ?? {}
    return last === undefined ? null : integer(elapsed({ event, time: last }))
  })
  return {
    event: parts.map((some) => some.at(-1)?.event ?? 0),
    ...(time !== undefined && { time: times }),
    ...(time?.unit !== undefined && { unit: time.unit }),
    maxBytes: parts.map((some) =>
      integer(some.reduce((most, { maxBytes }) => (maxBytes > most ? maxBytes : most), 0n)),
    ),
  }
}

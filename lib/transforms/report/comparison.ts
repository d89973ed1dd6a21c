import type { ComparedFigures, ComparedStack, ProfileDifference } from '../profile/difference.js'
import { isEqual } from '../profile/difference.js'
import type { Statistics } from '../statistics/result.js'
import type { FrameList } from './frame-list.js'
import { integer } from './plain.js'
import { COMPARED, type ComparedName, type Integer, type ReportComparison } from './result.js'
import { largest } from './samples.js'

/** The figures by their names in a report. */
const VALUE_OF: Readonly<Record<ComparedName, (figures: ComparedFigures) => number | bigint>> = {
  allocatedBlocks: ({ allocated }) => allocated.blocks,
  allocatedBytes: ({ allocated }) => allocated.bytes,
  peakBlocks: ({ atPeak }) => atPeak.blocks,
  peakBytes: ({ atPeak }) => atPeak.bytes,
  endBlocks: ({ leaked }) => leaked.blocks,
  endBytes: ({ leaked }) => leaked.bytes,
  temporaryBlocks: ({ temporary }) => temporary.blocks,
  temporaryBytes: ({ temporary }) => temporary.bytes,
}

/** The old run of a comparison. */
export interface Compared {
  /** The name of the old trace. */
  readonly name: string
  readonly difference: ProfileDifference
  /** The statistics of the old trace, for its live bytes over time. */
  readonly statistics?: Pick<Statistics, 'timeline' | 'time' | 'events'>
}

/** The maximum number of parts of the old timeline. */
const MOST_PARTS = 500

/** The stacks that differ most. @param limit the number of rows, besides that of all others */
export function comparisonOf(
  { name, difference, statistics }: Compared,
  frames: FrameList,
  limit: number,
): ReportComparison {
  const differing = difference.stacks.filter((stack) => !isEqual(stack))
  const chosen = mostDifferent(differing, limit)
  const isShown = new Set(chosen)
  const others = differing.filter((_, i) => !isShown.has(i))
  const shown = chosen.map((i) => differing[i])
  const columns = (side: 'old' | 'new') =>
    byName((figure) => {
      const value = (stack: ComparedStack) => BigInt(VALUE_OF[figure](stack[side]))
      const rest = others.reduce((sum, stack) => sum + value(stack), 0n)
      return [...shown.map(value), ...(others.length > 0 ? [rest] : [])].map(integer)
    })
  const totals = (side: 'old' | 'new') =>
    byName((figure): Integer => integer(BigInt(VALUE_OF[figure](difference[side]))))
  return {
    old: name,
    totals: { old: totals('old'), new: totals('new') },
    differing: differing.length,
    stack: [
      ...shown.map((stack) => frames.stack(stack.stack().map((text) => ({ name: text })))),
      ...(others.length > 0 ? [[]] : []),
    ],
    before: columns('old'),
    after: columns('new'),
    ...(statistics !== undefined && { timeline: oldTimeline(statistics) }),
  }
}

/** The highest levels of live bytes of the old run, in no more parts than are drawn. */
function oldTimeline({
  timeline,
  time,
}: Pick<Statistics, 'timeline' | 'time'>): NonNullable<ReportComparison['timeline']> {
  const step = Math.ceil(timeline.length / MOST_PARTS)
  const parts = Array.from({ length: Math.ceil(timeline.length / step) || 0 }, (_, n) =>
    timeline.slice(n * step, (n + 1) * step),
  )
  const times = parts.map((some) => some.at(-1)?.time)
  return {
    event: parts.map((some) => some.at(-1)?.event ?? 0),
    ...(time !== undefined && { time: times.map((at) => (at === undefined ? null : integer(at - time.first))) }),
    ...(time?.unit !== undefined && { unit: time.unit }),
    maxBytes: parts.map((some) =>
      integer(some.reduce((most, { maxBytes }) => (maxBytes > most ? maxBytes : most), 0n)),
    ),
  }
}

function byName<Value>(of: (name: ComparedName) => Value): Record<ComparedName, Value> {
  return Object.fromEntries(COMPARED.map((name) => [name, of(name)])) as Record<ComparedName, Value>
}

/** The stacks with the largest differences of any figure, the same number for each figure. */
function mostDifferent(stacks: readonly ComparedStack[], limit: number): number[] {
  const orders = COMPARED.map((figure) =>
    largest(
      Float64Array.from(stacks, (stack) =>
        Math.abs(Number(BigInt(VALUE_OF[figure](stack.new)) - BigInt(VALUE_OF[figure](stack.old)))),
      ),
      limit,
    ),
  )
  const chosen = new Set<number>()
  for (let rank = 0; rank < limit; rank++) {
    for (const order of orders) {
      const i = order[rank]
      if (i !== undefined && chosen.size < limit) chosen.add(i)
    }
  }
  return [...chosen]
}

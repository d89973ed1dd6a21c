import type { ComparedFigures, ComparedStack, ProfileDifference } from '../profile/difference.js'
import { isEqual } from '../profile/difference.js'
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
}

/** The stacks that differ most. @param limit the number of rows, besides that of all others */
export function comparisonOf({ name, difference }: Compared, frames: FrameList, limit: number): ReportComparison {
  const differing = difference.stacks.filter((stack) => !isEqual(stack))
  const chosen = mostDifferent(differing, limit)
  const isShown = new Set(chosen)
  const others = differing.filter((_, i) => !isShown.has(i))
  const shown = chosen.map((i) => differing[i] as ComparedStack)
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

import { policyTitle, type SimulatedTrace, type SimulationFigures } from '../../lib/exports/simulation/data.js'

/** The number of colours of the style sheet. */
const COLOURS = 10
/** A curve is not drawn at first if its heap is more than this multiple of the smallest one that there can be. */
const MUCH = 4

/** A policy on the page: its figures, and how its curves look. */
export interface Line {
  readonly title: string
  /** Undefined: the policy cannot simulate this trace. */
  readonly figures: SimulationFigures | undefined
  /** The name of a colour of the style sheet. */
  readonly colour: string
  /** Every other one, so that lines differ without their colours. */
  readonly isDashed: boolean
}

/** The policies of a trace, in the order of the table of `hf-simulate`. */
export function linesOf({ simulations, without }: SimulatedTrace): Line[] {
  const all = [
    ...simulations.map((figures) => ({ title: policyTitle(figures), figures })),
    ...without.map(({ policy }) => ({ title: policy, figures: undefined })),
  ]
  return all.map((one, n) => ({
    ...one,
    colour: n < COLOURS ? `series-${n}` : 'others',
    isDashed: n % 2 === 1,
  }))
}

/** The policies whose curves are drawn at first: those with much larger heaps would leave no room for the others. */
export function drawnFirst(lines: readonly Line[]): Set<Line> {
  const heapOf = ({ figures }: Line) => figures?.largestHeap?.heap ?? Infinity
  // The lower bound may be far below every policy.
  const least = Math.min(...lines.filter(({ title }) => title !== 'ideal').map(heapOf))
  return new Set(lines.filter((line) => line.figures !== undefined && heapOf(line) <= MUCH * least))
}

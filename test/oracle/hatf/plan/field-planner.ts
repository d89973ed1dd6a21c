import * as Code from '../../../../lib/kernel/layouts/hatf.js'
import { HI, LO, WORD } from '../../../../lib/bytes/u64.js'
import type { FieldStates } from '../fields.js'
import type { Plan, Planner } from '../plan.js'
import type { Records } from '../records.js'
import { Viterbi } from './viterbi.js'
import type { Layout } from '../../../../lib/formats/hatf/plan/layouts.js'
import { Occurrences } from './occurrences.js'

const { NONE, DEFAULT, BASE_OFFSET, DELTA, STRIDE } = Code

/** How many records a planner that looks ahead sees at once. */
export const WINDOW_RECORDS = 2048

/** Chooses the layouts of one field, for the fewest bytes in each window of records. */
export class FieldPlanner implements Planner {
  private readonly occurrences: Occurrences
  private readonly lattice: Viterbi
  /** The width that plain storing would have come to by now. */
  private plainWidth: number

  /**
   * @param field the field's code
   * @param layouts the layouts to choose from, as `Viterbi` wants them
   * @param window how many records it wants to see at once
   */
  constructor(
    private readonly field: number,
    layouts: readonly Layout[],
    readonly window: number = WINDOW_RECORDS,
  ) {
    this.occurrences = new Occurrences(field)
    this.lattice = new Viterbi(field, layouts)
    this.plainWidth = field === Code.F_ATTRIBUTES ? Code.V1 : field <= Code.F_ADDRESS ? 4 : 1
  }

  plan(records: Records, fields: FieldStates, plan: Plan): void {
    const { field, occurrences, lattice } = this
    occurrences.gather(records, fields)
    if (occurrences.count === 0) return
    const fits = this.fitAll()
    while (((fits >>> this.plainWidth) & 1) === 0)
      this.plainWidth = this.plainWidth === Code.V1 ? Code.V2 : 2 * this.plainWidth
    if (this.costsNothing(fields)) return
    lattice.solve(occurrences, fields, fits, this.plainWidth)
    let interpretation = fields.interpretation[field]
    let lastWidth = fields.lastWidth[field]
    const { begins, path } = lattice
    const { count, record } = occurrences
    for (let i = 0; i < count; i++) {
      if (begins[i] === 0) continue
      const state = path[i]
      const r = record[i]
      const width = lattice.width[state]
      const next = lattice.interpretation[state]
      const isNew = next !== NONE || interpretation !== NONE
      if (isNew) this.begin(plan, r, next, i)
      if (next !== DEFAULT && next !== STRIDE && (!isNew || width !== lastWidth)) {
        plan.setWidth(r, field, width)
        if (width !== 0) lastWidth = width
      }
      interpretation = next
    }
  }

  /** The widths that all occurrences fit, as bits by width code. */
  private fitAll(): number {
    const { count, traits } = this.occurrences
    let fits = -1
    for (let i = 0; i < count; i++) fits &= traits[i]
    return fits
  }

  /**
   * Whether the present layout stores nothing and goes on to be right: the common case of a field that never changes.
   */
  private costsNothing(fields: FieldStates): boolean {
    const { field } = this
    const { count, words } = this.occurrences
    if (field === Code.F_ATTRIBUTES || ((fields.touched >>> field) & 1) === 0) return false
    if (fields.interpretation[field] !== DEFAULT || fields.width[field] !== 0) return false
    const lo = fields.reference[2 * field + LO]
    const hi = fields.reference[2 * field + HI]
    for (let i = 0; i < count; i++) if (words[2 * i + LO] !== lo || words[2 * i + HI] !== hi) return false
    return true
  }

  /** Sets the interpretation for the run that begins at occurrence i. */
  private begin(plan: Plan, r: number, interpretation: number, i: number): void {
    const { field, occurrences } = this
    const { words } = occurrences
    const lo = words[2 * i + LO]
    const hi = words[2 * i + HI]
    if (interpretation === STRIDE) {
      const isLast = i + 1 === occurrences.count
      const nextLo = isLast ? lo : words[2 * i + 2 + LO]
      const nextHi = isLast ? hi : words[2 * i + 2 + HI]
      const strideLo = nextLo - lo
      const strideHi = nextHi - hi - (nextLo < lo ? 1 : 0)
      const initialLo = lo - (strideLo >>> 0)
      plan.setInterpretation(r, field, STRIDE, initialLo, hi - strideHi - (initialLo < 0 ? 1 : 0), strideLo, strideHi)
    } else if (interpretation === BASE_OFFSET) {
      const base = this.baseOf(i)
      const upper = Math.floor(base / WORD)
      plan.setInterpretation(r, field, BASE_OFFSET, base - upper * WORD, occurrences.originHi + upper)
    } else if (interpretation === NONE || interpretation === DEFAULT || interpretation === DELTA) {
      // The first value of a delta is at the distance 0.
      plan.setInterpretation(r, field, interpretation, lo, hi)
    }
  }

  /** A base, as distance from the origin, for the run that begins at occurrence i. */
  private baseOf(i: number): number {
    const { count, distance } = this.occurrences
    const { begins, path, width } = this.lattice
    let least = Infinity
    let greatest = -Infinity
    for (let k = i; k < count && (k === i || begins[k] === 0); k++) {
      const here = distance[k + 2]
      least = Math.min(least, here)
      greatest = Math.max(greatest, here)
    }
    const half = 2 ** (8 * width[path[i]] - 1)
    return roundest(greatest - half + 1, least + half)
  }
}

/**
 * The number with the most trailing zero bits in the middle half of a range: with it, stored distances look like the
 * values.
 */
function roundest(from: number, to: number): number {
  const slack = Math.floor((to - from) / 4)
  const low = from + slack
  const high = to - slack
  let unit = WORD
  while (Math.floor(high / unit) * unit < low) unit /= 2
  return Math.floor(high / unit) * unit
}

import * as Code from '../../../../lib/kernel/layouts/hatf.js'
import { HI, LO } from '../../../../lib/bytes/u64.js'
import type { FieldStates } from '../fields.js'
import { HEAD } from '../../../../lib/formats/hatf/layout.js'
import type { Layout } from '../../../../lib/formats/hatf/plan/layouts.js'
import { INTERPRETATION_BYTES, storedBytes } from './costs.js'
import { Trait, type Occurrences } from './occurrences.js'

const { NONE, DEFAULT, BASE_OFFSET, DELTA, STRIDE } = Code
const { same: SAME, steady: STEADY, tied: TIED } = Trait

/** A stride is free for the second occurrence of its run and fixed from then on: this is the state of the latter. */
const STRIDE_ON = STRIDE + 1
/** In `back`: the layout begins here, with metadata. The other bits are the state before. */
const BEGINS = 0x80
/** How many states there can be with the one before the window. */
const MAX_STATES = 16
const WIDTH_CODES = Code.V2 + 1

/**
 * Finds the cheapest sequence of layouts for the occurrences of a field: the shortest path through a lattice with a
 * column for each occurrence and a state for each layout (the Viterbi algorithm). A step costs the bytes that the
 * occurrence takes, and those of the metadata where the layout changes.
 *
 * Whether a distance fits depends on how its run began, and the width that an interpretation begins with on what was
 * before it. So each state keeps that of its own best path only: what is found may be some bytes longer than the
 * shortest path. Paths of plain widths alone are exact and always among what is compared.
 */
export class Viterbi {
  /** Per state, a code of `Interpretation`, or `STRIDE_ON`. */
  readonly interpretation = new Uint8Array(MAX_STATES)
  /** Per state, a width code. */
  readonly width = new Uint8Array(MAX_STATES)
  /** Per occurrence, the state that the path takes: filled by `solve`, as is `begins`. */
  path = new Uint8Array(0)
  /** Per occurrence, 1 where its state begins with metadata. */
  begins = new Uint8Array(0)
  private readonly field: number
  private readonly layouts: readonly Layout[]
  /** How many states are in use; one more at the end stands for a layout before the window that is none of them. */
  private count = 0
  /** Per state, what an occurrence takes. */
  private readonly bytes = new Uint8Array(MAX_STATES)
  /** Per state, what its metadata takes where the last width is the right one; else it is `HEAD` more. */
  private readonly entry = new Uint8Array(MAX_STATES)
  /** Per state, 2^(bits - 1), the end of the signed numbers that it can store. */
  private readonly half = new Float64Array(MAX_STATES)
  /** Per state, the cost of its best path so far. */
  private readonly cost = new Float64Array(MAX_STATES)
  private readonly nextCost = new Float64Array(MAX_STATES)
  /** Per state, the last width that was not 0 on its path. */
  private readonly lastWidth = new Uint8Array(MAX_STATES)
  private readonly nextLastWidth = new Uint8Array(MAX_STATES)
  /** Per state with a base, the least and the greatest distance since its path's run began. */
  private readonly low = new Float64Array(MAX_STATES)
  private readonly high = new Float64Array(MAX_STATES)
  /** Per last width, the cheapest state that has it, and its cost. */
  private readonly widthFrom = new Uint8Array(WIDTH_CODES)
  private readonly widthCost = new Float64Array(WIDTH_CODES)
  private back = new Uint8Array(0)

  /**
   * @param field the field's code
   * @param layouts the layouts to choose from, among them values as they are in a width that fits all
   */
  constructor(field: number, layouts: readonly Layout[]) {
    this.field = field
    this.layouts = layouts
  }

  /**
   * Fills `path` and `begins` for all occurrences.
   * @param fields how the field is laid out before the first one
   * @param fits the width codes that all occurrences fit, as bits
   * @param plainWidth the width that plain storing has come to at the end. Paths that end elsewhere are charged for the
   *   way back there, so that all windows together never take more bytes than plain storing does.
   */
  solve(occurrences: Occurrences, fields: FieldStates, fits: number, plainWidth: number): void {
    const { count: n } = occurrences
    this.choose(fields, fits, plainWidth)
    this.start(occurrences, fields)
    const { count } = this
    if (this.path.length < n) {
      this.path = new Uint8Array(n)
      this.begins = new Uint8Array(n)
    }
    if (this.back.length < n * count) this.back = new Uint8Array(n * count)
    this.walk(occurrences)
    let state = this.end(plainWidth)
    const { back, path, begins } = this
    for (let i = n - 1; i >= 0; i--) {
      const step = back[i * count + state]
      path[i] = state
      begins[i] = step >>> 7
      state = step & ~BEGINS
    }
  }

  /** Picks the layouts that can be of use: nothing that stores more than the width that fits all of the window. */
  private choose(fields: FieldStates, fits: number, plainWidth: number): void {
    const { field, layouts, interpretation: kinds, width: widths } = this
    const current = fields.interpretation[field]
    const currentWidth = fields.width[field]
    const fitting = layouts.filter(
      ({ interpretation, width }) => interpretation === NONE && ((fits >>> width) & 1) === 1,
    )
    const enough = Math.min(...fitting.map(({ width }) => width))
    let count = 0
    const add = (interpretation: number, { width, interpretation: real }: Layout) => {
      kinds[count] = interpretation
      widths[count] = width
      this.bytes[count] = storedBytes(width, field === Code.F_ATTRIBUTES)
      this.entry[count] = INTERPRETATION_BYTES[real]
      this.half[count] = 2 ** (8 * width - 1)
      count++
    }
    for (const layout of layouts) {
      const { interpretation, width } = layout
      const isCurrent = interpretation === current && width === currentWidth
      const isUseful = interpretation === NONE ? width <= enough || width === plainWidth : width < enough
      if (!isCurrent && !isUseful) continue
      add(interpretation, layout)
      if (interpretation === STRIDE) add(STRIDE_ON, layout)
    }
    this.count = count
  }

  /** All paths start from the present layout. */
  private start(occurrences: Occurrences, fields: FieldStates): void {
    const { field, count, interpretation, width, half, cost } = this
    const current = fields.interpretation[field]
    const currentWidth = fields.width[field]
    interpretation[count] = current
    width[count] = currentWidth
    // Time, thread, heap and attributes need metadata before their first value, whatever it is.
    const isLaidOut = field <= Code.F_ADDRESS || ((fields.touched >>> field) & 1) === 1
    const kind = current === STRIDE ? STRIDE_ON : current
    let state = count
    for (let s = 0; s < count; s++) if (isLaidOut && interpretation[s] === kind && width[s] === currentWidth) state = s
    cost.fill(Infinity)
    cost[state] = 0
    this.lastWidth[state] = fields.lastWidth[field]
    if (current === BASE_OFFSET && state < count) {
      const base = occurrences.distanceOf(fields.reference[2 * field + LO], fields.reference[2 * field + HI])
      this.low[state] = base - half[state]
      this.high[state] = base + half[state] - 1
    }
  }

  /** Finds for each occurrence and state the best step to it. */
  private walk(occurrences: Occurrences): void {
    const { count, interpretation, width, bytes, entry, half, low, high, back, widthFrom, widthCost } = this
    const { cost, nextCost, lastWidth, nextLastWidth } = this
    const { count: n, traits, distance } = occurrences
    let at = 0
    for (let i = 0; i < n; i++) {
      const set = traits[i]
      const here = distance[i + 2]
      // The best states to come from: of all, of those that store values as they are, and of those of each last width.
      let from = 0
      let fromCost = Infinity
      let plainFrom = 0
      let plainCost = Infinity
      for (let w = 0; w < WIDTH_CODES; w++) widthCost[w] = Infinity
      if ((set & TIED) === 0) {
        // The layout before the window is there for the first occurrence only.
        const sources = i === 0 ? count + 1 : count
        for (let s = 0; s < sources; s++) {
          const c = cost[s]
          if (c < fromCost) {
            from = s
            fromCost = c
          }
          if (c < plainCost && interpretation[s] === NONE) {
            plainFrom = s
            plainCost = c
          }
          const last = lastWidth[s]
          if (c < widthCost[last]) {
            widthFrom[last] = s
            widthCost[last] = c
          }
        }
      }
      for (let t = 0; t < count; t++) {
        const kind = interpretation[t]
        const w = width[t]
        let stay = cost[t]
        let best = fromCost + entry[t]
        let bestFrom = from
        if (kind === NONE || kind === BASE_OFFSET || kind === DELTA) {
          const right = widthCost[w] + entry[t]
          best += HEAD
          if (right < best) {
            best = right
            bestFrom = widthFrom[w]
          }
          if (kind === NONE) {
            if (plainCost + HEAD < best) {
              best = plainCost + HEAD
              bestFrom = plainFrom
            }
            if (((set >>> w) & 1) === 0) best = stay = Infinity
          } else if (kind === DELTA) {
            const moved = here - distance[i + 1]
            const end = half[t]
            if (!(moved >= -end && moved < end)) stay = Infinity
          } else {
            const least = here < low[t] ? here : low[t]
            const greatest = here > high[t] ? here : high[t]
            if (stay <= best && greatest - least < 2 * half[t] && !Number.isNaN(here)) {
              low[t] = least
              high[t] = greatest
            } else {
              stay = Infinity
              low[t] = high[t] = here
              if (Number.isNaN(here)) best = Infinity
            }
          }
        } else if (kind === DEFAULT) {
          if ((set & SAME) === 0) stay = Infinity
        } else if (kind === STRIDE) {
          stay = Infinity
        } else {
          // On with the same stride, or from the first occurrence of its run.
          if ((set & STEADY) === 0) stay = Infinity
          best = Infinity
          if (cost[t - 1] < stay) {
            nextCost[t] = cost[t - 1]
            nextLastWidth[t] = lastWidth[t - 1]
            back[at + t] = t - 1
            continue
          }
        }
        if (stay <= best) {
          nextCost[t] = stay + bytes[t]
          nextLastWidth[t] = lastWidth[t]
          back[at + t] = t
        } else {
          nextCost[t] = best + bytes[t]
          nextLastWidth[t] = w !== 0 ? w : lastWidth[bestFrom]
          back[at + t] = bestFrom | BEGINS
        }
      }
      for (let t = 0; t < count; t++) {
        cost[t] = nextCost[t]
        lastWidth[t] = nextLastWidth[t]
      }
      at += count
    }
  }

  /** The state in which the best path ends. */
  private end(plainWidth: number): number {
    const { count, cost, interpretation, width, lastWidth } = this
    let best = 0
    let bestCost = Infinity
    for (let s = 0; s < count; s++) {
      const isThere = (interpretation[s] === NONE ? width[s] : lastWidth[s]) === plainWidth
      const home = interpretation[s] === NONE ? (isThere ? 0 : HEAD) : isThere ? HEAD : 2 * HEAD
      if (cost[s] + home < bestCost) {
        best = s
        bestCost = cost[s] + home
      }
    }
    return best
  }
}

/**
 * The cheapest sequence of layouts for the occurrences of a field: the shortest path through a lattice with a column
 * for each occurrence and a state for each layout (the Viterbi algorithm). A step costs the bytes of the occurrence,
 * plus the bytes of metadata if the layout changes.
 *
 * Whether a distance fits depends on how its run began, and the width that an interpretation starts with depends on
 * what came before. Each state keeps these facts for its own best path only, so the result may be a few bytes longer
 * than the shortest path. Paths of plain widths alone are exact and always among the candidates.
 *
 * All states (at most 8) are processed together, each in a 16-bit lane. A step to a state is a number: the upper bits
 * hold its cost above the cheapest state, then come 2 bits for how it is taken and 3 bits for the state it comes from.
 * The smallest number is the best step; ties are broken by the lower bits. All bits set means that there is no way.
 */

import { BASE_OFFSET, F_ADDRESS, F_ATTRIBUTES, NONE, STRIDE } from '../../lib/kernel/layouts/hatf'
import * as Occurrences from './occurrences'
import { BASES, interpretationOf, LAST_WIDTHS, TOUCHED, widthOf } from './state'
import * as States from './viterbi-states'

/** Per occurrence and state, how it is reached: the lower bits of the best step. */
const BACK: usize = memory.data(33024)
/** Per start of a layout, the last first: its occurrence and its state (16 bits each). */
export const BEGINNINGS: usize = memory.data(16512)
/** The number of layout starts. */
export let beginnings: u32 = 0

const COST: usize = memory.data(16)
const LAST_WIDTH: usize = memory.data(16)
const BEST: usize = memory.data(16)

/** For states with a base: the smallest and largest distance since their run began. */
const LOW: usize = memory.data(64)
const HIGH: usize = memory.data(64)

/**
 * Finds the layouts of the gathered occurrences and stores them in `BEGINNINGS`.
 * @param fits the width codes that all occurrences fit, as bits
 * @param plainWidth the width that plain storing has reached at the end. Paths that end elsewhere are charged for the
 *   way back there, so that all windows together never take more bytes than plain storing.
 */
export function solve(f: u32, fits: u32, plainWidth: u32): void {
  States.choose(f, fits, plainWidth)
  States.describe(f)
  const isWithin = start(f)
  walk(f, isWithin)
  trace(end(plainWidth))
}

/** All paths start from the current layout. @returns whether that is one of the states */
function start(f: u32): bool {
  const current = interpretationOf(f)
  const width = widthOf(f)
  // Time, thread, heap and attributes need metadata before their first value, whatever it is.
  const isLaidOut = f <= F_ADDRESS || ((load<u32>(TOUCHED) >> f) & 1) != 0
  const kind = current == STRIDE ? States.STRIDE_ON : current
  let isWithin = false
  memory.fill(COST, 0xff, 16)
  const last = i16x8.splat(load<u8>(LAST_WIDTHS + f))
  v128.store(LAST_WIDTH, v128.bitselect(v128.load(States.OWN_WIDTH), last, v128.load(States.HAS_WIDTH)))
  for (let s: u32 = 0; s < States.count; s++) {
    if (!isLaidOut || States.kindOf(s) != kind || States.stateWidth(s) != width) continue
    States.setLane(COST, 0, s, 0)
    isWithin = true
  }
  for (let b: u32 = 0; b < States.bases; b++) {
    const base = <i64>(load<u64>(BASES + ((<usize>f) << 3)) - Occurrences.origin)
    const half = load<i64>(States.BASE_RANGE + (b << 3)) >> 1
    const isKnown =
      current == BASE_OFFSET && States.stateWidth(load<u8>(States.BASE_STATE + b)) == width && !Occurrences.isFar(base)
    // A range that is too wide for any distance.
    store<i64>(LOW + (b << 3), isKnown ? base - half : i64.MIN_VALUE >> 2)
    store<i64>(HIGH + (b << 3), isKnown ? base + half - 1 : i64.MAX_VALUE >> 2)
  }
  return isWithin
}

/** The minimum of the lanes of each of two vectors: the upper halves, the lower halves, and so on. */
function leastOf2(a: v128, b: v128): v128 {
  return v128.min<u16>(v128.shuffle<u64>(a, b, 0, 2), v128.shuffle<u64>(a, b, 1, 3))
}

function leastOf4(a: v128, b: v128): v128 {
  return v128.min<u16>(v128.shuffle<u32>(a, b, 0, 2, 4, 6), v128.shuffle<u32>(a, b, 1, 3, 5, 7))
}

function leastOf8(a: v128, b: v128): v128 {
  return v128.min<u16>(
    v128.shuffle<u16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
    v128.shuffle<u16>(a, b, 1, 3, 5, 7, 9, 11, 13, 15),
  )
}

/** The smallest steps, where the only step comes from a layout before the window that is not among the states. */
function fromBefore(f: u32): v128 {
  v128.store(BEST, i16x8.replace_lane(i16x8.splat(-1), 0, 0))
  States.setLane(BEST, 0, States.slotOf(load<u8>(LAST_WIDTHS + f)), 0)
  return v128.load(BEST)
}

/** Finds the best step to each state, for each occurrence. */
function walk(f: u32, isWithin: bool): void {
  const isNumeric = f != F_ATTRIBUTES
  const ones = i16x8.splat(-1)
  const lanes = i16x8(0, 1, 2, 3, 4, 5, 6, 7)
  const costBits = i16x8.splat(-32)
  let cost = v128.load(COST)
  let last = v128.load(LAST_WIDTH)
  for (let i: u32 = 0; i < Occurrences.occurrences; i++) {
    const traits = <u32>load<u16>(Occurrences.TRAITS + ((<usize>i) << 1))
    // The smallest steps to come from: of all states, of plain states, and of the states of each last width.
    const steps = v128.or(cost, lanes)
    const plain = v128.or(steps, v128.load(States.NOT_PLAIN))
    const anyPlain = leastOf2(steps, isNumeric ? plain : v128.or(steps, i16x8.ne(last, i16x8.splat(10))))
    const zeroOne = leastOf2(
      v128.or(steps, i16x8.ne(last, i16x8.splat(0))),
      v128.or(steps, i16x8.ne(last, i16x8.splat(1))),
    )
    const twoFour = leastOf2(
      v128.or(steps, i16x8.ne(last, i16x8.splat(2))),
      v128.or(steps, i16x8.ne(last, i16x8.splat(4))),
    )
    const wide = leastOf2(
      v128.or(steps, i16x8.ne(last, i16x8.splat(8))),
      v128.or(steps, i16x8.ne(last, i16x8.splat(9))),
    )
    let least = leastOf8(leastOf4(anyPlain, zeroOne), leastOf4(twoFour, wide))
    let leastPlain = isNumeric
      ? v128.shuffle<u16>(least, least, 1, 1, 1, 1, 1, 1, 1, 1)
      : v128.shuffle<u16>(least, least, 0, 0, 0, 0, 0, 0, 0, 0)
    if (i == 0 && !isWithin) {
      least = fromBefore(f)
      leastPlain = i16x8.splat(interpretationOf(f) == NONE ? 0 : -1)
      last = i16x8.splat(load<u8>(LAST_WIDTHS + f))
    }
    const any = v128.shuffle<u16>(least, least, 0, 0, 0, 0, 0, 0, 0, 0)

    // Layouts that can start here.
    const badFit = v128.load(States.BAD_FIT + <usize>((traits & Occurrences.FIT) << 4))
    const byAny = v128.add_sat<u16>(any, v128.load(States.BY_ANY))
    const byWidth = v128.add_sat<u16>(v128.swizzle(least, v128.load(States.RIGHT_WIDTH)), v128.load(States.BY_WIDTH))
    const byPlain = v128.add_sat<u16>(leastPlain, v128.load(States.BY_PLAIN))
    let begun = v128.or(v128.min<u16>(byAny, v128.min<u16>(byWidth, byPlain)), badFit)
    begun = v128.or(begun, v128.load(States.BAD_BEGIN + <usize>(((traits & Occurrences.FAR) >> 7) << 4)))
    if ((traits & Occurrences.TIED) != 0) begun = ones
    const strideOn = v128.or(v128.swizzle(cost, v128.load(States.TO_STRIDE_ON)), v128.load(States.BY_STRIDE))

    // Layouts that can continue.
    let stay = v128.or(
      v128.or(steps, badFit),
      v128.load(States.BAD_OTHER + <usize>(((traits & Occurrences.OTHER) >> 3) << 4)),
    )
    stay = v128.or(stay, v128.load(States.BAD_UNSTEADY + <usize>(((traits & Occurrences.UNSTEADY) >> 4) << 4)))
    stay = v128.or(
      stay,
      v128.load(States.BAD_MOVE + <usize>(((traits >> Occurrences.MOVE_SHIFT) & Occurrences.MOVE) << 4)),
    )
    const here = <i64>(load<u64>(Occurrences.VALUES + ((<usize>i) << 3)) - Occurrences.origin)
    for (let b: u32 = 0; b < States.bases; b++) {
      const range = max(here, load<i64>(HIGH + (b << 3))) - min(here, load<i64>(LOW + (b << 3)))
      const isOut = range >= load<i64>(States.BASE_RANGE + (b << 3)) || (traits & Occurrences.FAR) != 0
      stay = v128.or(stay, v128.and(v128.load(States.BASE_LANE + (b << 4)), i16x8.splat(isOut ? -1 : 0)))
    }

    const best = v128.min<u16>(v128.min<u16>(stay, strideOn), begun)
    // The lower bits of all lanes, as bytes.
    const how = v128.and(best, i16x8.splat(31))
    v128.store_lane<u64>(BACK + ((<usize>i) << 3), v128.narrow<i16>(how, how), 0)
    if (States.bases != 0) {
      v128.store(BEST, best)
      for (let b: u32 = 0; b < States.bases; b++) {
        const goesOn = (load<u16>(BEST + <usize>(load<u8>(States.BASE_STATE + b) << 1)) & States.HOW) == 0
        store<i64>(LOW + (b << 3), goesOn ? min(here, load<i64>(LOW + (b << 3))) : here)
        store<i64>(HIGH + (b << 3), goesOn ? max(here, load<i64>(HIGH + (b << 3))) : here)
      }
    }
    // A state without a width takes the last width of the state it comes from.
    const from = v128.add<i16>(v128.mul<i16>(v128.and(best, i16x8.splat(7)), i16x8.splat(0x202)), i16x8.splat(0x100))
    last = v128.bitselect(v128.load(States.OWN_WIDTH), v128.swizzle(last, from), v128.load(States.HAS_WIDTH))
    // Costs are relative to the cheapest state before. No real cost reaches the value that stands for "no way".
    const next = v128.sub_sat<u16>(
      v128.add_sat<u16>(v128.and(best, costBits), v128.load(States.TAKES)),
      v128.and(any, costBits),
    )
    cost = v128.or(next, v128.gt<u16>(next, i16x8.splat(0x3fff)))
    cost = v128.and(cost, costBits)
  }
  v128.store(COST, cost)
  v128.store(LAST_WIDTH, last)
}

/** The state in which the best path ends. */
function end(plainWidth: u32): u32 {
  let best: u32 = 0
  let bestCost: u32 = 0xffff_ffff
  for (let s: u32 = 0; s < States.count; s++) {
    const cost = <u32>load<u16>(COST + <usize>(s << 1))
    if (cost >= 0x4000) continue
    const isPlain = States.kindOf(s) == NONE
    const isThere = (isPlain ? States.stateWidth(s) : <u32>load<u16>(LAST_WIDTH + <usize>(s << 1))) == plainWidth
    const home: u32 = isPlain ? (isThere ? 0 : States.HEAD) : isThere ? States.HEAD : 2 * States.HEAD
    const total = (cost >> States.COST_SHIFT) + home
    if (total < bestCost) {
      best = s
      bestCost = total
    }
  }
  return best
}

/** Follows the best path back from its end. */
function trace(state: u32): void {
  let n: u32 = 0
  for (let i = Occurrences.occurrences; i > 0;) {
    const step = <u32>load<u8>(BACK + ((<usize>--i) << 3) + state)
    if ((step & States.HOW) == 0) continue
    if (States.kindOf(state) != States.STRIDE_ON) {
      store<u16>(BEGINNINGS + ((<usize>n) << 2), <u16>i)
      store<u16>(BEGINNINGS + ((<usize>n) << 2), <u16>state, 2)
      n++
    }
    state = step & States.FROM
  }
  beginnings = n
}

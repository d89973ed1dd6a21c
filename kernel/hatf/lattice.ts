/**
 * The cheapest sequence of layouts for the occurrences of a field: the shortest path through a lattice with a column
 * for each occurrence and a state for each layout (the Viterbi algorithm). A step costs the bytes of the occurrence,
 * plus those of the metadata where the layout changes.
 *
 * Whether a distance fits depends on how its run began, and the width that an interpretation starts with depends on
 * what came before. Each state keeps these facts for its own best path only, so the result may be a few bytes longer
 * than the shortest path. Paths of plain widths alone are exact and always among the candidates.
 *
 * All states (at most 8) are processed together, each in a 16-bit lane. A step to a state is a number: the upper bits
 * hold its cost above the cheapest state, then come 2 bits for how it is taken and 3 bits for the state it comes from.
 * The smallest number is the best step; ties are broken by the lower bits. All bits set means that there is no way.
 */

import {
  FAR,
  FIT,
  MOVE,
  MOVE_SHIFT,
  occurrences,
  origin,
  OTHER,
  TIED,
  TRAITS,
  UNSTEADY,
  VALUES,
  widthsOf,
  isFar,
} from './occurrences'
import {
  BASE_OFFSET,
  BASES,
  DEFAULT,
  DELTA,
  F_ADDRESS,
  F_ATTRIBUTES,
  interpretationOf,
  LAST_WIDTHS,
  LAYOUTS,
  NONE,
  STRIDE,
  TOUCHED,
  V1,
  widthOf,
} from './state'

/**
 * A stride is free for the second occurrence of its run and fixed from then on: this is the state after it is fixed.
 */
const STRIDE_ON: u32 = STRIDE + 1
const MAX_STATES: u32 = 8
const HEAD: u32 = 4

/** The cost of a step starts above these bits. */
const COST_SHIFT: u32 = 5
/**
 * How a step is taken: by staying (first in a tie); with a new interpretation and width; with a new interpretation and
 * the same width; with a new width only.
 */
const FROM_ANY: u32 = 1 << 3
const FROM_WIDTH: u32 = 2 << 3
const FROM_PLAIN: u32 = 3 << 3
const HOW: u32 = 3 << 3
const FROM: u32 = 7
const NO_WAY: u16 = 0xffff

/** Per state, a code of interpretation or `STRIDE_ON`, and a width code. */
const KINDS: usize = memory.data(8)
const STATE_WIDTHS: usize = memory.data(8)
/** The number of states in use. */
let count: u32 = 0

/** Per occurrence and state, how it is reached: the lower bits of the best step. */
const BACK: usize = memory.data(33024)
/** Per start of a layout, the last first: its occurrence and its state (16 bits each). */
export const BEGINNINGS: usize = memory.data(16512)
/** The number of layout starts. */
export let beginnings: u32 = 0

/** Lanes that forbid staying, by trait; and lanes that forbid everything. */
const BAD_FIT: usize = memory.data(128)
const BAD_OTHER: usize = memory.data(32)
const BAD_UNSTEADY: usize = memory.data(32)
const BAD_MOVE: usize = memory.data(64)
const BAD_BEGIN: usize = memory.data(32)
/** Lanes added to come from any state, from one of the same width, from one that stores plain values. */
const BY_ANY: usize = memory.data(16)
const BY_WIDTH: usize = memory.data(16)
const BY_PLAIN: usize = memory.data(16)
/** Byte selection, and extra bits, for the step from `STRIDE` to `STRIDE_ON`. */
const TO_STRIDE_ON: usize = memory.data(16)
const BY_STRIDE: usize = memory.data(16)
/** Lanes: the bytes an occurrence takes; the widths of states that have one; a mask of those states. */
const TAKES: usize = memory.data(16)
const OWN_WIDTH: usize = memory.data(16)
const HAS_WIDTH: usize = memory.data(16)
const NOT_PLAIN: usize = memory.data(16)
/** Byte selection of the smallest steps by last width, for each state. */
const RIGHT_WIDTH: usize = memory.data(16)
const COST: usize = memory.data(16)
const LAST_WIDTH: usize = memory.data(16)
const BEST: usize = memory.data(16)

/**
 * For states with a base: their numbers, lane masks, ends of their ranges, and the smallest and largest distance since
 * their run began.
 */
let bases: u32 = 0
const BASE_STATE: usize = memory.data(8)
const BASE_LANE: usize = memory.data(128)
const BASE_RANGE: usize = memory.data(64)
const LOW: usize = memory.data(64)
const HIGH: usize = memory.data(64)

// @ts-ignore: decorator
@inline
export function kindOf(state: u32): u32 {
  return load<u8>(KINDS + state)
}

// @ts-ignore: decorator
@inline
export function stateWidth(state: u32): u32 {
  return load<u8>(STATE_WIDTHS + state)
}

// @ts-ignore: decorator
@inline
function setLane(vectors: usize, vector: u32, lane: u32, value: u16): void {
  store<u16>(vectors + <usize>((vector << 4) + (lane << 1)), value)
}

/**
 * Finds the layouts of the gathered occurrences and stores them in `BEGINNINGS`.
 * @param fits the width codes that all occurrences fit, as bits
 * @param plainWidth the width that plain storing has reached at the end. Paths that end elsewhere are charged for the
 *   way back there, so that all windows together never take more bytes than plain storing.
 */
export function solve(f: u32, fits: u32, plainWidth: u32): void {
  choose(f, fits, plainWidth)
  describe(f)
  const isWithin = start(f)
  walk(f, isWithin)
  trace(end(plainWidth))
}

/** Picks the layouts worth considering: none that stores more than the width that fits the whole window. */
function choose(f: u32, fits: u32, plainWidth: u32): void {
  const from = LAYOUTS + <usize>(f * 18)
  const n = load<u8>(from)
  let enough: u32 = 0xff
  for (let k: u32 = 0; k < n; k++) {
    const width = <u32>load<u8>(from + (k << 1), 2)
    if (load<u8>(from + (k << 1), 1) == NONE && ((fits >> width) & 1) != 0) enough = min(enough, width)
  }
  count = 0
  for (let k: u32 = 0; k < n; k++) {
    const interpretation = <u32>load<u8>(from + (k << 1), 1)
    const width = <u32>load<u8>(from + (k << 1), 2)
    const isCurrent = interpretation == interpretationOf(f) && width == widthOf(f)
    const isUseful = interpretation == NONE ? width <= enough || width == plainWidth : width < enough
    if (!isCurrent && !isUseful) continue
    addState(interpretation, width)
    if (interpretation == STRIDE) addState(STRIDE_ON, width)
  }
}

function addState(kind: u32, width: u32): void {
  store<u8>(KINDS + count, <u8>kind)
  store<u8>(STATE_WIDTHS + count, <u8>width)
  count++
}

/** The position of a width among the smallest steps. */
// @ts-ignore: decorator
@inline
function slotOf(width: u32): u32 {
  return width == 0 ? 2 : width == 1 ? 3 : width == 2 ? 4 : width == 4 ? 5 : width == 8 ? 6 : width == V1 ? 7 : 1
}

/** Fills the lanes of all states. */
function describe(f: u32): void {
  memory.fill(BAD_FIT, 0xff, 128)
  memory.fill(BAD_OTHER, 0, 32)
  memory.fill(BAD_UNSTEADY, 0, 32)
  memory.fill(BAD_MOVE, 0, 64)
  memory.fill(BAD_BEGIN, 0, 32)
  memory.fill(BY_ANY, 0xff, 16)
  memory.fill(BY_WIDTH, 0xff, 16)
  memory.fill(BY_PLAIN, 0xff, 16)
  memory.fill(TO_STRIDE_ON, 0, 16)
  memory.fill(BY_STRIDE, 0xff, 16)
  memory.fill(TAKES, 0, 16)
  memory.fill(OWN_WIDTH, 0, 16)
  memory.fill(HAS_WIDTH, 0, 16)
  memory.fill(NOT_PLAIN, 0xff, 16)
  memory.fill(RIGHT_WIDTH, 0, 16)
  bases = 0
  for (let t: u32 = 0; t < count; t++) {
    const kind = kindOf(t)
    const width = stateWidth(t)
    for (let fit: u32 = 0; fit < 8; fit++)
      setLane(BAD_FIT, fit, t, kind == NONE && ((widthsOf(f, fit) >> width) & 1) == 0 ? NO_WAY : 0)
    const takes: u32 = f != F_ATTRIBUTES ? width : width < V1 ? 0 : width - V1 + 1
    setLane(TAKES, 0, t, <u16>(takes << COST_SHIFT))
    if (width != 0) {
      setLane(OWN_WIDTH, 0, t, <u16>width)
      setLane(HAS_WIDTH, 0, t, NO_WAY)
    }
    const entry: u32 = kind == NONE ? HEAD : kind == STRIDE ? HEAD + 16 : HEAD + 8
    if (kind == STRIDE_ON) {
      setLane(BAD_UNSTEADY, 1, t, NO_WAY)
      setLane(TO_STRIDE_ON, 0, t, <u16>(((t - 1) << 1) * 0x101 + 0x100))
      setLane(BY_STRIDE, 0, t, <u16>(FROM_ANY | (t - 1)))
    } else if (kind == STRIDE) {
      setLane(BAD_OTHER, 0, t, NO_WAY)
      setLane(BAD_OTHER, 1, t, NO_WAY)
      setLane(BY_ANY, 0, t, <u16>((entry << COST_SHIFT) | FROM_ANY))
    } else if (kind == DEFAULT) {
      setLane(BAD_OTHER, 1, t, NO_WAY)
      setLane(BY_ANY, 0, t, <u16>((entry << COST_SHIFT) | FROM_ANY))
    } else {
      setLane(BY_ANY, 0, t, <u16>(((entry + HEAD) << COST_SHIFT) | FROM_ANY))
      setLane(BY_WIDTH, 0, t, <u16>((entry << COST_SHIFT) | FROM_WIDTH))
      setLane(RIGHT_WIDTH, 0, t, <u16>((slotOf(width) << 1) * 0x101 + 0x100))
      if (kind == NONE) {
        setLane(NOT_PLAIN, 0, t, 0)
        setLane(BY_PLAIN, 0, t, <u16>((HEAD << COST_SHIFT) | FROM_PLAIN))
      } else if (kind == DELTA) {
        for (let move: u32 = 0; move < 4; move++)
          setLane(BAD_MOVE, move, t, move > (width == 4 ? 2 : width - 1) ? NO_WAY : 0)
      } else {
        setLane(BAD_BEGIN, 1, t, NO_WAY)
        store<u8>(BASE_STATE + bases, <u8>t)
        memory.fill(BASE_LANE + (bases << 4), 0, 16)
        setLane(BASE_LANE, bases, t, NO_WAY)
        store<i64>(BASE_RANGE + (bases << 3), (<i64>1) << (width << 3))
        bases++
      }
    }
  }
}

/** All paths start from the current layout. @returns whether that is one of the states */
function start(f: u32): bool {
  const current = interpretationOf(f)
  const width = widthOf(f)
  // Time, thread, heap and attributes need metadata before their first value, whatever it is.
  const isLaidOut = f <= F_ADDRESS || ((load<u32>(TOUCHED) >> f) & 1) != 0
  const kind = current == STRIDE ? STRIDE_ON : current
  let isWithin = false
  memory.fill(COST, 0xff, 16)
  const last = i16x8.splat(load<u8>(LAST_WIDTHS + f))
  v128.store(LAST_WIDTH, v128.bitselect(v128.load(OWN_WIDTH), last, v128.load(HAS_WIDTH)))
  for (let s: u32 = 0; s < count; s++) {
    if (!isLaidOut || kindOf(s) != kind || stateWidth(s) != width) continue
    setLane(COST, 0, s, 0)
    isWithin = true
  }
  for (let b: u32 = 0; b < bases; b++) {
    const base = <i64>(load<u64>(BASES + ((<usize>f) << 3)) - origin)
    const half = load<i64>(BASE_RANGE + (b << 3)) >> 1
    const isKnown = current == BASE_OFFSET && stateWidth(load<u8>(BASE_STATE + b)) == width && !isFar(base)
    // A range that is too wide for any distance.
    store<i64>(LOW + (b << 3), isKnown ? base - half : i64.MIN_VALUE >> 2)
    store<i64>(HIGH + (b << 3), isKnown ? base + half - 1 : i64.MAX_VALUE >> 2)
  }
  return isWithin
}

/** The minimum of the lanes of each of two vectors: the upper halves, the lower halves, and so on. */
// @ts-ignore: decorator
@inline
function leastOf2(a: v128, b: v128): v128 {
  return v128.min<u16>(v128.shuffle<u64>(a, b, 0, 2), v128.shuffle<u64>(a, b, 1, 3))
}

// @ts-ignore: decorator
@inline
function leastOf4(a: v128, b: v128): v128 {
  return v128.min<u16>(v128.shuffle<u32>(a, b, 0, 2, 4, 6), v128.shuffle<u32>(a, b, 1, 3, 5, 7))
}

// @ts-ignore: decorator
@inline
function leastOf8(a: v128, b: v128): v128 {
  return v128.min<u16>(
    v128.shuffle<u16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
    v128.shuffle<u16>(a, b, 1, 3, 5, 7, 9, 11, 13, 15),
  )
}

/** The smallest steps where the only step comes from a layout before the window that is none of the states. */
function fromBefore(f: u32): v128 {
  v128.store(BEST, i16x8.replace_lane(i16x8.splat(-1), 0, 0))
  setLane(BEST, 0, slotOf(load<u8>(LAST_WIDTHS + f)), 0)
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
  for (let i: u32 = 0; i < occurrences; i++) {
    const traits = <u32>load<u16>(TRAITS + ((<usize>i) << 1))
    // The smallest steps to come from: of all states, of plain states, and of the states of each last width.
    const steps = v128.or(cost, lanes)
    const plain = v128.or(steps, v128.load(NOT_PLAIN))
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
    const badFit = v128.load(BAD_FIT + <usize>((traits & FIT) << 4))
    const byAny = v128.add_sat<u16>(any, v128.load(BY_ANY))
    const byWidth = v128.add_sat<u16>(v128.swizzle(least, v128.load(RIGHT_WIDTH)), v128.load(BY_WIDTH))
    const byPlain = v128.add_sat<u16>(leastPlain, v128.load(BY_PLAIN))
    let begun = v128.or(v128.min<u16>(byAny, v128.min<u16>(byWidth, byPlain)), badFit)
    begun = v128.or(begun, v128.load(BAD_BEGIN + <usize>(((traits & FAR) >> 7) << 4)))
    if ((traits & TIED) != 0) begun = ones
    const strideOn = v128.or(v128.swizzle(cost, v128.load(TO_STRIDE_ON)), v128.load(BY_STRIDE))

    // Layouts that can continue.
    let stay = v128.or(v128.or(steps, badFit), v128.load(BAD_OTHER + <usize>(((traits & OTHER) >> 3) << 4)))
    stay = v128.or(stay, v128.load(BAD_UNSTEADY + <usize>(((traits & UNSTEADY) >> 4) << 4)))
    stay = v128.or(stay, v128.load(BAD_MOVE + <usize>(((traits >> MOVE_SHIFT) & MOVE) << 4)))
    const here = <i64>(load<u64>(VALUES + ((<usize>i) << 3)) - origin)
    for (let b: u32 = 0; b < bases; b++) {
      const range = max(here, load<i64>(HIGH + (b << 3))) - min(here, load<i64>(LOW + (b << 3)))
      const isOut = range >= load<i64>(BASE_RANGE + (b << 3)) || (traits & FAR) != 0
      stay = v128.or(stay, v128.and(v128.load(BASE_LANE + (b << 4)), i16x8.splat(isOut ? -1 : 0)))
    }

    const best = v128.min<u16>(v128.min<u16>(stay, strideOn), begun)
    // The lower bits of all lanes, as bytes.
    const how = v128.and(best, i16x8.splat(31))
    v128.store_lane<u64>(BACK + ((<usize>i) << 3), v128.narrow<i16>(how, how), 0)
    if (bases != 0) {
      v128.store(BEST, best)
      for (let b: u32 = 0; b < bases; b++) {
        const goesOn = (load<u16>(BEST + <usize>(load<u8>(BASE_STATE + b) << 1)) & HOW) == 0
        store<i64>(LOW + (b << 3), goesOn ? min(here, load<i64>(LOW + (b << 3))) : here)
        store<i64>(HIGH + (b << 3), goesOn ? max(here, load<i64>(HIGH + (b << 3))) : here)
      }
    }
    // A state without a width takes the last width of the state it comes from.
    const from = v128.add<i16>(v128.mul<i16>(v128.and(best, i16x8.splat(7)), i16x8.splat(0x202)), i16x8.splat(0x100))
    last = v128.bitselect(v128.load(OWN_WIDTH), v128.swizzle(last, from), v128.load(HAS_WIDTH))
    // Costs are relative to the cheapest state before. No real cost reaches the value that stands for "no way".
    const next = v128.sub_sat<u16>(
      v128.add_sat<u16>(v128.and(best, costBits), v128.load(TAKES)),
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
  for (let s: u32 = 0; s < count; s++) {
    const cost = <u32>load<u16>(COST + <usize>(s << 1))
    if (cost >= 0x4000) continue
    const isPlain = kindOf(s) == NONE
    const isThere = (isPlain ? stateWidth(s) : <u32>load<u16>(LAST_WIDTH + <usize>(s << 1))) == plainWidth
    const home: u32 = isPlain ? (isThere ? 0 : HEAD) : isThere ? HEAD : 2 * HEAD
    const total = (cost >> COST_SHIFT) + home
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
  for (let i = occurrences; i > 0;) {
    const step = <u32>load<u8>(BACK + ((<usize>--i) << 3) + state)
    if ((step & HOW) == 0) continue
    if (kindOf(state) != STRIDE_ON) {
      store<u16>(BEGINNINGS + ((<usize>n) << 2), <u16>i)
      store<u16>(BEGINNINGS + ((<usize>n) << 2), <u16>state, 2)
      n++
    }
    state = step & FROM
  }
  beginnings = n
}

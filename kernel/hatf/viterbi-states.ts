/** The states of the lattice for a field, and the lanes that describe them. See viterbi.ts. */

import { DEFAULT, DELTA, F_ATTRIBUTES, LAYOUTS_BYTES, NONE, STRIDE, V1 } from '../../lib/kernel/layouts/hatf'
import { widthsOf } from './occurrences'
import { interpretationOf, LAYOUTS, widthOf } from './state'

/**
 * A stride is free for the second occurrence of its run and fixed from then on: this is the state after it is fixed.
 */
export const STRIDE_ON: u32 = STRIDE + 1
export const MAX_STATES: u32 = 8
export const HEAD: u32 = 4

/** The cost of a step starts above these bits. */
export const COST_SHIFT: u32 = 5
/**
 * The kinds of steps: staying (first in a tie); with a new interpretation and width; with a new interpretation and the
 * same width; with a new width only.
 */
const FROM_ANY: u32 = 1 << 3
const FROM_WIDTH: u32 = 2 << 3
const FROM_PLAIN: u32 = 3 << 3
export const HOW: u32 = 3 << 3
export const FROM: u32 = 7
const NO_WAY: u16 = 0xffff

/** Per state, a code of interpretation or `STRIDE_ON`, and a width code. */
export const KINDS: usize = memory.data(8)
const STATE_WIDTHS: usize = memory.data(8)
/** The number of states in use. */
export let count: u32 = 0

/** Lanes that forbid staying, by trait; and lanes that forbid everything. */
export const BAD_FIT: usize = memory.data(128)
export const BAD_OTHER: usize = memory.data(32)
export const BAD_UNSTEADY: usize = memory.data(32)
export const BAD_MOVE: usize = memory.data(64)
export const BAD_BEGIN: usize = memory.data(32)
/** Lanes added to come from any state, from one of the same width, from one that stores plain values. */
export const BY_ANY: usize = memory.data(16)
export const BY_WIDTH: usize = memory.data(16)
export const BY_PLAIN: usize = memory.data(16)
/** Byte selection, and extra bits, for the step from `STRIDE` to `STRIDE_ON`. */
export const TO_STRIDE_ON: usize = memory.data(16)
export const BY_STRIDE: usize = memory.data(16)
/** Lanes: the bytes an occurrence takes; the widths of states that have one; a mask of those states. */
export const TAKES: usize = memory.data(16)
export const OWN_WIDTH: usize = memory.data(16)
export const HAS_WIDTH: usize = memory.data(16)
export const NOT_PLAIN: usize = memory.data(16)
/** Byte selection of the smallest steps by last width, for each state. */
export const RIGHT_WIDTH: usize = memory.data(16)
/** For states with a base: their numbers, lane masks and the ends of their ranges. */
export let bases: u32 = 0
export const BASE_STATE: usize = memory.data(8)
export const BASE_LANE: usize = memory.data(128)
export const BASE_RANGE: usize = memory.data(64)

// @ts-ignore: decorator
@inline
export function kindOf(state: u32): u32 {
  return load<u8>(KINDS + state)
}

export function stateWidth(state: u32): u32 {
  return load<u8>(STATE_WIDTHS + state)
}

export function setLane(vectors: usize, vector: u32, lane: u32, value: u16): void {
  store<u16>(vectors + <usize>((vector << 4) + (lane << 1)), value)
}

/** Picks the layouts worth considering: none that stores more than the width that fits the whole window. */
export function choose(f: u32, fits: u32, plainWidth: u32): void {
  const from = LAYOUTS + <usize>(f * LAYOUTS_BYTES)
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
export function slotOf(width: u32): u32 {
  return width == 0 ? 2 : width == 1 ? 3 : width == 2 ? 4 : width == 4 ? 5 : width == 8 ? 6 : width == V1 ? 7 : 1
}

/** Fills the lanes of all states. */
export function describe(f: u32): void {
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

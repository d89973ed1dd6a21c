/**
 * Decisions whose probability is mixed from predictions in up to eight contexts. `ask` begins one, `context` adds a
 * context, and `mix` codes the decision. Contexts share one table of slots, which are found by a hash.
 *
 * A slot is a word: the probability of a 1 in 16 bits, the number of decisions seen in 6 bits, a check of the hash in
 * 10 bits. Predictions are added in the logistic domain: ln(p / (1 - p)) with 8 bits after the point.
 */

import { decide, freshen, FRESH } from '../coder'

const SLOTS_LOG: u32 = 20
const SLOTS: usize = memory.data(4_194_304)
const LIMIT: u32 = 60

/** A set of eight weights for each selector and each of four degrees of knowledge, in 1/65536. */
const SELECTORS: u32 = 1024
const WEIGHTS: usize = memory.data(131_072)
const FIRST_WEIGHT: i32 = 22_000
const MOST_WEIGHT: i32 = 1_000_000
const LEARNING: i32 = 12
/** The actual outcomes of predictions in 32 intervals, by selector: probabilities at the 33 bounds. */
const OUTCOMES: usize = memory.data(67_584)

/** The logistic domain, -2047 to 2047. */
const STRETCHED_MOST: i32 = 2047
/** The logistic function of each number of this domain, in 1/65536, and its inverse for 4096 probabilities. */
const SQUASHED: usize = memory.data(16_384)
const STRETCHED: usize = memory.data(8192)
/** 8192 / (n + 1.6): the rate at which a slot adapts after n decisions. */
const RATES: usize = memory.data(256)

/** The slots of the decision, and their predictions; eight of these are two vectors. */
const PLACES: usize = memory.data(32)
const INPUTS: usize = memory.data(32, 16)
let count: u32 = 0
let known: u32 = 0

export function resetMixer(): void {
  freshen(SLOTS, 1 << SLOTS_LOG)
  for (let i: usize = 0; i < 131_072; i += 4) store<i32>(WEIGHTS + i, FIRST_WEIGHT)
  for (let n: u32 = 0; n < 64; n++) store<u32>(RATES + ((<usize>n) << 2), 81_920 / (10 * n + 16))
  fillLogistic()
  for (let i: usize = 0; i < SELECTORS; i++)
    for (let bound = 0; bound < 33; bound++) {
      const x = max<i32>(-STRETCHED_MOST, min<i32>(STRETCHED_MOST, (bound - 16) << 7))
      store<u16>(OUTCOMES + ((i * 33 + <usize>bound) << 1), <u16>squash(x))
    }
}

/** e^(-1/256) in 1/2^32: powers of it give the logistic function. */
const DECAY: u64 = 4_278_222_805

function fillLogistic(): void {
  let power: u64 = 1 << 32
  for (let x = 0; x <= STRETCHED_MOST; x++) {
    const p = <u32>(((<u64>1) << 48) / (((<u64>1) << 32) + power))
    const bounded = min<u32>(65_519, p)
    store<u32>(SQUASHED + ((<usize>(2048 + x)) << 2), bounded)
    store<u32>(SQUASHED + ((<usize>(2048 - x)) << 2), 65_536 - bounded)
    power = (power * DECAY) >> 32
  }
  let x = -STRETCHED_MOST
  for (let p: u32 = 0; p < 4096; p++) {
    while (x < STRETCHED_MOST && squash(x) < p * 16 + 8) x++
    store<i16>(STRETCHED + ((<usize>p) << 1), <i16>x)
  }
}

function squash(x: i32): u32 {
  return load<u32>(SQUASHED + ((<usize>(x + 2048)) << 2))
}

/** Begins a decision. */
export function ask(): void {
  count = 0
  known = 0
  v128.store(INPUTS, i64x2.splat(0))
  v128.store(INPUTS, i64x2.splat(0), 16)
}

/** Adds a context. */
// @ts-ignore: decorator
@inline
export function context(x: u32): void {
  let h = x * 0x9e37_79b1
  h = (h ^ (h >> 13)) * 0xc2b2_ae35
  const at = SLOTS + ((<usize>(h >> (32 - SLOTS_LOG))) << 2)
  const check = h & 1023
  let slot = load<u32>(at)
  if ((slot & 1023) != check) {
    slot = FRESH | check
    store<u32>(at, slot)
  }
  const i = (<usize>count) << 2
  store<u32>(PLACES + i, <u32>at)
  store<i32>(INPUTS + i, load<i16>(STRETCHED + ((<usize>(slot >> 20)) << 1)))
  if (((slot >> 10) & 63) > 2) known++
  count++
}

function sum(v: v128): i32 {
  return i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1) + i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3)
}

function corrected(weights: v128, inputs: v128, error: v128): v128 {
  const step = i32x4.shr_s(i32x4.add(i32x4.mul(inputs, error), i32x4.splat(1 << 13)), 14)
  return i32x4.max_s(i32x4.splat(-MOST_WEIGHT), i32x4.min_s(i32x4.splat(MOST_WEIGHT), i32x4.add(weights, step)))
}

/** Codes the decision. @param selector the number of its weights, below `SELECTORS` */
export function mix(y: u32, selector: u32): u32 {
  const weights = WEIGHTS + ((<usize>(selector * 4 + (known << 2) / (count + 1))) << 5)
  const a = v128.load(INPUTS)
  const b = v128.load(INPUTS, 16)
  const wa = v128.load(weights)
  const wb = v128.load(weights, 16)
  const products = i32x4.add(i32x4.shr_s(i32x4.mul(a, wa), 8), i32x4.shr_s(i32x4.mul(b, wb), 8))
  const x = max<i32>(-STRETCHED_MOST, min<i32>(STRETCHED_MOST, sum(products) >> 8))
  const p = squash(x)
  const scaled = (<u32>(x + 2048)) << 5
  const bound = OUTCOMES + ((<usize>(selector * 33 + (scaled >> 12))) << 1)
  const part = scaled & 4095
  const refined = (load<u16>(bound) * (4096 - part) + load<u16>(bound, 2) * part) >> 12
  y = decide(y, max<u32>(20, min<u32>(65_516, (p + refined) >> 1)))
  const error = i32x4.splat(((<i32>(y << 16) - <i32>p) * LEARNING) >> 6)
  v128.store(weights, corrected(wa, a, error))
  v128.store(weights, corrected(wb, b, error), 16)
  const goal = y != 0 ? 65_535 : 0
  const nearer = part > 2048 ? bound + 2 : bound
  const outcome = <i32>load<u16>(nearer)
  store<u16>(nearer, <u16>(outcome + (goal - outcome) / 48))
  for (let i: usize = 0; i < (<usize>count) << 2; i += 4) {
    const at: usize = load<u32>(PLACES + i)
    const slot = load<u32>(at)
    const n = (slot >> 10) & 63
    const seen = <i32>(slot >> 16)
    const moved = seen + (((goal - seen) * <i32>load<u32>(RATES + ((<usize>n) << 2))) >> 13)
    store<u32>(at, ((<u32>moved) << 16) | ((n < LIMIT ? n + 1 : n) << 10) | (slot & 1023))
  }
  return y
}

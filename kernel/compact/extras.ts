/** The fields that differ from event to event: times, CPUs, numbers, and fields of formats beyond the model. */

import { HAS_TIME } from '../shared/event'
import { bit, entryAt, freshen, isEncoding, mixed, pairBit } from './coder'
import { F_CPU, F_END_TIME, F_INDEX, F_PRESENT, F_SEQUENCE, F_TIME, setValue, valueOf } from '../shared/fields'
import { codeName } from './name-codes'
import { numberOfName, outName } from './names'
import { folded, pairNumber, unfolded } from './numbers'
import { Thread } from './thread'

/** The fields that are coded here. */
export const EXTRA: u32 = 0x2c02_02e8

let lastSequence: u32 = 0
let lastTime: u64 = 0
let lastEnd: u64 = 0
let lastIndex: u64 = 0
let lastPresent: u64 = 0
let lastCpu: u32 = 0
let lastLength: u32 = 0

const FIRST: usize = memory.data(65_536)
const SECOND: usize = memory.data(65_536)
const SCALES: usize = memory.data(64)
/** The numbers of the event's names, by field. */
const NAMES: usize = memory.data(128)

export function resetExtras(): void {
  lastSequence = 0
  lastTime = 0
  lastEnd = 0
  lastIndex = 0
  lastPresent = 0
  lastCpu = 0
  lastLength = 0
  freshen(FIRST, 16_384)
  freshen(SECOND, 16_384)
  freshen(SCALES, 16)
}

/** The number of the name that an extra field of the event has. */
export function extraName(field: u32): u32 {
  return load<u32>(NAMES + ((<usize>field) << 2))
}

/** Codes whether a value is the expected one. */
function isExpected(isSo: bool, field: u32, context: u32): bool {
  const first = entryAt(FIRST, context, field)
  const second = entryAt(SECOND, field, 1)
  return pairBit(isSo ? 1 : 0, first, second, 42) != 0
}

/** Codes a number relative to a nearby one. */
function near(value: u64, from: u64, field: u32, context: u32): u64 {
  return from + unfolded(pairNumber(folded(value - from), field + 300, mixed(context, field), 44))
}

/**
 * Codes the fields of a set.
 * @param descriptor the number of the event's descriptor
 * @param hasBlock whether it concerns a live block, whose index is `ofBlock`
 * @returns the event's index, or 0
 */
export function codeExtras(row: u32, mask: u32, t: Thread, descriptor: u32, hasBlock: bool, ofBlock: u64): u64 {
  let index: u64 = 0
  for (let left = mask & EXTRA; left != 0; left &= left - 1) {
    const field = <u32>ctz(left)
    const value: u64 = isEncoding ? valueOf(field, row) : 0
    let coded: u64
    switch (field) {
      case F_CPU:
        coded = codeCpu(<u32>value, t)
        break
      case F_SEQUENCE:
        coded = codeSequence(<u32>value, descriptor)
        break
      case F_TIME:
        coded = lastTime + codeTime(value - lastTime, 0, descriptor, t.h2)
        lastTime = coded
        break
      case F_END_TIME:
        const from = (mask & HAS_TIME) != 0 ? lastTime : lastEnd
        coded = from + codeTime(value - from, 1, descriptor, lastLength)
        lastLength = 64 - <u32>clz<u64>(coded - from)
        lastEnd = coded
        break
      case F_INDEX:
        coded = index = codeIndex(value, descriptor, hasBlock, ofBlock)
        break
      case F_PRESENT:
        coded = isExpected(value == lastPresent, field, descriptor)
          ? lastPresent
          : near(value, lastPresent, field, descriptor)
        lastPresent = coded
        break
      default:
        const name = codeName(isEncoding ? numberOfName(<u32>value) : 0, field, descriptor)
        store<u32>(NAMES + ((<usize>field) << 2), name)
        if (!isEncoding) setValue(field, row, outName(name))
        continue
    }
    if (!isEncoding) setValue(field, row, coded)
  }
  return index
}

function codeCpu(value: u32, t: Thread): u32 {
  let coded = t.cpu
  if (!isExpected(value == t.cpu, F_CPU, t.cpu)) {
    coded = isExpected(value == lastCpu, F_CPU, 4096 + lastCpu) ? lastCpu : <u32>near(value, 0, F_CPU, lastCpu)
  }
  t.cpu = lastCpu = coded
  return coded
}

function codeSequence(value: u32, descriptor: u32): u32 {
  const next = lastSequence + 1
  const step = <u64>(<i64>(<i32>(value - next)))
  lastSequence = isExpected(value == next, F_SEQUENCE, 0) ? next : next + <u32>near(step, 0, F_SEQUENCE, descriptor)
  return lastSequence
}

/** Codes a difference of times, in thousands or millions of units if possible. */
function codeTime(difference: u64, sort: u32, descriptor: u32, context: u32): u64 {
  const d = <i64>difference
  const isThousands = bit(d % 1000 == 0 ? 1 : 0, SCALES + ((<usize>sort) << 3))
  if (isThousands == 0)
    return unfolded(pairNumber(folded(difference), 400 + sort, mixed(descriptor, context & 0xffff), 46 + sort * 4))
  const isMillions = bit(d % 1_000_000 == 0 ? 1 : 0, SCALES + ((<usize>sort) << 3) + 4)
  const scale: u64 = isMillions != 0 ? 1_000_000 : 1000
  const scaled = folded(<u64>(d / <i64>scale))
  return unfolded(pairNumber(scaled, 402 + sort, mixed(descriptor, context & 0xffff), 46 + sort * 4)) * scale
}

function codeIndex(value: u64, descriptor: u32, hasBlock: bool, ofBlock: u64): u64 {
  const expected = hasBlock ? ofBlock : lastIndex + 1
  const coded = isExpected(value == expected, F_INDEX, descriptor)
    ? expected
    : near(value, lastIndex, F_INDEX, descriptor)
  if (!hasBlock) lastIndex = coded
  return coded
}

import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { REPLAY_HEADER } from '../../../lib/formats/replay/layout.js'
import { u64 } from '../../support/random-event.js'

/** A trace that comes back from the text as it is. */
export interface RandomTrace {
  header: TraceHeader
  events: TraceEvent[]
}

const thread = fc.oneof(fc.bigInt({ min: 1n, max: 40_000n }), u64)
const address = fc.oneof(fc.bigInt({ min: 0x1000n, max: 0x1010n }), u64)
const size = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), u64)
const times = fc.oneof(fc.constant({}), fc.record({ time: u64, endTime: u64 }))
const timesAndPresent = fc.oneof(times, fc.record({ time: u64, endTime: u64, present: size }))

const malloc = fc
  .tuple(fc.record({ thread, address, size }), times)
  .map(([fields, times]): TraceEvent => ({ kind: 'alloc', api: 'malloc', ...fields, ...times }))

const calloc = fc
  .tuple(fc.record({ thread, address }), size, size, times)
  .map(([fields, count, each, times]): TraceEvent => {
    const product = BigInt.asUintN(64, count * each)
    const told = count !== 0n && product === count * each
    return {
      kind: 'alloc',
      api: 'calloc',
      ...fields,
      count,
      size: product,
      ...(!told && { elementSize: each }),
      ...times,
    }
  })

const memalign = fc
  .tuple(fc.record({ thread, address, alignment: size, size }), times)
  .map(([fields, times]): TraceEvent => ({ kind: 'alloc', api: 'memalign', ...fields, ...times }))

const realloc = fc
  .tuple(fc.record({ thread, address, oldAddress: address, size }), timesAndPresent)
  .map(([fields, times]): TraceEvent => ({ kind: 'realloc', api: 'realloc', ...fields, ...times }))

const free = fc
  .tuple(fc.record({ thread, address }), timesAndPresent)
  .map(([fields, times]): TraceEvent => ({ kind: 'free', api: 'free', ...fields, ...times }))

const threadDone = fc
  .record({ thread, address: address.filter((pointer) => pointer !== 0n), endTime: u64 }, { requiredKeys: ['thread'] })
  .map((fields): TraceEvent => ({ kind: 'thread-destroy', ...fields }))

/** Everything that a dump can say. */
export function random(maxLength = 60): fc.Arbitrary<RandomTrace> {
  return fc
    .array(fc.oneof(malloc, calloc, memalign, realloc, free, threadDone), { maxLength })
    .map((events) => ({ header: REPLAY_HEADER, events }))
}

import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { OUTCOMES } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { anyCoreEvent, u64 } from '../../support/random-event.js'

/** A trace that can be written. */
export interface RandomTrace {
  header: TraceHeader
  events: TraceEvent[]
}

/** Values at which narrow fields are just full, signed or not. */
const edge = fc.constantFrom(0x7fn, 0x80n, 0xffn, 0x100n, 0x7fffn, 0x8000n, 0xffffn, 0x7fff_ffffn, 0x8000_0000n)

const anySize = fc.oneof(u64, edge)

/** Few addresses, so that they meet again. */
const anyAddress = fc.oneof(fc.bigInt({ min: 0x1000n, max: 0x1010n }), u64)
const anyThread = fc.oneof(fc.bigInt({ min: 1n, max: 3n }), u64)
const anyAttributes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    ...['hf{', 'hf{}', 'hf{"index":1}', 'hf{"index":1', 'hf'].map((text) => new Uint8Array(Buffer.from(text))),
  ),
  fc.integer({ min: 250, max: 300 }).map((n) => new Uint8Array(n).fill(7)),
)
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '\udc80\udcff', 'heapflow:', 'heapflow:{'),
  fc.constantFrom('heapflow:{"kind":"lost"}', 'heapflow:{"kind":"header","format":"x"}'),
)

const RECORDS = [
  'alloc',
  'free',
  'realloc',
  'heap-create',
  'heap-destroy',
  'thread-create',
  'thread-destroy',
  'comment',
] as const

/**
 * Everything that HATF itself can say: fields that are not always there begin with some event and stay from then on.
 */
export function random(maxLength = 60): fc.Arbitrary<RandomTrace> {
  const start = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: maxLength }), fc.constant(Infinity))
  const raw = fc.record({
    kind: fc.constantFrom(...RECORDS),
    size: anySize,
    address: anyAddress,
    oldAddress: anyAddress,
    outcome: fc.constantFrom(...OUTCOMES),
    thread: anyThread,
    heap: anyAddress,
    time: anySize,
    attributes: fc.option(anyAttributes, { nil: undefined, freq: 3 }),
    text: anyText,
  })
  return fc
    .record({ starts: fc.record({ thread: start, heap: start, time: start }), events: fc.array(raw, { maxLength }) })
    .map(({ starts, events }) => ({
      header: { format: 'hatf' },
      events: events.map((event, i): TraceEvent => {
        const { kind, size, address, oldAddress, outcome, text } = event
        if (kind === 'comment') return { kind, text }
        return {
          kind,
          ...(i >= starts.thread && { thread: event.thread }),
          ...(i >= starts.time && { time: event.time }),
          ...(i >= starts.heap && !kind.startsWith('thread') && { heap: event.heap }),
          ...(['alloc', 'free', 'realloc'].includes(kind) && { address }),
          ...(kind === 'realloc' && { oldAddress }),
          ...(['alloc', 'realloc'].includes(kind) && { size }),
          ...(kind === 'realloc' && { outcome }),
          ...(event.attributes && { attributes: event.attributes }),
        } as TraceEvent
      }),
    }))
}

/** Traces with any field on any kind of event, which HATF can only keep in attributes and comments. */
export function randomAll(maxLength = 40): fc.Arbitrary<RandomTrace[]> {
  const tricky = fc.record({ attributes: anyAttributes, text: anyText }, { requiredKeys: [] })
  const event = fc.tuple(anyCoreEvent, tricky).map(([any, more]): TraceEvent => Object.assign({}, any, more))
  const header: fc.Arbitrary<TraceHeader> = fc.oneof(
    fc.constant({ format: 'hatf' }),
    fc.constant({ format: 'unknown' }),
    fc.constant({ format: 'mtrc', layout: { version: 10501, wordSize: 64, byteOrder: 'little', odd: false } }),
    fc.constant({ format: 'replay', timeUnit: 'ns' as const }),
  )
  // A header of its own per trace: equal ones are those of two traces nevertheless.
  const trace = fc.record({
    header: header.map((shared) => structuredClone(shared)),
    events: fc.array(event, { maxLength }),
  })
  return fc.array(trace, { minLength: 1, maxLength: 3 })
}

/**
 * Traces as programs make them: runs of equal sizes, of addresses in a row or near each other, of one thread, times
 * that go on. What HATF can say shorter, and with values at the edges where that ends.
 */
export function randomRuns(maxRuns = 8): fc.Arbitrary<RandomTrace> {
  const origin = fc.constantFrom(
    0n,
    0x7ff0n,
    0xffff_ff00n,
    0x5555_1234_5678n,
    0x7fff_ffff_ff00n,
    1n << 63n,
    (1n << 64n) - 0x80n,
  )
  const step = fc.oneof(
    edge,
    edge.map((value) => -value),
    fc.constantFrom(0n, 1n, 16n, -48n),
  )
  const run = fc.record({
    length: fc.integer({ min: 1, max: 40 }),
    kind: fc.constantFrom(...RECORDS),
    size: anySize,
    sizeStep: fc.constantFrom(0n, 0n, 1n, 255n),
    origin,
    step,
    jitter: fc.constantFrom(0n, 0n, 3n, 0x79n, 0x7fffn),
    thread: fc.oneof(fc.constantFrom(1n, 1n, 2n, 0x7f00_0000_0700n), u64),
    heap: fc.constantFrom(0n, 1n, 0x1234n),
    timeStep: fc.oneof(fc.constantFrom(0n, 1n, 100n, 40_000n), edge),
    attributes: fc.option(anyAttributes, { nil: undefined, freq: 2 }),
  })
  const given = fc.record({ thread: fc.boolean(), heap: fc.boolean(), time: fc.boolean() })
  return fc.record({ given, runs: fc.array(run, { maxLength: maxRuns }) }).map(({ given, runs }) => {
    const events: TraceEvent[] = []
    const wrap = (value: bigint) => BigInt.asUintN(64, value)
    let time = 5_000_000_000n
    for (const { length, kind, size, sizeStep, origin, step, jitter, thread, heap, timeStep, attributes } of runs) {
      for (let i = 0n; i < length; i++) {
        const address = wrap(origin + i * step + (i % 2n) * jitter)
        const isBlock = kind === 'alloc' || kind === 'free' || kind === 'realloc'
        time = wrap(time + timeStep)
        events.push(
          (kind === 'comment'
            ? { kind, text: 'x' }
            : {
                kind,
                ...(given.thread && { thread }),
                ...(given.time && { time }),
                ...(given.heap && !kind.startsWith('thread') && { heap }),
                ...(isBlock && { address }),
                ...(kind === 'realloc' && {
                  oldAddress: wrap(address + 8n),
                  outcome: OUTCOMES[Number(i % 4n)] as 'none',
                }),
                ...(isBlock && kind !== 'free' && { size: wrap(size + i * sizeStep) }),
                ...(attributes && { attributes }),
              }) as TraceEvent,
        )
      }
    }
    return { header: { format: 'hatf' }, events }
  })
}

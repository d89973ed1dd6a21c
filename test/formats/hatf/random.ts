import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES, type KindName } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'

/** A trace that can be written. */
export interface RandomTrace {
  header: TraceHeader
  events: TraceEvent[]
}

/** 64-bit integers of all magnitudes, small ones often. */
export const u64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: 0xffff_ffffn }),
  fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
  fc.constantFrom(0x7fn, 0x80n, 0x7fffn, 0x8000n, 0x7fff_ffffn, 0x8000_0000n, 0xffff_ffffn, 0x1_0000_0000n, 2n ** 63n, 2n ** 64n - 1n),
)

/** Few addresses, so that they meet again. */
const address = fc.oneof(fc.bigInt({ min: 0x1000n, max: 0x1010n }), u64)
const thread = fc.oneof(fc.bigInt({ min: 1n, max: 3n }), u64)
const attributes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 12 }),
  fc.constantFrom(...['hf{', 'hf{}', 'hf{"index":1}', 'hf{"index":1', 'hf'].map((text) => new Uint8Array(Buffer.from(text)))),
  fc.integer({ min: 250, max: 300 }).map((n) => new Uint8Array(n).fill(7)),
)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '\udc80\udcff', 'heapflow:', 'heapflow:{"kind":"lost"}', 'heapflow:{"kind":"header","format":"x"}', 'heapflow:{'),
)

const RECORDS = ['alloc', 'free', 'realloc', 'heap-create', 'heap-destroy', 'thread-create', 'thread-destroy', 'comment'] as const

/** Everything that HATF itself can say: fields that are not always there begin with some event and stay from then on. */
export function random(maxLength = 60): fc.Arbitrary<RandomTrace> {
  const start = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: maxLength }), fc.constant(Infinity))
  const raw = fc.record({
    kind: fc.constantFrom(...RECORDS), size: u64, address, oldAddress: address, outcome: fc.constantFrom(...OUTCOMES),
    thread, heap: address, time: u64, attributes: fc.option(attributes, { nil: undefined, freq: 3 }), text,
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
        }
      }),
    }))
}

/** Traces with any field on any kind of event, which HATF can only keep in attributes and comments. */
export function randomAll(maxLength = 40): fc.Arbitrary<RandomTrace[]> {
  const values = {
    u64, address, u32: fc.nat({ max: 0xffff_ffff }), i32: fc.integer(), api: fc.constantFrom(...APIS), outcome: fc.constantFrom(...OUTCOMES),
    string: text, list: fc.array(text, { maxLength: 3 }), bytes: fc.oneof(attributes, fc.constant(new Uint8Array(0))),
  }
  const fields = Object.fromEntries(FIELDS.map(({ name, type }) => [name, fc.option<unknown>(values[type], { nil: undefined, freq: 1 })]))
  const event = fc.record({ kind: fc.constantFrom(...KINDS), ...fields }).map((all) => {
    const present = Object.entries(all).filter(([, value]) => value !== undefined)
    return Object.fromEntries(present) as unknown as TraceEvent & { kind: KindName }
  })
  const header: fc.Arbitrary<TraceHeader> = fc.oneof(
    fc.constant({ format: 'hatf' }),
    fc.constant({ format: 'unknown' }),
    fc.constant({ format: 'mtrc', layout: { version: 10501, wordSize: 64, byteOrder: 'little', odd: false } }),
    fc.constant({ format: 'replay', timeUnit: 'ns' as const }),
  )
  return fc.array(fc.record({ header: header.map((h) => ({ ...h })), events: fc.array(event, { maxLength }) }), { minLength: 1, maxLength: 3 })
}

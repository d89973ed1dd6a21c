import fc from 'fast-check'
import { EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { APIS, EVERY_FIELD, KINDS, OUTCOMES, type FieldType } from '../../lib/event/fields.js'
import type { TraceHeader } from '../../lib/event/header.js'

/** Integers of all magnitudes, and few enough small ones to meet again. */
const u64 = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 5n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { weight: 1, arbitrary: fc.constantFrom(2n ** 32n - 1n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n) },
)
const address = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0n, 0x1000n, 0x1010n, 0x7fff_0000_1000n, 0x7fff_0000_2010n) },
  { weight: 1, arbitrary: u64 },
)
const text = fc.constantFrom('', 'main', 'malloc_wrapper', 'operator new', 'internal', 'é', '\udcff')

const VALUES: Record<FieldType, fc.Arbitrary<unknown>> = {
  u64,
  address,
  u32: fc.nat({ max: 0xffff_ffff }),
  i32: fc.integer({ min: -2, max: 2 }),
  api: fc.constantFrom(...APIS),
  outcome: fc.constantFrom(...OUTCOMES),
  string: text,
  list: fc.array(text, { maxLength: 3 }),
  bytes: fc.uint8Array({ maxLength: 4 }),
  json: fc.dictionary(text, u64, { maxKeys: 2 }),
}

/** Any event: fields present and absent in every combination, with values that meet again. */
export const anyEvent: fc.Arbitrary<TraceEvent> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    ...Object.fromEntries(EVERY_FIELD.map(({ name, type }) => [name, fc.option(VALUES[type], { nil: undefined })])),
  })
  .map(
    (all) =>
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as TraceEvent,
  )

const id = fc.bigInt({ min: 1n, max: 4n })
const common = { thread: id }
const place = fc.constantFrom(0x1000n, 0x2000n, 0x3000n, 0x4000n)
const size = fc.constantFrom(0n, 1n, 100n, 5000n)
const nullable = fc.oneof({ weight: 6, arbitrary: place }, { weight: 1, arbitrary: fc.constant(0n) })

/** Blocks that come, move and go at few addresses, in order or not, as real traces have it. */
export const blockEvents: fc.Arbitrary<TraceEvent[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('alloc' as const), address: nullable, size, ...common }),
    fc.record({ kind: fc.constant('existing' as const), address: place, size, ...common }),
    fc.record({ kind: fc.constant('free' as const), address: nullable, ...common }),
    fc.record({ kind: fc.constant('realloc' as const), address: nullable, oldAddress: nullable, size, ...common }),
    fc.record({
      kind: fc.constant('realloc' as const),
      address: nullable,
      oldAddress: nullable,
      size,
      ...common,
      outcome: fc.constantFrom(...OUTCOMES),
    }),
    fc.record({ kind: fc.constant('alloc' as const), index: id, address: place, size, ...common }),
    fc.record({ kind: fc.constant('realloc' as const), index: id, address: place, size, ...common }),
    fc.record({ kind: fc.constant('free' as const), index: id, ...common }),
    fc.record({ kind: fc.constant('comment' as const), text: fc.constant('x') }),
  ),
  { maxLength: 80 },
)

const unindexed = {
  kind: fc.constantFrom('alloc' as const, 'free' as const, 'realloc' as const, 'existing' as const, 'free' as const),
  process: fc.constantFrom(7n, 8n),
  api: fc.constantFrom('malloc' as const, 'pages' as const, 'kfree' as const, 'kmem_cache_free' as const),
  thread: id,
  address: fc.constantFrom(0n, 0x1000n, 0x2000n),
  oldAddress: fc.constantFrom(0n, 0x1000n, 0x2000n),
  size: fc.constantFrom(0n, 10n),
  outcome: fc.constantFrom(...OUTCOMES),
}
const spaced = { ...unindexed, index: fc.constantFrom(0n, 1n, 2n) }

/** Blocks that meet at few addresses in two processes, as pages and as objects of a kernel, or with an index. */
export const spacedEvents: fc.Arbitrary<TraceEvent[]> = fc.array(
  fc.record(spaced, { requiredKeys: ['kind', 'address'] }).map((event) => event as TraceEvent),
  { maxLength: 60 },
)

/** The same, with an address and a process on every event, and no index. */
export const placedEvents: fc.Arbitrary<TraceEvent[]> = fc.array(
  fc.record(unindexed, { requiredKeys: ['kind', 'address', 'process'] }).map((event) => event as TraceEvent),
  { maxLength: 60 },
)

/** Events in batches of at most `size`. */
export function inBatches(events: readonly TraceEvent[], size: number, header: TraceHeader): EventBatch[] {
  const batches: EventBatch[] = []
  for (let i = 0; i < events.length; i += size) {
    const some = events.slice(i, i + size)
    const batch = new EventBatch(some.length, 0, header)
    for (const event of some) batch.push(event)
    batches.push(batch)
  }
  return batches
}

/** All events of some batches. */
export function eventsOf(batches: Iterable<EventBatch>): TraceEvent[] {
  return [...batches].flatMap((batch) => [...batch])
}

export const HEADER: TraceHeader = { format: 'test' }
export const HATF: TraceHeader = { format: 'hatf' }

/** Events about blocks, with more fields. */
export const alloc = (address: bigint, size: bigint, more: object = {}): TraceEvent => ({
  kind: 'alloc',
  address,
  size,
  ...more,
})
export const free = (address: bigint, more: object = {}): TraceEvent => ({ kind: 'free', address, ...more })
export const realloc = (oldAddress: bigint, address: bigint, size: bigint, more: object = {}): TraceEvent => ({
  kind: 'realloc',
  oldAddress,
  address,
  size,
  ...more,
})

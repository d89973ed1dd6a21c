import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { APIS, OUTCOMES } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'

const size = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 0n, max: 20n }) },
  { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 100_000n }) },
  { weight: 1, arbitrary: fc.constantFrom(2n ** 32n - 1n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n) },
)
const address = fc.constantFrom(0n, 0x1000n, 0x2000n, 0x3000n, 0x7fff_0000_1000n)
const name = fc.constantFrom('main', 'parse', 'é', '\udcff')

/** Events about few blocks, with every field that statistics look at. */
const anyEvent = fc
  .record(
    {
      kind: fc.constantFrom('alloc', 'alloc', 'alloc', 'free', 'free', 'realloc', 'existing', 'reserve', 'comment'),
      api: fc.constantFrom(...APIS),
      process: fc.constantFrom(1n, 2n),
      thread: fc.constantFrom(1n, 2n, 2n ** 64n - 5n),
      cpu: fc.integer({ min: -1, max: 2 }),
      time: fc.bigInt({ min: 0n, max: 2n ** 33n }),
      index: fc.constantFrom(0n, 1n, 2n, 2n ** 40n),
      address,
      oldAddress: address,
      size,
      usable: size,
      present: size,
      callSite: fc.constantFrom(0xffff_ffff_8100_0000n, 0n),
      module: fc.constantFrom('./a', 'ext4', ''),
      outcome: fc.constantFrom(...OUTCOMES),
      function: name,
      file: name,
      line: fc.nat({ max: 2 }),
      type: fc.constantFrom('internal', 'Shape'),
      stack: fc.array(name, { maxLength: 3 }),
    },
    { requiredKeys: ['kind', 'address'] },
  )
  .map((event) => event as TraceEvent)

const header = fc
  .record({
    format: fc.constantFrom('mtrc', 'replay'),
    timeUnit: fc.option(fc.constantFrom('ns' as const, 'us' as const), { nil: undefined }),
  })
  .map((all): TraceHeader => JSON.parse(JSON.stringify(all)) as TraceHeader)

/** A stream of some traces; of all their events, only those fields that the stream has. */
export const anyTraces = fc
  .record({
    traces: fc.array(fc.record({ header, events: fc.array(anyEvent, { maxLength: 60 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    without: fc.subarray([
      'api',
      'process',
      'thread',
      'cpu',
      'time',
      'index',
      'usable',
      'present',
      'outcome',
      'function',
      'file',
      'line',
      'stack',
      'callSite',
      'module',
    ] as const),
  })
  .map(({ traces, without }) =>
    traces.map(({ header: own, events }) => ({
      header: own,
      events: events.map(
        (event) =>
          Object.fromEntries(
            Object.entries(event).filter(([key]) => !(without as readonly string[]).includes(key)),
          ) as unknown as TraceEvent,
      ),
    })),
  )

/** The same, where some comments are ends of processes, and some say how much of their process is resident. */
export const tracesWithEnds = anyTraces.map((traces) =>
  traces.map(({ header: own, events }) => ({ header: own, events: events.map(asEnd) })),
)

function asEnd(event: TraceEvent): TraceEvent {
  const { process, time, thread, present } = event
  if (event.kind !== 'comment' || event.address === 0n) return event
  const common = {
    ...(process !== undefined && { process }),
    ...(thread !== undefined && { thread }),
    ...(time !== undefined && { time }),
  }
  if (event.address === 0x1000n) return { kind: 'process-end', ...common }
  return { kind: 'other', ...common, code: 82, ...(present !== undefined && { present }) }
}

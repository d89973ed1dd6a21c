import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { anyEvent } from '../../support/random-event.js'

const HEADERS: readonly TraceHeader[] = [
  { format: 'x' },
  { format: 'replay', timeUnit: 'ns' },
  { format: 'mtrc', layout: { version: 10_501, wordSize: 8, byteOrder: 'little' }, filtered: true },
  { format: 'y', part: { of: 'id', trace: 2, whole: true, first: 7 } },
]

const address = fc.constantFrom(0n, 16n, 32n, 0x5500_0010n, 0x5500_0020n, 0x7fff_0000_0010n, 2n ** 64n - 16n)
const size = fc.constantFrom(0n, 1n, 24n, 24n, 100n, 5000n, 2n ** 40n)
const common = {
  thread: fc.constantFrom(undefined, 1n, 2n, 3n),
  process: fc.constantFrom(undefined, undefined, 7n, 8n),
  time: fc.constantFrom(undefined, 5n, 1000n, 2_000_000n, 1_999_000n),
}

/** Events that make, move and end blocks at few addresses, so that many concern a block that is live. */
const ofBlocks = fc
  .oneof(
    fc.record({ kind: fc.constant('alloc'), address, size, index: fc.constantFrom(undefined, 1n, 2n), ...common }),
    fc.record({ kind: fc.constant('free'), address, size: fc.constantFrom(undefined, 24n, 100n), ...common }),
    fc.record({ kind: fc.constant('realloc'), address, oldAddress: address, size, ...common }),
  )
  .map((event) => Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined)))

/** Traces of any events, most of them about blocks. */
export function random(): fc.Arbitrary<{ header: TraceHeader; events: TraceEvent[] }> {
  return fc.record({
    header: fc.constantFrom(...HEADERS),
    events: fc.array(fc.oneof({ weight: 3, arbitrary: ofBlocks }, { weight: 1, arbitrary: anyEvent }), {
      maxLength: 60,
    }) as fc.Arbitrary<TraceEvent[]>,
  })
}

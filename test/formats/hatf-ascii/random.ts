import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { OUTCOMES } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { u64 } from '../../support/random-event.js'

const address = fc.oneof(fc.bigInt({ min: 0x1000n, max: 0x1010n }), u64)

const event: fc.Arbitrary<TraceEvent> = fc.oneof(
  fc.record({ kind: fc.constant('alloc' as const), size: u64, address }),
  fc.record({ kind: fc.constant('free' as const), address }),
  fc.record({
    kind: fc.constant('realloc' as const),
    outcome: fc.constantFrom(...OUTCOMES),
    size: u64,
    oldAddress: address,
    address,
  }),
  fc.record({
    kind: fc.constantFrom(
      'heap-create' as const,
      'heap-destroy' as const,
      'thread-create' as const,
      'thread-destroy' as const,
    ),
  }),
)

const word = fc.stringMatching(/^[\w .]{0,10}$/)
const head = fc
  .array(
    fc.record({
      key: fc.stringMatching(/^[A-Za-z][\w ]{0,8}$/),
      value: fc.oneof(
        word,
        fc.string({ maxLength: 10 }).map((text) => text.replaceAll('\n', '')),
      ),
    }),
  )
  .map((lines) => lines.map(({ key, value }) => `## ${key}: ${value}\n`).join(''))

/** Traces that come back from the text as they are, with any head: lines, and perhaps the empty one. */
export function random(): fc.Arbitrary<{ header: TraceHeader; events: TraceEvent[] }> {
  const header = fc
    .record({ head, gap: fc.constantFrom('', '\n', '\r\n') })
    .map(({ head, gap }) => ({ format: 'hatf-ascii', layout: { head: head + gap } }))
  return fc.record({ header, events: fc.array(event, { maxLength: 40 }) })
}

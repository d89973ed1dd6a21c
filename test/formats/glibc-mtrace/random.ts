import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { HEADER, HEADER_WITHOUT_START } from '../../../lib/formats/glibc-mtrace/layout.js'
import { u64 } from '../../support/random-event.js'

const address = fc.oneof(fc.bigInt({ min: 0x1000n, max: 0x1010n }), u64)
const something = address.filter((value) => value !== 0n)
const size = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), u64)
const offset = fc
  .tuple(fc.constantFrom('+', '-'), fc.constantFrom('', '0x'), fc.nat())
  .map(([sign, prefix, value]) => ({ fields: { offset: `${sign}${prefix}${value.toString(16)}` } }))
const module = fc.constantFrom(
  './prog',
  'sqlite3',
  '/lib/x86_64-linux-gnu/libc.so.6',
  '/opt/a b/(x):[0x1]/prog',
  'ü\udc80',
  '',
)
const name = fc.constantFrom('main', '_Znwm', '_ZNSt6vectorIiE9push_backEi', '', 'a-z', 'operator|')

/** Where a call came from, as far as glibc knew. */
const place = fc.oneof(
  fc.constant({}),
  fc.record({ callSite: u64 }),
  fc.record({ callSite: something, module }),
  fc.record({ module }),
  fc.record({ callSite: something, module, function: name }),
  fc
    .tuple(fc.record({ callSite: something, function: name, module }), offset)
    .map(([fields, more]) => ({ ...fields, ...more })),
  fc.tuple(fc.record({ function: name }), offset).map(([fields, more]) => ({ ...fields, ...more })),
)

const event = fc
  .tuple(
    fc.oneof(
      fc.record({ kind: fc.constant('alloc' as const), address, size }),
      fc.record({ kind: fc.constant('free' as const), address }),
      fc.record({ kind: fc.constant('realloc' as const), address: something, oldAddress: something, size }),
      fc.record({
        kind: fc.constant('realloc' as const),
        address: fc.constant(0n),
        oldAddress: address,
        size,
      }),
      fc.record({
        kind: fc.constant('realloc' as const),
        address: something,
        size,
        outcome: fc.constant('allocated' as const),
      }),
    ),
    place,
  )
  .map(([fields, at]): TraceEvent => ({ ...fields, ...at }))

const comment = fc
  .constantFrom('= End', '= Start', 'x', '@ ./fk:[0x11b0] + 0x55@ ./fk:[0x11be]', '', '@ [0x1]')
  .map((text): TraceEvent => ({ kind: 'comment', text }))

/** Everything that a trace can say. A lone old block of a realloc is a case of its own, for what follows matters. */
export function random(maxLength = 60): fc.Arbitrary<{ header: TraceHeader; events: TraceEvent[] }> {
  return fc
    .record({
      header: fc.constantFrom(HEADER, HEADER_WITHOUT_START),
      events: fc.array(fc.oneof({ weight: 9, arbitrary: event }, { weight: 1, arbitrary: comment }), { maxLength }),
    })
    .map(({ header, events }) => ({
      header,
      // The first line that says what the header does is no event.
      events: header === HEADER_WITHOUT_START && events[0]?.text === '= Start' ? events.slice(1) : events,
    }))
    .filter(({ header, events }) => header === HEADER || events[0]?.text !== '= Start')
}

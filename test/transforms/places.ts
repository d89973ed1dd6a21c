import fc from 'fast-check'
import type { TraceEvent } from '../../lib/event/trace-event.js'

/** Names that can be taken for what is not known. */
const LOOKALIKES = ['[unknown]', '0x55', 'main [0x10]', 'at w.c:3', '"q"']
const name = fc.constantFrom('', 'f', 'g', 'w.c', 'm.so', ...LOOKALIKES)
const frame = fc.constantFrom(
  'malloc',
  'f',
  'g at w.c:3',
  'at w.c:3',
  'at w.c:4 in m.so',
  'in m.so+0x10',
  'in m.so+0x20 [0x55]',
  '[0x55]',
  '[unknown]',
  '',
  'parse (w.c:3)',
  'main [0x10]',
  '"at w.c"',
  'f in m.so',
  'in "" [0x1]',
  'g at "" in m.so',
)
const place = fc
  .record({
    stack: fc.option(fc.array(frame, { maxLength: 3 }), { nil: undefined }),
    function: fc.option(name, { nil: undefined }),
    file: fc.option(name, { nil: undefined }),
    line: fc.constantFrom(undefined, 0, 3, 4),
    module: fc.option(name, { nil: undefined }),
    callSite: fc.constantFrom(undefined, 0n, 0x55n),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))

const number = fc.bigInt(1n, 12n)
const block = fc.record({ address: number, size: fc.bigInt(0n, 99n), thread: fc.bigInt(1n, 2n) })

/** Events of blocks at places of which anything may be known. */
export const placedEvents: fc.Arbitrary<TraceEvent[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.tuple(block, place).map(([own, at]): TraceEvent => ({ kind: 'alloc', ...own, ...at })) },
    fc
      .tuple(block, number, place)
      .map(([own, oldAddress, at]): TraceEvent => ({ kind: 'realloc', oldAddress, ...own, ...at })),
    number.map((address): TraceEvent => ({ kind: 'free', address })),
  ),
  { maxLength: 40 },
)

/** Whether no name of an event can be taken for what is not known, or for a place. */
export function isPlain(event: TraceEvent): boolean {
  const { function: of = '', stack = [] } = event
  return !LOOKALIKES.includes(of) && !stack.some((text) => text === '[unknown]' || text.startsWith('"'))
}

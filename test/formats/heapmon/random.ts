import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { encodeText } from '../../../lib/event/strings.js'
import { headerOf } from '../../../lib/formats/heapmon/layout.js'
import { name, u64 } from '../../support/random-event.js'
import { splitCrawl } from './reference.js'

/** A trace that comes back from the text as it is. */
export interface RandomTrace {
  header: TraceHeader
  events: TraceEvent[]
}

/** Every way to lay out a file. */
export const header: fc.Arbitrary<TraceHeader> = fc
  .record({ headerRow: fc.boolean(), separator: fc.constantFrom('tab' as const, 'spaces' as const), indent: fc.nat(9) })
  .map(headerOf)

const id = fc.oneof(
  fc.bigInt({ min: 1n, max: 40_000n }),
  u64.filter((value) => value !== 0n),
)
const address = fc.oneof(fc.bigInt({ min: 0x1000n, max: 0x1010n }), u64)
const size = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), u64)

const type = fc
  .oneof(
    fc.constantFrom('TIterator', 'notype', 'unsigned long', 'TArray<int, char>', 'old', 'del', 'a|b', 'novtbl2'),
    name,
  )
  .filter((text) => !/[\t\n]| {2}|^ |[ \r]$|^$|^novtbl$|^(?:novtbl|notype) /.test(text))

const frame = fc.oneof(
  fc.constantFrom(
    'operator|',
    'operator||',
    'A::operator|=(int)',
    'operator',
    'f(unsigned short,long)',
    'B::~B()',
    'my_operator',
    '',
    '=',
    ' x',
  ),
  name,
)

/** Lists of names that can stand in a crawl without being read as others. */
export const stack = fc.array(frame, { minLength: 1, maxLength: 6 }).filter((frames) => {
  const bytes = frames.map((text) => Buffer.from(encodeText(text)).toString('latin1'))
  const crawl = bytes.join('|')
  return !/\n|^[ \t]|[ \t\r]$|^$/.test(crawl) && JSON.stringify(splitCrawl(crawl)) === JSON.stringify(bytes)
})

const names = { requiredKeys: [] }
const who = fc.record({ process: id, thread: id, type, stack }, names)

const alloc = fc
  .tuple(who, fc.record({ time: u64, address, size }))
  .map(([who, fields]): TraceEvent => ({ kind: 'alloc', api: 'new', ...who, ...fields }))
const existing = fc
  .tuple(who, fc.record({ address, size }))
  .map(([who, fields]): TraceEvent => ({ kind: 'existing', ...who, ...fields }))
const free = fc
  .tuple(who, fc.record({ time: u64, address }))
  .map(([who, fields]): TraceEvent => ({ kind: 'free', api: 'delete', ...who, ...fields }))

/** Everything that a file can say. */
export function random(maxLength = 40): fc.Arbitrary<RandomTrace> {
  return fc.record({ header, events: fc.array(fc.oneof(alloc, existing, free), { maxLength }) })
}

import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { SOURCES_VERSION, type MtrcLayout } from '../../../lib/formats/mtrc/layout.js'
import { name, u64 } from '../../support/random-event.js'

/** A trace that comes back from its bytes as it is. */
export interface RandomTrace {
  header: TraceHeader
  events: TraceEvent[]
}

/** All forms of header, with versions on both sides of the one that brought sources. */
export const randomLayout: fc.Arbitrary<MtrcLayout> = fc
  .tuple(
    fc.constantFrom(10_000, 10_300, 10_404, 10_405, 10_501, 10_501, 999_999),
    fc.constantFrom<Pick<MtrcLayout, 'wordSize' | 'longSize'>>(
      { wordSize: 4, longSize: 4 },
      { wordSize: 8, longSize: 8 },
      { wordSize: 8, longSize: 4 },
    ),
    fc.constantFrom('little' as const, 'big' as const),
  )
  .map(([version, sizes, byteOrder]) => ({ version, ...sizes, byteOrder }))

/** Few indices, so that they meet again, as well as any others. */
const index = fc.oneof({ weight: 5, arbitrary: fc.bigInt({ min: 1n, max: 12n }) }, u64)
/** More names than a cache has entries, and the odd one. */
const someName = fc.oneof(
  { weight: 8, arbitrary: fc.nat(40).map((n) => `name${n}`) },
  name.filter((text) => text !== '' && !text.includes('\0')),
)
const source = fc.record(
  { thread: u64, function: someName, file: someName, line: fc.oneof(fc.nat(2000), fc.nat(0xffff_ffff)) },
  { requiredKeys: ['thread', 'line'] },
)

const record = fc.record({
  kind: fc.constantFrom('alloc', 'alloc', 'realloc', 'free', 'free', 'reserve', 'internal'),
  index,
  address: u64,
  size: u64,
  source,
})

/** Everything that a trace can say, with what its indices resolve to. */
export function random(maxLength = 80): fc.Arbitrary<RandomTrace> {
  return fc
    .record({ layout: randomLayout, records: fc.array(record, { maxLength, size: 'max' }) })
    .map(({ layout, records }) => {
      const sources = layout.version >= SOURCES_VERSION
      const live = new Map<bigint, { address: bigint; size: bigint }>()
      const events = records.map(({ kind, index, address, size, source }): TraceEvent => {
        if (kind === 'reserve') return { kind, address, size }
        if (kind === 'internal') return { kind: 'reserve', address, size, type: 'internal' }
        const block = live.get(index)
        if (kind === 'free') {
          live.delete(index)
          return { kind, index, ...block, ...(sources && source) }
        }
        live.set(index, { address, size })
        const moved = kind === 'realloc' && block !== undefined && { oldAddress: block.address }
        return { kind, index, address, size, ...moved, ...(sources && source) } as TraceEvent
      })
      return { header: { format: 'mtrc', layout: { ...layout } }, events }
    })
}

/** Several traces one behind the other, each with its end marker or cut off by the next one's header. */
export function randomStream(): fc.Arbitrary<RandomTrace[]> {
  return fc.array(fc.tuple(random(10), fc.boolean()), { minLength: 1, maxLength: 4 }).map((traces) =>
    traces.map(([{ header, events }, cut], i) => ({
      header: i > 0 && cut ? { ...header, layout: { ...header.layout, follows: 'cut' } } : header,
      events,
    })),
  )
}

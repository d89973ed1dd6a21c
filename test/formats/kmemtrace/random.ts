import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { KindName } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { LAYOUTS, headerOf, type KmemtraceLayout } from '../../../lib/formats/kmemtrace/layout.js'
import { u64 } from '../../support/random-event.js'

/** A trace that comes back from its bytes as it is. */
export interface RandomTrace {
  header: TraceHeader
  events: TraceEvent[]
}

const i32 = fc.oneof(fc.integer(), fc.integer({ min: -2, max: 2 }), fc.constantFrom(2_147_483_647, -2_147_483_648))
const u32 = fc.nat(0xffff_ffff)

/** Rows of whole features, in either byte order; at times what is none. */
function randomAttributes(little: boolean): fc.Arbitrary<Uint8Array> {
  const feature = fc.tuple(fc.nat(255), fc.uint8Array({ maxLength: 9 })).map(([id, data]) => {
    const size = data.length + 3
    return Uint8Array.of(...(little ? [size, 0] : [0, size]), id, ...data)
  })
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .array(feature, { minLength: 1, maxLength: 3 })
        .map((features) => new Uint8Array(Buffer.concat(features))),
    },
    fc.uint8Array({ minLength: 1, maxLength: 20 }),
  )
}

type Fields = Record<string, fc.Arbitrary<unknown>>

/** The events of one layout. No two `lost` events stand together, for they would come back as one. */
function randomEvents(layout: KmemtraceLayout, maxLength: number): fc.Arbitrary<TraceEvent[]> {
  const word = layout.wordSize === 8 ? u64 : u32.map(BigInt)
  const head: Fields = layout.layout === 'relay' ? { sequence: i32 } : { cpu: i32, time: u64 }
  const core: Fields = { ...head, address: word, callSite: word }
  const block: Fields = { ...core, size: word, usable: word, gfpFlags: u32, node: i32 }
  const unnamed = fc.integer({ min: 3, max: 255 })
  const anyId = fc.tuple(fc.integer({ min: 2, max: 255 }), fc.nat(255))
  const attributes = randomAttributes(layout.byteOrder === 'little')
  const record = (kind: KindName, fields: Fields) =>
    fc
      .tuple(fc.record(fields), fc.option(attributes))
      .map(([fields, bytes]): TraceEvent => ({ kind, ...fields, ...(bytes !== null && { attributes: bytes }) }))
  const event = fc.oneof(
    record('alloc', { ...block, api: fc.constantFrom('kmalloc', 'kmem_cache_alloc', 'pages') }),
    record('free', { ...core, api: fc.constantFrom('kfree', 'kmem_cache_free', 'pages') }),
    record('alloc', { ...block, code: unnamed.map((type) => type << 8) }),
    record('free', { ...core, code: unnamed.map((type) => 1 | (type << 8)) }),
    record('other', { ...core, code: anyId.map(([id, type]) => id | (type << 8)) }),
    fc.bigInt({ min: 1n, max: 9n }).map((count): TraceEvent => ({ kind: 'lost', count })),
  )
  return fc
    .array(event, { maxLength, size: 'max' })
    .map((events) => events.filter(({ kind }, i) => kind !== 'lost' || events[i - 1]?.kind !== 'lost'))
}

/** A first event by which the layout is told from all others. */
export function telling({ layout, wordSize }: KmemtraceLayout): TraceEvent {
  const address = wordSize === 8 ? 0xffff_8800_3d7e_1400n : 0xdf8e_4a00n
  const head = layout === 'relay' ? { sequence: 0x1234_5678 } : { cpu: 3, time: 123_456_789n }
  return {
    kind: 'alloc',
    api: 'kmalloc',
    ...head,
    address,
    callSite: address,
    size: 100n,
    usable: 4096n,
    gfpFlags: 0xd0,
    node: -1,
  }
}

/** Everything that a stream can say, in every layout. */
export function random(maxLength = 60): fc.Arbitrary<RandomTrace> {
  return fc.constantFrom(...LAYOUTS).chain((layout) =>
    randomEvents(layout, maxLength).map((events) => ({
      header: headerOf(layout),
      events: [telling(layout), ...events],
    })),
  )
}

import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../../lib/event/batch.js'
import type { FreeEvent } from '../../../../lib/event/trace-event.js'
import { HatfDecoder, HatfEncoder, type HatfEncodeOptions } from '../../../../lib/formats/hatf/index.js'
import { decodeAll, encodeEvents } from '../../../support/drive.js'
import { hex, PLAIN } from '../bytes.js'

/** What the events are written as, which must read back as the events. */
function encode(events: TraceEvent[], options: HatfEncodeOptions): Uint8Array {
  const bytes = encodeEvents(new HatfEncoder({ ...PLAIN, ...options }), events, { format: 'hatf' })
  expect(decodeAll(new HatfDecoder(), bytes).events).toEqual(events)
  return bytes
}

const allocs = (sizes: number[]): TraceEvent[] =>
  sizes.map((size) => ({ kind: 'alloc', size: BigInt(size), address: 0x1000n }))
const frees = (addresses: bigint[], more: Partial<FreeEvent> = {}): TraceEvent[] =>
  addresses.map((address) => ({ kind: 'free', address, ...more }))
/** Numbers from 0 to below n, turned into others. */
const times = <T>(n: number, value: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => value(i))
const A = '00001000'

describe('sizes', () => {
  it('small: a narrow width where that pays', () => {
    expect(encode(allocs([1, 2]), { sizeEncoding: 'small' })).toEqual(hex(`00 00000001 ${A} 00 00000002 ${A}`))
    expect(encode(allocs([1, 2, 3]), { sizeEncoding: 'small' })).toEqual(
      hex(`0b010001 00 01 ${A} 00 02 ${A} 00 03 ${A}`),
    )
    // 300 in 4 bytes of metadata, and back in 4 more, costs more than the one byte for each of the few after it.
    expect(encode(allocs([1, 300, 2, 3]), { sizeEncoding: 'small' })).toEqual(
      hex(`0b010002 00 0001 ${A} 00 012c ${A} 00 0002 ${A} 00 0003 ${A}`),
    )
  })

  it('same: a default for runs, and back', () => {
    expect(encode(allocs([7, 7, 7, 7]), { sizeEncoding: 'same' })).toEqual(hex(`00 00000007 ${A}`.repeat(4)))
    expect(encode(allocs([1, 7, 7, 7, 7, 7, 2]), { sizeEncoding: 'same' })).toEqual(
      hex(`00 00000001 ${A} 0b020001 0000000000000007 ${`00 ${A}`.repeat(5)} 0b020000 00 00000002 ${A}`),
    )
  })

  it('combined: a default only where it beats a narrow width', () => {
    expect(encode(allocs([1, ...times(5, () => 7), 2]), { sizeEncoding: 'combined' })).toEqual(
      encode(allocs([1, ...times(5, () => 7), 2]), { sizeEncoding: 'small' }),
    )
    expect(encode(allocs([1, 2, 3, ...times(17, () => 7), 2]), { sizeEncoding: 'combined' })).toEqual(
      hex(
        `0b010001 00 01 ${A} 00 02 ${A} 00 03 ${A} 0b020001 0000000000000007 ${`00 ${A}`.repeat(17)} 0b020000 00 02 ${A}`,
      ),
    )
  })
})

describe('addresses', () => {
  it('base offsets: signed distances from a round base', () => {
    const near = times(10, (i) => 0x1000n + (i % 2 === 0 ? 5n : -5n))
    expect(encode(frees(near), { addressEncoding: 'base1' })).toEqual(
      hex(`0b020102 0000000000001000 0b010101 ${'01 05 01 fb'.repeat(5)}`),
    )
    // Only one base will do.
    const apart = times(8, (i) => (i % 2 === 0 ? 0x5555_0000_0000n : 0x5555_0000_00ffn))
    expect(encode(frees(apart), { addressEncoding: 'base1' })).toEqual(
      hex(`0b020102 0000555500000080 0b010101 ${'01 80 01 7f'.repeat(4)}`),
    )
    const far = times(8, (i) => 0x7fff_ffff_0000n + 0x2000_0001n * BigInt(i))
    expect(encode(frees(far), { addressEncoding: 'base4' }).length).toBe(12 + 8 * 5)
  })

  it('stride: nothing for addresses in a row', () => {
    expect(encode(frees(times(9, (i) => 0x1000n + 16n * BigInt(i))), { addressEncoding: 'stride' })).toEqual(
      hex(`0b020104 0000000000000ff0 0000000000000010 ${'01'.repeat(9)}`),
    )
    const down = times(9, (i) => 16n - 8n * BigInt(i)).map((address) => BigInt.asUintN(64, address))
    expect(encode(frees(down), { addressEncoding: 'stride' })).toEqual(
      hex(`0b020104 0000000000000018 fffffffffffffff8 ${'01'.repeat(9)}`),
    )
  })

  it('delta: signed distances from the one before, both addresses of a realloc among them', () => {
    const events: TraceEvent[] = [
      ...frees(times(12, (i) => 0x9000n + 0x20n * BigInt(i * i))),
      { kind: 'realloc', size: 1n, oldAddress: 0x9f00n, address: 0x9ef0n, outcome: 'none' },
      ...frees([0x9f80n, 0x9f00n]),
    ]
    expect(encode(events, { addressEncoding: 'delta' })).toEqual(
      hex(`0b020103 0000000000009000 0b010102
      01 0000 01 0020 01 0060 01 00a0 01 00e0 01 0120 01 0160 01 01a0 01 01e0 01 0220 01 0260 01 02a0
      02 00000001 ffe0 fff0 01 0090 01 ff80`),
    )
  })

  it('between the two of a realloc nothing can change', () => {
    const events: TraceEvent[] = [
      ...frees(times(9, (i) => 0x1000n + BigInt(i * i))),
      { kind: 'realloc', size: 1n, oldAddress: 0x1000n, address: 0x7fff_0000_0000n, outcome: 'none' },
      ...frees(times(9, (i) => 0x1000n + BigInt(i * i))),
    ]
    for (const addressEncoding of ['base', 'delta', 'stride', 'best'] as const) encode(events, { addressEncoding })
  })

  it('from one end of the 64 bits to the other', () => {
    const max = (1n << 64n) - 1n
    const ends = [
      0n,
      max,
      1n,
      max - 1n,
      0n,
      max,
      1n << 63n,
      (1n << 63n) - 1n,
      1n << 52n,
      0n,
      1n << 53n,
      (1n << 53n) + 1n,
    ]
    for (const addressEncoding of ['base1', 'base2', 'base4', 'base', 'delta', 'stride', 'best'] as const) {
      encode(frees([...ends, ...ends.toReversed()]), { addressEncoding })
      // The distance from the top to the bottom is 1.
      expect(encode(frees(times(40, (i) => (i % 2 === 0 ? max : 0n))), { addressEncoding }).length).toBeLessThan(400)
      encode(frees(times(40, (i) => BigInt.asUintN(64, (1n << 52n) * BigInt(i)))), { addressEncoding })
    }
    const kernel = frees(times(40, (i) => 0xffff_8880_0000_0000n + BigInt(i * i)))
    expect(encode(kernel, { addressEncoding: 'best' }).length).toBeLessThan(160)
  })
})

describe('other fields', () => {
  it('single: the default until there is another one', () => {
    const events = [...frees([1n, 2n], { thread: 300n }), ...frees([3n, 4n], { thread: 7n })]
    expect(encode(events.slice(0, 2), { threadEncoding: 'single' })).toEqual(
      hex('0b020301 000000000000012c 01 00000001 01 00000002'),
    )
    expect(encode(events, { threadEncoding: 'single' })).toEqual(
      hex('0b020301 000000000000012c 01 00000001 01 00000002 0b020300 0b010302 01 00000003 0007 01 00000004 0007'),
    )
  })

  it('runs: a default for each long run of a thread or heap', () => {
    const run = (heap: bigint) =>
      frees(
        times(20, () => 1n),
        { heap },
      )
    expect(encode([...run(1n), ...run(2n)], { heapEncoding: 'runs' })).toEqual(
      hex(['1', '2'].map((heap) => `0b020401 000000000000000${heap} ${'0100000001'.repeat(20)}`).join('')),
    )
  })

  it('delta: times that go on by little', () => {
    const events = times(20, (i): TraceEvent => ({
      kind: 'free',
      address: 1n,
      time: 1_700_000_000_000_000_000n + BigInt(i * i),
    }))
    const bytes = encode(events, { timeEncoding: 'delta' })
    expect(bytes.subarray(0, 16)).toEqual(hex('0b020203 17979cfe362a0000 0b010201'))
    expect(bytes.length).toBe(16 + 20 * 6)
  })

  it('fitted: attributes without their length, or with it, or none', () => {
    const free = (digits?: string): TraceEvent => ({
      kind: 'free',
      address: 1n,
      ...(digits !== undefined && { attributes: hex(digits) }),
    })
    const record = '01 00000001'
    const options: HatfEncodeOptions = { attributesEncoding: 'fitted' }
    expect(
      encode(
        times(5, () => free('abcd')),
        options,
      ),
    ).toEqual(hex(`0b020500 0b010502 ${`${record} abcd`.repeat(5)}`))
    expect(encode([free('ab'), free('abcdef'), ...times(9, () => free())], options)).toEqual(
      hex(`0b020500 0b010509 ${record} 01 ab ${record} 03 abcdef 0b010500 ${record.repeat(9)}`),
    )
    expect(encode([free('11'.repeat(256))], options).subarray(0, 8)).toEqual(hex('0b020500 0b01050a'))
  })
})

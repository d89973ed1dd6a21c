import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import type { ReallocEvent } from '../../../lib/event/trace-event.js'
import { batchesOf } from '../../../lib/event/batch.js'
import { HatfDecoder, HatfEncoder } from '../../../lib/formats/hatf/index.js'
import { decodeAll, drive, encodeEvents } from '../../support/drive.js'
import { hex, join, PLAIN } from './bytes.js'

const header = { format: 'test' }
const encode = (events: TraceEvent[], options = {}) =>
  encodeEvents(new HatfEncoder({ ...PLAIN, ...options }), events, header)

function losses(events: TraceEvent[], options = {}): Record<string, number> {
  const encoder = new HatfEncoder(options)
  encodeEvents(encoder, events, header)
  return Object.fromEntries(encoder.losses.counts)
}

const at = { address: 0x1000n }

const realloc = (more: Partial<ReallocEvent>): TraceEvent => ({
  kind: 'realloc',
  size: 8n,
  oldAddress: 1n,
  address: 2n,
  ...more,
})

describe('records', () => {
  it('as the defaults have them', () => {
    expect(
      encode([
        { kind: 'alloc', size: 16n, ...at },
        { kind: 'free', ...at },
        { kind: 'heap-create' },
        { kind: 'heap-destroy' },
        { kind: 'thread-create' },
        { kind: 'thread-destroy' },
        { kind: 'comment', text: 'aé' },
      ]),
    ).toEqual(hex('00 00000010 00001000 01 00001000 06 07 08 09 0a00 0003 61c3a9'))
    expect(encode([])).toEqual(hex(''))
  })

  it('widened right before the first record that needs it', () => {
    expect(
      encode([
        { kind: 'free', ...at },
        { kind: 'free', address: 1n << 32n },
        { kind: 'free', ...at },
        { kind: 'alloc', size: 1n << 63n, ...at },
      ]),
    ).toEqual(
      hex(`01 00001000 0b010108 01 0000000100000000 01 0000000000001000
      0b010008 00 8000000000000000 0000000000001000`),
    )
  })

  it('with thread, heap and time from the first event that has them', () => {
    expect(
      encode([
        { kind: 'free', ...at },
        { kind: 'free', ...at, thread: 0n },
        { kind: 'free', ...at, thread: 256n, time: 5n },
        { kind: 'heap-create', thread: 1n, heap: 0x12345n, time: 6n },
        { kind: 'thread-destroy', thread: 70000n, time: 7n },
      ]),
    ).toEqual(
      hex(`01 00001000 0b020300 0b010301 01 00001000 00
      0b010302 0b020200 0b010201 01 00001000 0100 05
      0b020400 0b010404 06 0001 00012345 06
      0b010304 09 00011170 07`),
    )
  })

  it('with attributes in v1, then v2', () => {
    const attributes = new Uint8Array(256).fill(9)
    expect(
      encode([
        { kind: 'free', ...at },
        { kind: 'free', ...at, attributes: hex('0102') },
        { kind: 'free', ...at, attributes },
        { kind: 'free', ...at },
      ]),
    ).toEqual(
      join(
        hex('01 00001000 0b020500 0b010509 01 00001000 02 0102 0b01050a 01 00001000 0100'),
        attributes,
        hex('01 00001000 0000'),
      ),
    )
  })
})

describe('reallocs', () => {
  it('have the records of their alloc and free before them', () => {
    expect(encode([realloc({ outcome: 'none' })])).toEqual(hex('02 00000008 00000001 00000002'))
    expect(encode([realloc({ outcome: 'moved' })])).toEqual(
      hex('00 00000008 00000002 01 00000001 03 00000008 00000001 00000002'),
    )
    expect(encode([realloc({ outcome: 'allocated' })])).toEqual(
      hex('00 00000008 00000002 04 00000008 00000001 00000002'),
    )
    expect(encode([realloc({ outcome: 'freed' })])).toEqual(hex('01 00000001 05 00000008 00000001 00000002'))
  })

  it.each<[string, Partial<ReallocEvent>, TraceEvent['outcome']]>([
    ['to another place', {}, 'moved'],
    ['to the same place', { address: 1n }, 'none'],
    ['of null', { oldAddress: 0n }, 'allocated'],
    ['to size 0', { address: 0n, size: 0n }, 'freed'],
    ['that failed', { address: 0n }, 'none'],
    ['of null that failed', { address: 0n, oldAddress: 0n }, 'none'],
    ['of null to size 0', { address: 0n, oldAddress: 0n, size: 0n }, 'none'],
    ['with equal low words', { address: (1n << 32n) + 1n }, 'moved'],
  ])('%s: the addresses tell the outcome', (_, more, outcome) => {
    expect(decodeAll(new HatfDecoder(), encode([realloc(more)])).events).toEqual([realloc({ ...more, outcome })])
  })

  it('without an old address claim nothing, and are counted', () => {
    const event: TraceEvent = { kind: 'realloc', size: 8n, address: 2n }
    expect(encode([event])).toEqual(hex('02 00000008 00000000 00000002'))
    expect(losses([event])).toEqual({ 'events without oldAddress, written as 0': 1 })
  })

  it('carry thread, heap and time on all of their records, attributes on the last', () => {
    expect(encode([realloc({ outcome: 'moved', thread: 3n, attributes: hex('ff') })])).toEqual(
      hex(`0b020300 0b010301
      00 00000008 00000002 03 01 00000001 03 0b020500 0b010509 03 00000008 00000001 00000002 03 01 ff`),
    )
  })
})

describe('what has no place', () => {
  it('is counted by field and kind', () => {
    expect(
      losses([
        { kind: 'alloc', api: 'malloc', size: 1n, ...at, index: 5n, function: 'f' },
        { kind: 'free', ...at, size: 1n },
        { kind: 'reserve', ...at },
        { kind: 'lost', count: 3n },
        { kind: 'existing', size: 1n, ...at },
        { kind: 'comment', text: 'x', time: 3n },
      ]),
    ).toEqual({
      api: 1,
      index: 1,
      function: 1,
      'size of free': 1,
      'reserve events': 1,
      'lost events': 1,
      'time of comment': 1,
      'existing blocks, written as allocations': 1,
    })
  })

  it('so are zeros that stand for nothing', () => {
    expect(
      losses([
        { kind: 'free', ...at },
        { kind: 'free', ...at, thread: 1n },
        { kind: 'free', ...at },
        { kind: 'alloc', ...at, thread: 1n },
        { kind: 'comment' },
      ]),
    ).toEqual({
      'events without thread, written as 0': 1,
      'events without size, written as 0': 1,
      'comments without text, written as empty ones': 1,
    })
    expect(losses([{ kind: 'free', ...at, attributes: hex('') }])).toEqual({ 'empty attributes': 1 })
  })

  it('is an error in strict mode, after what came before it', () => {
    const before: TraceEvent[] = [
      { kind: 'free', ...at },
      { kind: 'free', ...at, thread: 1n },
    ]
    for (const [event, message] of [
      [{ kind: 'free', ...at, thread: 1n, size: 1n }, /cannot represent size of free/],
      [{ kind: 'reserve', ...at }, /cannot represent reserve/],
      [{ kind: 'free', ...at }, /without thread/],
      [{ kind: 'existing', ...at, size: 1n, thread: 1n }, /existing/],
    ] as const) {
      const { out, error } = drive(new HatfEncoder({ strict: true }), batchesOf([...before, event, ...before], header))
      expect(new Uint8Array(Buffer.concat(out))).toEqual(encode(before))
      expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', format: 'hatf', event: 3 })
      expect(error?.message).toMatch(message)
    }
  })

  it('attributes and comments can be too long', () => {
    const long = 'x'.repeat(65_536)
    const events: TraceEvent[] = [
      { kind: 'free', ...at, attributes: new Uint8Array(Buffer.from(long)) },
      { kind: 'comment', text: long },
      { kind: 'free', ...at },
    ]
    expect(encode(events)).toEqual(hex('01 00001000 01 00001000'))
    expect(losses(events)).toEqual({
      'attributes longer than 65535 bytes': 1,
      'comments and events without a record, longer than 65535 bytes: left out': 1,
    })
    const longest: TraceEvent[] = [{ kind: 'comment', text: long.slice(1) }]
    expect(decodeAll(new HatfDecoder(), encode(longest)).events).toEqual(longest)
    const kept: TraceEvent[] = [
      { kind: 'alloc', size: 1n, ...at, function: long },
      { kind: 'lost', function: long },
      { kind: 'free', ...at },
    ]
    expect(Object.values(losses(kept, { attributes: true }))).toEqual([1, 1])
    const { events: back } = decodeAll(new HatfDecoder(), encode(kept, { attributes: true }))
    expect(back.map(({ kind }) => kind)).toEqual(['alloc', 'free'])
  })
})

it.each([-1, 0.5, NaN, Infinity])('a window of %s records is refused', (window) => {
  expect(() => new HatfEncoder({ window })).toThrow(RangeError)
})

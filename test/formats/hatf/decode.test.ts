import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { HatfDecoder } from '../../../lib/formats/hatf/index.js'
import { decodeAll } from '../../support/drive.js'
import { hex } from './bytes.js'

function decode(digits: string): TraceEvent[] {
  const whole = decodeAll(new HatfDecoder({ fold: false }), hex(digits))
  if (whole.error) throw whole.error
  expect(whole.headers).toEqual([{ format: 'hatf' }])
  for (const size of [1, 7])
    expect(decodeAll(new HatfDecoder({ fold: false }), hex(digits), size).events).toEqual(whole.events)
  return whole.events
}

const THREAD_1 = '0b020300 0b010301'
const HEAP_2 = '0b020400 0b010402'
const TIME_8 = '0b020200 0b010208'

describe('records', () => {
  it('as the defaults have them', () => {
    expect(decode('00 00000010 deadbeef')).toEqual([{ kind: 'alloc', size: 16n, address: 0xdeadbeefn }])
    expect(decode('01 deadbeef')).toEqual([{ kind: 'free', address: 0xdeadbeefn }])
    const outcomes = ['none', 'moved', 'allocated', 'freed'] as const
    outcomes.forEach((outcome, i) => {
      expect(decode(`0${2 + i} 00000020 00001000 00002000`)).toEqual([
        { kind: 'realloc', size: 32n, oldAddress: 0x1000n, address: 0x2000n, outcome },
      ])
    })
    expect(decode('06 07 08 09')).toEqual(
      ['heap-create', 'heap-destroy', 'thread-create', 'thread-destroy'].map((kind) => ({ kind })),
    )
    expect(decode('0a00 0003 61c3a9')).toEqual([{ kind: 'comment', text: 'aé' }])
    expect(decode('0aff 0000')).toEqual([{ kind: 'comment', text: '' }])
  })

  it('with all fields, in the order thread, heap, time, attributes', () => {
    const events = decode(`${THREAD_1} ${HEAP_2} ${TIME_8} 0b020500 0b010509
      00 00000010 00001000 05 0102 00000000000000ff 02 abcd
      01 00001000 05 0102 0000000000000100 00
      02 00000020 00001000 00001000 06 0103 0000000000000101 01 00
      06 05 0102 0000000000000102 00
      07 05 0102 0000000000000103 00
      08 05 0000000000000104 00
      09 05 0000000000000105 01 ff`)
    const common = { thread: 5n, heap: 0x102n }
    expect(events).toEqual([
      { kind: 'alloc', size: 16n, address: 0x1000n, ...common, time: 255n, attributes: hex('abcd') },
      { kind: 'free', address: 0x1000n, ...common, time: 256n },
      {
        kind: 'realloc',
        size: 32n,
        oldAddress: 0x1000n,
        address: 0x1000n,
        outcome: 'none',
        thread: 6n,
        heap: 0x103n,
        time: 257n,
        attributes: hex('00'),
      },
      { kind: 'heap-create', ...common, time: 258n },
      { kind: 'heap-destroy', ...common, time: 259n },
      { kind: 'thread-create', thread: 5n, time: 260n },
      { kind: 'thread-destroy', thread: 5n, time: 261n, attributes: hex('ff') },
    ])
  })

  it('none at all', () => {
    expect(decode('')).toEqual([])
    expect(decode(THREAD_1)).toEqual([])
  })
})

describe('widths', () => {
  it.each([
    ['0', '', 0n],
    ['1', 'fe', 0xfen],
    ['2', 'fedc', 0xfedcn],
    ['4', 'fedcba98', 0xfedcba98n],
    ['8', 'fedcba9876543210', 0xfedcba9876543210n],
  ])('%s bytes', (width, stored, size) => {
    expect(decode(`0b01000${width} 00 ${stored} 00001000`)).toEqual([{ kind: 'alloc', size, address: 0x1000n }])
  })

  it.each([
    ['00', '', undefined],
    ['01', 'aa', 'aa'],
    ['02', 'aabb', 'aabb'],
    ['04', '00000000', '00000000'],
    ['08', '0102030405060708', '0102030405060708'],
    ['09', '00', undefined],
    ['09', '03 010203', '010203'],
    ['0a', '0000', undefined],
    ['0a', `0101${'ee'.repeat(257)}`, 'ee'.repeat(257)],
  ])('%s for attributes', (width, stored, value) => {
    const attributes = value === undefined ? {} : { attributes: hex(value) }
    expect(decode(`0b020500 0b0105${width} 01 00001000 ${stored} 01 00002000 ${stored}`)).toEqual([
      { kind: 'free', address: 0x1000n, ...attributes },
      { kind: 'free', address: 0x2000n, ...attributes },
    ])
  })

  it('change with the interpretation, back to the last that was not zero', () => {
    expect(
      decode(`0b010002 0b020001 0000000000000007 00 00001000
      0b020000 00 1234 00002000
      0b010000 00 00003000
      0b020002 0000000000000000 00 0005 00004000`).map(({ size }) => size),
    ).toEqual([7n, 0x1234n, 0n, 5n])
    // Time has had no width yet: none is stored.
    expect(decode('0b020200 08')).toEqual([{ kind: 'thread-create', time: 0n }])
  })

  it('set before the interpretation are as good', () => {
    expect(decode('0b010302 0b020300 08 1234')).toEqual([{ kind: 'thread-create', thread: 0x1234n }])
  })

  it('under default and stride take bytes that mean nothing', () => {
    expect(decode('0b020001 0000000000000007 0b010002 00 ffff 00001000')).toEqual([
      { kind: 'alloc', size: 7n, address: 0x1000n },
    ])
  })
})

const addresses = (digits: string) => decode(digits).map(({ address }) => address)

describe('interpretations', () => {
  it('default', () => {
    expect(addresses('0b020101 0123456789abcdef 01 01')).toEqual([0x0123456789abcdefn, 0x0123456789abcdefn])
  })

  it('baseOffset, signed, modulo 2^64', () => {
    expect(addresses('0b020102 0000000100000000 01 00000010 01 fffffff0')).toEqual([0x1_0000_0010n, 0xffff_fff0n])
    expect(addresses('0b020102 0000000000000001 0b010101 01 7f 01 80 01 fe')).toEqual([
      128n,
      2n ** 64n - 127n,
      2n ** 64n - 1n,
    ])
    expect(addresses('0b020102 ffffffffffffffff 0b010102 01 0002 01 8000')).toEqual([1n, 2n ** 64n - 32769n])
    expect(addresses('0b020102 8000000000000001 0b010108 01 8000000000000000 01 ffffffffffffffff')).toEqual([
      1n,
      2n ** 63n,
    ])
    expect(addresses('0b020102 0000000000000005 0b010100 01')).toEqual([5n])
  })

  it('delta, from the initial value on, over every record that has the field', () => {
    expect(addresses('0b020103 0000000000001000 0b010101 01 10 00 00000001 f0 01 80')).toEqual([
      0x1010n,
      0x1000n,
      0xf80n,
    ])
    expect(addresses('0b020103 0000000000000000 01 ffffffff 01 00000001')).toEqual([2n ** 64n - 1n, 0n])
  })

  it('delta over both addresses of a realloc', () => {
    expect(decode('0b020103 0000000000001000 0b010101 03 00000001 10 20 01 01')).toEqual([
      { kind: 'realloc', outcome: 'moved', size: 1n, oldAddress: 0x1010n, address: 0x1030n },
      { kind: 'free', address: 0x1031n },
    ])
  })

  it('stride, signed, over both addresses of a realloc', () => {
    expect(addresses('0b020104 ffffffffffffff00 0000000000000100 01 01')).toEqual([0n, 256n])
    expect(decode('0b020104 0000000000001000 fffffffffffffff0 02 00000001 01')).toEqual([
      { kind: 'realloc', outcome: 'none', size: 1n, oldAddress: 0xff0n, address: 0xfe0n },
      { kind: 'free', address: 0xfd0n },
    ])
  })

  it('a width set later leaves the previous value alone', () => {
    expect(addresses('0b020103 0000000000001000 01 00000010 0b010101 01 01')).toEqual([0x1010n, 0x1011n])
  })

  it('attributes take none and default 0', () => {
    expect(decode('0b020500 0b010501 09 aa 0b020501 0000000000000000 09 0b020500 09 bb')).toEqual([
      { kind: 'thread-destroy', attributes: hex('aa') },
      { kind: 'thread-destroy' },
      { kind: 'thread-destroy', attributes: hex('bb') },
    ])
  })
})

describe('fields that are not always there', () => {
  it('are absent until metadata was about them, and then present', () => {
    expect(decode('08 0b020301 0000000000000000 08 0a000000')).toEqual([
      { kind: 'thread-create' },
      { kind: 'thread-create', thread: 0n },
      { kind: 'comment', text: '' },
    ])
    expect(decode('06 0b010200 06')).toEqual([{ kind: 'heap-create' }, { kind: 'heap-create', time: 0n }])
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Input } from '../../lib/bytes/input.js'
import { Sink } from '../../lib/bytes/sink.js'
import { hexValue, writeDecimal, writeDecimal32, writeHex } from '../../lib/bytes/u64.js'
import { U64Map } from '../../lib/bytes/u64-map.js'
import { u64 } from '../support/random-event.js'
import { runs } from '../support/runs.js'

const lo = (value: bigint) => Number(value & 0xffff_ffffn)
const hi = (value: bigint) => Number(value >> 32n)

describe('64-bit integers in words', () => {
  const out = new Uint8Array(40)
  const text = (end: number) => Buffer.from(out.subarray(3, end)).toString()

  test('are written in decimal and hex as BigInt does', () => {
    fc.assert(
      fc.property(u64, (value) => {
        expect(text(writeDecimal(out, 3, lo(value), hi(value)))).toBe(value.toString())
        expect(text(writeHex(out, 3, lo(value), hi(value)))).toBe(value.toString(16))
      }),
      { numRuns: runs(5000) },
    )
  })

  test('at every power of ten and of two, and beside them', () => {
    for (let power = 0n; power < 64n; power++) {
      for (const base of [2n ** power, 10n ** (power % 20n)]) {
        for (const value of [base - 1n, base, base + 1n]) {
          if (value < 0n || value >= 2n ** 64n) continue
          expect(text(writeDecimal(out, 3, lo(value), hi(value)))).toBe(value.toString())
          // Words may come as signed integers too.
          expect(text(writeDecimal(out, 3, lo(value) | 0, hi(value) | 0))).toBe(value.toString())
          expect(text(writeHex(out, 3, lo(value) | 0, hi(value) | 0))).toBe(value.toString(16))
          if (value < 2n ** 32n) expect(text(writeDecimal32(out, 3, Number(value)))).toBe(value.toString())
        }
      }
    }
  })

  test('hex digits of either case', () => {
    for (let char = 0; char < 256; char++) {
      const digit = String.fromCharCode(char)
      expect(hexValue(char)).toBe(/[0-9a-fA-F]/.test(digit) ? parseInt(digit, 16) : -1)
    }
  })
})

describe('U64Map', () => {
  test('does as a Map does, through growth and removal', () => {
    const key = fc.oneof(
      fc.bigInt({ min: 0n, max: 40n }),
      fc.bigInt({ min: 0n, max: 40n }).map((n) => n << 32n),
      u64,
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 400 }), (steps) => {
        const map = new U64Map(1, 16)
        const model = new Map<bigint, number>()
        steps.forEach(([k, add], i) => {
          if (add) {
            map.values[map.add(lo(k), hi(k))] = i
            model.set(k, i)
          } else {
            const slot = map.find(lo(k), hi(k))
            expect(slot >= 0).toBe(model.delete(k))
            if (slot >= 0) map.remove(slot)
          }
        })
        expect(map.size).toBe(model.size)
        for (const [k, value] of model) expect(map.values[map.find(lo(k), hi(k))]).toBe(value)
      }),
    )
  })

  test('a new entry is zero, also where another one was', () => {
    const map = new U64Map(2)
    map.values.fill(7, map.add(5, 0) * 2, map.find(5, 0) * 2 + 2)
    map.remove(map.find(5, 0))
    const slot = map.add(5, 0)
    expect([...map.values.subarray(slot * 2, slot * 2 + 2)]).toEqual([0, 0])
    map.clear()
    expect(map.find(5, 0)).toBe(-1)
  })
})

describe('Input', () => {
  test('joins what is left with what comes, and knows the offset', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.nat(30)), { maxLength: 60 }), (steps) => {
        const input = new Input()
        const all: number[] = []
        let used = 0
        for (const [chunk, use] of steps) {
          input.feed(chunk)
          all.push(...chunk)
          expect([...input.bytes.subarray(input.pos, input.end)]).toEqual(all.slice(used))
          expect(input.bytes.length).toBe(input.end)
          const n = Math.min(use, input.left)
          input.pos += n
          used += n
          expect(input.offset).toBe(used)
        }
      }),
    )
  })

  test('a record that comes byte by byte is not copied for each of them', () => {
    const input = new Input()
    const buffers = new Set<ArrayBufferLike>()
    for (let i = 0; i < 10_000; i++) {
      input.feed(Uint8Array.of(i & 255))
      buffers.add(input.bytes.buffer)
    }
    expect(input.left).toBe(10_000)
    expect(buffers.size).toBeLessThan(40)
  })
})

test('Sink grows, and gives out copies', () => {
  const sink = new Sink(4)
  sink.append(Uint8Array.from({ length: 100 }, (_, i) => i))
  sink.append(Uint8Array.of(1, 2))
  const first = sink.take()
  sink.append(Uint8Array.of(9))
  expect([...first.subarray(98)]).toEqual([98, 99, 1, 2])
  expect([...sink.take()]).toEqual([9])
})

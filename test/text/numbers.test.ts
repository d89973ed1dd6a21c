import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HI, LO } from '../../lib/bytes/u64.js'
import { decimal, gap, hex, signed, unsigned } from '../../lib/text/numbers.js'
import { runs } from '../support/runs.js'

type Reader = (bytes: Uint8Array, p: number, words: Uint32Array, at: number) => number

/** What a reader makes of a text that a line feed ends: the position after it, and the value. */
function read(reader: Reader, text: string): { next: number; value: bigint } {
  const words = new Uint32Array(4)
  const next = reader(new TextEncoder().encode(`${text}\n`), 0, words, 2)
  return { next, value: (BigInt(words[2 + HI]!) << 32n) | BigInt(words[2 + LO]!) }
}

const U64 = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 34n), fc.constant(2n ** 64n - 1n))
const zeros = fc.nat(4).map((n) => '0'.repeat(n))

describe('numbers in text', () => {
  test('are read as BigInt reads them, with any leading zeros', () => {
    const property = fc.property(U64, zeros, fc.constantFrom('', ' ', 'g', '-'), (value, before, after) => {
      for (const [reader, digits] of [
        [decimal, before + value.toString()],
        [unsigned, before + value.toString()],
        [hex, before + value.toString(16)],
        [hex, before + value.toString(16).toUpperCase()],
        [unsigned, `0x${before}${value.toString(16)}`],
        [signed, `0X${before}${value.toString(16)}`],
      ] as const)
        expect(read(reader, digits + after)).toEqual({ next: digits.length, value })
    })
    fc.assert(property, { numRuns: runs(200) })
  })

  test('signed ones are two complements of at most 2^63', () => {
    const property = fc.property(fc.bigInt(0n, 2n ** 63n), (value) => {
      const text = `-${value}`
      expect(read(signed, text)).toEqual({ next: text.length, value: BigInt.asUintN(64, -value) })
    })
    fc.assert(property, { numRuns: runs(200) })
    expect(read(signed, `-${2n ** 63n + 1n}`).next).toBe(~1)
  })

  test.each<[Reader, string, number]>([
    [decimal, '', 0],
    [decimal, 'a', 0],
    [decimal, '-1', 0],
    [decimal, '18446744073709551616', 0],
    [decimal, '100000000000000000000', 0],
    [hex, 'g', 0],
    [hex, '10000000000000000', 0],
    [unsigned, '0x', 2],
    [unsigned, '0x10000000000000000', 2],
    [signed, '--1', 1],
  ])('%o fails at the byte that does not match: %s', (reader, text, at) => {
    const { next } = read(reader, text)

    expect(next).toBe(~at)
  })

  test('a gap is one space or tab at least', () => {
    const bytes = new TextEncoder().encode('a \t b')
    expect(gap(bytes, 1)).toBe(4)
    expect(gap(bytes, 0)).toBe(~0)
  })
})

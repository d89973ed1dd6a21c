import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StringTable } from '../../lib/event/strings.js'
import { AddressScrambler, NameScrambler } from '../../lib/transforms/anonymize.js'

function scrambled(scrambler: AddressScrambler, address: bigint): bigint {
  scrambler.scramble(Number(address & 0xffff_ffffn), Number(address >> 32n))
  return (BigInt(scrambler.hi) << 32n) | BigInt(scrambler.lo)
}

describe('AddressScrambler', () => {
  const scrambler = new AddressScrambler('secret')

  it('permutes the pages below 2^32, all but the first', () => {
    const seen = new Uint8Array(1 << 20)
    let fixed = 0
    let strayed = 0
    for (let page = 1; page < 1 << 20; page++) {
      scrambler.scramble(page * 4096, 0)
      if (scrambler.hi !== 0 || scrambler.lo % 4096 !== 0) strayed++
      const to = scrambler.lo / 4096
      if (to === page) fixed++
      seen[to] = 1
    }
    expect(strayed).toBe(0)
    expect(seen[0]).toBe(0)
    expect(seen.indexOf(0, 1)).toBe(-1)
    expect(fixed).toBeLessThan(20)
  })

  it('leaves the first page alone', () => {
    for (const address of [0n, 1n, 0xfffn]) expect(scrambled(scrambler, address)).toBe(address)
  })

  it('keeps the offset in the page, the side of 2^32 and the bits from 47 on', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat({ max: 52 }), (random, shift) => {
        const address = random >> BigInt(shift)
        const to = scrambled(scrambler, address)
        expect(to & 0xfffn).toBe(address & 0xfffn)
        expect(to >> 47n).toBe(address >> 47n)
        expect(to >> 32n === 0n).toBe(address >> 32n === 0n)
      }),
    )
  })

  it('never takes an address from above 2^32 below it, which the network alone would do with one in 65536', () => {
    let below = 0
    for (let page = 0; page < 500_000; page++) {
      scrambler.scramble((page * 4096) >>> 0, 1 + Math.floor(page / 2 ** 20))
      if (scrambler.hi === 0) below++
    }
    expect(below).toBe(0)
  })

  it('gives different addresses different replacements', () => {
    const bases = [0x1_0000_0000n, 0x7fff_0000_0000n, 0xffff_8800_0000_0000n]
    const addresses = bases.flatMap((base) => Array.from({ length: 20_000 }, (_, i) => base + BigInt(i) * 4096n))
    expect(new Set(addresses.map((address) => scrambled(scrambler, address))).size).toBe(addresses.length)
  })

  it('goes by the key', () => {
    expect(scrambled(new AddressScrambler('secret'), 0x7fff_1234_5678n)).toBe(scrambled(scrambler, 0x7fff_1234_5678n))
    expect(scrambled(new AddressScrambler('other'), 0x7fff_1234_5678n)).not.toBe(
      scrambled(scrambler, 0x7fff_1234_5678n),
    )
  })
})

describe('NameScrambler', () => {
  const replaced = (scrambler: NameScrambler, field: 'function' | 'file' | 'type' | 'stack' | 'text', name: string) => {
    const [source, target] = [new StringTable(), new StringTable()]
    return target.text(scrambler.replace(field, source, source.internText(name), target))
  }

  it('gives a prefix and digits of the HMAC', () => {
    const digits = createHmac('sha256', 'secret').update('f_').update('main').digest('hex').slice(0, 12)
    expect(replaced(new NameScrambler('secret'), 'function', 'main')).toBe(`f_${digits}`)
    expect(replaced(new NameScrambler('secret'), 'stack', 'main')).toBe(`f_${digits}`)
    expect(replaced(new NameScrambler('secret'), 'file', 'main')).toMatch(/^file_[0-9a-f]{12}$/)
    expect(replaced(new NameScrambler('other'), 'function', 'main')).not.toBe(`f_${digits}`)
  })

  it('keeps the empty name and the type internal', () => {
    const scrambler = new NameScrambler('secret')
    expect(replaced(scrambler, 'function', '')).toBe('')
    expect(replaced(scrambler, 'type', 'internal')).toBe('internal')
    expect(replaced(scrambler, 'function', 'internal')).toMatch(/^f_/)
  })

  it('stays the same when more names came by than it remembers', () => {
    const scrambler = new NameScrambler('secret')
    const [source, target] = [new StringTable(), new StringTable()]
    const first = target.text(scrambler.replace('function', source, source.internText('first'), target))
    for (let i = 0; i < 20_000; i++) scrambler.replace('function', source, source.internText(`name ${i}`), target)
    expect(target.text(scrambler.replace('function', source, source.internText('first'), target))).toBe(first)
    expect(target.size).toBe(20_001)
  })
})

import { describe, expect, it } from 'vitest'
import { randomOf } from '../support/model.js'
import { compileModules } from './modules.js'

const u64 = (value: bigint) => BigInt.asUintN(64, value)
const rotl = (value: bigint, by: bigint) => u64((value << by) | (value >> (64n - by)))

/** SipHash-c-d as the paper has it (Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012). */
function sipHash(c: number, d: number, key0: bigint, key1: bigint, bytes: Buffer): bigint {
  let v0 = key0 ^ 0x736f_6d65_7073_6575n
  let v1 = key1 ^ 0x646f_7261_6e64_6f6dn
  let v2 = key0 ^ 0x6c79_6765_6e65_7261n
  let v3 = key1 ^ 0x7465_6462_7974_6573n
  const round = () => {
    v0 = u64(v0 + v1)
    v1 = rotl(v1, 13n) ^ v0
    v0 = rotl(v0, 32n)
    v2 = u64(v2 + v3)
    v3 = rotl(v3, 16n) ^ v2
    v0 = u64(v0 + v3)
    v3 = rotl(v3, 21n) ^ v0
    v2 = u64(v2 + v1)
    v1 = rotl(v1, 17n) ^ v2
    v2 = rotl(v2, 32n)
  }
  const padded = Buffer.concat([bytes, Buffer.alloc(8 - (bytes.length % 8))])
  padded[padded.length - 1] = bytes.length % 256
  for (let at = 0; at < padded.length; at += 8) {
    const word = padded.readBigUInt64LE(at)
    v3 ^= word
    for (let n = 0; n < c; n++) round()
    v0 ^= word
  }
  v2 ^= 0xffn
  for (let n = 0; n < d; n++) round()
  return v0 ^ v1 ^ v2 ^ v3
}

describe('shared/hash', async () => {
  const make = await compileModules(`
    import { hashBytes } from './shared/hash'
    export { mix, newSecret, seedHashes } from './shared/hash'
    export const TEXT: usize = memory.data(4096)
    export function hashOf(length: u32): u64 { return hashBytes(TEXT + 4096 - length, length) }`)

  it('has the model of the example of the paper', () => {
    const bytes = Buffer.from(Array.from({ length: 15 }, (_, i) => i))
    expect(sipHash(2, 4, 0x0706_0504_0302_0100n, 0x0f0e_0d0c_0b0a_0908n, bytes)).toBe(0xa129_ca61_49be_45e5n)
  })

  it('is SipHash-1-3 of bytes, under two secrets', () => {
    const parts = make()
    const seed = parts.call<[number, number]>('seedHashes')
    const hash = parts.call<[number]>('hashOf')
    const random = randomOf(7)
    const text = parts.number('TEXT')
    for (const [low, high] of [
      [1, 2],
      [0xffff_ffff, 0x1234_5678],
    ] as const) {
      seed(low, high)
      const found: bigint[] = []
      const texts: Buffer[] = []
      for (let length = 0; length < 300; length++) {
        const bytes = Buffer.from(Array.from({ length }, () => random(256)))
        // Nothing after the bytes may be read: they are at the end.
        Buffer.from(parts.words.buffer, text, 4096).set(bytes, 4096 - length)
        texts.push(bytes)
        found.push(u64(hash(length) as unknown as bigint))
      }
      const [key0, key1] = keysOf(low, high)
      found.forEach((value, i) => expect(value).toBe(sipHash(1, 3, key0, key1, texts[i]!)))
    }
  })

  it('gives names that only differ in the last byte of each word different hashes', () => {
    const parts = make()
    parts.call<[number, number]>('seedHashes')(3, 4)
    const hash = parts.call<[number]>('hashOf')
    const found = new Set<bigint>()
    for (let n = 0; n < 4096; n++) {
      const name = Buffer.alloc(32, 'a')
      for (let word = 0; word < 4; word++) name[8 * word + 7] = 65 + ((n >> (3 * word)) & 7)
      Buffer.from(parts.words.buffer, parts.number('TEXT') + 4096 - 32, 32).set(name)
      found.add(u64(hash(32) as unknown as bigint) >> 49n)
    }
    // About 3850 of 32,768 slots.
    expect(found.size).toBeGreaterThan(3600)
  })

  it('gives keys that differ in some bits different hashes under most secrets', () => {
    const parts = make()
    const mix = parts.call<[bigint, bigint]>('mix') as unknown as (key: bigint, secret: bigint) => bigint
    const secret = parts.call('newSecret') as unknown as () => bigint
    // Pairs of differences: chosen keys whose upper 16 bits are equal under many secrets would fill one bucket.
    for (const difference of [1n, 1n << 31n, 1n << 32n, 1n << 63n, (1n << 63n) | (1n << 31n), 0xffff_ffffn << 32n]) {
      let same = 0
      for (let n = 0; n < 3000; n++) {
        const one = secret()
        const key = u64(BigInt(n) * 0x9e37_79b9_7f4a_7c15n)
        if (u64(mix(key, one)) >> 48n === u64(mix(key ^ difference, one)) >> 48n) same++
      }
      expect(same).toBeLessThan(12)
    }
  })
})

/** The secrets after a seed, in plain arithmetic. */
function keysOf(low: number, high: number): [bigint, bigint] {
  const from = (random: bigint) => {
    const h = u64(u64(random + 0x9e37_79b9_7f4a_7c15n) * 0xbf58_476d_1ce4_e5b9n)
    return u64((h ^ (h >> 31n)) * 0x94d0_49bb_1331_11ebn)
  }
  const key0 = from(from((BigInt(high) << 32n) | BigInt(low))) | 1n
  return [key0, from(key0) | 1n]
}

describe('simulate/place', async () => {
  const make = await compileModules(`
    import { begin } from './simulate/place'
    import { hashOf } from './allocators/hash'
    export function hashUnder(seed: u32): u32 {
      begin(0, 0, false, 8, 16, 16, 4096, -1, 0, 0, 64, true, seed)
      return hashOf(1)
    }`)

  it('draws the secret of the tables of allocators from its seed', () => {
    const hash = make().call<[number]>('hashUnder')
    const found = new Set([1, 2, 3, 4].map((seed) => hash(seed)))
    expect(found.size).toBe(4)
  })
})

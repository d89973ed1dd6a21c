import { describe, expect, it } from 'vitest'
import { chunkOf, cutChunk, newChunk, recycleChunk } from '../../lib/bytes/chunks.js'
import { Input } from '../../lib/bytes/input.js'
import { Sink } from '../../lib/bytes/sink.js'
import { U64Map } from '../../lib/bytes/u64-map.js'
import { around, compareWithArray, KEYS, randomOf, type Structure } from '../support/model.js'
import { isTestedSize, runs } from '../support/runs.js'

function mapOf(width: number): Structure {
  const map = new U64Map(width)
  const lo = (key: bigint) => Number(key & 0xffff_ffffn)
  const hi = (key: bigint) => Number(key >> 32n)
  return {
    clear: () => map.clear(),
    add(key, value) {
      const slot = map.add(lo(key), hi(key))
      // A new key has zeros.
      for (let w = 0; w < width; w++) if (map.values[slot * width + w] !== 0) return 0
      for (let w = 0; w < width; w++) map.values[slot * width + w] = value + w
      return value
    },
    get(key) {
      const slot = map.find(lo(key), hi(key))
      if (slot < 0) return 0
      const value = map.values[slot * width]
      for (let w = 0; w < width; w++) if (map.values[slot * width + w] !== value + w) return -1
      return value
    },
    remove: (key) => map.remove(map.find(lo(key), hi(key))),
    size: () => map.size,
    check() {
      let size = 0
      map.forEach(() => size++)
      expect(size).toBe(map.size)
    },
  }
}

describe('U64Map does as an array does', () => {
  const growth = Array.from({ length: 13 }, (_, i) => 640 * 2 ** i)
  it.each(Object.entries(KEYS))('%s', (_, keyOf) => {
    for (const n of [1, 2, 100, ...around(growth.slice(0, 3))]) compareWithArray(mapOf(1 + (n % 3)), keyOf, n)
  })
  describe('with many keys', { tags: ['slow'] }, () => {
    it.each(Object.entries(KEYS))('%s', (_, keyOf) => {
      for (const n of around(growth.slice(3, 8))) compareWithArray(mapOf(2), keyOf, n)
    })
    it.each(
      growth
        .slice(8)
        .filter(isTestedSize)
        .flatMap((n) => [n, n + 1]),
    )('%i', (n) => compareWithArray(mapOf(1), KEYS['random']!, n))
  })
})

describe('Input gives the bytes that were fed', () => {
  it.each(Array.from({ length: runs(200) }, (_, i) => i))('in whatever pieces they are fed and read: %i', (seed) => {
    const random = randomOf(seed + 1)
    const all = Uint8Array.from({ length: 1 + random(3000) }, () => random(256))
    const base = random(2) * 1000
    const input = new Input(base)
    const largest = [1, 3, 50, 1000][seed % 4] as number
    let fed = 0
    let read = 0
    while (read < all.length) {
      const size = Math.min(1 + random(largest), all.length - fed)
      if (size > 0 && (input.left === 0 || random(3) > 0)) {
        // The owner of a chunk may change it when the next one is fed, or after `detach`.
        const chunk = all.slice(fed, fed + size)
        input.feed(chunk)
        fed += size
        if (random(3) === 0) {
          input.detach()
          if (input.bytes.buffer !== chunk.buffer) chunk.fill(0xaa)
        }
      }
      expect([input.left, input.offset]).toEqual([fed - read, base + read])
      const n = random(input.left + 1)
      const [way, { pos }] = [random(4), input]
      let got: Uint8Array = new Uint8Array(n)
      if (n === 0 || way === 0) got = input.bytes.slice(input.pos, input.pos + n)
      else if (way === 1) input.copyTo(got, 0, pos, pos + n)
      else if (way === 2) {
        const middle = pos + random(n)
        input.copyTo(got, middle - pos, middle, pos + n)
        input.copyTo(got, 0, pos, middle)
      } else {
        for (let i = 0; i < n; i++) {
          got[i] = input.next
          input.skip(1)
        }
      }
      if (way !== 3 || n === 0) input.skip(n)
      expect(got).toEqual(all.slice(read, read + n))
      read += n
    }
  })
})

describe('Sink gives the bytes that were written', () => {
  it.each(Array.from({ length: runs(100) }, (_, i) => i))('however they are written and taken: %i', (seed) => {
    const random = randomOf(seed + 1)
    const sink = new Sink([1, 16, 4096, 65_536][seed % 4])
    const largest = [3, 40, 5000, 300_000][random(4)] as number
    const written: number[] = []
    const taken: Uint8Array[] = []
    for (let step = 0; step < 40; step++) {
      const bytes = Uint8Array.from({ length: random(largest) }, (_, i) => (step * 7 + i) & 0xff)
      for (const byte of bytes) written.push(byte)
      if (random(2) === 0) sink.append(bytes)
      else {
        sink.reserve(bytes.length)
        for (const byte of bytes) sink.bytes[sink.pos++] = byte
      }
      if (random(4) === 0) taken.push(random(2) === 0 ? sink.take() : sink.handOver())
    }
    taken.push(sink.take())
    expect(Buffer.concat(taken).equals(Buffer.from(written))).toBe(true)
    expect(sink.pos).toBe(0)
  })
})

describe('the pool of chunks gives out no memory that is in use', () => {
  it.each(Array.from({ length: runs(50) }, (_, i) => i))('whatever is returned: %i', (seed) => {
    const random = randomOf(seed + 1)
    const sizes = [1, 4095, 4096, 5000, 65_536, 70_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1]
    const inUse: { chunk: Uint8Array<ArrayBuffer>; byte: number }[] = []
    for (let step = 0; step < 200; step++) {
      const length = sizes[random(sizes.length)]
      const byte = step & 0xff
      let chunk = random(4) > 0 ? newChunk(length) : chunkOf(new Uint8Array(length))
      expect(chunk.length).toBe(length)
      if (random(4) === 0) chunk = cutChunk(chunk, 1 + random(length))
      chunk.fill(byte)
      inUse.push({ chunk, byte })
      // A part of a chunk is not returned, and a chunk is returned once.
      if (random(3) === 0) recycleChunk(chunk.subarray(1))
      while (inUse.length > 12) {
        const [one] = inUse.splice(random(inUse.length), 1) as [(typeof inUse)[number]]
        const { chunk: done, byte: expected } = one
        expect([done[0], done[done.length >> 1], done.at(-1)]).toEqual([expected, expected, expected])
        recycleChunk(done)
        if (random(3) === 0) recycleChunk(done)
      }
      const buffers = inUse.map((one) => one.chunk.buffer)
      expect(new Set(buffers).size).toBe(buffers.length)
    }
  })
})

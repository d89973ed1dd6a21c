import { createRequire } from 'node:module'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { nodeMembers, type ZlibSync } from '../../lib/compression/gunzip-node.js'
import { gunzip } from '../../lib/compression/gunzip.js'
import { defaultInflater } from '../../lib/streams/inflate-bytes.js'

const TEXT = Buffer.from(Array.from({ length: 3000 }, (_, i) => `${i * 7919} line\n`).join(''))

/** zlib-sync, and the number of inflaters that were made of it. */
function counted(): { zlib: ZlibSync; made: () => number } {
  const real = createRequire(import.meta.url)('zlib-sync') as ZlibSync
  let made = 0
  const Inflate = function (options: { windowBits: number; chunkSize: number }) {
    made++
    return new real.Inflate(options)
  } as unknown as ZlibSync['Inflate']
  return { zlib: { ...real, Inflate }, made: () => made }
}

async function inflate(zlib: ZlibSync, isLimited?: boolean): Promise<Buffer> {
  const packed = gzipSync(TEXT)
  async function* halves() {
    yield packed.subarray(0, 5000)
    yield packed.subarray(5000)
  }
  const parts: Uint8Array[] = []
  for await (const part of gunzip(halves(), nodeMembers(zlib, isLimited))) parts.push(part.slice())
  return Buffer.concat(parts)
}

test.runIf(defaultInflater() === 'zlib-sync')(
  'a process uses zlib-sync a number of times, unless asked',
  { tags: ['slow'] },
  async () => {
    expect(deflateRawSync(TEXT).length).toBeGreaterThan(10_000)
    const { zlib, made } = counted()
    for (let i = 0; i < 100; i++) expect((await inflate(zlib)).equals(TEXT)).toBe(true)
    expect(made()).toBeLessThanOrEqual(64)
    const before = made()
    for (let i = 0; i < 70; i++) await inflate(zlib, false)
    expect(made() - before).toBe(70)
  },
)

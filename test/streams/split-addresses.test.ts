import { readFileSync } from 'node:fs'
import { PassThrough, Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  HatfDecoder,
  joinAddresses,
  joinStream,
  Separator,
  splitAddresses,
  type HatfField,
  type Piece,
} from '../../lib/entry/hatf.js'
import { decompress } from '../../lib/streams/decompress.js'
import { decodeAll } from '../support/drive.js'
import { alloc, hex } from '../formats/hatf/bytes.js'

const TRACE = readFileSync(new URL('../fixtures/hatf/espresso-head.hatf', import.meta.url))
/** Longer than all queues together. */
const LONG = Buffer.concat(Array.from({ length: 60_000 }, (_, i) => alloc(i % 5000, i * 16)))

/** A source of bytes in chunks of `size` that counts what was asked of it. */
function source(bytes: Uint8Array, size = 65_536) {
  const counts = { given: 0 }
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      const chunk = bytes.subarray(counts.given, counts.given + size)
      counts.given += chunk.length
      this.push(chunk.length > 0 ? Buffer.from(chunk) : null)
    },
  })
  return Object.assign(stream, { counts })
}

/** What the separator makes of bytes in one go. */
function expected(bytes: Uint8Array): [Buffer, Buffer] {
  const separator = new Separator()
  separator.feed(bytes)
  separator.end()
  const pieces: Piece[] = []
  for (let piece = separator.next(); piece !== null; piece = separator.next()) pieces.push(piece)
  return [0, 1].map((t) => Buffer.concat(pieces.map(({ tracks }) => tracks[t]))) as [Buffer, Buffer]
}

describe('splitAddresses', () => {
  it.each([1, 1000, 65_536])('has the trace and its addresses on two sides, from chunks of %i', async (size) => {
    const bytes = TRACE.subarray(0, size === 1 ? 5000 : undefined)
    const whole = bytes.subarray(0, wholeRecords(bytes))
    const split = source(whole, size).pipe(splitAddresses())
    expect(await Promise.all([buffer(split.main), buffer(split.addresses)])).toEqual(expected(whole))
  })

  it('and joinAddresses gives the bytes back, in one process and through compression', async () => {
    const split = source(TRACE, 777).pipe(splitAddresses())
    const inflated = Readable.from([gzipSync(await buffer(joinAddresses(split.main, split.addresses)))]).pipe(
      decompress(),
    )
    expect((await buffer(inflated)).equals(TRACE)).toBe(true)
  })

  it('splits any fields, and joinStream puts them back', async () => {
    const fields: HatfField[] = ['size', 'address']
    const split = source(TRACE).pipe(splitAddresses({ fields, encoded: true }))
    expect([...split.streams.keys()]).toEqual(fields)
    const streams = Object.fromEntries(split.streams)
    expect((await buffer(split.main.pipe(joinStream(streams, { encoded: true })))).equals(TRACE)).toBe(true)
    expect(() => splitAddresses({ fields: ['size'] }).addresses).toThrow(RangeError)
  })

  it('waits for its slowest side, whichever that is', async () => {
    for (const slow of ['main', 'addresses'] as const) {
      const input = source(LONG)
      const split = input.pipe(splitAddresses())
      const fast = slow === 'main' ? split.addresses : split.main
      let got = 0
      fast.on('data', (chunk: Buffer) => (got += chunk.length))
      await delay(50)
      expect(input.counts.given).toBeLessThan(LONG.length / 2)
      const before = got
      await delay(20)
      expect(got).toBe(before)
      await buffer(split[slow])
      expect(input.counts.given).toBe(LONG.length)
    }
  })

  it('gives all before a fault to both sides, then the error everywhere', async () => {
    const bytes = Buffer.concat([LONG, hex('0c')])
    const split = splitAddresses()
    const results = await Promise.allSettled([
      pipeline(source(bytes), split),
      collect(split.main),
      collect(split.addresses),
    ])
    const [main, addresses] = expected(LONG)
    for (const result of results)
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'ERR_TRACE_MALFORMED', offset: LONG.length, event: 60_001 },
      })
    expect(collected.get(split.main)?.equals(main)).toBe(true)
    expect(collected.get(split.addresses)?.equals(addresses)).toBe(true)
  })

  it('gives what a cut gzip held before its error', async () => {
    const split = splitAddresses()
    const cut = gzipSync(LONG).subarray(0, 60_000)
    const results = await Promise.allSettled([
      pipeline(source(cut), decompress(), split),
      collect(split.main),
      collect(split.addresses),
    ])
    for (const result of results)
      expect(result).toMatchObject({ reason: { code: 'ERR_TRACE_TRUNCATED', format: 'gzip' } })
    expect(collected.get(split.addresses)?.length).toBeGreaterThan(10_000)
    expect((collected.get(split.main) as Buffer).length * 4).toBe((collected.get(split.addresses) as Buffer).length * 5)
  })

  it('ends everything when one side fails or goes away', async () => {
    for (const error of [new Error('no space'), undefined]) {
      const input = source(LONG)
      const split = splitAddresses()
      const full = new Writable({
        write(_chunk, _encoding, done) {
          split.addresses.destroy(error)
          done()
        },
      })
      const results = await Promise.allSettled([
        pipeline(input, split),
        pipeline(split.main, new PassThrough().resume()),
        pipeline(split.addresses, full),
      ])
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      expect(results[0]).toMatchObject({ reason: error ?? { message: 'a stream was closed before it had ended' } })
      expect(input.destroyed).toBe(true)
    }
  })
})

describe('joinAddresses', () => {
  const [main, addresses] = expected(TRACE)

  it('asks for more of a side only when it needs it', async () => {
    const [long, short] = expected(LONG)
    const inputs = [source(long, 1000), source(short, 1000)] as const
    const joined = joinAddresses(...inputs)
    joined.once('data', () => joined.pause())
    await delay(50)
    for (const { counts } of inputs) expect(counts.given).toBeLessThan(20_000)
    joined.resume()
    await new Promise((resolve) => joined.on('end', resolve))
  })

  /** Each record has a size in the trace behind its tag, so that the trace without its last byte ends inside one. */
  const PLAIN = LONG.subarray(0, 9 * 5000)
  const [plainMain, plainAddresses] = expected(PLAIN)
  it.each([
    ['addresses that end early', plainMain, plainAddresses.subarray(0, -1), 'ERR_TRACE_TRUNCATED'],
    ['addresses that go on', plainMain, Buffer.concat([plainAddresses, hex('00')]), 'ERR_TRACE_MALFORMED'],
    ['a trace that ends early', plainMain.subarray(0, -1), plainAddresses, 'ERR_TRACE_TRUNCATED'],
    ['a trace that is none', Buffer.concat([plainMain, hex('0c')]), plainAddresses, 'ERR_TRACE_MALFORMED'],
  ])('%s: the whole records before, then the error', async (_, left, right, code) => {
    const joined = joinAddresses(source(left, 1000), source(right, 1000))
    await expect(collect(joined)).rejects.toMatchObject({ name: 'TraceError', format: 'hatf', code })
    const got = collected.get(joined) as Buffer
    expect(got.length).toBeGreaterThan(PLAIN.length - 40)
    expect(PLAIN.subarray(0, got.length).equals(got)).toBe(true)
  })

  it('fails with an error of either input, even one that comes before it is read', async () => {
    const broken = () =>
      new Readable({
        read() {
          this.destroy(new Error('broken'))
        },
      })
    await expect(buffer(joinAddresses(source(main), broken()))).rejects.toThrow('broken')
    await expect(buffer(joinAddresses(broken(), source(addresses)))).rejects.toThrow('broken')
    const early = new PassThrough()
    const joined = joinAddresses(source(main), early)
    early.destroy(new Error('early'))
    await expect(buffer(joined)).rejects.toThrow('early')
  })

  it('closes its inputs when it is closed', async () => {
    const inputs = [source(LONG, 100), source(LONG, 100)] as const
    const joined = joinAddresses(...inputs)
    joined.on('error', () => {})
    await delay(10)
    joined.destroy()
    await delay(20)
    expect(inputs.map(({ destroyed }) => destroyed)).toEqual([true, true])
  })
})

/** What was read of a stream, until its end or its error. */
const collected = new WeakMap<Readable, Buffer>()

async function collect(stream: Readable): Promise<void> {
  collected.set(stream, Buffer.alloc(0))
  for await (const chunk of stream)
    collected.set(stream, Buffer.concat([collected.get(stream) as Buffer, chunk as Buffer]))
}

/** The length of the whole records among the first bytes of a trace. */
function wholeRecords(bytes: Uint8Array): number {
  const { error } = decodeAll(new HatfDecoder({ fold: false }), bytes)
  return (error as { offset?: number } | undefined)?.offset ?? bytes.length
}

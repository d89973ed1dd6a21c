import { Readable, type Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import { decodeAny, decompress, openTrace } from '../../lib/entry/index.js'
import { chain } from '../../lib/entry/stages.js'
import { drive, encodeEvents } from '../support/drive.js'

const EVENTS = Array.from({ length: 5000 }, (_, i): TraceEvent => ({
  kind: 'alloc',
  index: BigInt(i + 1),
  address: BigInt(i * 64 + 64),
  size: BigInt((i * 7919) % 1000),
}))
const TRACE = encodeEvents(mtrc.format.encoder(), EVENTS, { format: 'mtrc' })
const LINES = encodeEvents(ndjson.format.encoder(), EVENTS, { format: 'mtrc' })
/** Lines with the kind at the end, as a program that sorts keys writes them. */
const REWRITTEN = Buffer.from(
  Buffer.from(LINES)
    .toString()
    .replaceAll(/\{("kind":"alloc"),(.*)\}/g, '{$2,$1}'),
)
/** Lines as Python's json.dumps writes them. */
const SPACED = Buffer.from(
  Buffer.from(LINES)
    .toString()
    .replaceAll(/([,:])/g, '$1 '),
)

async function read(bytes: Uint8Array, onTruncated: (error: Error) => void) {
  let events = 0
  try {
    for await (const batch of Readable.from([bytes]).pipe(decompress()).pipe(decodeAny({ onTruncated })))
      events += batch.count
  } catch (error) {
    return { events, error: (error as Error).message }
  }
  return { events }
}

describe('a trace that is cut off', () => {
  it.each([
    ['mtrc', TRACE],
    ['ndjson', LINES],
    ['ndjson that was rewritten', REWRITTEN],
  ])('is no error to who takes note of it, but a cut archive is one: %s', async (_, bytes) => {
    const cuts: string[] = []
    const cut = await read(bytes.subarray(0, bytes.length - (bytes === TRACE ? 3 : 40)), (error) =>
      cuts.push(error.message),
    )
    expect(cut.error).toBeUndefined()
    expect(cut.events).toBeGreaterThan(4900)
    expect(cuts).toHaveLength(1)

    const archive = gzipSync(bytes)
    const { events, error } = await read(archive.subarray(0, archive.length / 2), (fault) => cuts.push(fault.message))
    expect(error).toMatch(/^gzip: .*truncated/)
    expect(events).toBeGreaterThan(100)
    expect(cuts).toHaveLength(1)
  })
})

describe('a stream that is closed before its input has ended', () => {
  it.each<[string, (onTruncated: () => void) => Duplex, Uint8Array]>([
    ['decodeAny()', (onTruncated) => decodeAny({ onTruncated }), TRACE],
    ['decodeAny(), ndjson that was rewritten', (onTruncated) => decodeAny({ onTruncated }), REWRITTEN],
    ['decompress()', (onTruncated) => decompress({ onTruncated }), gzipSync(LINES)],
  ])('does not report a truncated trace: %s', async (_, make, bytes) => {
    const onTruncated = vi.fn()
    for (const part of [0, 3, bytes.length >> 1]) {
      const stream = make(onTruncated)
      const warned = vi.fn()
      stream.on('warning', warned).on('error', () => {})
      if (part > 0) stream.write(bytes.subarray(0, part))
      stream.resume()
      await setTimeout(20)
      stream.destroy()
      await setTimeout(20)
      expect(warned).not.toHaveBeenCalled()
    }
    expect(onTruncated).not.toHaveBeenCalled()
  })
})

it('gives Buffers where a stage makes bytes of the events', async () => {
  const chunks = await Readable.from([TRACE])
    .pipe(decodeAny({ through: ndjson.format.encoder() }))
    .toArray()
  expect(chunks.every((chunk) => Buffer.isBuffer(chunk))).toBe(true)
  const { out } = drive(chain(mtrc.format.decoder(), ndjson.format.encoder()), [TRACE])
  expect(Buffer.concat(chunks).equals(Buffer.concat(out))).toBe(true)
})

it('openTrace gives batches', () => {
  // @ts-expect-error: with a stage it would not.
  expect(() => openTrace('-', { through: ndjson.format.encoder() })).toThrow(/unknown option "through"/)
})

describe('lines that take no JSON.parse', () => {
  it.each<[string, Uint8Array]>([
    ['as heapflow writes them', LINES],
    ['with spaces after commas and colons', SPACED],
    ['with a byte order mark', Buffer.concat([Buffer.from('\ufeff'), SPACED])],
    [
      'with spaces and tabs everywhere',
      Buffer.from(
        Buffer.from(SPACED)
          .toString()
          .replaceAll(/([{},:])/g, '\t$1 '),
      ),
    ],
    [
      'with empty lines before and between them',
      Buffer.from(`\n\n${Buffer.from(SPACED).toString().replaceAll('\n', '\n\n')}`),
    ],
    ['that end with CR LF', Buffer.from(Buffer.from(SPACED).toString().replaceAll('\n', '\r\n'))],
  ])('%s', async (_, bytes) => {
    const parse = vi.spyOn(JSON, 'parse')
    const events: TraceEvent[] = []
    for await (const batch of Readable.from([bytes]).pipe(decodeAny())) events.push(...batch)
    // Only the header and the end record take some.
    const calls = parse.mock.calls.length
    parse.mockRestore()
    expect(calls).toBeLessThan(10)
    expect(events).toEqual(EVENTS)
  })

  it('others take one each', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    let count = 0
    for await (const batch of Readable.from([REWRITTEN]).pipe(decodeAny())) count += batch.count
    const calls = parse.mock.calls.length
    parse.mockRestore()
    expect(count).toBe(EVENTS.length)
    expect(calls).toBeGreaterThan(EVENTS.length)
  })
})

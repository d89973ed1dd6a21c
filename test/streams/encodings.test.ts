import type { Duplex } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import * as mtrc from '../../lib/entry/mtrc.js'
import { compose, decodeAny, decompress, gzip } from '../../lib/entry/index.js'
import { isEventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { encodeEvents } from '../support/drive.js'

const EVENTS: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 8n }]
const TRACE = Buffer.from(encodeEvents(mtrc.format.encoder(), EVENTS, { format: 'mtrc' }))

const STREAMS: [string, () => Duplex, Buffer, (bytes: Buffer) => Buffer][] = [
  ['decompress()', () => decompress(), gzipSync(TRACE), (bytes) => bytes],
  ['gzip()', () => gzip(), TRACE, gunzipSync],
  ['compose(gzip(), decompress())', () => compose(gzip(), decompress()), TRACE, (bytes) => bytes],
]
const DECODERS: [string, () => Duplex, Buffer][] = [
  ['mtrc.decode()', () => mtrc.decode(), TRACE],
  ['decodeAny()', () => decodeAny(), TRACE],
  ['compose(decompress(), decodeAny())', () => compose(decompress(), decodeAny()), gzipSync(TRACE)],
]
const ENCODINGS = ['hex', 'base64', 'binary'] as const

async function results(stream: Duplex): Promise<unknown[]> {
  const out: unknown[] = []
  for await (const item of stream) out.push(item)
  return out
}

describe.each(ENCODINGS)('text in %s is written as its bytes', (encoding) => {
  it.each(STREAMS)('to %s', async (_, make, input, content) => {
    const once = make()
    once.end(input.toString(encoding), encoding)
    const twice = make()
    twice.setDefaultEncoding(encoding)
    twice.write(input.subarray(0, 6).toString(encoding))
    twice.end(input.subarray(6).toString(encoding))
    for (const stream of [once, twice])
      expect(content(Buffer.concat((await results(stream)) as Buffer[]))).toEqual(TRACE)
  })

  it.each(DECODERS)('to %s', async (_, make, input) => {
    const stream = make()
    stream.end(input.toString(encoding), encoding)
    expect((await results(stream)).flatMap((batch) => (isEventBatch(batch) ? [...batch] : []))).toMatchObject(EVENTS)
  })
})

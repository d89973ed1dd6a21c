import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { asciiEncoder } from '../../lib/metatf/ascii/encoder.js'
import { binaryEncoder } from '../../lib/entry/metatf.js'
import { parseDtd } from '../../lib/metatf/index.js'
import { decodeAny, type DecodeAnyOptions } from '../../lib/streams/decode.js'
import { decompress } from '../../lib/streams/decompress.js'
import { eventCounter } from '../../lib/streams/event-counter.js'
import { byteStream } from '../../lib/streams/generator.js'
import { metaTfBytes } from '../../lib/streams/metatf.js'
import type { EventStream } from '../../lib/streams/types.js'
import { encodeEvents } from '../support/drive.js'

const BINARY =
  'tag.width = 1; address.width = 4; address.interpretation = none; free : (tag, address) { tag.value = 4; }'
const ASCII =
  '## MetaTF: 1.2\nint address = none; int id = none;\nfree : { tag, address } { tag = 4; } mark : { tag, id } { tag = 5; }'
const EVENTS: TraceEvent[] = [
  { kind: 'free', address: 16n },
  { kind: 'free', address: 32n },
]
const binary = encodeEvents(binaryEncoder(parseDtd(BINARY, 'b.dtd')), EVENTS, { format: 'any' })
// A long head, in which the DTD is named late: its beginning alone could be that of any trace in ASCII.
const head = [
  'Description: a trace that has much to say of itself before it comes to the point',
  'DTDURL: http://example.org/a.dtd',
]
const ascii = encodeEvents(asciiEncoder(parseDtd(ASCII, 'a.dtd'), { head }), EVENTS, { format: 'any' })

/** A folder with both DTDs. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'heapflow-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  writeFileSync(join(path, 'b.dtd'), BINARY)
  writeFileSync(join(path, 'a.dtd'), ASCII)
  return path
}

/** The events of bytes that come in pieces of `size`, and of which format they are. */
async function read(
  bytes: Uint8Array,
  size: number,
  options: DecodeAnyOptions,
): Promise<{ events: TraceEvent[]; format: string }> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    Buffer.from(bytes.slice(i * size, (i + 1) * size)),
  )
  return collect(Readable.from(pieces), [decompress(), decodeAny(options)])
}

async function collect(
  source: Readable,
  stages: NodeJS.ReadWriteStream[],
): Promise<{ events: TraceEvent[]; format: string }> {
  const events: TraceEvent[] = []
  let format = ''
  await pipeline([
    source,
    ...stages,
    async (batches: AsyncIterable<EventBatch>) => {
      for await (const batch of batches) {
        format = batch.header.format
        events.push(...batch)
      }
    },
  ] as never)
  return { events, format }
}

test.each([1, 7, 64, 100, 65_536])('a trace that names its DTD, in pieces of %i bytes', async (size) => {
  const path = join(folder(), 'trace')
  expect(await read(binary, size, { path })).toEqual({ events: EVENTS, format: 'metatf' })
  expect(await read(ascii, size, { path })).toEqual({ events: EVENTS, format: 'metatf-ascii' })
  expect(await read(gzipSync(binary), size, { path })).toEqual({ events: EVENTS, format: 'metatf' })
})

test('what looks like such a trace at first', async () => {
  const dump = '## A: b\n\n1 16 0x10\n'
  expect(await read(Buffer.from(dump), 3, {})).toMatchObject({
    events: [{ kind: 'alloc', address: 16n, size: 16n }],
    format: 'hatf-ascii',
  })
  await expect(
    read(Buffer.from('## A heading: in a text\n\nwhich is no trace at all, and long enough to be looked at'), 5, {}),
  ).rejects.toMatchObject({
    message: 'the header of the trace names no DTD: use metatf-decode --dtd',
    code: 'ERR_TRACE_UNKNOWN_FORMAT',
  })
  await expect(read(Buffer.from('## a heading\n\n'), 5, {})).rejects.toThrow('unrecognized format')
  await expect(read(Buffer.from(`\x7fELF${'\0'.repeat(100)}`, 'latin1'), 5, {})).rejects.toThrow('unrecognized format')
})

/** What metatf-decode does, as a stream. */
function decodeMetaTf(options: Parameters<typeof metaTfBytes>[1]): EventStream<'bytes'> {
  return byteStream('metatf-decode', (source, stream) => metaTfBytes(source, options, stream, eventCounter(stream)))
}

test('a DTD that is not there', async () => {
  await expect(read(binary, 9, {})).rejects.toMatchObject({
    message: expect.stringMatching(
      /^the trace is by the DTD "b\.dtd", but there is no b\.dtd among the DTDs that come with heapflow/,
    ),
    code: 'ERR_TRACE_UNKNOWN_FORMAT',
  })
})

test('the name of a DTD that is not there, as it can be shown', async () => {
  const named = (name: string) => Buffer.from(`## DTDURL: ${name}\n\n5 16\n`)
  await expect(read(named('\x1b[31m\x9b.dtd'), 9, {})).rejects.toThrow(
    'by the DTD "\\u001b[31m\\u009b.dtd", but there is no \\u001b[31m\\u009b.dtd among',
  )
  await expect(collect(Readable.from([named('x'.repeat(60_000))]), [decodeMetaTf({})])).rejects.toThrow(
    /by the DTD "x{80}\.\.\.", but there is no x{80}\.\.\. among [^]{1,400}$/,
  )
})

test('a source that fails before the header is whole fails with that', async () => {
  const cut = gzipSync(binary).subarray(0, 24)
  await expect(read(cut, 24, {})).rejects.toThrow(/^gzip: .*truncated/)
  await expect(collect(Readable.from([cut]), [decompress(), decodeMetaTf({})])).rejects.toThrow(/^gzip: .*truncated/)
})

test('a trace that is cut: the events before, and the error, or `onTruncated`', async () => {
  const path = join(folder(), 'trace')
  await expect(read(binary.subarray(0, -2), 9, { path })).rejects.toMatchObject({
    code: 'ERR_TRACE_TRUNCATED',
    format: 'metatf',
  })
  const cuts: string[] = []
  const { events } = await read(binary.subarray(0, -2), 9, { path, onTruncated: ({ code }) => cuts.push(code) })
  expect({ events, cuts }).toEqual({ events: EVENTS.slice(0, 1), cuts: ['ERR_TRACE_TRUNCATED'] })
})

test('a DTD that is given reads what names none, and counts events', async () => {
  const path = join(folder(), 'trace')
  writeFileSync(path, binary.subarray(-10))
  const stage = decodeMetaTf({ path, dtd: parseDtd(BINARY, 'b.dtd') })
  let counted = 0
  stage.on('events', (n: number) => (counted += n))
  expect(await collect(createReadStream(path), [stage])).toEqual({ events: EVENTS, format: 'metatf' })
  expect(counted).toBe(2)
  expect(await collect(Readable.from([]), [decodeMetaTf({ dtd: parseDtd(ASCII, 'a.dtd') })])).toMatchObject({
    events: [],
  })
})

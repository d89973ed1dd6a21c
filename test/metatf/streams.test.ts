import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { compileDtd, decodeAscii, decodeBinary, encodeAscii, encodeBinary, parseDtd } from '../../lib/entry/metatf.js'

const HATF_10 = parseDtd(readFileSync(new URL('../../examples/hatf10.dtd', import.meta.url), 'utf8'), 'hatf10.dtd')
const SMALL = parseDtd(
  '## MetaTF: 1.2\nint size = none;\nint address = none;\nsection heap 1 { alloc : {tag, size, address} { tag = 1; } free : {tag, address} { tag = 2; } }\n',
  'small.dtd',
)
const EVENTS: TraceEvent[] = [
  { kind: 'alloc', size: 24n, address: 0x1000n },
  { kind: 'free', address: 0x1000n },
]

test.each([
  ['binary', () => encodeBinary(HATF_10), () => decodeBinary(HATF_10)],
  ['ASCII', () => encodeAscii(SMALL), () => decodeAscii(SMALL)],
] as const)('%s traces as streams', async (_, encode, decode) => {
  const events: TraceEvent[] = []
  await pipeline(
    Readable.from(batchesOf(EVENTS, { format: 'test' })),
    encode(),
    decode(),
    async (batches: AsyncIterable<EventBatch>) => {
      for await (const batch of batches) events.push(...batch)
    },
  )
  expect(events).toMatchObject(EVENTS)
})

test.each([decodeBinary, encodeBinary, decodeAscii, encodeAscii, compileDtd])(
  '%o refuses the text of a DTD',
  (take) => {
    for (const value of ['tag.width = 1;', undefined, null, {}])
      expect(() => take(value as never)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_TYPE',
          message: expect.stringMatching(/^a DTD is needed, as parseDtd\(\) makes it, not /),
        }),
      )
  },
)

test('a DTD is text or bytes', () => {
  for (const value of [undefined, null, 5, {}])
    expect(() => parseDtd(value as never)).toThrow(/^parseDtd\(\): the DTD must be text or bytes, not /)
})

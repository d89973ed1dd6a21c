import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { compose, filter, map, mtrc, ndjson, parseRange } from '../../lib/entry/index.js'

const LINES = Array.from({ length: 50_000 }, (_, i) => `{"kind":"alloc","address":"0x${(16 * i + 16).toString(16)}"}\n`)

test('a loop over composed stages may end early', async () => {
  const source = Readable.from(LINES)
  const stages = compose(ndjson.decode(), filter({ address: parseRange('1..') }))
  let batches = 0
  for await (const _ of source.pipe(stages)) {
    batches++
    break
  }
  expect([batches, stages.destroyed]).toEqual([1, true])
}, 5000)

test('also after a stage has failed', async () => {
  const source = Readable.from([...LINES.slice(0, 10_000), 'not a record\n'])
  const stages = compose(
    ndjson.decode(),
    map((event) => event),
    mtrc.encode(),
  )
  stages.on('error', () => undefined)
  let chunks = 0
  for await (const _ of source.pipe(stages)) {
    chunks++
    await new Promise((resolve) => setTimeout(resolve, 50))
    break
  }
  expect(chunks).toBe(1)
}, 5000)

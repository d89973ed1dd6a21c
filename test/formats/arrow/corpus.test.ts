import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import type { EventBatch } from '../../../lib/event/batch.js'
import { chain } from '../../../lib/event/chain.js'
import { isWritable, type Format } from '../../../lib/event/format.js'
import type { BatchTransform, Stage } from '../../../lib/event/stage.js'
import { ArrowDecoder } from '../../../lib/formats/arrow/decode.js'
import { ArrowEncoder } from '../../../lib/formats/arrow/encode.js'
import { ndjson } from '../../../lib/formats/ndjson/index.js'
import { decodeAny } from '../../../lib/streams/decode.js'
import { decompress } from '../../../lib/streams/decompress.js'
import { corpusPath, corpusTraces } from '../../support/corpus.js'

const files = corpusTraces()

/** What a file becomes, as a hash of the bytes before an error, and that error. */
async function outcome(file: string, through: Stage<EventBatch, Uint8Array>) {
  const hash = createHash('sha256')
  const path = corpusPath(file)
  let format: Format | undefined
  let error: string | undefined
  try {
    const reader = decodeAny({ path, through, recycle: true, onFormat: (found) => (format = found) })
    await pipeline(createReadStream(path), decompress(), reader, async (bytes: AsyncIterable<Uint8Array>) => {
      for await (const chunk of bytes) hash.update(chunk)
    })
  } catch (failure) {
    error = (failure as Error).message
  }
  return { format, error, hash: hash.digest('hex') }
}

/** `chain` joins stages by batches; here it does so by bytes, which makes no difference to it. */
const throughArrow = () =>
  chain(new ArrowEncoder() as unknown as BatchTransform, new ArrowDecoder() as unknown as BatchTransform)

describe('real traces', { tags: ['corpus'], timeout: 300_000 }, () => {
  test('there are some', () => {
    expect(files.length).toBeGreaterThan(30)
  })

  test.each(files)('%s: to Arrow and back changes nothing', async (file) => {
    const { format, ...direct } = await outcome(file, ndjson.encoder())
    const { format: _, ...back } = await outcome(file, chain(throughArrow(), ndjson.encoder()))
    expect(back).toEqual(direct)
    if (format === undefined || !isWritable(format)) return
    expect(await outcome(file, chain(throughArrow(), format.encoder()))).toEqual(await outcome(file, format.encoder()))
  })
})

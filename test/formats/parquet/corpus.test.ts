import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { ndjson } from '../../../lib/formats/ndjson/index.js'
import { ParquetEncoder } from '../../../lib/formats/parquet/encode.js'
import { decodeAny } from '../../../lib/streams/decode.js'
import { decompress } from '../../../lib/streams/decompress.js'
import { scratch } from '../../support/commands.js'
import { corpusPath, corpusTraces } from '../../support/corpus.js'

/** The lines of JSON that a trace is, as a hash. @throws what reading fails with */
async function linesOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  const reader = decodeAny({ path, through: ndjson.encoder(), recycle: true })
  await pipeline(createReadStream(path), decompress(), reader, async (bytes: AsyncIterable<Uint8Array>) => {
    for await (const chunk of bytes) hash.update(chunk)
  })
  return hash.digest('hex')
}

describe('real traces', { tags: ['corpus'], timeout: 300_000 }, () => {
  test.each(corpusTraces())('%s: to Parquet and back changes nothing', async (file) => {
    const path = corpusPath(file)
    let lines: string
    try {
      lines = await linesOf(path)
    } catch {
      // Without its end, a trace makes no Parquet file.
      return
    }
    const target = join(scratch(), 't.parquet')
    const writer = decodeAny({ path, through: new ParquetEncoder(), recycle: true })
    await pipeline(createReadStream(path), decompress(), writer, createWriteStream(target))
    expect(await linesOf(target)).toBe(lines)
  })
})

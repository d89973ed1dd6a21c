import { readdirSync, readFileSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import type { EventBatch } from '../../lib/event/batch.js'
import { decoderStream } from '../../lib/entry/stages.js'
import { sniffFormat } from '../support/formats.js'
import { decodeAll, encodeAll } from '../support/drive.js'
import { runs } from '../support/runs.js'

const FILES = ['test/fixtures', 'test/golden'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.\w+$/.test(name) && !/\.(md|ndjson|verbose\.txt\.gz|stats\.txt)$/.test(name))
    .map((name) => `${folder}/${name}`),
)

function read(path: string): Uint8Array {
  const bytes = readFileSync(path)
  return new Uint8Array(path.endsWith('.gz') ? gunzipSync(bytes) : bytes).subarray(0, 200_000)
}

const lines = (batches: readonly EventBatch[]) => Buffer.from(encodeAll(ndjson.encoder(), batches)).toString()

describe('a producer may use the memory of a chunk again when the write was called back', () => {
  test.each(FILES.filter((path) => sniffFormat(read(path)) !== undefined))('%s', async (path) => {
    const bytes = read(path)
    const format = sniffFormat(bytes)!
    const sizes = [61, 1000, 70_001].slice(0, runs(60))
    for (const size of sizes) {
      const whole = decodeAll(format.decoder(), bytes, size)
      const decoder = decoderStream(format.decoder())
      const batches: EventBatch[] = []
      let error: Error | undefined
      decoder.on('data', (batch: EventBatch) => batches.push(batch))
      decoder.on('error', (reason: Error) => (error = reason))
      const closed = new Promise((resolve) => decoder.once('close', resolve))
      const buffer = new Uint8Array(size)
      for (let at = 0; at < bytes.length && error === undefined; at += size) {
        const part = bytes.subarray(at, at + size)
        buffer.set(part)
        await Promise.race([
          new Promise((resolve) => decoder.write(buffer.subarray(0, part.length), () => resolve(undefined))),
          closed,
        ])
        buffer.fill(0xff)
      }
      const ended = finished(decoder)
      decoder.end()
      await ended.catch((reason: Error) => (error = reason))
      expect(error?.message).toBe(whole.error?.message)
      expect(lines(batches)).toBe(lines(whole.batches))
    }
  })
})

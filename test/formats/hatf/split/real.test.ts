import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { EventBatch } from '../../../../lib/event/batch.js'
import { FieldBit } from '../../../../lib/event/fields.js'
import { hatf } from '../../../../lib/formats/hatf/index.js'
import { ReplayDecoder } from '../../../../lib/formats/replay/index.js'
import { corpusFile } from '../../../support/corpus.js'
import { drive, encodeAll, slices } from '../../../support/drive.js'
import { join, separate } from './support.js'

const CHUNK = 65_536

/** A digest of all events, for comparing millions of them. */
function digest(batches: Iterable<EventBatch>): { count: number; sum: number } {
  let count = 0
  let sum = 0
  for (const batch of batches) {
    const { kind, mask, size, address, oldAddress } = batch
    for (let i = 0; i < batch.count; i++) {
      sum = (Math.imul(sum, 31) + kind[i]) ^ mask[i]
      const set = mask[i]
      for (const [has, { words }] of [
        [FieldBit.size, size],
        [FieldBit.address, address],
        [FieldBit.oldAddress, oldAddress],
      ] as const) {
        if ((set & has) !== 0) sum = Math.imul(Math.imul(sum, 31) + words[2 * i], 31) + words[2 * i + 1]
      }
    }
    count += batch.count
  }
  return { count, sum: sum | 0 }
}

/** The most bytes per record: as they are and each stream by gzip -6, and the single-file form. */
const MOST: Readonly<Record<string, [raw: number, split: number, file: number]>> = {
  'espresso-largest-m32': [5.54, 1.26, 1.26],
  'twolf-map9v3': [9.55, 1.84, 1.3],
  git: [8.2, 2.9, 2.6],
  python: [6.2, 1.4, 1.3],
  systemui: [6.2, 1.6, 1.6],
}

describe('real traces', { tags: ['corpus'], timeout: 120_000 }, () => {
  it.each(Object.entries(MOST))('%s is split and joined byte for byte, and small', (name, most) => {
    const { out: batches } = drive(new ReplayDecoder(), slices(corpusFile(`memory-replay/${name}.txt`), CHUNK))
    const bytes = encodeAll(hatf.encoder(), batches)
    const { tracks, records, error } = separate(bytes, {}, CHUNK)
    expect(error).toBeUndefined()
    expect(Buffer.compare(join(tracks, {}, CHUNK).bytes, bytes)).toBe(0)
    const file = encodeAll(hatf.encoder({ splitAddr: true }), batches)
    const read = drive(hatf.decoder(), slices(file, CHUNK))
    expect(read.error).toBeUndefined()
    const plain = drive(hatf.decoder(), slices(bytes, CHUNK))
    expect(digest(read.out)).toEqual(digest(plain.out))
    const compressed = tracks.reduce((sum, track) => sum + gzipSync(track, { level: 6 }).length, 0)
    const got = [bytes.length, compressed, file.length].map((length) => length / records)
    got.forEach((perRecord, i) => expect(perRecord).toBeLessThanOrEqual(most[i]))
  })
})

// @module-tag slow
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EventBatch, TraceEvent } from '../../../lib/event/batch.js'
import { batchesOf } from '../../../lib/event/batch.js'
import type { Decoder } from '../../../lib/event/stage.js'
import { hatf } from '../../../lib/formats/hatf/index.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { BinaryReader } from '../../../lib/metatf/binary/reader.js'
import { random } from '../../formats/hatf/random.js'
import { corpusFile } from '../../support/corpus.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { HATF10, SPLIT } from '../binary/support.js'
import { compiled, generated, reading, writing, type Pair } from './support.js'

const HEADER = { format: 'hatf' }
const PAIRS: readonly [Pair, Pair] = [generated(HATF10), compiled(HATF10)]
const SPLIT_PAIRS: readonly [Pair, Pair] = [generated(SPLIT), compiled(SPLIT)]

/** The events as the native codec gives them: what HATF cannot represent is left out, reallocs with their parts. */
function native(batches: readonly EventBatch[]): TraceEvent[] {
  const { events, error } = decodeAll(hatf.decoder({ fold: false }), encodeAll(hatf.encoder(), batches))
  expect(error).toBeUndefined()
  return events
}

/** What HATF10.dtd and the native codec both have a place for. */
function common(events: readonly TraceEvent[]): TraceEvent[] {
  return events.map((event) => {
    const { size, time, outcome: _, ...rest } = event
    const isBlock = event.kind === 'alloc' || event.kind === 'free'
    const hasTime = time !== undefined && (isBlock || event.kind === 'realloc')
    return {
      ...rest,
      ...(size !== undefined && event.kind !== 'realloc' && { size }),
      ...(hasTime && { time }),
    } as TraceEvent
  })
}

/** Expects the pair that is generated, the module that is printed and the native codec to agree about events. */
function expectSame(
  events: readonly TraceEvent[],
  pairs: readonly [Pair, Pair],
  size: number,
  contiguous = false,
): void {
  const batches = batchesOf(events, HEADER)
  const [one, other] = pairs.map(({ encoder }) => writing(encoder({ contiguous }), batches))
  expect(other).toEqual(one)
  const bytes = new Uint8Array(Buffer.from(one?.bytes ?? '', 'hex'))
  const read = pairs.map(({ decoder }) => reading(decoder(), bytes, size))
  expect(read[1]).toEqual(read[0])
  expect(common(read[1]?.batches.flatMap((batch) => batch.events) ?? [])).toEqual(common(events))
}

describe('HATF10.dtd, generated and printed', () => {
  test('random events with metadata among them: as the native codec has them', () => {
    fc.assert(
      fc.property(random(), fc.constantFrom(1, 7, 64, 1 << 20), ({ events }, size) => {
        const expected = native(batchesOf(events, HEADER))
        expectSame(expected, PAIRS, size)
        expectSame(expected, SPLIT_PAIRS, size, size === 7)
      }),
      { numRuns: runs(40) },
    )
  })

  const fixture = (name: string) =>
    gunzipSync(readFileSync(fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))))

  test.each<[string, () => Decoder]>([
    ['mtrc/git.mtrc.gz', () => mtrc.decoder()],
    ['replay/git.txt.gz', () => replay.decoder()],
  ])('%s', (name, decoder) => {
    const { batches } = decodeAll(decoder(), new Uint8Array(fixture(name)), 65_536)
    const events = native(batches).slice(0, 20_000)
    expect(events.length).toBeGreaterThan(10_000)
    expectSame(events, PAIRS, 65_536)
  })

  test.each<[string, () => Decoder]>([
    ['mtrc/espresso-tiny64pie.mtrc', () => mtrc.decoder()],
    ['mtrc/mt64.mtrc', () => mtrc.decoder()],
    ['memory-replay/mstress.txt', () => replay.decoder()],
  ])('%s', { tags: ['corpus'] }, (name, decoder) => {
    const bytes = corpusFile(name).subarray(0, 600_000)
    const { batches } = decodeAll(decoder(), bytes.subarray(0, bytes.lastIndexOf(10) + 1), 65_536)
    const events = native(batches)
    expect(events.length).toBeGreaterThan(1000)
    expectSame(events, PAIRS, 65_536)
  })

  test('numbers are read in place also after metadata', () => {
    const { batches } = decodeAll(mtrc.decoder(), new Uint8Array(fixture('mtrc/git.mtrc.gz')), 65_536)
    const bytes = encodeAll(PAIRS[1].encoder(), batches)
    let calls = 0
    const { number } = BinaryReader.prototype
    BinaryReader.prototype.number = function (...args) {
      calls++
      return number.apply(this, args)
    }
    try {
      const { events } = decodeAll(PAIRS[0].decoder(), bytes, 65_536)
      expect(events.length).toBeGreaterThan(10_000)
      expect(calls).toBeLessThan(events.length / 100)
    } finally {
      BinaryReader.prototype.number = number
    }
  })
})

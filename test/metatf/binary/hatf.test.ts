import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { hatf } from '../../../lib/formats/hatf/index.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { binaryDecoder, binaryEncoder } from '../../../lib/entry/metatf.js'
import { random } from '../../formats/hatf/random.js'
import { corpusFile } from '../../support/corpus.js'
import { decodeAll, encodeAll, encodeEvents } from '../../support/drive.js'
import { HATF10, SPLIT } from './support.js'

const NO_HEADER = { format: 'hatf' }

/** What HATF10.dtd cannot represent, or the native format no way to leave out. */
function common(events: readonly TraceEvent[]): TraceEvent[] {
  return events.map((event) => {
    const { size, time, ...rest } = event
    if (event.kind === 'realloc') {
      const { outcome: _, ...plain } = rest
      return time === undefined ? plain : { ...plain, time }
    }
    const isBlock = event.kind === 'alloc' || event.kind === 'free'
    return { ...rest, ...(size !== undefined && { size }), ...(time !== undefined && isBlock && { time }) }
  })
}

/** The events through the native codec. */
function native(events: readonly TraceEvent[]): TraceEvent[] {
  const raw = decodeAll(
    hatf.decoder({ fold: false }),
    encodeEvents(hatf.encoder({ preset: 'naive' } as object), events, NO_HEADER),
  )
  expect(raw.error).toBeUndefined()
  return raw.events
}

const SIZES = [1, 7, 64, 1 << 20]

describe('HATF in Meta-TF', () => {
  test.each([
    ['HATF10.dtd', HATF10],
    ['hatf10-split.dtd', SPLIT],
  ])('random events through %s are those through the native codec', (_, dtd) => {
    fc.assert(
      fc.property(
        random(),
        fc.constantFrom(...SIZES),
        fc.boolean(),
        fc.boolean(),
        ({ events }, size, little, contiguous) => {
          // The components of reallocs, too, that the native codec writes.
          const expected = native(events)
          const encoder = binaryEncoder(dtd, { byteOrder: little ? 'little' : 'big', contiguous })
          const bytes = encodeEvents(encoder, expected, NO_HEADER)
          const back = decodeAll(binaryDecoder(dtd), bytes, size)
          expect(back.error).toBeUndefined()
          expect(common(back.events)).toEqual(common(expected))
          if (dtd === SPLIT) expect(back.events.map(({ size: n }) => n)).toEqual(expected.map(({ size: n }) => n))
          expect(encodeAll(binaryEncoder(dtd), back.batches)).toEqual(bytes)
        },
      ),
    )
  })

  test.each([
    ['espresso-tiny64pie', mtrc, 'mtrc/espresso-tiny64pie.mtrc'],
    ['mt64', mtrc, 'mtrc/mt64.mtrc'],
    ['git', replay, 'memory-replay/git.txt'],
    ['mstress', replay, 'memory-replay/mstress.txt'],
  ])('real traces: %s', { tags: ['corpus'] }, (_, format, path) => {
    const bytes = corpusFile(path).subarray(0, 2_000_000)
    const { events } = decodeAll(format.decoder(), bytes.subarray(0, bytes.lastIndexOf(10) + 1), 65_536)
    expect(events.length).toBeGreaterThan(1000)
    const expected = decodeAll(
      hatf.decoder({ fold: false }),
      encodeAll(hatf.encoder(), batchesOf(events, NO_HEADER)),
    ).events
    for (const dtd of [HATF10, SPLIT]) {
      for (const contiguous of [false, true]) {
        const trace = encodeEvents(binaryEncoder(dtd, { contiguous }), expected, NO_HEADER)
        const back = decodeAll(binaryDecoder(dtd), trace, 65_536)
        expect(back.error).toBeUndefined()
        expect(common(back.events)).toEqual(common(expected))
      }
    }
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import { NO_HEADER } from '../../lib/event/header.js'
import { decodeText, encodeText } from '../../lib/event/strings.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { decodeAll, encodeAll } from '../support/drive.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

/** Bytes in which surrogates, and bytes that look like a part of one, are frequent. */
const PARTS = ['eda080', 'edafbf', 'edb080', 'edbfbf', 'edb280', 'edb3bf', 'ed', 'a0', '80', 'ed9fbf', 'f09f9880', '61']
const bytes = fc.oneof(
  fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''), 'hex')),
  fc.uint8Array({ maxLength: 24 }),
)
const HALVES = ['\ud800', '\udbff', '\udc00', '\udc7f', '\udd00', '\udfff', 'a', '\u00e9', '\u{1f600}']

describe('bytes and text', () => {
  it('all bytes come back from their text', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        expect(Buffer.from(encodeText(decodeText(some)))).toEqual(Buffer.from(some))
      }),
      { numRuns: runs(20_000) },
    )
  })

  it('text with halves of pairs comes back from its bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...HALVES), { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        expect(decodeText(encodeText(text))).toBe(text)
      }),
      { numRuns: runs(20_000) },
    )
  })

  it('bytes that are not UTF-8 take no time in proportion to their square', { tags: ['slow'] }, () => {
    for (const part of ['eda080', 'edb080', 'ff']) {
      const many = Buffer.from(part.repeat(200_000) + 'ff', 'hex')
      const time = stopwatch()
      expect(encodeText(decodeText(many)).length).toBe(many.length)
      expect(time()).toBeLessThan(1000)
    }
  })

  it('NDJSON has the same text as JSON.stringify, and reads it', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        const event: TraceEvent = { kind: 'free', address: 16n, module: decodeText(some) }
        const line = encodeAll(ndjson.encoder(), batchesOf([event], NO_HEADER))
        expect(Buffer.from(line).toString()).toContain(`"module":${JSON.stringify(event.module)}`)
        expect(decodeAll(ndjson.decoder(), line).events).toEqual([event])
      }),
      { numRuns: runs(5000) },
    )
  })
})

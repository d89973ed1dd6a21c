import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Unzip } from '../../../lib/compression/unzip.js'
import { ReplayDecoder } from '../../../lib/formats/replay/decode.js'
import { ReplayEncoder } from '../../../lib/formats/replay/encode.js'
import { corpusFile } from '../../support/corpus.js'
import { decodeAll, encodeEvents } from '../../support/drive.js'
import { random } from './random.js'

describe('any trace', () => {
  it('comes back as it was, in chunks of any size', () => {
    fc.assert(
      fc.property(random(), fc.integer({ min: 1, max: 200 }), ({ header, events }, size) => {
        const encoder = new ReplayEncoder({ strict: true })
        const bytes = encodeEvents(encoder, events, header)
        const decoded = decodeAll(new ReplayDecoder(), bytes, size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(events)
        expect(decoded.headers).toEqual([header])
        expect(encodeEvents(new ReplayEncoder(), decoded.events, header)).toEqual(bytes)
      }),
    )
  })
})

/** Decodes and encodes a dump in one pass, comparing the text as it comes; nothing of it is kept. */
function rewritesItself(text: Uint8Array, pieces: Iterable<Uint8Array>): number {
  const decoder = new ReplayDecoder()
  const encoder = new ReplayEncoder({ strict: true })
  let events = 0
  let at = 0
  const drain = () => {
    for (let batch = decoder.next(); batch !== null; batch = decoder.next()) {
      events += batch.count
      encoder.feed(batch)
      for (let out = encoder.next(); out !== null; out = encoder.next()) {
        if (Buffer.compare(out, text.subarray(at, at + out.length)) !== 0)
          throw new Error(`the text differs after byte ${at}`)
        at += out.length
      }
    }
  }
  for (const piece of pieces) {
    decoder.feed(piece)
    drain()
  }
  decoder.end()
  drain()
  expect(at).toBe(text.length)
  expect(decoder.warnings).toEqual([])
  return events
}

function* chunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += 65_536) yield bytes.subarray(i, i + 65_536)
}

function* unzipped(bytes: Uint8Array): Generator<Uint8Array> {
  const stage = new Unzip()
  for (const chunk of chunks(bytes)) {
    stage.feed(chunk)
    for (let out = stage.next(); out !== null; out = stage.next()) yield out
  }
  stage.end()
  for (let out = stage.next(); out !== null; out = stage.next()) yield out
}

describe('real dumps', { tags: ['corpus'] }, () => {
  it.each([
    ['systemui', 786_454],
    ['espresso-largest-m32', 3_367_335],
    ['twolf-map9v3', 432_024],
    ['git', 304_104],
    ['python', 1_301_084],
    ['mstress', 1_481_325],
  ])('%s comes back byte for byte', { timeout: 60_000 }, (name, lines) => {
    const text = corpusFile(`memory-replay/${name}.txt`)
    expect(rewritesItself(text, chunks(text))).toBe(lines)
  })

  it('systemui.zip holds the same as systemui.txt', () => {
    const text = corpusFile('memory-replay/systemui.txt')
    expect(rewritesItself(text, unzipped(corpusFile('memory-replay/systemui.zip')))).toBe(786_454)
  })
})

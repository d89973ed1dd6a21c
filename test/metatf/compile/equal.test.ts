import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import { formatFileHeader, headerLength } from '../../../lib/metatf/binary/layout.js'
import { loopSections } from '../../../lib/metatf/compile/loopable.js'
import { parseDtd, type Dtd } from '../../../lib/metatf/index.js'
import { mappingOf } from '../../../lib/metatf/mapping.js'
import { drive } from '../../support/drive.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'
import { Reference } from '../binary/reference.js'
import { randomDtd } from '../random.js'
import { eventFor, randomEventDtd } from './random.js'
import { compiled, expectSameReading, universal, writing, type Pair } from './support.js'

const numbers = fc.infiniteStream(fc.nat(0xffff_ffff))

/** A trace of random records, metadata and changes of section, without a header. */
function traceOf(dtd: Dtd, stream: Iterator<number>, little: boolean, steps: number): Uint8Array {
  const reference = new Reference(dtd, little, (n) => (stream.next().value as number) % n)
  for (let i = 0; i < steps; i++) reference.step()
  return new Uint8Array(reference.bytes)
}

/** The same with a header, and a count of records that may be wrong. */
function fileOf(records: Uint8Array, little: boolean, count: number): Uint8Array {
  const byteOrder = little ? 'little' : 'big'
  const header = formatFileHeader({
    addressSize: 64,
    byteOrder,
    dtd: '',
    records: count,
    start: headerLength(0, 0),
    sections: [],
  })
  return new Uint8Array(Buffer.concat([header, records]))
}

function pairsOf(dtd: Dtd): [Pair, Pair] {
  return [universal(dtd), compiled(dtd)]
}

/** How many records loops read or write in random DTDs: else the properties would say little. */
function loopRecords(dtd: Dtd): number {
  return loopSections(dtd, mappingOf(dtd)).reduce((sum, { records }) => sum + records.length, 0)
}

test('random traces with metadata: the same events, batches and errors', () => {
  let records = 0
  fc.assert(
    fc.property(
      randomEventDtd(true),
      numbers,
      fc.boolean(),
      fc.integer({ min: 1, max: 60 }),
      fc.nat(60),
      (text, stream, little, size, count) => {
        const dtd = parseDtd(text, 'x.dtd')
        records += loopRecords(dtd)
        const trace = traceOf(dtd, stream, little, 40)
        const byteOrder = little ? 'little' : 'big'
        expectSameReading(pairsOf(dtd), trace, [undefined, size, 7], { byteOrder, header: false })
        expectSameReading(pairsOf(dtd), fileOf(trace, little, count), [undefined, size])
      },
    ),
    { numRuns: runs(120) },
  )
  expect(records).toBeGreaterThan(runs(120))
})

test('traces that are cut or damaged: the same events and the same error', () => {
  fc.assert(
    fc.property(
      randomEventDtd(true),
      numbers,
      fc.nat(),
      fc.nat(255),
      fc.integer({ min: 1, max: 30 }),
      (text, stream, at, byte, size) => {
        const dtd = parseDtd(text, 'x.dtd')
        const trace = traceOf(dtd, stream, false, 20)
        fc.pre(trace.length > 0)
        const pairs = pairsOf(dtd)
        const damaged = trace.slice()
        damaged[at % trace.length] = byte
        expectSameReading(pairs, damaged, [undefined, size], { header: false })
        for (let length = 0; length < trace.length; length += 5)
          expectSameReading(pairs, trace.slice(0, length), [size], { header: false })
      },
    ),
    { numRuns: runs(60) },
  )
})

test('random DTDs of both versions with everything else: the same for random bytes', () => {
  fc.assert(
    fc.property(randomDtd, fc.uint8Array({ maxLength: 200 }), (text, bytes) => {
      const dtd = parseDtd(text, 'x.dtd')
      fc.pre(dtd.version === '1.0')
      expectSameReading(pairsOf(dtd), bytes, [undefined, 3])
    }),
  )
})

test('random events are written as the same bytes, with the same losses and errors, and read again', () => {
  let written = 0
  fc.assert(
    fc.property(
      randomEventDtd(false),
      numbers,
      fc.array(anyEvent, { maxLength: 3 }),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 40 }),
      (text, stream, others, little, strict, size) => {
        const dtd = parseDtd(text, 'x.dtd')
        const pick = (n: number) => (stream.next().value as number) % n
        const events = [
          ...Array.from({ length: 40 }, () => eventFor(dtd, pick)),
          ...others,
          ...Array.from({ length: 10 }, () => eventFor(dtd, pick)),
        ]
        const [one, other] = pairsOf(dtd)
        const options = { byteOrder: little ? 'little' : 'big', strict } as const
        const batches = [events.slice(0, 9), events.slice(9)].flatMap((part) => batchesOf(part, { format: 'x' }))
        const expected = writing(one.encoder(options), batches)
        expect(writing(other.encoder(options), batches)).toEqual(expected)
        const bytes = new Uint8Array(Buffer.from(expected.bytes, 'hex'))
        expectSameReading([one, other], bytes, [undefined, size])
        // What was read fits the records well, and is written without the help of metadata for the most part.
        const again = drive(one.decoder(), [bytes]).out
        const second = writing(one.encoder(options), again)
        expect(writing(other.encoder(options), again)).toEqual(second)
        written += again.reduce((sum, { count }) => sum + count, 0)
      },
    ),
    { numRuns: runs(120) },
  )
  expect(written).toBeGreaterThan(runs(120) * 6)
})

test('what random traces hold is written as the same bytes', () => {
  fc.assert(
    fc.property(randomEventDtd(true), numbers, fc.boolean(), (text, stream, latency) => {
      const [withTable, plain] = [text, text.replace(/^section values.*$/m, '')].map((each) =>
        parseDtd(each, 'x.dtd'),
      ) as [Dtd, Dtd]
      fc.pre(!text.includes('sectionStride'))
      const { out } = drive(universal(withTable).decoder({ header: false }), [traceOf(withTable, stream, false, 60)])
      const [one, other] = pairsOf(plain)
      expect(writing(other.encoder({ latency }), out)).toEqual(writing(one.encoder({ latency }), out))
    }),
    { numRuns: runs(120) },
  )
})

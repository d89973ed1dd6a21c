import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TraceError } from '../../../lib/event/error.js'
import { binaryDecoder, binaryEncoder } from '../../../lib/entry/metatf.js'
import { formatFileHeader, headerLength } from '../../../lib/metatf/binary/header.js'
import { parseDtd } from '../../../lib/metatf/index.js'
import { decodeAll, drive, encodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { randomDtd } from '../random.js'
import { Reference } from './reference.js'

/** A file with the table that random DTDs have, of one byte or four for each element, and behind it these records. */
function fileOf(records: readonly number[], little: boolean): Uint8Array {
  const values = new Uint8Array(4 * 4100)
  for (let i = 0; i < 4100; i++) new DataView(values.buffer).setUint32(4 * i, (i * 7) % 256, little)
  const length = headerLength(0, 1)
  const header = formatFileHeader({
    addressSize: 64,
    byteOrder: little ? 'little' : 'big',
    dtd: '',
    records: 0,
    start: length + values.length,
    sections: [{ id: 255, start: length, size: values.length }],
  })
  return new Uint8Array(Buffer.concat([header, values, new Uint8Array(records)]))
}

test('random traces of random DTDs are read as a plain reference says, and written and read again', () => {
  let events = 0
  let traces = 0
  let whole = 0
  fc.assert(
    fc.property(
      randomDtd,
      fc.infiniteStream(fc.nat(0xffff_ffff)),
      fc.boolean(),
      fc.integer({ min: 1, max: 50 }),
      (text, stream, little, size) => {
        const dtd = parseDtd(text)
        fc.pre(dtd.version === '1.0')
        const reference = new Reference(dtd, little, (n) => (stream.next().value as number) % n)
        for (let i = 0; i < 20; i++) reference.step()
        const trace = fileOf(reference.bytes, little)
        const first = decodeAll(binaryDecoder(dtd), trace, 1024 * size + size)
        expect(first.error).toBeUndefined()
        expect(first.events.map(({ type, fields }) => ({ type, fields: fields ?? {} }))).toEqual(reference.events)
        const encoder = binaryEncoder(dtd)
        const again = encodeAll(encoder, first.batches)
        const second = decodeAll(binaryDecoder(dtd), again, size)
        expect(second.error).toBeUndefined()
        // A record that metadata gave a field has it for good, and one whose bytes it gave a fixed width has that, in
        // that section.
        const losses = [...encoder.losses.counts.keys()]
        expect(losses.filter((loss) => !/, written as 0$|there is no room/.test(loss))).toEqual([])
        traces++
        if (losses.length > 0) return
        whole++
        expect(second.events).toEqual(first.events)
        events += first.events.length
      },
    ),
    { numRuns: runs(200) },
  )
  // Few traces say nothing of how many are whole, or long.
  if (traces >= 100) {
    expect(events).toBeGreaterThan(traces * 2)
    expect(whole / traces).toBeGreaterThan(0.9)
  }
  expect(events).toBeGreaterThan(0)
})

test('records in tiny pieces, cut anywhere', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(randomDtd, fc.infiniteStream(fc.nat(0xffff_ffff)), (text, stream) => {
      const dtd = parseDtd(text)
      fc.pre(dtd.version === '1.0')
      const reference = new Reference(dtd, false, (n) => (stream.next().value as number) % n)
      for (let i = 0; i < 6; i++) reference.step()
      // Without the table, for it is long: what takes from it is a fault at the same place however the bytes come.
      const bytes = new Uint8Array(reference.bytes)
      const whole = decodeAll(binaryDecoder(dtd), bytes)
      const pieces = decodeAll(binaryDecoder(dtd), bytes, 1)
      expect(pieces.events).toEqual(whole.events)
      expect(pieces.error).toEqual(whole.error)
      for (let length = 0; length < bytes.length; length += 3) {
        const { events, error } = decodeAll(binaryDecoder(dtd), bytes.slice(0, length), 5)
        expect(events).toEqual(whole.events.slice(0, events.length))
        if (error !== undefined) expect(error).toMatchObject({ name: 'TraceError', event: events.length + 1 })
      }
    }),
  )
})

test('random bytes: an error or a trace', () => {
  fc.assert(
    fc.property(randomDtd, fc.uint8Array({ maxLength: 300 }), (text, bytes) => {
      const dtd = parseDtd(text)
      fc.pre(dtd.version === '1.0')
      const { error } = drive(binaryDecoder(dtd), [bytes])
      if (error !== undefined) expect(error).toBeInstanceOf(TraceError)
    }),
  )
})

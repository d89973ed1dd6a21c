// @module-tag slow
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import { formatFileHeader, headerLength } from '../../../lib/metatf/binary/header.js'
import { APIS, FIELDS, FieldBit, KINDS, OUTCOMES } from '../../../lib/event/fields.js'
import type { FieldValue } from '../../../lib/event/json.js'
import { decodeText } from '../../../lib/event/strings.js'
import { parseDtd, type Dtd, type Field, type Leaf } from '../../../lib/metatf/index.js'
import { mappingOf, type RecordMapping } from '../../../lib/metatf/mapping.js'
import { drive } from '../../support/drive.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'
import { Reference } from '../binary/reference.js'
import { randomDtd } from '../random.js'
import { eventFor, randomEventDtd } from './random.js'
import { compiled, expectSameReading, generated, reading, writing, type Pair } from './support.js'

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
  return [generated(dtd), compiled(dtd)]
}

/** What a plain reading of the values of a record makes of it: those for which its event has fields become these. */
function eventOf(mapping: RecordMapping, fields: Record<string, FieldValue>): object {
  const { kind, outcome, api, given, record, leaves, keys } = mapping
  const rest = { ...fields }
  const event: Record<string, unknown> = { kind: KINDS[kind] }
  if (outcome >= 0) event['outcome'] = OUTCOMES[outcome]
  if (api >= 0) event['api'] = APIS[api]
  if ((given & FieldBit.type) !== 0) event['type'] = record.name
  if ((given & FieldBit.code) !== 0) event['code'] = record.tag
  for (const { leaf, field, type } of leaves) {
    // A value that is always the same is not among those of the record.
    if (field >= 0 && leaf.value?.kind === 'number')
      event[FIELDS[field]?.name as string] =
        type === 'u32' || type === 'i32' ? Number(leaf.value.value) : leaf.value.value
    const inside = leafIn(record.fields, leaf, rest, keys)
    const value = inside?.values[inside.key]
    if (field < 0 || inside === undefined || value === undefined) continue
    const { name } = FIELDS[field] as (typeof FIELDS)[number]
    if (typeof value === 'string') {
      const bytes = Buffer.from(value, 'base64')
      if (bytes.length > 0 || name === 'text')
        event[name] = type === 'bytes' ? new Uint8Array(bytes) : decodeText(bytes)
    } else if (type === 'u32' || type === 'i32') {
      const number = BigInt.asIntN(64, value as bigint)
      const fits = type === 'u32' ? (value as bigint) < 2n ** 32n : number === BigInt.asIntN(32, number)
      if (!fits) continue
      event[name] = Number(type === 'u32' ? value : number)
    } else {
      event[name] = value
    }
    delete inside.values[inside.key]
    if (inside.parent !== null && Object.keys(inside.values).length === 0) delete rest[inside.parent]
  }
  return Object.keys(rest).length > 0 ? { ...event, fields: rest } : event
}

interface Inside {
  values: Record<string, FieldValue>
  key: string
  parent: string | null
}

/** Where the values of a record have that of a leaf: among them, or in a composite such as a vfield. */
function leafIn(
  fields: readonly Field[],
  leaf: Leaf,
  values: Record<string, FieldValue>,
  keys: ReadonlyMap<Field, string>,
  parent: string | null = null,
): Inside | undefined {
  for (const field of fields) {
    const key = keys.get(field) ?? ''
    if (field === leaf) return key === '' ? undefined : { values, key, parent }
    if (field.kind !== 'composite' || typeof values[key] !== 'object') continue
    const inner = (values[key] = { ...(values[key] as Record<string, FieldValue>) })
    const found = leafIn(field.fields, leaf, inner, keys, key)
    if (found !== undefined) return found
  }
  return undefined
}

test('random traces with metadata: the events that a plain reference says, in whatever pieces, and as printed', () => {
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
        const reference = new Reference(dtd, little, (n) => (stream.next().value as number) % n)
        for (let i = 0; i < 40; i++) reference.step()
        const trace = new Uint8Array(reference.bytes)
        const byteOrder = little ? 'little' : 'big'
        const options = { byteOrder, header: false } as const
        const whole = reading(generated(dtd).decoder(options), trace)
        const { error, ...expected } = whole
        // What takes from a table that is not there is a fault.
        if (error === undefined) {
          const byName = new Map(mappingOf(dtd).records.map((mapping) => [mapping.record.name, mapping]))
          const events = expected.batches.flatMap((batch) => batch.events)
          expect(events).toEqual(
            reference.events.map(({ type, fields }) =>
              eventOf(byName.get(type) as RecordMapping, fields as Record<string, FieldValue>),
            ),
          )
          records += events.length
        }
        for (const pieces of [size, 7, 1]) {
          const again = reading(generated(dtd).decoder(options), trace, pieces)
          expect(again.error).toEqual(error)
          expect(again.batches.flatMap((batch) => batch.events)).toEqual(
            expected.batches.flatMap((batch) => batch.events),
          )
        }
        expectSameReading(pairsOf(dtd), trace, [undefined, size], options)
        expectSameReading(pairsOf(dtd), fileOf(trace, little, count), [undefined, size])
      },
    ),
    { numRuns: runs(120) },
  )
  expect(records).toBeGreaterThan(runs(120))
})

test('traces that are cut anywhere or damaged: the events before, an error, the same in whatever pieces', () => {
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
        const events = (bytes: Uint8Array, pieces?: number) => {
          const { batches, error } = reading(pairs[0].decoder({ header: false }), bytes, pieces)
          return { events: batches.flatMap((batch) => batch.events), error }
        }
        const damaged = trace.slice()
        damaged[at % trace.length] = byte
        expectSameReading(pairs, damaged, [undefined, size], { header: false })
        expect(events(damaged, size)).toEqual(events(damaged))
        const whole = events(trace)
        for (let length = 0; length < trace.length; length++) {
          const cut = events(trace.subarray(0, length), size)
          expect(cut.events).toEqual(whole.events.slice(0, cut.events.length))
          if (cut.error === undefined) continue
          expect(cut.error).toMatchObject({ event: cut.events.length + 1 })
          if (cut.error.message !== whole.error?.message)
            expect((cut.error as { code?: string }).code).toBe('ERR_TRACE_TRUNCATED')
        }
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
        const readEvents = again.flatMap((batch) => [...batch])
        const encoder = one.encoder(options)
        const third = drive(one.decoder(), drive(encoder, again).out).out.flatMap((batch) => [...batch])
        if (encoder.losses.counts.size === 0) expect(third).toEqual(readEvents)
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
      const { out } = drive(generated(withTable).decoder({ header: false }), [traceOf(withTable, stream, false, 60)])
      const [one, other] = pairsOf(plain)
      expect(writing(other.encoder({ latency }), out)).toEqual(writing(one.encoder({ latency }), out))
    }),
    { numRuns: runs(120) },
  )
})

import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import { batchesOf, type EventBatch } from '../event/batch.js'
import { TraceError } from '../event/error.js'
import { EVERY_FIELD, KINDS, type FieldType, type KindName } from '../event/fields.js'
import { carriedFields, isWritable, needFormat, type Format, type WritableFormat } from '../event/format.js'
import { checkNeededOptions, type ValueCheck } from '../event/options.js'
import type { TraceHeader } from '../event/header.js'
import type { Encoder } from '../event/stage.js'
import type { TraceEvent } from '../event/trace-event.js'
import { decoderStream } from '../streams/stage.js'
import { decodeAll, encodeAll, encodeEvents } from './drive.js'

/** A trace in the bytes of a format. */
export interface Sample {
  /** Its name in the names of checks. */
  readonly name: string
  readonly bytes: Uint8Array
  /** Its events. Default: what the decoder gives for all bytes at once. */
  readonly events?: readonly TraceEvent[]
  /** The options with which encoding the events gives the same bytes; `false` if no encoder writes these bytes. */
  readonly encode?: object | false
}

/** The subject of the tests. */
export interface Conformance {
  /** Traces, at least one. Keep them below some kilobytes: each byte and each bit is a test. */
  readonly samples: readonly Sample[]
  /** Traces that the format can represent completely, random ones for example. They are read when the check runs. */
  readonly traces?: Iterable<{ readonly header: TraceHeader; readonly events: readonly TraceEvent[] }>
  /** Options under which each record is an event, if the decoder joins records into one by default. */
  readonly raw?: object
  /** The number of bytes and bits of a sample that are tried at most, spread over it. Default 4096. */
  readonly most?: number
  /** Traces end with a mark, so that each one that is truncated is an error. Default false. */
  readonly endMark?: boolean
}

/** One check. `run` throws an AssertionError, and so fits the `test` of any test runner. */
export interface Check {
  readonly name: string
  run(): void | Promise<void>
}

const SAMPLES: ValueCheck = {
  what: 'an array of traces such as { name, bytes }, whose bytes are a Uint8Array',
  is: (value) => Array.isArray(value) && value.every((item) => (item as Partial<Sample>)?.bytes instanceof Uint8Array),
}

const SIZES = [1, 7, 64, 1 << 20]
/** The input of one repeated byte, in chunks of `CHUNK`. */
const ENDLESS = 48 << 20
const ENDLESS_MS = 1000
const CHUNK = 65_536

/**
 * The checks that every format of heapflow passes.
 *
 * @example
 * for (const { name, run } of conformance(format, { samples: [{ name: 'small', bytes }] })) test(name, run)
 */
export function conformance(format: Format, options: Conformance): Check[] {
  needFormat(format, 'conformance')
  checkNeededOptions(
    options,
    { samples: SAMPLES, traces: true, raw: true, most: 'number', endMark: 'boolean' },
    'conformance',
  )
  const { samples, traces, raw, most = 4096, endMark = false } = options
  const checks: Check[] = []
  const check = (name: string, run: Check['run']) => checks.push({ name: `${format.name}: ${name}`, run })
  for (const sample of samples) {
    const { name } = sample
    // A copy, whose `slice` also copies; a Buffer's does not.
    const bytes = new Uint8Array(sample.bytes)
    const records = () => decodeAll(format.decoder(raw), bytes).events
    check(`${name} is recognized by its first bytes`, () => {
      assert(format.sniff(bytes.subarray(0, 4096)))
      assert(format.sniff(bytes.subarray(0, 64)))
    })
    for (const size of SIZES) {
      check(`${name} gives the same events in chunks of ${size}`, () => {
        const { events, error } = decodeAll(format.decoder(), bytes, size)
        assert.equal(error, undefined)
        assert.deepEqual(plain(events), plain(sample.events ?? decodeAll(format.decoder(), bytes).events))
      })
    }
    check(`${name} has only events and fields that the format carries`, () => onlyCarried(format, bytes))
    check(`${name}, truncated at any byte, gives the events before it and then at most one error`, () => {
      const all = records()
      /** Of each number of events, the shortest beginning of the trace that has as many. */
      const shortest: number[] = []
      for (const length of someOf(bytes.length, most)) {
        const { events, error } = decodeAll(format.decoder(raw), bytes.slice(0, length), 64)
        const ofCut = error === undefined ? truncatedPlain : plain
        assert.deepEqual(ofCut(events), ofCut(all.slice(0, events.length)))
        shortest[events.length] ??= length
        if (error !== undefined) checkError(error, format, events, length, shortest[events.length - 1])
        else assert(!endMark, `no error where the trace ends after ${length} bytes`)
      }
    })
    check(`${name}, truncated by an error elsewhere, gives the events before it and no error`, () => {
      const all = records()
      for (const length of someOf(bytes.length, most)) {
        const { events, error } = decodeAll(format.decoder(raw), bytes.slice(0, length), 64, true)
        assert.equal(error, undefined)
        assert.deepEqual(truncatedPlain(events), truncatedPlain(all.slice(0, events.length)))
      }
    })
    check(`${name} with any bit flipped gives a TraceError or other events`, () => {
      for (const bit of someOf(bytes.length * 8, most)) {
        const flipped = bytes.slice()
        flipped[bit >> 3] = flipped[bit >> 3] ^ (1 << (bit & 7))
        const { batches, events, error } = decodeAll(format.decoder(), flipped)
        if (error !== undefined) checkError(error, format, events, bytes.length)
        if (isWritable(format)) encodeAll(format.encoder(), batches)
      }
    })
    check(`${name} is read no faster than its events are taken`, () => holdsBack(format, bytes))
    if (isWritable(format) && sample.encode !== false)
      check(`${name} comes back byte for byte`, () => {
        const { batches } = decodeAll(format.decoder(), bytes)
        const encoder = format.encoder(sample.encode === false ? undefined : sample.encode)
        assert.deepEqual(encodeAll(encoder, batches), bytes)
      })
  }
  check('random bytes give a TraceError or events', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const { error } = decodeAll(format.decoder(), randomBytes(seed))
      if (error !== undefined) assert(error instanceof TraceError, String(error))
    }
  })
  for (const byte of [0, 0x0a, 0x30, 0x61, 0xff])
    check(`an endless run of the byte ${byte} is not kept in memory`, () => endless(format, byte))
  if (isWritable(format)) {
    check('what cannot be written is counted, and an error in strict mode', () => countsLosses(format))
    check('a second trace comes back, or is counted', () => keepsTraces(format))
    if (traces !== undefined)
      check('what it can represent comes back, in chunks of any size', () => roundTrips(format, traces))
  }
  return checks
}

/** Events as plain objects: prototypes do not count, at any depth. */
function plain(events: readonly TraceEvent[]): unknown[] {
  return events.map((event) => withoutPrototypes(event))
}

/** The same without the last stack: where its lines follow that of the event, the trace may end between them. */
function truncatedPlain(events: readonly TraceEvent[]): unknown[] {
  return plain(events.map((event, i) => (i === events.length - 1 ? { ...event, stack: [] } : event)))
}

function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return new Uint8Array(value)
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutPrototypes(item)]))
}

/** Numbers below n: all, or about as many as `most`, spread over them in no pattern that bytes have. */
function someOf(n: number, most: number): number[] {
  const step = Math.max(1, Math.ceil(n / most))
  const starts = Array.from({ length: Math.ceil(n / step) }, (_, i) => i * step)
  return starts.map((from, i) => from + ((Math.imul(i, 0x9e37_79b1) >>> 16) % step)).filter((number) => number < n)
}

function randomBytes(seed: number): Uint8Array {
  let state = seed
  return Uint8Array.from({ length: seed }, () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24)
}

/** An error must say which event could not be read, and where it is. */
function checkError(error: Error, format: Format, events: readonly TraceEvent[], length: number, least = 0): void {
  assert(error instanceof TraceError, `not a TraceError: ${String(error)}`)
  const { offset = -1, event, message } = error
  assert(message.startsWith(`${format.name}: `), `the message does not begin with the format's name: ${message}`)
  assert(offset >= least && offset <= length, `the offset ${offset} is not from ${least} to ${length}: ${message}`)
  assert.equal(event, events.length + 1, `the number of the event is wrong: ${message}`)
}

function onlyCarried(format: Format, bytes: Uint8Array): void {
  for (const event of decodeAll(format.decoder(), bytes).events) {
    assert(format.carried[event.kind] !== undefined, `events of this kind are not carried: ${show([event])}`)
    const names: string[] = ['kind', ...carriedFields(format, event.kind), ...(format.sometimes?.fields ?? [])]
    const more = Object.keys(event).filter((field) => !names.includes(field))
    assert.equal(more.length, 0, `fields are not carried (${more.join(', ')}): ${show([event])}`)
  }
}

/** The header of each batch begins a trace, if it is another object than that of the batch before it. */
function keepsTraces(format: WritableFormat): void {
  const kind = KINDS.find((name) => format.carried[name] !== undefined) as KindName
  const events = [usualEvent(format, kind)]
  const encoder = format.encoder()
  const traces = [1, 2].flatMap(() => batchesOf(events, { format: format.name }))
  const { batches, error } = decodeAll(format.decoder(), encodeAll(encoder, traces))
  assert.equal(error, undefined)
  const found = new Set(batches.map(({ header }) => header)).size
  assert(found === 2 || encoder.losses.counts.size > 0, `2 traces come back as ${found}, and no loss is counted`)
}

function roundTrips(format: WritableFormat, traces: NonNullable<Conformance['traces']>): void {
  for (const { header, events } of traces) {
    const bytes = encodeEvents(format.encoder(), events, header)
    for (const size of SIZES) {
      const back = decodeAll(format.decoder(), bytes, size)
      assert.equal(back.error, undefined)
      assert.deepEqual(plain(back.events), plain(events))
      assert.deepEqual(encodeAll(format.encoder(), back.batches), bytes)
    }
  }
}

type Values = Readonly<Record<FieldType, unknown>>

/** Values for the fields of an event, by the type of field. */
const USUAL: Values = {
  u64: 4096n,
  address: 65_536n,
  u32: 7,
  i32: 7,
  api: 'malloc',
  outcome: 'moved',
  string: 'name',
  list: ['inner', 'outer'],
  bytes: Uint8Array.of(1, 2, 3),
  json: { name: 'value' },
}

/** The largest values, and text that is not ASCII; a byte that is no UTF-8 is a surrogate. */
const LARGE: Values = {
  u64: 2n ** 64n - 1n,
  address: 2n ** 64n - 4096n,
  u32: 2 ** 32 - 1,
  i32: 2 ** 31 - 1,
  api: 'pages',
  outcome: 'freed',
  string: 'na\u00efve \udce9',
  list: ['na\u00efve', '\udce9'],
  bytes: new Uint8Array(300).fill(0xff),
  json: { name: ['na\u00efve', 2n ** 64n] },
}

/** Values that are easily taken for absent ones, and text that divides records. */
const ODD: Values = {
  u64: 0n,
  address: 1n,
  u32: 0,
  i32: -1,
  api: 'free',
  outcome: 'none',
  string: 'a b\n"c,\t',
  list: ['a b\n"c,\t'],
  bytes: new Uint8Array(0),
  json: {},
}

/**
 * Of an event with any one field besides an address, and of those with all fields that the format carries, one of them
 * with an unusual value or without one, each field comes back, or the encoder counts something.
 */
function countsLosses(format: WritableFormat): void {
  for (const kind of KINDS) {
    const lose = (values: object) => countsLossesOf(format, { kind, ...values } as TraceEvent)
    for (const { name, type } of EVERY_FIELD) lose({ address: 65_536n, [name]: USUAL[type] })
    const usual = usualEvent(format, kind)
    lose(usual)
    for (const { name, type } of EVERY_FIELD) {
      const { [name]: value, ...others } = usual
      if (value === undefined) continue
      lose(others)
      for (const values of [LARGE, ODD]) lose({ ...usual, [name]: values[type] })
    }
  }
}

/** An event with all fields that a format carries. */
function usualEvent(format: Format, kind: KindName): TraceEvent {
  const names = carriedFields(format, kind)
  const fields = EVERY_FIELD.filter(({ name }) => names.includes(name))
  return { kind, ...Object.fromEntries(fields.map(({ name, type }) => [name, USUAL[type]])) } as TraceEvent
}

function countsLossesOf(format: WritableFormat, event: TraceEvent): void {
  const header = { format: format.name }
  const encoder = format.encoder()
  const back = readBack(format, encoder, event, header)
  const { counts } = encoder.losses
  const isWhole = back.length === 1 && hasFields(back[0], event)
  if (!isWhole) assert(counts.size > 0, `a loss is not counted: ${show([event])} comes back as ${show(back)}`)
  if (isWhole && counts.size === 0) checkZeros(format, event, back[0], header)
  const strict = () => encodeEvents(format.encoder({ strict: true }), [event], header)
  if (counts.size === 0) strict()
  else assert.throws(strict, { code: 'ERR_TRACE_UNENCODABLE' }, `strict mode accepts a loss: ${show([event])}`)
}

/**
 * Where an event comes back with more fields than it has, the reader may know them, as that a free is a call of `free`,
 * or number blocks. A zero that is written, though, is a loss that must be counted: absent is not zero.
 */
function checkZeros(format: WritableFormat, event: TraceEvent, back: TraceEvent, header: TraceHeader): void {
  const zeros = EVERY_FIELD.filter(({ name }) => event[name] === undefined && (back[name] === 0 || back[name] === 0n))
  if (zeros.length === 0) return
  const encoder = format.encoder()
  const bytes = encodeEvents(encoder, [back], header)
  const isSame = isDeepStrictEqual(bytes, encodeEvents(format.encoder(), [event], header))
  const names = zeros.map(({ name }) => name).join(', ')
  assert(
    !isSame || encoder.losses.counts.size > 0,
    `a zero that is filled in is not counted (${names}): ${show([event])} comes back as ${show([back])}`,
  )
}

function readBack(format: WritableFormat, encoder: Encoder, event: TraceEvent, header: TraceHeader): TraceEvent[] {
  return decodeAll(format.decoder(), encodeEvents(encoder, [event], header)).events
}

/** Whether an event has the fields of another one, and perhaps more, which a reader may know. */
function hasFields(one: TraceEvent, other: TraceEvent): boolean {
  const found = one as unknown as Record<string, unknown>
  return Object.entries(other).every(([name, value]) => isDeepStrictEqual(found[name], value))
}

function show(events: readonly TraceEvent[]): string {
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
  return events.map((event) => JSON.stringify({ ...event }, text)).join(', ') || 'nothing'
}

/** The same byte again and again, without end, must be refused, or be read without taking more and more memory. */
function endless(format: Format, byte: number): void {
  const decoder = format.decoder()
  const chunk = new Uint8Array(CHUNK).fill(byte)
  const before = arrayBuffers()
  const end = performance.now() + ENDLESS_MS
  try {
    // A slow decoder need not read all of it.
    for (let fed = 0; fed < ENDLESS && performance.now() < end; fed += CHUNK) {
      decoder.feed(chunk)
      while (decoder.next() !== null) continue
    }
    const kept = arrayBuffers() - before
    assert(kept < (3 * ENDLESS) / 4, `${kept} bytes are kept of a run of ${ENDLESS}`)
  } catch (error) {
    if (!(error instanceof TraceError)) throw error
  } finally {
    decoder.dispose?.()
  }
}

let collect: (() => void) | undefined

function arrayBuffers(): number {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  return process.memoryUsage().arrayBuffers
}

/** As a stream, a decoder queues one batch while its reader waits, and all of them come in the end. */
async function holdsBack(format: Format, bytes: Uint8Array): Promise<void> {
  const stream = decoderStream(format.decoder())
  const expected = decodeAll(format.decoder(), bytes).events.length
  const fed = (async () => {
    for (let at = 0; at < bytes.length; at += 64)
      if (!stream.write(bytes.subarray(at, at + 64))) await new Promise((resolve) => stream.once('drain', resolve))
    stream.end()
  })()
  let events = 0
  for await (const batch of stream as AsyncIterable<EventBatch>) {
    events += batch.count
    await new Promise((resolve) => setImmediate(resolve))
    assert(stream.readableLength <= 1, `${stream.readableLength} batches wait for a slow reader`)
  }
  await fed
  assert.equal(events, expected)
}

import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import type { EventBatch } from '../event/batch.js'
import { TraceError } from '../event/error.js'
import { EVERY_FIELD, KINDS } from '../event/fields.js'
import { carriedFields, isWritable, type Format, type WritableFormat } from '../event/format.js'
import { checkNeededOptions } from '../event/options.js'
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
}

/** One check. `run` throws an AssertionError, and so fits the `test` of any test runner. */
export interface Check {
  readonly name: string
  run(): void | Promise<void>
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
  checkNeededOptions(options, { samples: true, traces: true, raw: true, most: 'number' }, 'conformance')
  const { samples, traces, raw, most = 4096 } = options
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
    check(`${name}, truncated at any byte, gives the events before it and then at most one error`, () => {
      const all = records()
      for (const length of someOf(bytes.length, most)) {
        const { events, error } = decodeAll(format.decoder(raw), bytes.slice(0, length), 64)
        assert.deepEqual(plain(events), plain(all.slice(0, events.length)))
        if (error !== undefined) checkError(error, format, events, length)
      }
    })
    check(`${name}, truncated by an error elsewhere, gives the events before it and no error`, () => {
      const all = records()
      for (const length of someOf(bytes.length, most)) {
        const { events, error } = decodeAll(format.decoder(raw), bytes.slice(0, length), 64, true)
        assert.equal(error, undefined)
        assert.deepEqual(plain(events), plain(all.slice(0, events.length)))
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
    if (traces !== undefined)
      check('what it can represent comes back, in chunks of any size', () => roundTrips(format, traces))
  }
  return checks
}

/** Events as plain objects: prototypes do not count, at any depth. */
function plain(events: readonly TraceEvent[]): unknown[] {
  return events.map((event) => withoutPrototypes(event))
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
function checkError(error: Error, format: Format, events: readonly TraceEvent[], length: number): void {
  assert(error instanceof TraceError, `not a TraceError: ${String(error)}`)
  const { offset = -1, event, message } = error
  assert(message.startsWith(`${format.name}: `), `the message does not begin with the format's name: ${message}`)
  assert(offset >= 0 && offset <= length, `the offset ${offset} is not in the trace: ${message}`)
  assert.equal(event, events.length + 1, `the number of the event is wrong: ${message}`)
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

/** Values for the fields of an event, by the type of field. */
const VALUES: Readonly<Record<string, unknown>> = {
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

/**
 * Of an event with any one field besides an address, and of one with all fields that the format carries, each field
 * comes back, or the encoder counts something.
 */
function countsLosses(format: WritableFormat): void {
  for (const kind of KINDS) {
    const names = carriedFields(format, kind)
    const carried = EVERY_FIELD.filter(({ name }) => names.includes(name))
    for (const fields of [...EVERY_FIELD.map((field) => [field]), carried]) {
      const values = Object.fromEntries(fields.map(({ name, type }) => [name, VALUES[type]]))
      countsLossesOf(format, { kind, ...(fields !== carried && { address: 65_536n }), ...values } as TraceEvent)
    }
  }
}

function countsLossesOf(format: WritableFormat, event: TraceEvent): void {
  const header = { format: format.name }
  const encoder = format.encoder()
  const back = readBack(format, encoder, event, header)
  const { counts } = encoder.losses
  const isWhole = back.length === 1 && hasFields(back[0], event)
  if (!isWhole) assert(counts.size > 0, `a loss is not counted: ${show([event])} comes back as ${show(back)}`)
  const strict = () => encodeEvents(format.encoder({ strict: true }), [event], header)
  if (counts.size === 0) strict()
  else assert.throws(strict, { code: 'ERR_TRACE_UNENCODABLE' }, `strict mode accepts a loss: ${show([event])}`)
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

// @module-tag slow
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { KINDS, type FieldName, type KindName } from '../../lib/event/fields.js'
import type { TraceError } from '../../lib/event/error.js'
import { carriedFields, type WritableFormat } from '../../lib/event/format.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { glibcMtrace } from '../../lib/formats/glibc-mtrace/index.js'
import { hatf } from '../../lib/formats/hatf/index.js'
import { hatfAscii } from '../../lib/metatf/hatf-ascii/index.js'
import { heapmon } from '../../lib/formats/heapmon/index.js'
import { heaptrack } from '../../lib/formats/heaptrack/index.js'
import { OWN_CARRIED } from '../../lib/formats/heaptrack/layout.js'
import { kmemtrace } from '../../lib/formats/kmemtrace/index.js'
import { carriedBy, headerOf, LAYOUTS } from '../../lib/formats/kmemtrace/layout.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { replay } from '../../lib/formats/replay/index.js'
import type { Carried } from '../../lib/event/losses.js'
import { decodeAll, drive } from '../support/drive.js'
import { anyEvent, u64 } from '../support/random-event.js'
import { runs } from '../support/runs.js'
import { telling } from './kmemtrace/random.js'

/** How a format is tried. */
interface Trial {
  name: string
  format: WritableFormat
  /** What encoder and decoder are told. */
  encode?: object
  decode?: object
  carried?: Carried
  /** An event that every trace begins with. */
  first?: TraceEvent
  /** Where the format has no way to say how its records are laid out: what is counted when they do not show it. */
  unshown?: RegExp
  headers?: readonly TraceHeader[]
  /**
   * Whether a field may come back so, though nothing was counted: what it says is in the record, in other words. Every
   * case here is one that the format's README tells.
   */
  follows?(field: FieldName, before: TraceEvent, after: TraceEvent): boolean
}

const FOREIGN: readonly TraceHeader[] = [
  { format: 'x' },
  { format: 'x', timeUnit: 'us' },
  { format: 'y', timeUnit: 'ns' },
]

const ADDRESSES = fc.constantFrom(0n, 16n, 16n, 32n, 48n, 2n ** 32n + 16n, 2n ** 64n - 16n)
const SIZES = fc.constantFrom(0n, 1n, 8n, 24n, 2n ** 32n + 8n, 2n ** 64n - 1n)
const IDS = fc.constantFrom(0n, 1n, 2n, 2n ** 63n)
const TIMES = fc.oneof(fc.constantFrom(0n, 5n, 1000n, 123_456_789n, 2n ** 63n), u64)
const NAMES = fc.constantFrom(
  'f',
  'f',
  'main',
  '',
  'a|b',
  'a  b',
  'tab\there',
  'novtbl',
  'notype',
  'x\0y',
  'line\n',
  ' x',
)
const NUMBERS = fc.constantFrom(-1, 0, 1, 7, 2 ** 31 - 1)
const WORDS = fc.constantFrom(0, 1, 0xd0, 3 << 8, (3 << 8) | 1, 5, 0xffff_ffff)

/** Values that meet again, and those that formats cannot represent. */
const VALUES: Readonly<Record<FieldName, fc.Arbitrary<unknown>>> = {
  api: fc.constantFrom('malloc', 'calloc', 'memalign', 'realloc', 'free', 'new', 'delete', 'kmalloc', 'kfree', 'pages'),
  process: IDS,
  thread: IDS,
  cpu: NUMBERS,
  node: NUMBERS,
  sequence: NUMBERS,
  time: TIMES,
  endTime: TIMES,
  heap: IDS,
  index: fc.constantFrom(0n, 1n, 2n, 3n, 2n ** 64n - 1n),
  address: ADDRESSES,
  oldAddress: ADDRESSES,
  size: SIZES,
  count: fc.constantFrom(0n, 1n, 3n, 8n),
  elementSize: fc.constantFrom(0n, 1n, 3n, 8n),
  alignment: fc.constantFrom(0n, 16n),
  usable: SIZES,
  present: SIZES,
  gfpFlags: WORDS,
  callSite: ADDRESSES,
  outcome: fc.constantFrom('none', 'moved', 'allocated', 'freed'),
  function: NAMES,
  file: NAMES,
  line: WORDS,
  type: fc.oneof(NAMES, fc.constant('internal')),
  stack: fc.array(NAMES, { maxLength: 3 }),
  text: NAMES,
  attributes: fc
    .constantFrom([], [3, 0, 9], [0, 3, 9], [1], [...Buffer.from('hf{"index":1}')])
    .map((bytes) => Uint8Array.from(bytes)),
  code: WORDS,
  fields: fc.constant({ a: 1n }),
  module: NAMES,
  weight: SIZES,
  device: NUMBERS,
  stream: IDS,
  arena: NAMES,
}

/** An event of a kind that a format carries, with most of the fields that it carries: all but one in `most`. */
function carriedEvent(carried: Carried, groups: number, most: number): fc.Arbitrary<TraceEvent> {
  const kinds = KINDS.filter((kind) => carried[kind] !== undefined)
  return fc.constantFrom(...kinds).chain((kind) => {
    const fields = carriedFields({ carried, groups }, kind)
    const some = fields.map((field) => [field, fc.option(VALUES[field], { nil: undefined, freq: most })])
    return fc.record(Object.fromEntries(some) as Record<string, fc.Arbitrary<unknown>>).map((values) => {
      const present = Object.entries(values).filter(([, value]) => value !== undefined)
      return { kind, ...Object.fromEntries(present) } as unknown as TraceEvent
    })
  })
}

/** Batches of so many events of one trace. */
function batches(events: readonly TraceEvent[], header: TraceHeader, size: number): EventBatch[] {
  const all: EventBatch[] = []
  for (let i = 0; i < events.length; i += size) all.push(...batchesOf(events.slice(i, i + size), header))
  return all.length > 0 ? all : [...batchesOf([], header)]
}

/** Encodes, and says where it stopped: the number of events that were written without a loss. */
function encode({ format, encode: options }: Trial, strict: boolean, parts: readonly EventBatch[]) {
  const encoder = format.encoder({ ...options, strict })
  const { out, error } = drive(encoder, parts)
  return { bytes: new Uint8Array(Buffer.concat(out)), error, counts: encoder.losses.counts }
}

const UNITS: Readonly<Record<string, bigint>> = { ns: 1n, us: 1000n }

/** A value to compare: times in nanoseconds, or without a unit. */
function comparable(value: unknown, field: FieldName, { timeUnit }: TraceHeader): unknown {
  if (value === undefined || (field !== 'time' && field !== 'endTime')) return value
  return timeUnit === undefined ? `${value as bigint} of no unit` : (value as bigint) * (UNITS[timeUnit] as bigint)
}

/** The fields of an event that differ from those of another one, and that do not follow from the rest. */
function differences(
  trial: Trial,
  before: TraceEvent,
  header: TraceHeader,
  after: TraceEvent | undefined,
  written: TraceHeader,
): string[] {
  if (after === undefined) return ['the whole event']
  if (after.kind !== before.kind) return ['kind']
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<FieldName | 'kind'>
  fields.delete('kind')
  return ([...fields] as FieldName[]).filter((field) => {
    const is = comparable(after[field], field, written)
    const was = comparable(before[field], field, header)
    return !equal(is, was) && trial.follows?.(field, before, after) !== true
  })
}

function equal(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return false
  }
}

/** What came back of events that were encoded without a loss must be those events. */
function check(trial: Trial, random: readonly TraceEvent[], header: TraceHeader, size: number): void {
  const all = trial.first === undefined ? random : [trial.first, ...random]
  // Blocks of two processes at one address, or that cannot be told apart, are refused in any mode: see the tests of
  // `AddressedLosses` and `AddressSpaces`.
  const refused = encode(trial, false, batches(all, header, size)).error as TraceError | undefined
  if (refused !== undefined) expect(refused.message).toMatch(/: use hf-split --by .* first$|cannot be told apart$/)
  const events = all.slice(0, refused?.event === undefined ? all.length : refused.event - 1)
  const decode = (bytes: Uint8Array) => decodeAll(trial.format.decoder(trial.decode), bytes)
  const lenient = encode(trial, false, batches(events, header, size))
  expect(lenient.error).toBeUndefined()
  const isMisread = [...lenient.counts.keys()].some((reason) => trial.unshown?.test(reason))
  if (!isMisread) expect(decode(lenient.bytes).error).toBeUndefined()

  const strict = encode(trial, true, batches(events, header, size))
  // What is counted is what strict encoding refuses.
  expect({ counts: [...lenient.counts], refused: strict.error?.message }).toEqual(
    lenient.counts.size > 0
      ? { counts: [...lenient.counts], refused: expect.any(String) as string }
      : { counts: [], refused: undefined },
  )
  if (strict.error !== undefined) expect(strict.error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE' })
  const { event } = (strict.error ?? {}) as { event?: number }
  const kept = events.slice(0, event === undefined ? events.length : event - 1)
  const again = encode(trial, true, batches(kept, header, size))
  if (again.error !== undefined && trial.unshown?.test(again.error.message) === true) return
  expect(again.error).toBeUndefined()
  const back = decode(again.bytes)
  expect(back.error).toBeUndefined()
  const written = back.headers[0] ?? header
  const different = kept.map((before, i) => differences(trial, before, header, back.events[i], written))
  expect({ different, events: back.events }).toEqual({
    different: kept.map(() => []),
    events: expect.anything() as object,
  })
  expect(back.events).toHaveLength(kept.length)
}

const has = (event: TraceEvent, field: FieldName) => event[field] !== undefined
const lacks = (event: TraceEvent, field: FieldName) => event[field] === undefined

/** Fields that a reader works out from other events. */
const followsOfMtrc: Trial['follows'] = (field, before) => {
  // Blocks without an index get one. A free has what its block has, and a realloc the address that it had.
  if (field === 'index') return lacks(before, 'index')
  if (field === 'oldAddress') return before.kind === 'realloc' && lacks(before, field)
  return before.kind === 'free' && (field === 'address' || field === 'size') && lacks(before, field)
}

const IMPLIED_API: Readonly<Partial<Record<KindName, string>>> = { free: 'free', realloc: 'realloc' }

const followsOfReplay: Trial['follows'] = (field, before, after) => {
  switch (field) {
    case 'api':
      return lacks(before, field) && after.api === IMPLIED_API[before.kind]
    case 'outcome':
      return true
    case 'address':
    case 'oldAddress':
      return before.kind === 'realloc' && has(before, 'outcome') && lacks(before, field)
    case 'count':
    case 'elementSize':
    case 'size': {
      const product = (after.count ?? 1n) * (after.elementSize ?? 0n)
      return has(after, 'count') && (lacks(before, field) || lacks(after, field) || product === before.size)
    }
    default:
      return false
  }
}

/** The addresses show what a realloc did, and a block that stayed where it was has one. */
const followsOfMtrace: Trial['follows'] = (field, before, after) =>
  field === 'outcome' ||
  (before.outcome === 'none' && lacks(before, field) && after[field] === (before.address ?? before.oldAddress))

/** What a realloc did follows from its addresses. */
const followsOfHatf: Trial['follows'] = (field, before) => field === 'outcome' && lacks(before, field)

const followsOfKmemtrace: Trial['follows'] = (field, before) => field === 'sequence' && lacks(before, field)

const HATF_OPTIONS = [{}, { preset: 'naive' }, { latency: true }, { splitAddr: true }]

const UNSHOWN = /layout, which the records do not show/

const TRIALS: readonly Trial[] = [
  { name: 'mtrc', format: mtrc, follows: followsOfMtrc },
  {
    name: 'mtrc before 1.4.5',
    format: mtrc,
    headers: [{ format: 'mtrc', layout: { version: 10300, wordSize: 4, longSize: 4, byteOrder: 'big' } }],
    follows: followsOfMtrc,
  },
  { name: 'replay', format: replay, follows: followsOfReplay },
  { name: 'glibc-mtrace', format: glibcMtrace, follows: followsOfMtrace },
  { name: 'heaptrack', format: heaptrack },
  {
    name: 'heaptrack, its own',
    format: heaptrack,
    carried: OWN_CARRIED,
    headers: [true, false].map((raw) => ({
      format: 'heaptrack',
      timeUnit: 'us',
      layout: { raw, heaptrack: '1.4.0', version: 3 },
    })),
  },
  { name: 'heapmon', format: heapmon },
  ...LAYOUTS.map((layout): Trial => ({
    name: `kmemtrace ${layout.layout}, ${layout.byteOrder}, ${layout.wordSize}`,
    format: kmemtrace,
    encode: layout,
    decode: layout,
    first: telling(layout),
    unshown: UNSHOWN,
    carried: carriedBy(layout.layout, false),
    headers: [...FOREIGN, headerOf(layout)],
    follows: followsOfKmemtrace,
  })),
  ...LAYOUTS.map((layout): Trial => ({
    name: `kmemtrace ${layout.layout}, ${layout.byteOrder}, ${layout.wordSize}, which its reader has to find out`,
    format: kmemtrace,
    encode: layout,
    carried: carriedBy(layout.layout, false),
    headers: [...FOREIGN, headerOf(layout)],
    follows: followsOfKmemtrace,
    unshown: UNSHOWN,
  })),
  {
    name: 'kmemtrace of one CPU',
    format: kmemtrace,
    encode: { cpu: 1 },
    decode: { ...LAYOUTS[0], cpu: 1 },
    unshown: UNSHOWN,
    carried: carriedBy('relay', true),
    follows: followsOfKmemtrace,
  },
  ...HATF_OPTIONS.map((encode): Trial => ({
    name: `hatf ${JSON.stringify(encode)}`,
    format: hatf,
    encode,
    follows: followsOfHatf,
  })),
  ...HATF_OPTIONS.map((options): Trial => ({
    name: `hatf with attributes ${JSON.stringify(options)}`,
    format: hatf,
    encode: { ...options, attributes: true },
    carried: ndjson.carried,
  })),
  { name: 'hatf-ascii', format: hatfAscii, follows: followsOfHatf },
  { name: 'ndjson', format: ndjson },
]

describe.each(TRIALS)('$name', (trial) => {
  const headers = fc.constantFrom(...(trial.headers ?? FOREIGN))
  const { groups = 0 } = trial.format
  const carried = trial.carried ?? trial.format.carried

  it('gives back every event as it was, or counts what is different and refuses it in strict mode', () => {
    const event = fc.oneof(
      { weight: 20, arbitrary: carriedEvent(carried, groups, 100) },
      { weight: 4, arbitrary: carriedEvent(carried, groups, 5) },
      { weight: 1, arbitrary: anyEvent },
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), headers, fc.constantFrom(1, 3, 100), (events, header, size) => {
        check(trial, events, header, size)
      }),
      { numRuns: runs(1000) },
    )
  })
})

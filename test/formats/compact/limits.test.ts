import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it, test } from 'vitest'
import { LO } from '../../../lib/bytes/u64.js'
import { batchesOf, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceError } from '../../../lib/event/error.js'
import { FieldBit } from '../../../lib/event/fields.js'
import { headerText } from '../../../lib/formats/compact/header.js'
import { compact } from '../../../lib/formats/compact/index.js'
import {
  LEVEL,
  MAX_BODY,
  MAX_FRAMES,
  MAX_HEADER,
  MAX_NAME,
  SECTION,
  SECTION_HEAD,
} from '../../../lib/formats/compact/layout.js'
import { sealed, sectionsOf } from '../../support/compact.js'
import { CORPUS } from '../../support/corpus.js'
import { decodeAll, drive, encodeAll, encodeEvents, slices } from '../../support/drive.js'
import { stopwatch } from '../../support/stopwatch.js'

const LEVELS = Object.entries(LEVEL)
const HEADER = { format: 'x', timeUnit: 'ns' } as const

/** Allocations whose stacks are deep and have many names: a small block is much in memory. */
function deep(count: number): EventBatch[] {
  const batch = new EventBatch(count, FieldBit.stack, HEADER)
  const { strings } = batch
  const stacks = Array.from({ length: 20 }, (_, s) =>
    strings.addList(Array.from({ length: 5000 }, (__, i) => strings.internText(`f${s}_${i}`))),
  )
  for (let i = 0; i < count; i++) {
    batch.push({ kind: 'alloc', address: BigInt(65_536 + 64 * i), size: 8n })
    batch.mask[i] = batch.mask[i] | FieldBit.stack
    batch.stack[i] = stacks[(i * 7) % 20]
  }
  return [batch]
}

test.each(LEVELS)(
  'long values of fields of groups end blocks, and come back, at the %s level',
  { tags: ['slow'] },
  (_name, level) => {
    const arenas = Array.from({ length: 600 }, (_, i) => `${i}${'x'.repeat(140_000)}`)
    const batch = new EventBatch(arenas.length, 0, HEADER)
    for (const [i, arena] of arenas.entries()) batch.push({ kind: 'alloc', address: BigInt(4096 + 64 * i), arena })
    const { events, error } = decodeAll(compact.decoder(), encodeAll(compact.encoder({ level }), [batch]))
    expect(error).toBeUndefined()
    expect(events.map(({ arena }) => arena)).toEqual(arenas)
  },
)

test.each(LEVELS)('a text that events do not have as fields is malformed, at the %s level', (_name, level) => {
  for (const text of ['{"a":1}', '{\n}', '{"a": 1}', '{"a":1.5}', '[]']) {
    const batch = new EventBatch(1, FieldBit.fields, HEADER)
    batch.push({ kind: 'other' })
    batch.mask[0] = FieldBit.fields
    batch.fields[0] = batch.strings.internText(text)
    const bytes = encodeAll(compact.encoder({ level }), [batch])
    const { error } = decodeAll(compact.decoder(), bytes)
    const offset = sectionsOf(bytes).find(({ type }) => type === SECTION.block)?.from
    if (text === '{"a":1}') expect(error).toBeUndefined()
    else expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 1, offset })
  }
})

describe.each(LEVELS)('blocks that are much in memory, at the %s level', (_name, level) => {
  const bytes = encodeAll(compact.encoder({ level }), deep(400))

  it('come back, in batches that are made when they are asked for', { tags: ['slow'] }, () => {
    const decoder = compact.decoder()
    decoder.feed(bytes)
    decoder.end()
    let n = 0
    for (let batch = decoder.next(); batch !== null; batch = decoder.next()) {
      for (let i = 0; i < batch.count; i++, n++) {
        const names = batch.strings.list(batch.stack[i])
        expect(names).toHaveLength(5000)
        expect(batch.address.words[2 * i + LO]).toBe(65_536 + 64 * n)
        expect(batch.strings.text(names[4999])).toBe(`f${(n * 7) % 20}_4999`)
      }
    }
    expect(n).toBe(400)
  })

  it('are malformed where the checksum of their events is wrong', () => {
    const block = sectionsOf(bytes).findLast(({ type }) => type === SECTION.block)!
    const damaged = bytes.slice()
    damaged[block.from + SECTION_HEAD + 4]! ^= 1
    const { out, error } = drive(compact.decoder(), slices(sealed(damaged, block)))
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', message: expect.stringContaining('checksum') })
    expect(out.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0)
  })
})

const long = 'ab'.repeat(MAX_NAME / 2)
/** Events at a limit, and beyond it by one. */
const LIMITS: readonly [what: string, within: readonly TraceEvent[], beyond: readonly TraceEvent[]][] = [
  ['bytes of a name', [{ kind: 'comment', text: long }], [{ kind: 'comment', text: `${long}c` }]],
  [
    'frames of a stack',
    [{ kind: 'alloc', stack: Array<string>(MAX_FRAMES).fill('main') }],
    [{ kind: 'alloc', stack: Array<string>(MAX_FRAMES + 1).fill('main') }],
  ],
  [
    'bytes of new names',
    [{ kind: 'alloc', function: long, file: `${long.slice(1)}c` }],
    [{ kind: 'alloc', function: long, file: `${long.slice(1)}c`, module: 'm' }],
  ],
]

test.each(LEVELS)(
  'texts of fields of groups have the limit of names, at the %s level',
  { tags: ['large'] },
  (_name, level) => {
    const event = (address: bigint, arena: string): TraceEvent => ({ kind: 'alloc', address, arena })
    const before = Array.from({ length: 3 }, (_, i) => event(BigInt(16 * i), 'x'))
    for (const length of [MAX_NAME - 1, MAX_NAME]) {
      // As many as this are more than a section together.
      const long = Array.from({ length: 5 }, (_, i) => event(BigInt(16 * i), String(i).padEnd(length, 'y')))
      const { out, error } = drive(compact.encoder({ level }), batchesOf([...before, ...long], HEADER))
      expect(error).toBeUndefined()
      const read = decodeAll(compact.decoder(), Buffer.concat(out))
      expect(read.error).toBeUndefined()
      expect(read.events.map(({ arena }) => arena?.length)).toEqual([1, 1, 1, ...long.map(() => length)])
    }
    const encoder = compact.encoder({ level })
    const long = event(48n, 'y'.repeat(MAX_NAME + 1))
    const { out, error } = drive(encoder, batchesOf([...before, long, event(64n, 'x')], HEADER))
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', format: 'compact', event: 4 })
    encoder.endTruncated()
    const read = decodeAll(compact.decoder(), Buffer.concat(out))
    expect(read.events).toEqual(before)
    expect(read.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  },
)

test('a section has a limit', () => {
  const whole = encodeEvents(compact.encoder(), [{ kind: 'comment', text: 'x' }], HEADER)
  const block = sectionsOf(whole).find(({ type }) => type === SECTION.block)!
  for (const length of [MAX_BODY, MAX_BODY + 1]) {
    const bytes = whole.slice()
    new DataView(bytes.buffer).setUint32(block.from + 1, length, true)
    const { error } = decodeAll(compact.decoder(), bytes)
    const code = length > MAX_BODY ? 'ERR_TRACE_LIMIT' : 'ERR_TRACE_TRUNCATED'
    expect(error).toMatchObject({ code, offset: block.from, event: 1 })
  }
})

describe.each(LIMITS)('the limit of the %s', { tags: ['large'] }, (_what, within, beyond) => {
  const before: TraceEvent[] = Array.from({ length: 3 }, () => ({ kind: 'comment', text: 'x' }))

  test('is read when it is reached', () => {
    const { events, error } = decodeAll(
      compact.decoder(),
      encodeEvents(compact.encoder({ fast: true }), within, HEADER),
    )
    expect(error).toBeUndefined()
    expect(
      isDeepStrictEqual(
        events.map((event) => ({ ...event })),
        within,
      ),
    ).toBe(true)
  })

  test('is an error of the encoder when it is exceeded, after the events before', () => {
    const batch = new EventBatch(4, 0, HEADER)
    for (const event of [...before, ...beyond]) batch.push(event)
    const encoder = compact.encoder({ fast: true })
    const { out, error } = drive(encoder, [batch])
    expect((error as TraceError).code).toBe('ERR_TRACE_LIMIT')
    expect((error as TraceError).event).toBe(4)
    encoder.endTruncated()
    const read = decodeAll(compact.decoder(), Buffer.concat(out))
    expect(read.events).toEqual(before)
    expect((read.error as TraceError).code).toBe('ERR_TRACE_TRUNCATED')
  })
})

test('a header of exactly the limit is read, and a longer one refused', () => {
  const one: TraceEvent[] = [{ kind: 'comment', text: 'x' }]
  const headerOf = (length: number) => ({ ...HEADER, format: 'x'.repeat(length) })
  const most = MAX_HEADER - new TextEncoder().encode(headerText(headerOf(0))).length
  const { headers, error } = decodeAll(compact.decoder(), encodeEvents(compact.encoder(), one, headerOf(most)))
  expect(error).toBeUndefined()
  expect(headers.map(({ format }) => format.length)).toEqual([most])
  expect(() => encodeEvents(compact.encoder(), one, headerOf(most + 1))).toThrow(/over the limit/)
})

test('the work ends where the payload does, also within a name', { tags: ['slow'] }, () => {
  const bytes = encodeEvents(compact.encoder(), [{ kind: 'comment', text: 'ab'.repeat(1 << 22) }], HEADER)
  const block = sectionsOf(bytes).find(({ type }) => type === SECTION.block)!
  // The length of the name is in the first bytes of the payload.
  const payload = bytes.subarray(block.from + SECTION_HEAD + 8, block.from + SECTION_HEAD + 24)
  const head = bytes.subarray(0, block.from)
  const short = new Uint8Array(head.length + SECTION_HEAD + 8 + payload.length + 4)
  short.set(head)
  short.set(bytes.subarray(block.from, block.from + SECTION_HEAD + 8), head.length)
  new DataView(short.buffer).setUint32(head.length + 1, 8 + payload.length, true)
  short.set(payload, head.length + SECTION_HEAD + 8)
  const file = sealed(short, { type: SECTION.block, from: head.length, to: short.length })
  const time = stopwatch()
  const { error } = drive(compact.decoder(), slices(file))
  expect((error as TraceError).code).toBe('ERR_TRACE_MALFORMED')
  expect(time()).toBeLessThan(500)
})

describe('a kernel that was used for a hostile file', { tags: ['corpus'] }, () => {
  const files = ['poison-11-0.hfc', 'poison-78-1.hfc', 'HANG-101-389035-t5.bin']

  test.each(files)('%s: what is written and read after it is right', (name) => {
    const events: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 8n }]
    const good = LEVELS.map(([, level]) => encodeEvents(compact.encoder({ level }), events, HEADER))
    for (let i = 0; i < 3; i++) {
      const decoder = compact.decoder()
      drive(decoder, slices(readFileSync(`${CORPUS}hostile/692f3ed/${name}`)))
      decoder.dispose?.()
      LEVELS.forEach(([, level], n) => {
        const again = encodeEvents(compact.encoder({ level }), events, HEADER)
        expect(again).toEqual(good[n])
        expect(decodeAll(compact.decoder(), again).events).toEqual(events)
      })
    }
  })
})

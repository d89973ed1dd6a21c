import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  defineFormat,
  fieldSet,
  formatStreams,
  malformed,
  type Cursor,
  type TraceEvent,
  type WritableFormat,
} from '../../lib/entry/format.js'
import { batchesOf, type EventBatch } from '../../lib/event/batch.js'
import { nameInput } from '../../lib/event/error.js'
import { conformance } from '../../lib/testing/conformance.js'
import { decodeAll, drive } from '../support/drive.js'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const SMALL = ` 85447 a.out    USER  0x28405040 = malloc(40)
 85447 a.out    USER  0x28406000 = malloc(4096)
 85447 a.out    USER  0x28405080 = realloc(0x28405040, 80)
 85447 a.out    USER  0x0 = malloc(18446744073709551615)
 85447 a.out    USER  0x0 = realloc(0x28405080, 99999999999)
 85447 a.out    USER  free(0x28406000)
`
const MIXED = ` 85447 a.out    USER  malloc_init()\n 85447 a.out    CALL  exit(0)\n${SMALL}`

describe('the format of docs/formats.md', async () => {
  const path = '../../examples/own-format/utrace.mjs'
  const { utrace } = (await import(path)) as { utrace: WritableFormat }

  test('is the code in examples/', () => {
    expect(read('docs/formats.md')).toContain(`\`\`\`mjs\n${read('examples/own-format/utrace.mjs')}\`\`\``)
  })

  const bytes = (text: string) => new TextEncoder().encode(text)
  const events: TraceEvent[] = [
    { kind: 'alloc', process: 1n, address: 16n, size: 0n },
    { kind: 'realloc', process: 1n, oldAddress: 16n, address: 32n, size: 8n },
    { kind: 'free', process: 1n, address: 32n },
  ]
  const checks = conformance(utrace, {
    samples: [
      { name: 'small', bytes: bytes(SMALL) },
      { name: 'mixed', bytes: bytes(MIXED), encode: false },
    ],
    traces: [
      { header: { format: 'utrace', layout: { command: 'app' } }, events },
      { header: { format: 'utrace' }, events: [] },
    ],
    most: 200,
  })
  for (const { name, run } of checks) test(name, { tags: name.includes('endless') ? ['slow'] : [] }, run)
})

/** Lines with a size each. */
const sizes = {
  name: 'sizes',
  carried: { alloc: fieldSet('size') },
  sniff: (head: Uint8Array) => /^\d+\n/.test(Buffer.from(head).toString()),
  *read(cursor: Cursor) {
    yield* cursor.begin({ format: 'sizes' })
    for (let line; (line = yield* cursor.line()) !== undefined;) {
      if (!/^\d+$/.test(line)) throw cursor.malformed('expected a size')
      cursor.emit({ kind: 'alloc', size: BigInt(line) })
    }
  },
}

describe('a failure of an own format', () => {
  const zz = defineFormat({
    ...sizes,
    name: 'zz',
    *read(cursor: Cursor) {
      yield* cursor.begin({ format: 'zz' })
      for (let line; (line = yield* cursor.line()) !== undefined;) {
        if (line === 'null') cursor.emit((null as unknown as { foo: TraceEvent }).foo)
        if (line === 'text') throw 'some text'
        cursor.emit({ kind: line as 'alloc', size: 1n })
      }
    },
    writer: () => ({
      event({ size }: TraceEvent) {
        if (size === 2n) throw new Error('two')
        return `${size}\n`
      },
    }),
  })

  test.each([
    [
      'null',
      "zz: line 3, byte 12, event 3: the reader of the format failed: Cannot read properties of null (reading 'foo')",
    ],
    ['text', "zz: line 3, byte 12, event 3: the reader of the format failed: 'some text' was thrown"],
    ['allok', "zz: line 3, byte 12, event 3: malformed: unknown kind of event: 'allok'"],
  ])('of its reader has the place, once: %s', (line, message) => {
    const { events, error } = decodeAll(zz.decoder(), new TextEncoder().encode(`alloc\nalloc\n${line}\n`))
    expect(events).toHaveLength(2)
    expect(error?.message.replaceAll('"', "'")).toContain(message)
    const named = error as unknown as Error
    nameInput(named, 'a.zz')
    expect(named.message).toMatch(/^a\.zz: zz: line 3/)
  })

  test.each<[string, object, string]>([
    [
      'is async',
      { async *read() {} },
      'zz: byte 0, event 1: the reader of the format failed: read is no generator function: *read(cursor)',
    ],
    [
      'is no generator',
      { read() {} },
      'zz: byte 0, event 1: the reader of the format failed: read is no generator function: *read(cursor)',
    ],
    [
      'yields what is no batch',
      {
        *read(cursor: Cursor) {
          yield cursor.line()
        },
      },
      'zz: byte 0, event 1: the reader of the format failed: it yielded an object: yield* belongs before begin(), ' +
        'line() and take() of the cursor, and emit() takes events',
    ],
    [
      'begins with a header that no trace has',
      {
        *read(cursor: Cursor) {
          yield* cursor.begin({ format: 'zz', timeUnit: 'ms' as 'us' })
        },
      },
      'zz: byte 0, event 1: the reader of the format failed: cursor.begin(): unknown unit of time: "ms"',
    ],
    [
      'emits nothing',
      {
        *read(cursor: Cursor) {
          yield* cursor.line()
          cursor.emit(undefined as unknown as TraceEvent)
        },
      },
      'zz: line 1, byte 0, event 1: malformed: not an event: undefined',
    ],
  ])('whose reader %s', (_, reader, message) => {
    const format = defineFormat({ ...sizes, name: 'zz', ...reader })
    expect(decodeAll(format.decoder(), new TextEncoder().encode('8\n')).error?.message).toBe(message)
  })

  test('that fails to recognize a trace names the format', () => {
    const sniff = () => {
      throw new Error('no')
    }
    const fault = 'sizes: the sniff of the format failed:'
    expect(() => defineFormat({ ...sizes, sniff }).sniff(new Uint8Array(1))).toThrow(`${fault} no`)
    const late = (async () => false) as unknown as () => boolean
    expect(() => defineFormat({ ...sizes, sniff: late }).sniff(new Uint8Array(1))).toThrow(
      `${fault} the function returned a promise, but it must not be async`,
    )
  })

  test('of its writer has the number of the event, after those before it', () => {
    const batches = [1n, 1n, 2n, 1n].map((size) => batchesOf([{ kind: 'alloc', size }])[0] as EventBatch)
    const { out, error } = drive(zz.encoder(), batches)
    expect(Buffer.concat(out).toString()).toBe('1\n1\n')
    expect((error as Error | undefined)?.message).toBe('zz: event 3: the writer of the format failed: two')
  })
})

const writer = () => ({ event: ({ size }: TraceEvent) => (size === undefined ? undefined : `${size}\n`) })
const SIZES = { name: 'small', bytes: new TextEncoder().encode('8\n16\n24\n') }

const LOSSES = 'sizes: what cannot be written is counted, and an error in strict mode'
const TRUNCATED = 'sizes: small, truncated at any byte, gives the events before it and then at most one error'

/** The names of the checks that a format fails. */
async function failuresOf(format: Parameters<typeof conformance>[0], options = {}): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of conformance(format, { samples: [SIZES], ...options })) {
    if (name.includes('endless')) continue
    await Promise.resolve()
      .then(run)
      .catch(() => failed.push(name))
  }
  return failed
}

describe('the checks of formats find', () => {
  test('nothing wrong with a right format', async () => {
    expect(await failuresOf(defineFormat({ ...sizes, writer }))).toEqual([])
    expect(await failuresOf(defineFormat(sizes))).toEqual([])
  })

  test('errors of other kinds', async () => {
    const read = function* (cursor: Cursor) {
      yield* cursor.begin({ format: 'sizes' })
      for (let line; (line = yield* cursor.line()) !== undefined;) cursor.emit({ kind: 'alloc', size: BigInt(line) })
    }
    expect(await failuresOf(defineFormat({ ...sizes, read, writer }))).toEqual([
      'sizes: small with any bit flipped gives a TraceError or other events',
      'sizes: random bytes give a TraceError or events',
    ])
  })

  test('that input is read beyond the available', async () => {
    const read = function* (cursor: Cursor) {
      yield* cursor.begin({ format: 'sizes' })
      while (cursor.input.left > 0 || (yield* cursor.more())) {
        const { bytes, pos, left } = cursor.input
        for (const line of Buffer.from(bytes.subarray(pos)).toString().match(/\d+/g) ?? [])
          cursor.emit({ kind: 'alloc', size: BigInt(line) % 2n ** 64n })
        cursor.input.skip(left)
      }
    }
    expect(await failuresOf(defineFormat({ ...sizes, read }))).toEqual([
      'sizes: small gives the same events in chunks of 1',
      'sizes: small, truncated at any byte, gives the events before it and then at most one error',
      'sizes: small, truncated by an error elsewhere, gives the events before it and no error',
    ])
  })

  test('losses that are not counted', async () => {
    const careless = { ...sizes, carried: { alloc: fieldSet('size', 'thread') }, writer }
    expect(await failuresOf(defineFormat(careless))).toEqual([LOSSES])
  })

  test('values that are cut', async () => {
    const cut = () => ({ event: ({ size }: TraceEvent) => size?.toString().slice(-10).concat('\n') })
    expect(await failuresOf(defineFormat({ ...sizes, writer: cut }))).toEqual([LOSSES])
  })

  test('values that are made up', async () => {
    const made = () => ({ event: ({ size = 0n }: TraceEvent) => `${size}\n` })
    expect(await failuresOf(defineFormat({ ...sizes, writer: made }))).toEqual([LOSSES])
    const filled = [{ field: 'size', kinds: ['alloc'], as: '0' }] as const
    expect(await failuresOf(defineFormat({ ...sizes, filled, writer: made }))).toEqual([])
  })

  test('a second trace that is lost', async () => {
    const begun = () => ({ ...writer(), begin: () => '' })
    expect(await failuresOf(defineFormat({ ...sizes, writer: begun }))).toEqual([
      'sizes: a second trace comes back, or is counted',
    ])
  })

  test('fields that the definition leaves out', async () => {
    expect(await failuresOf(defineFormat({ ...sizes, carried: { alloc: fieldSet('thread') } }))).toEqual([
      'sizes: small has only events and fields that the format carries',
    ])
    expect(await failuresOf(defineFormat({ ...sizes, carried: { free: fieldSet('size') } }))).toEqual([
      'sizes: small has only events and fields that the format carries',
    ])
  })

  test('the place of an earlier record', async () => {
    function* read(cursor: Cursor) {
      yield* cursor.begin({ format: 'sizes' })
      for (let line; (line = yield* cursor.line()) !== undefined;) cursor.emit({ kind: 'alloc', size: BigInt(line) })
      if (!cursor.isCut) throw malformed('no end', { format: 'sizes', offset: 0, event: cursor.here().event })
    }
    expect(await failuresOf(defineFormat({ ...sizes, read }))).toContain(TRUNCATED)
  })

  test('a missing end mark that is no error', async () => {
    expect(await failuresOf(defineFormat(sizes), { endMark: true })).toEqual([TRUNCATED])
    function* read(cursor: Cursor) {
      yield* sizes.read(cursor)
      yield* cursor.more('no end mark')
    }
    expect(await failuresOf(defineFormat({ ...sizes, read }), { endMark: true })).not.toContain(TRUNCATED)
  })

  test('that a trace is written in other bytes', async () => {
    const spaced = () => ({ event: ({ size }: TraceEvent) => `${size ?? 0} \n` })
    expect(await failuresOf(defineFormat({ ...sizes, writer: spaced }))).toContain(
      'sizes: small comes back byte for byte',
    )
  })
})

test('the checks of formats need a format, and bytes', () => {
  expect(() => conformance(sizes as never, { samples: [] })).toThrow('conformance: a format is needed')
  expect(() => conformance(defineFormat(sizes), { samples: [{ name: 'text', bytes: '8\n' as never }] })).toThrow(
    'conformance: samples must be an array of traces such as { name, bytes }, whose bytes are a Uint8Array, not an array',
  )
})

test('what a definition lacks is an error', () => {
  const { read: _, ...unread } = sizes
  expect(() => defineFormat(unread)).toThrow('neither read nor decoder')
  expect(() => defineFormat({ ...sizes, name: 'A b' })).toThrow('lower-case letters')
  expect(() => defineFormat(sizes).decoder({ lastLin: true } as object)).toThrow(RangeError)
})

test('an option of an own format has the type of its default', () => {
  const decodeOptions = {
    most: { help: 'read so many', default: 5 },
    unit: { help: 'the unit', default: 'b' },
    size: { help: 'the size', default: 4, values: ['4', '8'] },
    all: { help: 'read all', default: undefined },
  }
  const { decoder } = defineFormat<{ most?: unknown; unit?: unknown; size?: unknown; all?: unknown }>({
    ...sizes,
    decodeOptions,
  })
  expect(() => decoder({ most: 7, unit: 'k', size: 8, all: true })).not.toThrow()
  expect(() => decoder({ most: true })).toThrow('most must be a number, not true')
  expect(() => decoder({ unit: 5 })).toThrow('unit must be a string, not 5')
  expect(() => decoder({ size: '8' })).toThrow('size must be 4 or 8, not "8"')
  expect(() => decoder({ all: 1 })).toThrow('all must be a boolean, not 1')
})

test('a format without a writer has no events to write', () => {
  const { encode } = formatStreams(defineFormat(sizes) as WritableFormat)
  expect(() => encode()).toThrow(`${sizes.name} cannot be written`)
})

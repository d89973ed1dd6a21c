import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BATCH_EVENTS, batchesOf, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { selectRows } from '../../lib/kernel/select.js'
import { malformed, TraceError, truncated } from '../../lib/event/error.js'
import { ALL_FIELDS, fieldNames, FIELDS, fieldSet, FieldBit, Kind, KINDS } from '../../lib/event/fields.js'
import { Losses } from '../../lib/kernel/losses.js'
import { decodeText, encodeText, StringTable } from '../../lib/event/strings.js'
import { anyEvent } from '../support/random-event.js'
import { runs } from '../support/runs.js'

const HEADER = { format: 'test' }

describe('EventBatch', () => {
  test('gives back any events that were pushed', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
        expect(batchesOf(events, HEADER).flatMap((batch) => [...batch])).toEqual(events)
      }),
    )
  })

  test('absent is not zero', () => {
    const [batch] = batchesOf([{ kind: 'alloc', size: 0n }, { kind: 'alloc' }], HEADER) as [EventBatch]
    expect(batch.mask[0]).toBe(FieldBit.size)
    expect(batch.mask[1]).toBe(0)
    expect([...batch]).toEqual([{ kind: 'alloc', size: 0n }, { kind: 'alloc' }])
  })

  test('refuses what does not fit', () => {
    const push = (event: TraceEvent) => () => new EventBatch(1, 0, HEADER).push(event)
    expect(push({ kind: 'alloc', size: 2n ** 64n })).toThrow(RangeError)
    expect(push({ kind: 'alloc', size: -1n })).toThrow(RangeError)
    expect(push({ kind: 'alloc', line: 2 ** 32 })).toThrow(RangeError)
    expect(push({ kind: 'alloc', cpu: 0.5 })).toThrow(RangeError)
    expect(push({ kind: 'nonsense' as 'alloc' })).toThrow(RangeError)
    expect(push({ kind: 'alloc', api: 'nonsense' as 'malloc' })).toThrow(RangeError)
    class Accessors {
      get kind() {
        return 'alloc' as const
      }
      get size() {
        return 8n
      }
    }
    expect(push(new Accessors())).toThrow(
      'not an event: the properties of an object of type Accessors are not enumerable',
    )
    const full = new EventBatch(1, 0, HEADER)
    full.push({ kind: 'alloc' })
    expect(() => full.push({ kind: 'alloc' })).toThrow(RangeError)
  })

  test('many events make many batches', () => {
    const batches = batchesOf(
      Array.from({ length: 2 * BATCH_EVENTS + 1 }, () => ({ kind: 'free' }) as const),
      HEADER,
    )
    expect(batches.map((batch) => batch.count)).toEqual([BATCH_EVENTS, BATCH_EVENTS, 1])
  })

  test('only the columns in use have storage', () => {
    const batch = new EventBatch(100, fieldSet('address', 'line'), HEADER)
    expect(batch.address.values).toHaveLength(100)
    expect(batch.line).toHaveLength(100)
    expect(batch.size.values).toHaveLength(0)
    batch.addColumns(FieldBit.size)
    expect(batch.size.values).toHaveLength(100)
  })

  test('rows are selected in the order asked for', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (events, picks) => {
          const [batch] = batchesOf(events, HEADER) as [EventBatch]
          const rows = Int32Array.from(picks, (pick) => pick % events.length)
          expect([...selectRows(batch, rows, rows.length)]).toEqual([...rows].map((row) => events[row]))
        },
      ),
    )
  })

  test.each([
    [4096, 4096],
    [4096, 100],
    [5000, 4000],
    [3000, 5000],
    [10, 0],
  ])('of %i events any %i rows and some columns can be selected', (count, n) => {
    const batch = new EventBatch(count, fieldSet('address', 'line', 'api', 'cpu'), HEADER)
    for (let i = 0; i < count; i++) {
      batch.mask[i] = i % 3 === 0 ? FieldBit.address | FieldBit.api : FieldBit.address | FieldBit.line | FieldBit.cpu
      batch.kind[i] = i % 12
      batch.address.values[i] = BigInt(i) << 50n
      batch.line[i] = i
      batch.api[i] = i % 7
      batch.cpu[i] = -i
    }
    batch.count = count
    const rows = Int32Array.from({ length: n + 5 }, (_, j) => (j * 7919) % count)
    const selected = selectRows(batch, rows, n, fieldSet('address', 'api', 'cpu', 'size'))
    const expected = [...rows.subarray(0, n)].map((row) => {
      const { line: _line, ...event } = batch.event(row)
      return event
    })
    expect([...selected]).toEqual(expected)
    expect(selected.columns).toBe(fieldSet('address', 'api', 'cpu'))
  })
})

describe('fields', () => {
  test('have a bit each, and sets of them have names', () => {
    expect(new Set(Object.values(FieldBit)).size).toBe(FIELDS.length)
    expect(fieldNames(ALL_FIELDS)).toEqual(FIELDS.map(({ name }) => name))
    expect(fieldNames(fieldSet('size', 'api'))).toEqual(['api', 'size'])
    expect(Kind.alloc).toBe(0)
  })
})

describe('strings', () => {
  test('bytes that are not UTF-8 survive as lone surrogates', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(encodeText(decodeText(bytes))).toEqual(bytes)
      }),
      { numRuns: runs(2000) },
    )
    expect(decodeText(Uint8Array.of(0x61, 0xff, 0xc3, 0xa9))).toBe('a\udcffé')
  })

  test('a byte survives where no valid sequence of UTF-8 has it', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const plain = (bytes: Uint8Array): string => {
      let text = ''
      for (let i = 0; i < bytes.length;) {
        const length = [1, 2, 3, 4].find((n) => {
          if (i + n > bytes.length) return false
          try {
            return decoder.decode(bytes.subarray(i, i + n)) !== ''
          } catch {
            return false
          }
        })
        text += length ? decoder.decode(bytes.subarray(i, i + length)) : String.fromCharCode(0xdc00 + bytes[i]!)
        i += length ?? 1
      }
      return text
    }
    const edge = fc.constantFrom(
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
    )
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 12 }), (bytes) => {
        // Three bytes for half of a pair may be kept as that: see strings.test.ts.
        fc.pre(!bytes.some((byte, i) => byte === 0xed && bytes[i + 1]! >= 0xa0 && bytes[i + 1]! <= 0xbf))
        expect(decodeText(Uint8Array.from(bytes))).toBe(plain(Uint8Array.from(bytes)))
      }),
      { numRuns: runs(2000) },
    )
    expect(decodeText(Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0xef, 0xbb, 0xbf))).toBe('\ufeff\udcff\ufeff')
  })

  test('each distinct string has one id, in any mixture of add and intern', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ maxLength: 4 }), fc.boolean()), { maxLength: 300 }), (steps) => {
        const table = new StringTable()
        const ids = steps.map(([text, add]) => (add ? table.add(encodeText(text)) : table.internText(text)))
        steps.forEach(([text], i) => expect(table.text(ids[i])).toBe(text))
        for (const [text] of steps) expect(table.internText(text)).toBe(table.internText(text))
      }),
    )
  })

  test('long strings that differ in the middle only', () => {
    const table = new StringTable()
    const long = (middle: string) => `${'a'.repeat(200)}${middle}${'b'.repeat(200)}`
    expect(new Set(['x', 'y', 'z'].map((middle) => table.internText(long(middle)))).size).toBe(3)
  })
})

describe('Losses', () => {
  const carried = { alloc: fieldSet('address', 'size'), free: fieldSet('address') }

  test('counts fields, fields of kinds, and kinds', () => {
    const losses = new Losses('test', carried)
    const [batch] = batchesOf(
      [
        { kind: 'alloc', size: 1n, time: 2n },
        { kind: 'free', size: 1n, time: 3n },
        { kind: 'comment', text: 'x' },
      ],
      HEADER,
    ) as [EventBatch]
    expect(losses.countBatch(batch)).toBe(3)
    losses.countEvent('too long', batch, 0)
    expect(losses.counts).toEqual(
      new Map([
        ['time', 2],
        ['size of free', 1],
        ['comment events', 1],
        ['too long', 1],
      ]),
    )
  })

  test('strict stops before the first loss, and says which', () => {
    const losses = new Losses('test', carried, true)
    const [batch] = batchesOf(
      [
        { kind: 'alloc', size: 1n },
        { kind: 'free', size: 1n },
      ],
      HEADER,
    ) as [EventBatch]
    expect(losses.countBatch(batch)).toBe(1)
    expect(losses.errorFor(batch, 1)).toMatchObject({
      code: 'ERR_TRACE_UNENCODABLE',
      event: 2,
      message: 'test: event 2: cannot represent size of free events',
    })
  })

  test('counts whatever there is, in batches of any size', () => {
    const fields = fc.integer({ min: 0, max: ALL_FIELDS })
    const places = fc.record(Object.fromEntries(KINDS.map((kind) => [kind, fields])), { requiredKeys: [] })
    // Of few masks, as in traces, or of more than the kernel has places for.
    const rows = fc
      .array(fields, { minLength: 1, maxLength: 100 })
      .chain((masks) =>
        fc.array(fc.tuple(fc.nat(KINDS.length - 1), fc.constantFrom(...masks)), { maxLength: 9000, size: 'max' }),
      )
    fc.assert(
      fc.property(places, rows, fc.boolean(), (carried, events, strict) => {
        const batch = new EventBatch(events.length, ALL_FIELDS, HEADER)
        events.forEach(([kind, mask], i) => {
          batch.kind[i] = kind
          batch.mask[i] = mask
        })
        batch.count = events.length
        const somewhere = Object.values(carried).reduce<number>((all, set) => all | (set ?? 0), 0)
        const expected = new Map<string, number>()
        let first = events.length
        events.forEach(([code, mask], i) => {
          const kind = KINDS[code] as (typeof KINDS)[number]
          const place = carried[kind]
          const names =
            place === undefined
              ? [`${kind} events`]
              : fieldNames(mask & ~place).map((name) =>
                  (FieldBit[name] & somewhere) !== 0 ? `${name} of ${kind}` : name,
                )
          if (names.length > 0) first = Math.min(first, i)
          for (const name of names) expected.set(name, (expected.get(name) ?? 0) + 1)
        })
        const losses = new Losses('test', carried, strict)
        expect(losses.countBatch(batch)).toBe(strict ? first : events.length)
        expect(losses.counts).toEqual(strict ? new Map() : expected)
      }),
      { numRuns: runs(60) },
    )
  })
})

test('TraceError says where', () => {
  const error = malformed('a bad number', { format: 'replay', line: 3, column: 7, offset: 40, event: 3 })
  expect(error).toBeInstanceOf(TraceError)
  expect(error.message).toBe('replay: line 3, column 7, byte 40, event 3: malformed: a bad number')
  // What is not known is absent, as the types say, and not undefined.
  expect({ ...truncated('gone', { format: 'mtrc' }) }).toStrictEqual({
    name: 'TraceError',
    code: 'ERR_TRACE_TRUNCATED',
    format: 'mtrc',
  })
})

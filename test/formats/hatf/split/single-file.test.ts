import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../../lib/event/batch.js'
import type { TraceError } from '../../../../lib/event/error.js'
import { NO_HEADER } from '../../../../lib/event/header.js'
import {
  hatf,
  HatfDecoder,
  HatfEncoder,
  SplitDecoder,
  SplitEncoder,
  type PackOptions,
} from '../../../../lib/formats/hatf/index.js'
import { BLOCK_FIXED_BYTES, BLOCK_TRACK_BYTES, MAX_TRACK_BYTES } from '../../../../lib/formats/hatf/split/layout.js'
import { Packer } from '../../../../lib/formats/hatf/split/pack.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../../../support/drive.js'
import { runs, someOf } from '../../../support/runs.js'
import { comment, hex, join } from '../bytes.js'
import { random, randomAll } from '../random.js'
import { FIELDS, packBytes } from './support.js'

const SIZES = [1, 7, 64, undefined]
const sizes = fc.constantFrom(...SIZES)
const options: fc.Arbitrary<PackOptions> = fc.record({
  fields: fc.subarray([...FIELDS]),
  encoded: fc.boolean(),
  level: fc.integer({ min: 0, max: 9 }),
  blockBytes: fc.constantFrom(1, 50, 200, 262_144),
})

/** Events whose blocks deflate, with a realloc whose records are in different blocks. */
const EVENTS: TraceEvent[] = [
  ...Array.from({ length: 30 }, (_, i): TraceEvent => ({
    kind: 'alloc',
    size: 24n,
    address: 0x5500_0000n + BigInt(i) * 32n,
  })),
  { kind: 'realloc', size: 48n, oldAddress: 0x5500_0000n, address: 0x5600_0000n, outcome: 'moved' },
  ...Array.from({ length: 6 }, (_, i): TraceEvent => ({ kind: 'free', address: 0x5500_0020n + BigInt(i) * 32n })),
  { kind: 'comment', text: 'the end' },
]
const PLAIN = encodeEvents(new HatfEncoder(), EVENTS, { format: 'hatf' })
const FILE = packBytes(PLAIN, 40)
const raw = (bytes: Uint8Array, size?: number) => decodeAll(hatf.decoder({ fold: false }), bytes, size)
const RECORDS = raw(FILE).events

describe('the single-file form', () => {
  it('has header, blocks and end', () => {
    const main = join(hex('00 00000001'), comment('c'))
    const addresses = hex('00000002')
    const { out } = drive(new Packer({ level: 0 }), [{ tracks: [main, addresses], records: 2 }])
    const [header, block, end] = out.map((bytes) => Buffer.from(bytes)) as [Buffer, Buffer, Buffer]
    expect(out).toHaveLength(3)
    const head = hex('42 00000002 0000000a 0000000a 00000004 00000004')
    expect(header.subarray(0, 12)).toEqual(Buffer.from(hex('89485341 0d0a1a0a 01 02 00 00')))
    expect(header.readUInt32BE(12)).toBe(crc32(header.subarray(0, 12)))
    expect(block.subarray(0, 21)).toEqual(Buffer.from(head))
    expect(block.readUInt32BE(21)).toBe(crc32(join(main, addresses)))
    expect(block.readUInt32BE(25)).toBe(crc32(block.subarray(0, 25), header.readUInt32BE(12)))
    expect(block.subarray(29)).toEqual(Buffer.from(join(main, addresses)))
    expect(end.subarray(0, 17)).toEqual(Buffer.from(hex('45 0000000000000002 000000000000000e')))
    expect(end.readUInt32BE(17)).toBe(crc32(end.subarray(0, 17), block.readUInt32BE(25)))
  })

  it('of no events at all is header and end', () => {
    const bytes = encodeAll(hatf.encoder({ splitAddr: true }), [])
    expect(bytes.length).toBe(16 + 21)
    expect(raw(bytes)).toMatchObject({ events: [], headers: [{ format: 'hatf' }] })
    expect(raw(bytes).error).toBeUndefined()
  })

  it('gives back the events that HATF can express, whatever the options and chunks', () => {
    fc.assert(
      fc.property(random(), options, sizes, ({ events }, pick, size) => {
        const decoded = decodeAll(
          hatf.decoder(),
          encodeEvents(new SplitEncoder(new HatfEncoder(), pick), events, { format: 'hatf' }),
          size,
        )
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(events)
        expect(decoded.headers).toEqual([{ format: 'hatf' }])
      }),
      { numRuns: runs(200) },
    )
  })

  it('keeps everything in attributes, and the headers', () => {
    fc.assert(
      fc.property(randomAll(), sizes, (traces, size) => {
        const encoder = hatf.encoder({ attributes: true, strict: true, splitAddr: true })
        const bytes = encodeAll(
          encoder,
          traces.flatMap(({ header, events }) => batchesOf(events, header)),
        )
        const decoded = decodeAll(hatf.decoder(), bytes, size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(traces.flatMap(({ events }) => events))
        expect(decoded.headers).toEqual(traces.map(({ header }) => header))
      }),
      { numRuns: runs(50) },
    )
  })

  it('holds what the plain form holds, and deflates across blocks', () => {
    const real = new Uint8Array(readFileSync(new URL('../../../fixtures/hatf/espresso-head.hatf', import.meta.url)))
    const { batches, events } = decodeAll(hatf.decoder(), real, 65_536)
    const whole = encodeAll(hatf.encoder({ splitAddr: true, splitLevel: 9 }), batches)
    const blocks = packBytes(encodeAll(hatf.encoder(), batches), 2000, { level: 9 })
    expect(decodeAll(hatf.decoder(), whole, 4096).events).toEqual(events)
    expect(decodeAll(hatf.decoder(), blocks, 4096).events).toEqual(events)
    expect(blocks.length).toBeLessThan(whole.length * 2)
    const stored = encodeAll(hatf.encoder({ splitAddr: true, splitLevel: 0 }), batches)
    expect(whole.length * 2).toBeLessThan(stored.length)
  })

  it('has a limit of the bytes of a stream in a block', () => {
    const start = 16
    for (const length of [MAX_TRACK_BYTES - 1, MAX_TRACK_BYTES, MAX_TRACK_BYTES + 1]) {
      const bytes = Buffer.from(FILE)
      // Two streams: the records, and the addresses.
      const headBytes = BLOCK_FIXED_BYTES + 2 * BLOCK_TRACK_BYTES
      bytes.writeUInt32BE(length, start + 5)
      bytes.writeUInt32BE(
        crc32(bytes.subarray(start, start + headBytes - 4), bytes.readUInt32BE(start - 4)),
        start + headBytes - 4,
      )
      const { events, error } = raw(new Uint8Array(bytes), 100)
      const code = length > MAX_TRACK_BYTES ? 'ERR_TRACE_LIMIT' : 'ERR_TRACE_MALFORMED'
      expect(error).toMatchObject({ code, format: 'hatf', offset: start, event: 1 })
      expect(events).toEqual([])
    }
  })

  it('one behind the other are two traces', () => {
    for (const size of SIZES) {
      const { events, headers, error } = raw(join(FILE, FILE), size)
      expect(error).toBeUndefined()
      expect(events).toEqual([...RECORDS, ...RECORDS])
      expect(headers).toHaveLength(2)
    }
  })

  it('is recognised', () => {
    expect(hatf.sniff(FILE)).toBe(true)
    expect(hatf.sniff(FILE.subarray(0, 64))).toBe(true)
    expect(hatf.sniff(join(FILE.subarray(0, 7), hex('ff')))).toBe(true)
  })

  it('is not seen in streams of records that begin like it', () => {
    const events = decodeAll(hatf.decoder(), hex('00 48534100 0d0a1a0a 01'), 1).events
    expect(events).toEqual([{ kind: 'alloc', size: 0x4853_4100n, address: 0x0d0a_1a0an }])
    expect(decodeAll(hatf.decoder(), hex('09'), 1).events).toEqual([{ kind: 'thread-destroy' }])
    expect(decodeAll(hatf.decoder(), hex(''), 1).error).toBeUndefined()
  })

  it('refuses options that make no sense', () => {
    for (const wrong of [{ level: 10 }, { level: -1 }, { blockBytes: 0 }, { blockBytes: 1e9 }]) {
      expect(() => new SplitEncoder(new HatfEncoder(), wrong)).toThrow(RangeError)
    }
  })

  it('when strict gives the events before the one that cannot be written, and no end', () => {
    const encoder = hatf.encoder({ splitAddr: true, strict: true })
    const { out, error } = drive(
      encoder,
      batchesOf([...EVENTS, { kind: 'free', address: 1n, line: 7 }], { format: 'hatf' }),
    )
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE' })
    const decoded = decodeAll(hatf.decoder(), new Uint8Array(Buffer.concat(out)))
    expect(decoded.events).toEqual(EVENTS)
    expect(decoded.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })

  it('for live input shows each batch at once', () => {
    const encoder = hatf.encoder({ splitAddr: true, latency: true })
    const decoder = hatf.decoder({ fold: false })
    for (let n = 1; n <= 3; n++) {
      encoder.feed(batchesOf(EVENTS.slice(0, n), NO_HEADER)[0] as EventBatch)
      let seen = 0
      for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) {
        decoder.feed(bytes)
        for (let batch = decoder.next(); batch !== null; batch = decoder.next()) seen += batch.count
      }
      expect(seen).toBe(n)
    }
  })

  it('of a truncated input has all events and no end', () => {
    const encoder = hatf.encoder({ splitAddr: true })
    const out: Uint8Array[] = []
    const drain = () => {
      for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) out.push(bytes)
    }
    for (const batch of batchesOf(EVENTS, { format: 'hatf' })) encoder.feed(batch)
    drain()
    encoder.endTruncated()
    drain()
    const decoded = decodeAll(hatf.decoder(), new Uint8Array(Buffer.concat(out)))
    expect(decoded.events).toEqual(EVENTS)
    expect(decoded.error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })
})

/** Where each block begins, and where the end does; with the number of records before. */
function frames(file: Uint8Array): { offset: number; before: number }[] {
  const view = Buffer.from(file)
  const found = []
  let before = 0
  for (let at = 16; at < file.length;) {
    found.push({ offset: at, before })
    if (file[at] === 0x45) break
    before += view.readUInt32BE(at + 1)
    at += 29 + view.readUInt32BE(at + 9) + view.readUInt32BE(at + 17)
  }
  return found
}

describe('damage', () => {
  const FRAMES = frames(FILE)
  /** The records of the blocks that are whole when the byte at `offset` is wrong or missing. */
  const wholeBefore = (offset: number) =>
    RECORDS.slice(0, FRAMES.findLast((frame) => frame.offset <= offset)?.before ?? 0)

  it('is looked for in a file of several blocks', () => {
    expect(FRAMES.length).toBeGreaterThan(4)
    expect(FILE.length).toBeLessThan(600)
  })

  it('cut anywhere gives the events of the whole blocks, and an error', { tags: ['slow'] }, () => {
    for (let length = 1; length < FILE.length; length++) {
      for (const size of SIZES) {
        const { events, error } = raw(FILE.subarray(0, length), size)
        expect(events).toEqual(wholeBefore(length))
        expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', format: 'hatf', event: events.length + 1 })
      }
    }
  })

  it('any bit flipped gives the events of the blocks before it, and an error', { tags: ['slow'] }, () => {
    for (let bit = 0; bit < 8 * FILE.length; bit++) {
      const damaged = FILE.slice()
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7))
      const { events, error } = raw(damaged, bit % 3 === 0 ? 7 : undefined)
      expect(events).toEqual(wholeBefore(bit >> 3))
      expect(error).toMatchObject({ name: 'TraceError', format: 'hatf', event: events.length + 1 })
    }
  })

  it('any byte changed to any other gives no other events', { tags: ['slow'] }, () => {
    for (const at of someOf(FILE.length)) {
      const expected = JSON.stringify(wholeBefore(at).length)
      for (let value = 1; value < 256; value++) {
        const damaged = FILE.slice()
        damaged[at] = (damaged[at] as number) ^ value
        const { events, error } = raw(damaged)
        expect(JSON.stringify(events.length)).toBe(expected)
        expect(error).toBeDefined()
      }
    }
  })

  it('a block that is missing, twice there or in another place is found before it is given', () => {
    const [first, second, third] = FRAMES.map(({ offset }) => offset) as [number, number, number]
    const [head, one, two, rest] = [
      FILE.slice(0, first),
      FILE.slice(first, second),
      FILE.slice(second, third),
      FILE.slice(third),
    ] as const
    for (const [bytes, good] of [
      [join(head, two, rest), first],
      [join(head, one, one, two, rest), second],
      [join(head, two, one, rest), first],
      [join(head, one, rest), second],
    ] as const) {
      const { events, error } = raw(bytes)
      expect(events).toEqual(wholeBefore(good))
      expect(error?.message).toMatch(/CRC-32 of the head of a block is wrong/)
    }
  })

  it('what comes after the end is an error', () => {
    for (const size of SIZES) {
      const { events, error } = raw(join(FILE, hex('00')), size)
      expect(events).toEqual(RECORDS)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', offset: FILE.length, event: RECORDS.length + 1 })
    }
    expect(raw(join(FILE, FILE.subarray(0, 5))).error).toMatchObject({
      code: 'ERR_TRACE_TRUNCATED',
      offset: FILE.length,
    })
  })

  it('events held back for a realloc come before the error, folded or not', () => {
    /** Where the plain stream has so many records. */
    const lengths = new Map(Array.from(PLAIN, (_, i) => [raw(PLAIN.subarray(0, i + 1)).events.length, i + 1]))
    for (const size of SIZES) {
      for (let length = 1; length < FILE.length; length += 5) {
        const records = PLAIN.subarray(0, lengths.get(wholeBefore(length).length) ?? 0)
        const folded = decodeAll(hatf.decoder(), FILE.subarray(0, length), size)
        expect(folded.events).toEqual(decodeAll(new HatfDecoder(), records).events)
        expect(folded.error).toMatchObject({ event: folded.events.length + 1 })
      }
    }
  })

  it('is not looked for when the input was truncated elsewhere', () => {
    for (let length = 0; length < FILE.length; length += 3) {
      const decoder = hatf.decoder({ fold: false })
      const events: TraceEvent[] = []
      const drain = () => {
        for (let batch = decoder.next(); batch !== null; batch = decoder.next()) events.push(...batch)
      }
      decoder.feed(FILE.slice(0, length))
      drain()
      decoder.endTruncated()
      drain()
      expect(events).toEqual(wholeBefore(length))
    }
  })
})

describe('hostile writers', () => {
  const header = (version = 1, fields = 2, flags = 0, zero = 0) =>
    seal(join(hex('89485341 0d0a1a0a'), Uint8Array.of(version, fields, flags, zero)), 0)

  /** A head with its CRC-32. */
  function seal(head: Uint8Array, before: number): { bytes: Uint8Array; crc: number } {
    const crc = crc32(head, before)
    return { bytes: join(head, u32(crc)), crc }
  }

  function u32(value: number): Uint8Array {
    return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)
  }

  function file(records: number, lengths: [number, number][], data: Uint8Array): Uint8Array {
    const { bytes, crc } = header()
    const head = join(
      hex('42'),
      u32(records),
      ...lengths.flatMap(([all, stored]) => [u32(all), u32(stored)]),
      u32(crc32(data)),
    )
    return join(bytes, seal(head, crc).bytes, data)
  }

  const error = (bytes: Uint8Array) => raw(bytes).error as TraceError

  it.each([
    [[2], /version 2 .* not known/],
    [[1, 0x40], /does not define/],
    [[1, 2, 2], /does not define/],
    [[1, 2, 0, 1], /does not define/],
  ] as [number[], RegExp][])('a header of %j', (values, message) => {
    expect(error(header(...values).bytes)).toMatchObject({
      code: 'ERR_TRACE_MALFORMED',
      offset: 0,
      event: 1,
      message: expect.stringMatching(message),
    })
  })

  it('lengths beyond all measure are refused before there is memory for them', () => {
    expect(
      error(
        file(
          1,
          [
            [0xffff_ffff, 10],
            [4, 4],
          ],
          new Uint8Array(14),
        ),
      ),
    ).toMatchObject({ code: 'ERR_TRACE_LIMIT', offset: 16 })
    expect(
      error(
        file(
          1,
          [
            [10, 20],
            [4, 4],
          ],
          new Uint8Array(24),
        ),
      ),
    ).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
  })

  it('data that inflate to more, or less, or not at all', () => {
    const bomb = Buffer.from(
      encodeEvents(
        new SplitEncoder(new HatfEncoder()),
        Array.from({ length: 5000 }, () => EVENTS[0] as TraceEvent),
        { format: 'hatf' },
      ),
    )
    const stored = bomb.subarray(45, 45 + bomb.readUInt32BE(25))
    const length = bomb.readUInt32BE(21)
    expect(
      error(
        file(
          1,
          [
            [length - 1, stored.length],
            [0, 0],
          ],
          stored,
        ),
      ).message,
    ).toMatch(/deflated data of a block are corrupt/)
    expect(
      error(
        file(
          1,
          [
            [length + 1, stored.length],
            [0, 0],
          ],
          stored,
        ),
      ).message,
    ).toMatch(/deflated data of a block are corrupt/)
    expect(
      error(
        file(
          1,
          [
            [100, 10],
            [0, 0],
          ],
          new Uint8Array(10).fill(0xff),
        ),
      ).message,
    ).toMatch(/deflated data of a block are corrupt/)
  })

  it('streams that do not fit together, or are no HATF', () => {
    const good = hex('00 00000001')
    expect(
      error(
        file(
          1,
          [
            [5, 5],
            [4, 4],
          ],
          join(good, hex('00000002')),
        ),
      ).message,
    ).toMatch(/the end of the file is missing/)
    expect(
      error(
        file(
          1,
          [
            [5, 5],
            [8, 8],
          ],
          join(good, hex('00000002 00000003')),
        ),
      ).message,
    ).toMatch(/byte 16, event 2: .*do not fit together/)
    expect(
      error(
        file(
          2,
          [
            [5, 5],
            [4, 4],
          ],
          join(good, hex('00000002')),
        ),
      ).message,
    ).toMatch(/do not fit together/)
    expect(
      error(
        file(
          1,
          [
            [5, 5],
            [0, 0],
          ],
          good,
        ),
      ).message,
    ).toMatch(/do not fit together/)
    expect(
      error(
        file(
          1,
          [
            [6, 6],
            [4, 4],
          ],
          join(good, hex('0c 00000002')),
        ),
      ).message,
    ).toMatch(/byte 16, event 2: malformed: in this block, .*unknown tag 12/)
  })

  it('totals that are not true', () => {
    const { bytes, crc } = header()
    const end = (records: number, total: number) =>
      join(bytes, seal(join(hex('45 00000000'), u32(records), hex('00000000'), u32(total)), crc).bytes)
    expect(error(end(0, 0))).toBeUndefined()
    expect(error(end(1, 0)).message).toMatch(/0 records of 0 bytes, where the end says 1 of 0/)
    expect(error(end(0, 9)).message).toMatch(/says 0 of 9/)
  })

  it('random bytes behind a header', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(decodeAll(new SplitDecoder(), join(header().bytes, bytes)).error?.name).toBe('TraceError')
      }),
    )
  })
})

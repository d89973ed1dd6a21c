import { describe, expect, it } from 'vitest'
import { BATCH_EVENTS, batchesOf, EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceError } from '../../../lib/event/error.js'
import { fieldSet } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { compact, type CompactEncodeOptions } from '../../../lib/formats/compact/index.js'
import type { CompactKernel } from '../../../lib/formats/compact/kernel.js'
import {
  CHECKSUM_BYTES,
  HEAD_BYTES,
  LEVEL,
  SECTION,
  SECTION_HEAD,
  TOTALS_BYTES,
  TRACE_HEAD,
} from '../../../lib/formats/compact/layout.js'
import { sealed, sectionsOf, type Section } from '../../support/compact.js'
import { decodeAll, drive, encodeAll, encodeEvents, slices } from '../../support/drive.js'
import { stopwatch } from '../../support/stopwatch.js'

const HEADER: TraceHeader = { format: 'replay', timeUnit: 'ns' }

const LEVELS = Object.entries(LEVEL)

/** A program that makes and frees blocks of several sizes, at addresses that it gets again. */
function program(n: number, threads = 1): TraceEvent[] {
  const events: TraceEvent[] = []
  const live: bigint[] = []
  let seed = 7
  const random = (below: number) => ((seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff) >> 8) % below
  const free: bigint[] = []
  let top = 0x5500_0000n
  for (let i = 0; i < n; i++) {
    const thread = BigInt(100 + random(threads))
    if (live.length > 0 && random(5) < 2) {
      const [address] = live.splice(random(live.length), 1) as [bigint]
      free.push(address)
      events.push({ kind: 'free', api: 'free', thread, address })
    } else {
      const address = free.pop() ?? (top += 32n)
      live.push(address)
      events.push({ kind: 'alloc', api: 'malloc', thread, address, size: BigInt(8 * (1 + random(4))) })
    }
  }
  return events
}

/** How many events are read, and the error. */
function countAll(bytes: Uint8Array): { read: number; error?: Error } {
  const { out, error } = drive(compact.decoder(), slices(bytes, 65_536))
  return { read: out.reduce((sum, { count }) => sum + count, 0), ...(error && { error }) }
}

describe.each(LEVELS)('the container at the %s level', (_name, level) => {
  const events = program(150_000)
  const bytes = encodeEvents(compact.encoder({ level }), events, HEADER)
  const sections = sectionsOf(bytes)

  it('has a section for the trace, one for each 65,536 events, and one for the end', { tags: ['slow'] }, () => {
    expect(sections.map(({ type }) => type)).toEqual([
      SECTION.trace,
      SECTION.block,
      SECTION.block,
      SECTION.block,
      SECTION.end,
    ])
    expect(decodeAll(compact.decoder(), bytes, 65_536).events).toEqual(events)
  })

  it('gives all events of the blocks before a fault, wherever it is', { tags: ['large'] }, () => {
    const before = [0, 0, 65_536, 131_072, 150_000]
    sections.forEach(({ from, to }, i) => {
      for (const at of [from, from + 1, Math.floor((from + to) / 2), to - 1]) {
        const damaged = bytes.slice()
        damaged[at] = damaged[at] ^ 0x10
        const { read, error } = countAll(damaged)
        expect(error).toMatchObject({ event: read + 1 })
        expect(read).toBe(before[i])
      }
      for (const at of [from, from + 3, to - 1]) {
        const { read, error } = countAll(bytes.slice(0, at))
        expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED', event: read + 1 })
        expect(read).toBe(before[i])
      }
    })
  })

  it('is missed when a whole block is', () => {
    const [, first, second] = sections as [Section, Section, Section]
    const without = new Uint8Array([...bytes.subarray(0, first.to), ...bytes.subarray(second.to)])
    const { read, error } = countAll(without)
    expect((error as TraceError).code).toBe('ERR_TRACE_MALFORMED')
    expect(read).toBe(65_536)
  })

  it('passes over sections of small letters, and refuses other unknown ones', { tags: ['slow'] }, () => {
    const end = sections.at(-1) as Section
    const added = (type: string) => {
      const section = sealed(Uint8Array.of(type.charCodeAt(0), 3, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0), {
        type: 0,
        from: 0,
        to: 12,
      })
      return new Uint8Array([...bytes.subarray(0, end.from), ...section, ...bytes.subarray(end.from)])
    }
    expect(countAll(added('x'))).toEqual({ read: 150_000 })
    expect(countAll(added('X')).error?.message).toContain('unknown type 0x58')
  })

  it('may hold several files one after the other, and traces one after the other', { tags: ['slow'] }, () => {
    expect(countAll(new Uint8Array(Buffer.concat([bytes, bytes])))).toEqual({ read: 300_000 })
    const other: TraceHeader = { format: 'mtrc', layout: { wordSize: 4 } }
    const some = events.slice(0, 5000)
    const batches = [...batchesOf(some, HEADER), ...batchesOf(program(10), other), ...batchesOf([], HEADER)]
    const joined = encodeAll(compact.encoder({ level }), [...batches, ...batchesOf(program(20), HEADER)])
    const read = decodeAll(compact.decoder(), joined, 1000)
    expect(read.headers).toEqual([HEADER, other, HEADER])
    expect(read.events).toEqual([...some, ...program(10), ...program(20)])
  })

  it.each([
    ['the version', 8, 9, 'version 9'],
    ['the flags of the file', 9, 1, 'flags 1'],
    ['the flags of the trace', HEAD_BYTES + SECTION_HEAD, 3, 'flags 3'],
    ['the level', HEAD_BYTES + SECTION_HEAD + 1, 77, 'level 77'],
  ])('refuses %s that is not known', (_name, at, value, message) => {
    const changed = bytes.slice()
    changed[at] = value
    const trace = sections[0]
    const { error, read } = countAll(sealed(changed, trace))
    expect(error?.message).toContain(`compact: byte ${at}, event 1: malformed: ${message}`)
    expect(read).toBe(0)
  })

  it('refuses flags of an allocator that are not known', () => {
    const calls = Array.from({ length: 40 }, (_, i): TraceEvent => {
      return { kind: 'alloc', api: 'malloc', address: 0x5555_5555_92a0n + 0x30n * BigInt(i), size: 40n }
    })
    const file = encodeAll(compact.encoder(), batchesOf(calls))
    const [trace] = sectionsOf(file) as [Section]
    const flags = trace.from + SECTION_HEAD + TRACE_HEAD + TOTALS_BYTES + 3
    expect([...file.subarray(flags - 3, flags + 1)]).toEqual([1, 36, 64, 1])
    file[flags] = 2
    expect(countAll(sealed(file, trace)).error?.message).toContain('settings of an allocator that is not known')
  })

  it('takes a payload that says something else for damaged, in bounded time', { tags: ['large'] }, () => {
    const [, block] = sections as [Section, Section]
    const time = stopwatch()
    for (let i = 0; i < 50; i++) {
      const changed = bytes.slice(0, block.to)
      const at = block.from + SECTION_HEAD + 8 + ((i * 7919) % (block.to - block.from - SECTION_HEAD - 12))
      changed.fill((i * 37) & 0xff, at, Math.min(at + 1 + (i % 40), block.to - CHECKSUM_BYTES))
      const { error, read } = countAll(sealed(changed, block))
      if (read === 65_536) continue
      expect(error).toMatchObject({ event: read + 1 })
    }
    expect(time()).toBeLessThan(60_000)
  })
})

describe.each(LEVELS)('the model of the %s level', (_name, level) => {
  it('gives the same bytes however events are divided into batches', { tags: ['slow'] }, () => {
    const events = program(5000, 7)
    const whole = encodeEvents(compact.encoder({ level }), events, HEADER)
    const pieces = [1, 7, 100, 4096].map((size) => {
      const batches = []
      for (let i = 0; i < events.length; i += size) batches.push(...batchesOf(events.slice(i, i + size), HEADER))
      return encodeAll(compact.encoder({ level }), batches)
    })
    for (const bytes of pieces) expect(bytes).toEqual(whole)
  })

  it('keeps nothing of a trace for the next one that is encoded', () => {
    const events = program(3000)
    const first = encodeEvents(compact.encoder({ level }), events, HEADER)
    encodeEvents(compact.encoder({ level }), program(2000, 9), HEADER)
    expect(encodeEvents(compact.encoder({ level }), events, HEADER)).toEqual(first)
  })

  it('forgets names when there are too many of them, and goes on', { tags: ['slow'] }, () => {
    const events: TraceEvent[] = Array.from({ length: 60 }, (_, i) => ({
      kind: 'comment',
      text: `${i} ${String.fromCharCode(97 + (i % 26)).repeat(200_000)}`,
    }))
    const bytes = encodeEvents(compact.encoder({ level }), events, HEADER)
    expect(bytes.length).toBeLessThan(200_000)
    const { events: read, error } = decodeAll(compact.decoder(), bytes, 65_536)
    expect(error).toBeUndefined()
    expect(read).toEqual(events)
  })

  it('replaces descriptors when there are too many of them, and goes on', { tags: ['slow'] }, () => {
    const events: TraceEvent[] = Array.from({ length: 80_000 }, (_, i) =>
      i % 2 === 0
        ? { kind: 'alloc', address: BigInt(4096 + i * 64), size: BigInt(i * 3) }
        : { kind: 'free', address: BigInt(4096 + (i - 1) * 64) },
    )
    const { events: read, error } = decodeAll(
      compact.decoder(),
      encodeEvents(compact.encoder({ level }), events, HEADER),
    )
    expect(error).toBeUndefined()
    expect(read).toEqual(events)
  })

  it('takes at most 32 MB and 256 bytes for each live block', { tags: ['slow'] }, () => {
    const blocks = 600_000
    const fields = fieldSet('address', 'size')
    const encoder = compact.encoder({ level })
    for (let from = 0; from < blocks; from += BATCH_EVENTS) {
      const batch = new EventBatch(BATCH_EVENTS, fields, HEADER)
      for (let i = 0; i < BATCH_EVENTS; i++) {
        batch.mask[i] = fields
        // One block in each page of addresses, in no order: the worst case.
        const page = Math.imul(from + i + 1, 0x9e37_79b1) >>> 0
        batch.address.words.set([(page & 0xf_ffff) << 12, 1 + (page >>> 20)], 2 * i)
        batch.size.words.set([8 + ((from + i) % 7) * 16, 0], 2 * i)
      }
      batch.count = BATCH_EVENTS
      encoder.feed(batch)
      while (encoder.next() !== null);
    }
    const kernel = Reflect.get(encoder, 'own') as CompactKernel
    expect(kernel.run.memory.buffer.byteLength).toBeLessThan(32_000_000 + 256 * blocks)
  })

  it('forgets threads when there are too many of them, and goes on', { tags: ['slow'] }, () => {
    const events: TraceEvent[] = Array.from({ length: 150_000 }, (_, i) => ({
      kind: 'alloc',
      thread: BigInt((i * 7) % 100_000),
      address: BigInt(4096 + i * 32),
      size: 24n,
    }))
    const bytes = encodeEvents(compact.encoder({ level }), events, HEADER)
    const { events: read, error } = decodeAll(compact.decoder(), bytes, 65_536)
    expect(error).toBeUndefined()
    expect(read.length).toBe(events.length)
    expect(read.at(-1)).toEqual(events.at(-1))
  })
})

it.each(LEVELS)('the header of a trace without events comes before a fault after it, at the %s level', (_, level) => {
  const batches = [...batchesOf(program(10), HEADER), new EventBatch(0, 0, { format: 'mtrc' })]
  const bytes = encodeAll(compact.encoder({ level }), batches)
  const { from } = sectionsOf(bytes).at(-1) as Section
  const damaged = bytes.slice()
  damaged[from + SECTION_HEAD] ^= 1
  for (const input of [bytes.slice(0, from), bytes.slice(0, from + 7), damaged]) {
    const { events, headers, error } = decodeAll(compact.decoder(), input)
    expect(error).toMatchObject({ offset: from })
    expect(events).toHaveLength(10)
    expect(headers.map(({ format }) => format)).toEqual(['replay', 'mtrc'])
  }
})

describe('levels', () => {
  const events = program(5000)
  const lengthOf = (options?: CompactEncodeOptions) => encodeEvents(compact.encoder(options), events, HEADER).length

  it('are named by a number or a word; the best one is the default', () => {
    expect(lengthOf()).toBe(lengthOf({ best: true }))
    expect(lengthOf()).toBe(lengthOf({ level: 2 }))
    expect(lengthOf({ fast: true })).toBe(lengthOf({ level: 1, fast: true, best: false }))
    expect(lengthOf()).toBeLessThan(lengthOf({ fast: true }))
  })

  it('are one', () => {
    expect(() => compact.encoder({ fast: true, best: true })).toThrow('fast and best cannot be combined')
    expect(() => compact.encoder({ fast: true, level: 2 })).toThrow('fast and level 2 cannot be combined')
    expect(() => compact.encoder({ best: true, level: 1 })).toThrow('best and level 1 cannot be combined')
    expect(() => compact.encoder({ level: 3 as 2 })).toThrow('must be 1 or 2, not 3')
  })

  it('may differ from file to file, but not within a trace', () => {
    const fast = encodeEvents(compact.encoder({ fast: true }), events, HEADER)
    const best = encodeEvents(compact.encoder({ best: true }), events, HEADER)
    expect(countAll(new Uint8Array(Buffer.concat([fast, best, fast])))).toEqual({ read: 15_000 })
    const other: TraceHeader = { format: 'other' }
    const joined = encodeAll(compact.encoder(), [...batchesOf(program(10), HEADER), ...batchesOf(program(9), other)])
    const second = sectionsOf(joined).filter(({ type }) => type === SECTION.trace)[1]
    joined[second.from + SECTION_HEAD + 1] = LEVEL.fast
    const { read, error } = countAll(sealed(joined, second))
    expect(read).toBe(10)
    expect(error?.message).toContain('the level changes')
  })
})

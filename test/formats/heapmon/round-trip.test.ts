import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { FieldBit, type CoreFieldName } from '../../../lib/event/fields.js'
import { HeapmonDecoder } from '../../../lib/formats/heapmon/decode.js'
import { HeapmonEncoder } from '../../../lib/formats/heapmon/encode.js'
import { CARRIED } from '../../../lib/formats/heapmon/layout.js'
import { decodeAll, drive, encodeEvents } from '../../support/drive.js'
import { anyEvent } from '../../support/random-event.js'
import { runs } from '../../support/runs.js'
import { header, random } from './random.js'
import { readLine } from './reference.js'
import { decode, FULL_CRAWL, SAMPLE } from './text.js'

describe('any trace', () => {
  it('comes back as it was, in chunks of any size', () => {
    fc.assert(
      fc.property(random(), fc.integer({ min: 1, max: 200 }), ({ header, events }, size) => {
        const bytes = encodeEvents(new HeapmonEncoder({ strict: true }), events, header)
        const decoded = decodeAll(new HeapmonDecoder(), bytes, size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(events)
        if (events.length > 0 || header.layout?.['headerRow'] === true) expect(decoded.headers).toEqual([header])
        expect(encodeEvents(new HeapmonEncoder(), decoded.events, header)).toEqual(bytes)
      }),
    )
  })

  it('of any other format becomes lines that are read as what was written', () => {
    fc.assert(
      fc.property(header, fc.array(anyEvent, { maxLength: 20 }), (header, events) => {
        const { out, error } = drive(new HeapmonEncoder(), batchesOf(events, header))
        // Events can collide: pages and an object in them, for example. What came before is whole all the same.
        if (error)
          expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_TRACE_(UNENCODABLE|LIMIT)$/) as string })
        const bytes = new Uint8Array(Buffer.concat(out))
        const decoded = decodeAll(new HeapmonDecoder(), bytes)
        expect(decoded.error).toBeUndefined()
        const again = new HeapmonEncoder({ strict: true })
        expect(encodeEvents(again, decoded.events, header)).toEqual(bytes)
      }),
      { numRuns: runs(300) },
    )
  })

  it('says what it lost: what was written without a loss comes back', () => {
    const usual = { time: 1n, address: 2n, size: 3n }
    const carried = (event: TraceEvent): TraceEvent => {
      const kind = (['alloc', 'free', 'existing'] as const)[event.kind.length % 3] ?? 'alloc'
      const kept = Object.entries(event).filter(
        ([name]) => ((CARRIED[kind] ?? 0) & FieldBit[name as CoreFieldName]) !== 0 && name !== 'function',
      )
      const { time, size, ...rest } = { ...usual, ...Object.fromEntries(kept) } as TraceEvent
      return {
        ...rest,
        kind,
        ...(kind !== 'existing' && { time, api: kind === 'free' ? 'delete' : 'new' }),
        ...(kind !== 'free' && { size }),
      } as TraceEvent
    }
    let kept = 0
    fc.assert(
      fc.property(header, anyEvent.map(carried), (header, event) => {
        const encoder = new HeapmonEncoder()
        const back = decodeAll(new HeapmonDecoder(), encodeEvents(encoder, [event], header)).events
        if (encoder.losses.counts.size > 0) return
        expect(back).toEqual([event])
        kept++
      }),
      { numRuns: runs(3000) },
    )
    expect(kept).toBeGreaterThan(runs(3000) / 10)
  })
})

/** Lines of all sorts, and what spaces and names can do to them. */
const LINES = [
  ...SAMPLE.split('\n').slice(1, 4),
  `1-2\t3\t0x4\tdel\tA\t${FULL_CRAWL}`,
  '0-0 old 0xFF 18446744073709551615 unsigned long',
  '7-8  9  0xa  11  unsigned long  f|g',
  '7-8 9 0xa 11 unsigned f|g',
  '1-1 1 0x1 1 notype  operator||operator|=(int)|main',
  ' \t\r',
]
const SPLICES = [
  '\t',
  ' ',
  '  ',
  '\r',
  '|',
  'operator|',
  '=',
  '0',
  'X',
  '18446744073709551615',
  'x',
  'old',
  'del',
  'novtbl',
  'notype',
  '-',
  '',
  '\xff',
  '\0',
]

describe('any line', () => {
  it('is read as the reference reads it', () => {
    const mutation = fc.record({ at: fc.nat(200), cut: fc.nat(4), splice: fc.constantFrom(...SPLICES) })
    let valid = 0
    fc.assert(
      fc.property(fc.constantFrom(...LINES), fc.array(mutation, { maxLength: 4 }), (line, mutations) => {
        for (const { at, cut, splice } of mutations) {
          const p = at % (line.length + 1)
          line = line.slice(0, p) + splice + line.slice(p + cut)
        }
        const expected = readLine(line)
        const { events, error } = decode(`${line}\n`)
        if (expected === undefined) expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', line: 1, event: 1 })
        else expect(error).toBeUndefined()
        expect(events).toEqual(expected ? [expected] : [])
        if (expected) valid++
      }),
      { numRuns: runs(20_000) },
    )
    expect(valid).toBeGreaterThan(runs(20_000) / 4)
    expect(valid).toBeLessThan((runs(20_000) / 4) * 3)
  })
})

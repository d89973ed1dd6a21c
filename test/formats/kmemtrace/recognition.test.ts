import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import {
  KmemtraceDecoder,
  KmemtraceEncoder,
  type KmemtraceDecodeOptions,
  type KmemtraceEncodeOptions,
} from '../../../lib/formats/kmemtrace/index.js'
import { LAYOUTS } from '../../../lib/formats/kmemtrace/layout.js'
import { decodeAll, drive, encodeAll, encodeEvents } from '../../support/drive.js'

const REPLAY: TraceHeader = { format: 'replay', timeUnit: 'ns' }

describe('what a reader will not recognise', () => {
  const ftrace = { layout: 'ftrace', byteOrder: 'little' } as const
  const lost = (count: bigint): TraceEvent => ({ kind: 'lost', count })
  const whole: TraceEvent = { kind: 'free', api: 'kfree', cpu: 0, time: 0n, address: 5n, callSite: 0n }

  it.each<[string, TraceEvent[], KmemtraceEncodeOptions]>([
    ['zeros of another size', [lost(6n)], ftrace],
    ['a record without a time that tells it from relay', [whole], { ...ftrace, wordSize: 4 }],
    ['zeros and such a record', [lost(8n), whole], { ...ftrace, wordSize: 4 }],
  ])('is counted as a loss, and an error in strict mode: %s', (_, events, options) => {
    const reason =
      /^layout, which the records do not show: read them with layout ftrace, byte order little, word size \d$/
    const encoder = new KmemtraceEncoder(options)
    const bytes = encodeEvents(encoder, events, REPLAY)
    expect([...encoder.losses.counts.keys()]).toEqual([expect.stringMatching(reason)])
    const { error } = drive(new KmemtraceEncoder({ ...options, strict: true }), batchesOf(events, REPLAY))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE' })
    // With all that the message says it is read as it was.
    const { layout, byteOrder, wordSize } = { wordSize: 8 as const, ...options }
    const decoder = new KmemtraceDecoder({ layout, byteOrder, wordSize } as KmemtraceDecodeOptions)
    expect(decodeAll(decoder, bytes).events).toEqual(events)
    expect(decodeAll(new KmemtraceDecoder(), bytes).events).not.toEqual(events)
  })

  it.each<[string, TraceEvent[], KmemtraceEncodeOptions]>([
    ['nothing', [], ftrace],
    ['zeros of the size of relay', [lost(7n)], { ...ftrace, wordSize: 4 }],
    [
      'an allocation',
      [{ ...whole, kind: 'alloc', api: 'kmalloc', size: 1n, usable: 8n, gfpFlags: 1, node: 0 } as TraceEvent],
      ftrace,
    ],
    [
      'a first record with what is no feature',
      [
        {
          kind: 'free',
          api: 'kfree',
          sequence: 700,
          address: 5n,
          callSite: 181n,
          attributes: Uint8Array.of(0x45, 0x54, 0x68, 0x76),
        },
      ],
      {},
    ],
  ])('is not what can be recognised: %s', (_, events, options) => {
    const encoder = new KmemtraceEncoder({ ...options, strict: true })
    const bytes = encodeEvents(encoder, events, { format: 'kmemtrace', timeUnit: 'ns' })
    expect(encoder.losses.counts.size).toBe(0)
    expect(decodeAll(new KmemtraceDecoder(), bytes).events).toEqual(events)
  })

  it('is a row of lost events: it comes back as one', () => {
    const encoder = new KmemtraceEncoder()
    const batches = [[lost(2n)], [lost(3n)], [{ ...whole, kind: 'free' } as TraceEvent, lost(4n)]]
    const header = { format: 'kmemtrace' }
    const bytes = encodeAll(
      encoder,
      batches.flatMap((events) => batchesOf(events, header)),
    )
    expect(encoder.losses.counts.get('lost events in a row, which are one')).toBe(1)
    const { events } = decodeAll(new KmemtraceDecoder(), bytes)
    expect(events.map((event) => event.count)).toEqual([5n, undefined, 4n])
  })
})

describe('all options for reading', () => {
  it.each(LAYOUTS)('are decisive, whatever the bytes are: %o', (options) => {
    // As every layout reads it: free, type 0, of 40 bytes.
    const bytes = new Uint8Array(40)
    bytes.set(options.byteOrder === 'little' ? [1, 0, 40, 0] : [1, 0, 0, 40])
    const { batches, error } = decodeAll(new KmemtraceDecoder(options), bytes)
    expect(error).toBeUndefined()
    expect(batches[0]?.header.layout).toMatchObject({ layout: options.layout, byteOrder: options.byteOrder })
    expect(batches[0]?.header.layout?.['wordSize'] ?? 8).toBe(options.wordSize)
  })
})

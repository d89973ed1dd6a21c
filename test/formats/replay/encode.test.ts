import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { ReplayEncoder } from '../../../lib/formats/replay/encode.js'
import { drive, encodeEvents } from '../../support/drive.js'
import { lossesBut } from '../../support/losses.js'

const NS: TraceHeader = { format: 'hatf', timeUnit: 'ns' }

/** The text of events, and what was lost in it, except what most of them lack. */
function encode(events: TraceEvent[], header = NS): { text: string; losses: Record<string, number> } {
  const encoder = new ReplayEncoder()
  const text = Buffer.from(encodeEvents(encoder, events, header)).toString()
  return { text, losses: lossesBut(['thread', 'api'], encoder.losses.counts) }
}

describe('encoding events of other formats', () => {
  it.each<[string, TraceEvent, string, Record<string, number>]>([
    ['no size', { kind: 'alloc', address: 16n }, '0: malloc 0x10 0\n', { 'no size, written as 0': 1 }],
    [
      'new',
      { kind: 'alloc', api: 'new', address: 16n, size: 5n },
      '0: malloc 0x10 5\n',
      { 'api new, written as malloc': 1 },
    ],
    ['delete', { kind: 'free', api: 'delete', address: 16n }, '0: free 0x10\n', { 'api delete, written as free': 1 }],
    [
      'other realloc',
      { kind: 'realloc', api: 'pages', address: 16n, oldAddress: 1n, size: 2n },
      '0: realloc 0x10 0x1 2\n',
      { 'api pages, written as realloc': 1 },
    ],
    [
      'old block',
      { kind: 'existing', address: 16n, size: 5n },
      '0: malloc 0x10 5\n',
      { 'existing blocks, written as malloc': 1 },
    ],
    [
      'old calloc',
      { kind: 'existing', api: 'calloc', address: 16n, size: 5n },
      '0: malloc 0x10 5\n',
      { 'existing blocks, written as malloc': 1, 'api calloc, written as malloc': 1 },
    ],
    [
      'alloc without address',
      { kind: 'alloc', index: 1n, size: 5n },
      '',
      { index: 1, 'allocations without an address': 1 },
    ],
    ['free without address', { kind: 'free', index: 1n }, '', { index: 1, 'frees without an address': 1 }],
    ['thread ended', { kind: 'thread-destroy', thread: 5n, endTime: 7n }, '5: thread_done 0x0 7\n', {}],
    [
      'thread ended at the time of its beginning',
      { kind: 'thread-destroy', thread: 5n, time: 7n },
      '5: thread_done 0x0 7\n',
      { 'time of thread-destroy events, written as endTime': 1 },
    ],
    [
      'thread ended, with null',
      { kind: 'thread-destroy', thread: 5n, address: 0n },
      '5: thread_done 0x0\n',
      { 'address 0 of thread-destroy events, which stands for none': 1 },
    ],
    [
      'thread ended, both times',
      { kind: 'thread-destroy', time: 7n, endTime: 8n },
      '0: thread_done 0x0 8\n',
      { 'time of thread-destroy events that have endTime too': 1 },
    ],
    ['no place', { kind: 'comment', text: 'x' }, '', { 'comment events': 1 }],
    ['call site', { kind: 'free', address: 16n, callSite: 1n, cpu: 2 }, '0: free 0x10\n', { callSite: 1, cpu: 1 }],
    [
      'present of malloc',
      { kind: 'alloc', address: 16n, size: 5n, present: 1n } as object as TraceEvent,
      '0: malloc 0x10 5\n',
      { 'present of alloc': 1 },
    ],
    [
      'present without times',
      { kind: 'free', address: 16n, present: 1n },
      '0: free 0x10 0 0 1\n',
      { 'present without times, written with times of 0': 1 },
    ],
    [
      'one time',
      { kind: 'free', address: 16n, time: 9n },
      '0: free 0x10 9 9\n',
      { 'time without endTime or the reverse, written for both': 1 },
    ],
    [
      'end time only',
      { kind: 'free', address: 16n, endTime: 9n },
      '0: free 0x10 9 9\n',
      { 'time without endTime or the reverse, written for both': 1 },
    ],
    ['memalign by its field', { kind: 'alloc', alignment: 64n, address: 16n, size: 5n }, '0: memalign 0x10 64 5\n', {}],
    [
      'memalign without alignment',
      { kind: 'alloc', api: 'memalign', address: 16n, size: 5n },
      '0: malloc 0x10 5\n',
      { 'api memalign, written as malloc': 1 },
    ],
    [
      'aligned new',
      { kind: 'alloc', api: 'new', alignment: 64n, address: 16n, size: 5n },
      '0: memalign 0x10 64 5\n',
      { 'api new, written as memalign': 1 },
    ],
    [
      'calloc without count',
      { kind: 'alloc', api: 'calloc', address: 16n, size: 5n },
      '0: calloc 0x10 1 5\n',
      { 'calloc without a count, written with count 1': 1 },
    ],
    ['calloc by its field', { kind: 'alloc', count: 5n, address: 16n, size: 15n }, '0: calloc 0x10 5 3\n', {}],
    [
      'large calloc',
      { kind: 'alloc', count: 2n ** 40n, address: 16n, size: 2n ** 63n },
      `0: calloc 0x10 ${2n ** 40n} ${2n ** 23n}\n`,
      {},
    ],
    ['element size', { kind: 'alloc', elementSize: 5n, address: 16n, size: 15n }, '0: calloc 0x10 3 5\n', {}],
    [
      'uneven count',
      { kind: 'alloc', count: 4n, address: 16n, size: 15n },
      '0: calloc 0x10 1 15\n',
      { 'count that does not divide the size': 1 },
    ],
    ['count of 0', { kind: 'alloc', count: 0n, address: 16n, size: 0n }, '0: calloc 0x10 0 0\n', {}],
    [
      'count of 0 with a size',
      { kind: 'alloc', count: 0n, address: 16n, size: 1n },
      '0: calloc 0x10 1 1\n',
      { 'count that does not divide the size': 1 },
    ],
    [
      'count without size',
      { kind: 'alloc', count: 3n, address: 16n },
      '0: calloc 0x10 3 0\n',
      { 'calloc without a size, written with size 0': 1 },
    ],
    [
      'wrong product',
      { kind: 'alloc', count: 3n, elementSize: 5n, address: 16n, size: 1n },
      '0: calloc 0x10 3 5\n',
      { 'size that is not count * elementSize': 1 },
    ],
    [
      'count and alignment',
      { kind: 'alloc', count: 3n, alignment: 8n, address: 16n, size: 3n },
      '0: calloc 0x10 3 1\n',
      { 'alignment of calloc': 1 },
    ],
    [
      'memalign with count',
      { kind: 'alloc', api: 'memalign', count: 3n, alignment: 8n, address: 16n, size: 3n },
      '0: memalign 0x10 8 3\n',
      { 'count of memalign': 1 },
    ],
  ])('%s', (_, event, text, losses) => {
    expect(encode([event])).toEqual({ text, losses })
  })

  it('counts threads and functions that a line says and the event does not', () => {
    const encoder = new ReplayEncoder()
    const alloc: TraceEvent = { kind: 'alloc', address: 16n, size: 5n }
    encodeEvents(encoder, [alloc, { ...alloc, thread: 1n }, { kind: 'free', address: 16n }], NS)
    expect(Object.fromEntries(encoder.losses.counts)).toEqual({
      'no thread, written as 0': 2,
      'no api, written as malloc, calloc or memalign': 2,
    })
    const strict = drive(new ReplayEncoder({ strict: true }), batchesOf([{ ...alloc, api: 'malloc' }], NS))
    expect(strict.error?.message).toBe('replay: event 1: no thread, written as 0')
  })

  it.each<[TraceEvent['outcome'], bigint | undefined, bigint | undefined, string, string | undefined]>([
    ['moved', 16n, 32n, '0x10 0x20', undefined],
    ['none', 16n, 16n, '0x10 0x10', undefined],
    ['none', 16n, undefined, '0x10 0x10', undefined],
    ['none', undefined, 16n, '0x10 0x10', undefined],
    ['allocated', 16n, 0n, '0x10 0x0', undefined],
    ['allocated', 16n, undefined, '0x10 0x0', undefined],
    ['freed', 0n, 16n, '0x0 0x10', undefined],
    ['freed', undefined, 16n, '0x0 0x10', undefined],
    ['moved', 16n, 16n, '0x10 0x10', 'outcome that the addresses do not show'],
    ['none', 16n, 32n, '0x10 0x20', 'outcome that the addresses do not show'],
    ['moved', 16n, undefined, '', 'reallocs without both addresses'],
    [undefined, 16n, undefined, '', 'reallocs without both addresses'],
    [undefined, undefined, 16n, '', 'reallocs without both addresses'],
  ])('realloc %s of %s from %s', (outcome, address, oldAddress, pointers, loss) => {
    const event = {
      kind: 'realloc' as const,
      size: 4n,
      ...(outcome && { outcome }),
      ...(address !== undefined && { address }),
      ...(oldAddress !== undefined && { oldAddress }),
    }
    expect(encode([event])).toEqual({
      text: pointers && `0: realloc ${pointers} 4\n`,
      losses: loss === undefined ? {} : { [loss]: 1 },
    })
  })

  it('turns microseconds into nanoseconds', () => {
    const us: TraceHeader = { format: 'heapmon', timeUnit: 'us' }
    const events: TraceEvent[] = [
      { kind: 'free', address: 1n, time: 5n, endTime: 18446744073709551n },
      { kind: 'thread-destroy', endTime: 4_294_968n },
      { kind: 'thread-destroy', endTime: 18446744073709552n },
    ]
    expect(encode(events, us)).toEqual({
      text: '0: free 0x1 5000 18446744073709551000\n0: thread_done 0x0 4294968000\n0: thread_done 0x0 18446744073709551615\n',
      losses: { 'time of more than 2^64 ns, written as 2^64 - 1': 1 },
    })
  })

  it('writes threads from 2^63 on as negative', () => {
    const threads = [2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 64n - 2n ** 32n, 2n ** 64n - 1n]
    const { text } = encode(threads.map((thread) => ({ kind: 'free', thread, address: 0n })))
    expect(text.match(/^-?\d+/gm)).toEqual(threads.map((thread) => String(BigInt.asIntN(64, thread))))
  })

  it('counts the beginning of another trace, for one dump holds one', () => {
    const encoder = new ReplayEncoder()
    const traces = [NS, { ...NS }].flatMap((header) => batchesOf([{ kind: 'free', address: 1n }], header))
    expect(drive(encoder, traces).out).toHaveLength(2)
    expect(encoder.losses.counts.get('beginning of another trace')).toBe(1)
  })
})

describe('strict encoding', () => {
  const fine: TraceEvent = { kind: 'free', thread: 0n, address: 16n }

  it.each<[string, TraceEvent, string]>([
    ['a field without a place', { ...fine, cpu: 1 }, 'cannot represent cpu of free events'],
    [
      'a value without a place',
      { kind: 'existing', thread: 0n, address: 1n, size: 1n },
      'existing blocks, written as malloc',
    ],
  ])('stops at %s, behind all lines before it', (_, event, message) => {
    const encoder = new ReplayEncoder({ strict: true })
    const { out, error } = drive(
      encoder,
      [...batchesOf([fine, fine], NS), ...batchesOf([fine, event, fine], NS)].map((batch) =>
        Object.assign(batch, { header: NS }),
      ),
    )
    expect(Buffer.concat(out).toString()).toBe('0: free 0x10\n'.repeat(3))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', format: 'replay', event: 4 })
    expect(error?.message).toContain(message)
  })
})

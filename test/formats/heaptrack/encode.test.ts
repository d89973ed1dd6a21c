import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { HeaptrackDecoder } from '../../../lib/formats/heaptrack/decode.js'
import { HeaptrackEncoder, type HeaptrackEncodeOptions } from '../../../lib/formats/heaptrack/encode.js'
import { headerOf, MAX_LINE, MAX_STACK_BYTES } from '../../../lib/formats/heaptrack/layout.js'
import { decodeAll, drive } from '../../support/drive.js'

const HEAD = 'v 10400 3\nX (test)\nI 1000 0\n'
const FOREIGN: TraceHeader = { format: 'test', timeUnit: 'ns' }
const OWN = headerOf({ raw: false, heaptrack: '1.4.0', version: 3 })
const RAW = headerOf({ raw: true, heaptrack: '1.4.0', version: 3, executable: '/a' })

function encode(events: TraceEvent[], header = FOREIGN, options: HeaptrackEncodeOptions = {}) {
  const encoder = new HeaptrackEncoder(options)
  const { out, error } = drive(encoder, batchesOf(events, header))
  return { text: Buffer.concat(out).toString(), losses: Object.fromEntries(encoder.losses.counts), error }
}

/** What is written after the head of events with a time, and what is lost besides addresses. */
function written(...events: TraceEvent[]) {
  const { text, losses } = encode(events.map((event) => ({ time: 0n, ...event }) as TraceEvent))
  const { address: _, oldAddress: __, 'address of alloc': ___, ...rest } = losses
  expect(text.startsWith(HEAD)).toBe(true)
  return { text: text.slice(HEAD.length), losses: rest }
}

/** Writes one allocation, and reads it again. */
function again(event: Partial<TraceEvent>, header = FOREIGN) {
  const { text, losses } = encode([{ kind: 'alloc', time: 0n, address: 16n, size: 1n, ...event } as TraceEvent], header)
  const { events, error } = decodeAll(new HeaptrackDecoder(), new Uint8Array(Buffer.from(text)))
  expect(error).toBeUndefined()
  const block = events.find(({ kind }) => kind === 'alloc')
  expect(block).toMatchObject({ size: 1n })
  return { stack: block?.stack ?? [], losses, text }
}

it('writes what can be read again when there is nothing, not even a header', () => {
  const { out, error } = drive(new HeaptrackEncoder(), [])
  expect(error).toBeUndefined()
  const { events, error: fault } = decodeAll(new HeaptrackDecoder(), new Uint8Array(Buffer.concat(out)))
  expect([events, fault]).toEqual([[], undefined])
})

it.each(['x'.repeat(MAX_LINE), 'x)\nI 1 1\n+ 0', 'a\nb'])(
  'writes no format in the head that the head cannot have',
  (format) => {
    const { text } = encode([{ kind: 'alloc', time: 0n, address: 16n, size: 1n }], { format, timeUnit: 'ns' })
    const { events, error } = decodeAll(new HeaptrackDecoder(), new Uint8Array(Buffer.from(text)))
    expect(error).toBeUndefined()
    expect(events).toMatchObject([{ kind: 'alloc', size: 1n }])
  },
)

describe('stacks that are too long to be read again', () => {
  const DEEP = `stacks of more than ${MAX_STACK_BYTES} bytes, written without their outermost frames`
  const OTHERWISE = 'frames of stacks that come back otherwise'

  it.each<[string, (i: number) => string]>([
    ['of one function', () => 'abc'],
    ['of different functions', (i) => `function${i} at file.c:${i % 100} in /usr/bin/app [0x${(i + 16).toString(16)}]`],
    ['of functions that are inlined', (i) => `function${i} inlined`],
    ['of names that have to be quoted', (i) => `"at ${'\u0001'.repeat(i % 50)}"`],
    ['of names that have to be quoted, but are not', (i) => `at${'"\\'.repeat(i % 20)} inlined [0x] ${i}`],
    ['of long names', (i) => `${i}${'f'.repeat(7000)}`],
    ['of files without lines', (i) => `at f${i}`],
    ['of names with line feeds', (i) => `at${'\n'.repeat(i % 100)}"${i}`],
  ])('%s lose their outermost frames', { tags: ['slow'] }, (_, frame) => {
    const given = Array.from({ length: 90_000 }, (__, i) => frame(i % 10_000))
    const { stack, losses } = again({ stack: given })
    expect(losses[DEEP]).toBe(1)
    expect(losses[OTHERWISE]).toBeUndefined()
    // As many as fit, or nearly so.
    const bytes = stack.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    expect(bytes).toBeLessThanOrEqual(MAX_STACK_BYTES)
    expect(bytes).toBeGreaterThan(MAX_STACK_BYTES / 2)
  })

  it('are as they were if they just fit', { tags: ['slow'] }, () => {
    const stack = Array.from({ length: MAX_STACK_BYTES / 4 }, () => 'abcd')
    expect(again({ stack })).toMatchObject({ stack, losses: expect.not.objectContaining({ [DEEP]: 1 }) as object })
    const cut = again({ stack: [...stack, 'e'] })
    expect([cut.stack.length, cut.losses[DEEP]]).toEqual([stack.length, 1])
  })

  it.each([20, 100, 1000])('are not those with %i inlined frames: they come back', (n) => {
    const stack = [...Array.from({ length: n }, (_, i) => `f${i} at a.c:${i} inlined`), 'main']
    expect(again({ stack })).toMatchObject({ stack, losses: expect.not.objectContaining({ [OTHERWISE]: 1 }) as object })
  })

  it('have very many inlined frames in several lines, none of which is too long', { tags: ['slow'] }, () => {
    const stack = [...Array.from({ length: 8000 }, (_, i) => `f${i} at a.c:4000000000 inlined`), 'main']
    const { stack: read, losses } = again({ stack })
    expect(read).toHaveLength(stack.length)
    expect(losses[OTHERWISE]).toBe(1)
  })

  it('are left out where one frame is too long, also of a place', () => {
    const name = `at ${'\u0001'.repeat(60_000)}`
    expect(again({ stack: [JSON.stringify(name), 'main'] })).toMatchObject({ stack: [], losses: { [DEEP]: 1 } })
    expect(again({ function: name })).toMatchObject({ stack: [], losses: { [DEEP]: 1 } })
  })

  it('are left out of raw files whose modules have longer names than the frames say', () => {
    const events: TraceEvent[] = [
      { kind: 'comment', time: 0n, text: `m ${(60_000).toString(16)} ${'m'.repeat(60_000)} 0 0 ffff` },
      {
        kind: 'alloc',
        time: 0n,
        address: 16n,
        size: 1n,
        stack: ['[0x1]', '[0x2]', '[0x3]', '[0x4]', '[0x5]'],
      },
    ]
    const { text, losses } = encode(events, RAW)
    expect(losses[DEEP]).toBe(1)
    const { events: read, error } = decodeAll(new HeaptrackDecoder(), new Uint8Array(Buffer.from(text)))
    expect(error).toBeUndefined()
    expect(read.at(-1)).toEqual({ kind: 'alloc', time: 0n, address: 16n, size: 1n })
  })

  it('are an error with strict', () => {
    const stack = Array.from({ length: 100_000 }, (_, i) => `function${i}`)
    const { error } = encode([{ kind: 'alloc', time: 0n, address: 16n, size: 1n, stack }], FOREIGN, { strict: true })
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE' })
  })
})

describe('writing', () => {
  it('tells inlined frames from a frame whose name has a line feed', () => {
    const stacks = [
      ['a inlined', 'b', 'main'],
      ['a inlined\nb', 'main'],
      ['a inlined', 'b', 'main'],
    ]
    for (const order of [stacks, stacks.toReversed(), stacks.slice(1), [...stacks.slice(1), ...stacks]]) {
      const { text } = encode(
        order.map((stack, i) => ({ kind: 'alloc', time: 0n, address: BigInt(16 * (i + 1)), size: 1n, stack })),
      )
      const { events, error } = decodeAll(new HeaptrackDecoder(), new Uint8Array(Buffer.from(text)))
      expect(error).toBeUndefined()
      const read = events.map(({ stack }) => stack?.length)
      expect(read).toEqual(order.map((stack) => stack.length))
    }
  })

  it.each<[string, TraceEvent[], string, object]>([
    ['an allocation', [{ kind: 'alloc', address: 16n, size: 32n }], 'a 20 0\n+ 0\n', {}],
    [
      'an allocation and its free',
      [
        { kind: 'alloc', address: 16n, size: 32n },
        { kind: 'free', address: 16n },
      ],
      'a 20 0\n+ 0\n- 0\n',
      {},
    ],
    ['no size', [{ kind: 'alloc', address: 16n }], 'a 0 0\n+ 0\n', { 'no size, written as 0': 1 }],
    ['no address', [{ kind: 'alloc', size: 1n }], '', { 'allocations without an address': 1 }],
    ['a failed allocation', [{ kind: 'alloc', address: 0n, size: 1n }], '', { 'allocations that failed': 1 }],
    ['an unknown free', [{ kind: 'free', address: 16n }], '', { 'frees of blocks that were not allocated': 1 }],
    ['a free of null', [{ kind: 'free', address: 0n }], '', { 'frees of null': 1 }],
    [
      'an existing block',
      [{ kind: 'existing', address: 16n, size: 1n }],
      'a 1 0\n+ 0\n',
      { 'existing blocks, written as allocs': 1 },
    ],
    [
      'a realloc',
      [
        { kind: 'alloc', address: 16n, size: 1n },
        { kind: 'realloc', oldAddress: 16n, address: 32n, size: 2n },
        { kind: 'free', address: 32n },
      ],
      'a 1 0\n+ 0\n- 0\na 2 0\n+ 1\n- 1\n',
      { 'reallocs, written as free and alloc': 1 },
    ],
    [
      'an allocation at the address of a live block',
      [
        { kind: 'alloc', address: 16n, size: 1n },
        { kind: 'alloc', address: 16n, size: 2n },
      ],
      'a 1 0\n+ 0\n- 0\na 2 0\n+ 1\n',
      { 'allocations at the address of a live block, which is freed first': 1 },
    ],
    [
      'stacks, each node and each name once',
      [
        { kind: 'alloc', address: 16n, size: 1n, stack: ['f at a.c:3', 'main at a.c:10'] },
        { kind: 'alloc', address: 32n, size: 1n, stack: ['g at a.c:3', 'main at a.c:10'] },
        { kind: 'alloc', address: 48n, size: 1n, stack: ['f at a.c:3', 'main at a.c:10'] },
      ],
      's 4 main\ns 3 a.c\ni 1 0 1 2 a\nt 1 0\ns 1 f\ni 2 0 3 2 3\nt 2 1\na 1 2\n+ 0\n' +
        's 1 g\ni 3 0 4 2 3\nt 3 1\na 1 3\n+ 1\n+ 0\n',
      {},
    ],
    [
      'inlined frames',
      [{ kind: 'alloc', address: 16n, size: 1n, stack: ['f at a.h:3 inlined', 'main at a.c:10 in /x [0x77]'] }],
      's 2 /x\ns 1 f\ns 3 a.h\ns 4 main\ns 3 a.c\ni 77 1 2 3 3 4 5 a\nt 1 0\na 1 1\n+ 0\n',
      {},
    ],
    [
      'a place without a stack',
      [{ kind: 'alloc', address: 16n, size: 1n, function: 'f', file: 'a.c', line: 3, callSite: 0x77n }],
      's 1 f\ns 3 a.c\ni 77 0 1 2 3\nt 1 0\na 1 1\n+ 0\n',
      { 'function, file, line, module or callSite without a stack, written as a frame': 1 },
    ],
    [
      'a name with a line feed',
      [{ kind: 'alloc', address: 16n, size: 1n, stack: ['a\nb'] }],
      's 3 a b\ni 1 0 1\nt 1 0\na 1 1\n+ 0\n',
      { 'frames of stacks that come back otherwise': 1 },
    ],
    [
      'an empty stack',
      [{ kind: 'alloc', address: 16n, size: 1n, stack: [] }],
      'a 1 0\n+ 0\n',
      { 'frames of stacks that come back otherwise': 1 },
    ],
    ['a comment', [{ kind: 'comment', text: 'x' }], '# x\n', { 'text of comments, written after a #': 1 }],
    [
      'a comment of two lines',
      [{ kind: 'comment', text: 'x\n+ 0' }],
      '',
      { 'comments that would be something else': 1 },
    ],
    [
      'events that it has no line for',
      [
        { kind: 'thread-create', thread: 1n },
        { kind: 'reserve', size: 1n },
      ],
      '',
      { 'reserve events': 1, 'thread-create events': 1 },
    ],
  ])('%s', (_, events, text, losses) => {
    expect(written(...events)).toEqual({ text, losses })
  })

  it('counts times from the first event, in whole milliseconds that never go back', () => {
    const at = (time: bigint): TraceEvent => ({ kind: 'alloc', address: time + 16n, size: 1n, time })
    const { text, losses } = encode([at(7_500_000n), at(8_400_000n), at(9_600_000n), at(9_000_000n), at(11_500_000n)])
    expect(text).toBe(`${HEAD}a 1 0\n+ 0\n+ 0\nc 2\n+ 0\n+ 0\nc 4\n+ 0\n`)
    expect(losses).toMatchObject({
      'times, counted from that of the first event': 4,
      'times that are not whole milliseconds': 2,
      'times that go back, written as the last one': 1,
    })
  })

  it('writes raw files with addresses, and all frees', () => {
    const { text, losses } = encode(
      [
        { kind: 'comment', time: 0n, text: 'm 2 /b 1000 0 100' },
        { kind: 'free', time: 0n, address: 0x99n },
        { kind: 'alloc', time: 3000n, address: 0x50n, size: 8n, stack: ['in /b+0x20 [0x1020]'] },
        { kind: 'alloc', time: 3000n, address: 0x60n, size: 8n, stack: ['in /c+0x20 [0x1030]', 'main'] },
        { kind: 'other', time: 3000n, present: 8192n, code: 0x52 },
        { kind: 'other', time: 4000n, code: 0x63 },
      ],
      RAW,
    )
    expect(text).toBe(
      'v 10400 3\nx 2 /a\nm 2 /b 1000 0 100\n- 99\nc 3\nt 1020 0\n+ 8 1 50\nt 0 0\nt 1030 2\n+ 8 3 60\nR 2\nc 4\nc 4\n',
    )
    expect(losses).toEqual({ 'frames of stacks that come back otherwise': 1 })
  })

  it('writes an interpreted file of a raw one, if that is asked for', () => {
    const events: TraceEvent[] = [
      { kind: 'comment', time: 0n, text: 'm 2 /b 1000 0 100' },
      { kind: 'alloc', time: 0n, address: 0x50n, size: 8n, stack: ['in /b+0x20 [0x1020]'] },
    ]
    const { text, losses } = encode(events, RAW, { interpreted: true })
    expect(text).toBe('v 10400 3\ns 2 /b\ni 1020 1\nt 1 0\na 8 1\n+ 0\n')
    expect(losses).toEqual({
      'comments that would be something else': 1,
      'addresses, which interpreted files do not have': 1,
      'frames of stacks that come back otherwise': 1,
    })
  })

  it('keeps definitions that no event uses where they were, and knows what they define', () => {
    const { text, losses } = encode(
      [
        { kind: 'comment', time: 0n, text: 's 2 /b' },
        { kind: 'comment', time: 0n, text: 's 4 main' },
        { kind: 'comment', time: 0n, text: 'i 77 1 2' },
        { kind: 'comment', time: 0n, text: 't 9 0' },
        { kind: 'comment', time: 0n, text: '+ 0' },
        { kind: 'comment', time: 0n, text: 'v 10400 3' },
        { kind: 'alloc', time: 0n, address: 0x1_0000n, size: 8n, stack: ['main in /b [0x77]'] },
      ],
      OWN,
    )
    expect(text).toBe('v 10400 3\ns 2 /b\ns 4 main\ni 77 1 2\nt 1 0\na 8 1\n+ 0\n')
    expect(losses).toEqual({ 'comments that would be something else': 3 })
  })

  it('stops at the first loss when it is strict, after all lines before it', () => {
    const fine: TraceEvent = { kind: 'alloc', time: 0n, address: 0x1_0000n, size: 16n }
    const { text, error } = encode([fine, { ...fine, address: 0x99n }, fine], OWN, { strict: true })
    expect(text).toBe('v 10400 3\na 10 0\n+ 0\n')
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: 2 })
  })

  it('knows a line of the head among comments only straight after the head, whatever the batches', () => {
    const events: TraceEvent[] = [
      { kind: 'comment', time: 0n, text: '(replay)' },
      { kind: 'comment', time: 0n, text: 'I 1000 0' },
    ]
    for (const batches of [batchesOf(events, OWN), events.flatMap((event) => [...batchesOf([event], OWN)])]) {
      const encoder = new HeaptrackEncoder({ strict: true })
      const { out, error } = drive(encoder, batches)
      expect(error).toBeUndefined()
      expect(Buffer.concat(out).toString()).toBe('v 10400 3\n(replay)\nI 1000 0\n')
    }
  })

  it('writes no time that is too large to be read', () => {
    const [largest, larger] = [2n ** 43n * 1000n, (2n ** 43n + 1n) * 1000n]
    const alloc: TraceEvent = { kind: 'alloc', address: 0x1_0000n, size: 16n }
    expect(encode([{ ...alloc, time: largest }], OWN)).toMatchObject({ losses: {} })
    expect(encode([{ ...alloc, time: larger }], OWN).losses).toEqual({
      'times that are too large, written as the last one': 1,
    })
  })

  it('writes a second trace after the first, whose blocks are others', () => {
    const encoder = new HeaptrackEncoder()
    const block: TraceEvent[] = [{ kind: 'alloc', time: 0n, address: 16n, size: 1n }]
    const { out } = drive(encoder, [...batchesOf(block, FOREIGN), ...batchesOf(block, { ...FOREIGN })])
    expect(Buffer.concat(out).toString()).toBe(`${HEAD}a 1 0\n+ 0\n+ 0\n`)
    expect(encoder.losses.counts.get('beginning of another trace')).toBe(1)
  })
})

import { describe, expect, test } from 'vitest'
import { BATCH_STRING_BYTES } from '../../../lib/event/limits.js'
import { RecorderDecoder } from '../../../lib/formats/recorder/decode.js'
import { MAX_STRING, Tag } from '../../../lib/formats/recorder/layout.js'
import { decodeAll } from '../../support/drive.js'
import { stopwatch } from '../../support/stopwatch.js'
import { BEGINNING, difference as d, end, number as n, PROCESS, record as r, recording, string } from './bytes.js'

const ONE = r('malloc', n(5), d(0x1000), n(10), n(14), d(0))
const read = (bytes: Uint8Array, size?: number) => decodeAll(new RecorderDecoder(), bytes, size)
const faultOf = (...records: readonly number[][]) => read(recording(PROCESS, ONE, ...records))

describe('faults', () => {
  test.each([
    ['a record of unknown type', [[0x40]], 'ERR_TRACE_MALFORMED', 'a record of unknown type 0x40'],
    ['a free with the mark of a stack', [[Tag.free | 0x80, 0, 0]], 'ERR_TRACE_MALFORMED', 'unknown type 0x8d'],
    ['a frame of no module', [r('frame', n(1), d(0))], 'ERR_TRACE_MALFORMED', 'refers to what was not defined'],
    ['a node of no frame', [r('node', n(1), n(1))], 'ERR_TRACE_MALFORMED', 'refers to what was not defined'],
    ['a node that is its own parent', [r('node', n(0), n(0))], 'ERR_TRACE_MALFORMED', 'refers to what was not defined'],
    [
      'a parent before the first node',
      [r('node', n(0), n(2))],
      'ERR_TRACE_MALFORMED',
      'refers to what was not defined',
    ],
    ['a stack of no node', [r('malloc', n(0), d(0), n(1), n(0), d(1))], 'ERR_TRACE_MALFORMED', 'a stack that was not'],
    ['a node below 0', [r('malloc', n(0), d(0), n(1), n(0), d(-1))], 'ERR_TRACE_MALFORMED', 'a stack that was not'],
    ['a number of 65 bits', [r('free', n(2n ** 64n), d(0))], 'ERR_TRACE_MALFORMED', 'a number of more than 64 bits'],
    [
      'a number without end',
      [
        r(
          'free',
          Array.from({ length: 11 }, () => 0xff),
        ),
      ],
      'ERR_TRACE_MALFORMED',
      '64 bits',
    ],
    [
      'a long path',
      [r('module', n(0), n(0), n(MAX_STRING + 1))],
      'ERR_TRACE_LIMIT',
      'a string of more than 65536 bytes',
    ],
    ['a long build id', [r('module', n(0), n(2n ** 40n))], 'ERR_TRACE_LIMIT', 'a string of more than 65536 bytes'],
    ['a switch to no process', [r('switch', n(2))], 'ERR_TRACE_MALFORMED', 'refers to what was not defined'],
    ['a switch to process 0', [r('switch', n(0))], 'ERR_TRACE_MALFORMED', 'refers to what was not defined'],
    [
      'a parent that is not there',
      [r('child', n(5), n(2), n(0), string('a'))],
      'ERR_TRACE_MALFORMED',
      'comes from none',
    ],
    [
      'a child of an unknown kind',
      [r('child', n(5), n(1), n(3), string('a'))],
      'ERR_TRACE_MALFORMED',
      'comes from none',
    ],
    ['an unloaded module of no number', [r('unloaded', n(1))], 'ERR_TRACE_MALFORMED', 'refers to what was not defined'],
    ['a long name', [r('name', n(MAX_STRING + 1))], 'ERR_TRACE_LIMIT', 'a string of more than 65536 bytes'],
    [
      'a stack of a free that is none',
      [r('freeStack', n(0), d(0), d(1))],
      'ERR_TRACE_MALFORMED',
      'a stack that was not',
    ],
    ['resident bytes with a stack', [[Tag.resident | 0x80, 0, 0]], 'ERR_TRACE_MALFORMED', 'unknown type 0x96'],
    ['a wrong number of events', [end(2)], 'ERR_TRACE_MALFORMED', 'the end mark counts 2 events, and not 1'],
    ['an unknown end', [r('end', n(3), n(0), n(1))], 'ERR_TRACE_MALFORMED', 'the end mark does not say how'],
    ['no end mark', [], 'ERR_TRACE_TRUNCATED', 'the end mark is missing'],
    ['an end within a record', [[Tag.malloc, 1]], 'ERR_TRACE_TRUNCATED', 'the input ends within a record'],
  ])('%s: the event before it, and the place', (_, records, code, reason) => {
    const { events, error } = faultOf(...records)
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({ code, event: 2, offset: recording(PROCESS, ONE).length })
    expect(error?.message).toContain(reason)
  })

  test('bytes after the end mark', () => {
    const { events, error } = faultOf(end(1), [0])
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 2 })
  })

  test.each([
    [[], 'truncated: the input is empty'],
    [BEGINNING.slice(0, 7), 'truncated: the input ends within its beginning'],
    [[...BEGINNING.slice(0, 7), 3], 'malformed: version 3 of the format is not known'],
    [[...BEGINNING.slice(0, 7), 1, ...PROCESS, ...r('processEnd', n(0))], 'malformed: a record of unknown type 0x17'],
    [[...BEGINNING.slice(0, 7), 1, ...PROCESS, ...r('threadEnd', n(0))], 'malformed: a record of unknown type 0x18'],
    [[...BEGINNING.slice(0, 7), 1, ...PROCESS, ...r('attached', n(0))], 'malformed: a record of unknown type 0x19'],
    [[0x89, 0x50], 'malformed: not the beginning of a recording'],
    [[...BEGINNING, ...ONE], 'malformed: a record before that of the process'],
  ])('%j', (bytes, message) => {
    expect(read(Uint8Array.from(bytes)).error?.message).toContain(message)
  })
})

test('ends of threads and processes are events of the current ones', () => {
  const { events, batches, error } = read(
    recording(
      PROCESS,
      r('thread', n(7)),
      r('malloc', n(1), d(0x1000), n(8), n(0), d(0)),
      r('child', n(50), n(1), n(0), string('./app')),
      r('thread', n(8)),
      r('malloc', n(1), d(0x1000), n(8), n(0), d(0)),
      r('threadEnd', n(3)),
      r('processEnd', n(4)),
      r('switch', n(1)),
      r('thread', n(7)),
      r('threadEnd', n(5)),
      r('processEnd', n(0)),
      end(6),
    ),
  )
  expect(error).toBeUndefined()
  expect(batches[0]?.header.layout).toMatchObject({ version: 2 })
  expect(events.filter(({ kind }) => kind.endsWith('-end') || kind.endsWith('-destroy'))).toEqual([
    { kind: 'thread-destroy', process: 2n, thread: 8n, time: 5n },
    { kind: 'process-end', process: 2n, time: 9n },
    { kind: 'thread-destroy', thread: 7n, time: 14n },
    { kind: 'process-end', time: 14n },
  ])
})

test('a recording of a part of a program says so', () => {
  const decoder = new RecorderDecoder()
  const bytes = recording(
    PROCESS,
    r('attached', n(5312)),
    r('thread', n(7)),
    r('existing', n(1), d(0x1000), n(64)),
    r('free', n(0), d(0)),
    r('end', n(2), n(0), n(2)),
  )
  const { events, error } = decodeAll(decoder, bytes)
  expect(error).toBeUndefined()
  expect(events).toEqual([
    { kind: 'comment', text: 'attached to a process that had run for 5.312 s' },
    { kind: 'existing', thread: 7n, time: 1n, address: 0x1000n, size: 64n },
    { kind: 'free', api: 'free', thread: 7n, time: 1n, address: 0x1000n },
    { kind: 'other', code: 69 },
  ])
  expect(decoder.warnings).toEqual([
    'recorder: the recording began when the program had run for 5.312 s: of its blocks from before, it has those that were freed or resized since',
  ])
})

test('what follows the end of such a recording has the number of the next event', () => {
  const bytes = recording(PROCESS, r('thread', n(7)), r('free', n(0), d(0x1000)), r('end', n(2), n(0), n(1)))
  const { events, error } = decodeAll(new RecorderDecoder(), Buffer.concat([bytes, Buffer.from([0])]))
  expect(events).toHaveLength(2)
  expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 3 })
})

test('a program that could not be started is a trace without events', () => {
  const { batches, error } = read(recording(r('end', n(0), n(127), n(0))))
  expect(error).toBeUndefined()
  expect(batches.map(({ header, count }) => [header.format, count])).toEqual([['recorder', 0]])
})

test('differences wrap at 64 bits, and sums of sizes too', () => {
  const { events } = faultOf(
    r('malloc', n(2n ** 64n - 1n), d(-0x1001), n(2n ** 64n - 1n), n(2), d(0)),
    r('free', n(0), d(-(2n ** 63n))),
  )
  expect(events.slice(1)).toMatchObject([
    { time: 4n, address: 2n ** 64n - 1n, size: 2n ** 64n - 1n, usable: 1n },
    { address: 2n ** 63n - 1n },
  ])
})

test('deep stacks end with a limit, in bounded time', () => {
  const nodes = Array.from({ length: 40_000 }, () => r('node', n(0), n(1))).flat()
  const { events, error } = read(recording(PROCESS, nodes, r('malloc', n(0), d(0), n(1), n(0), d(40_000)), end(1)))
  expect(events).toHaveLength(0)
  expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 1 })
})

test('many distinct stacks divide batches, and all are read', () => {
  const frames = Array.from({ length: 3000 }, (_, i) => [
    ...r('frame', n(1), d(64)),
    ...r('node', n(i + 1), n(i % 100 === 0 ? i + 1 : 1)),
    ...r('malloc', n(1), d(16), n(i), n(0), d(1)),
  ])
  const bytes = recording(PROCESS, r('module', n(0), n(0), string(`/${'x'.repeat(200)}`)), ...frames, end(3000))
  const { events, error } = read(bytes)
  expect(error).toBeUndefined()
  const stacks = events.slice(1).map(({ stack }) => stack)
  expect(stacks.map((stack) => stack?.length)).toEqual(Array.from({ length: 3000 }, (_, i) => (i % 100) + 1))
  expect(stacks[99]?.at(-1)).toContain('+0x40 ')
  expect(read(bytes, 1000).events).toEqual(events)
})

test('processes, what they have from their parents, and stacks of frees', () => {
  const bytes = recording(
    PROCESS,
    r('module', n(0x1000), n(0), string('/app')),
    r('frame', n(1), d(0x1010)),
    r('node', n(1), n(1)),
    r('thread', n(7)),
    r('malloc', n(5), d(0x1000), n(10), n(14), d(1)),
    r('child', n(4712), n(1), n(0), string('./app -v')),
    r('thread', n(8)),
    r('name', string('worker')),
    r('existing', n(1), d(0), n(24)),
    r('freeStack', n(0), d(0), d(0)),
    r('switch', n(1)),
    r('thread', n(7)),
    [Tag.freeStack | 0x80, ...n(2), ...d(0)],
    r('resident', n(1), n(8192)),
    r('child', n(4711), n(1), n(1), string('./b')),
    r('unloaded', n(1)),
    r('lost', n(3)),
    r('resident', n(0), n(4096)),
    end(7),
  )
  const stack = ['in /app+0x10 [0x1010]']
  const first = { kind: 'alloc', api: 'malloc', thread: 7n, time: 5n, address: 0x1000n, size: 10n, usable: 24n, stack }
  const child = { process: 2n, thread: 8n }
  for (const size of [undefined, 1]) {
    const { events, error } = read(bytes, size)
    expect(error).toBeUndefined()
    expect(events).toEqual([
      { kind: 'comment', text: 'module 0x1000 - /app' },
      first,
      { kind: 'comment', process: 2n, text: 'process 2 is pid 4712, forked by 1: ./app -v' },
      { kind: 'comment', ...child, text: 'thread worker' },
      { kind: 'existing', ...child, time: 6n, address: 0x1000n, size: 24n },
      { kind: 'free', api: 'free', ...child, time: 6n, address: 0x1000n, stack },
      { kind: 'free', api: 'free', thread: 7n, time: 8n, address: 0x1000n, stack },
      { kind: 'other', time: 9n, present: 8192n, code: 0x52 },
      { kind: 'comment', process: 3n, text: 'process 3 is pid 4711, in place of 1: ./b' },
      { kind: 'comment', process: 3n, text: 'unloaded /app' },
      { kind: 'lost', process: 3n, thread: 7n, time: 9n, count: 3n },
      { kind: 'other', process: 3n, time: 9n, present: 4096n, code: 0x52 },
    ])
  }
})

test('modules with long paths that are unloaded again and again take no time', () => {
  const path = 'x'.repeat(MAX_STRING)
  const times = 10_000
  const unloaded = Array.from({ length: times }, (_, i) => r('unloaded', n(1 + (i & 1))))
  const time = stopwatch()
  const { batches, error } = read(
    recording(PROCESS, ...['a', 'b'].map((id) => r('module', n(0), string(id), string(path))), ...unloaded, end(0)),
    65_536,
  )
  expect(error).toBeUndefined()
  expect(time()).toBeLessThan(500)
  let comments = 0
  for (const { count, strings, text } of batches) {
    for (let i = 0; i < count; i++) if (strings.view(text[i]).length === 'unloaded '.length + MAX_STRING) comments++
    expect(strings.byteLength).toBeLessThan(BATCH_STRING_BYTES + 2 * MAX_STRING)
  }
  expect(comments).toBe(times)
})

test('a batch ends where its comments are long', { tags: ['slow'] }, () => {
  const names = Array.from({ length: 50 }, (_, i) => string(`${i}`.padEnd(MAX_STRING, 'x')))
  const { batches, events } = read(recording(PROCESS, ...names.map((name) => r('name', name)), end(0)), 10_000_000)
  expect(events).toHaveLength(50)
  for (const { strings } of batches) expect(strings.byteLength).toBeLessThan(BATCH_STRING_BYTES + 2 * MAX_STRING)
})

test('modules are comments with their build ids, which the end mark does not count', () => {
  const bytes = recording(
    PROCESS,
    r('module', n(0x5500_0000_0000), n(2), [0xab, 0x01], string('/usr/bin/an app')),
    ONE,
    r('module', n(0), string(''), string('[vdso]')),
    end(1),
  )
  for (const size of [undefined, 1]) {
    const { events, error } = read(bytes, size)
    expect(error).toBeUndefined()
    expect(events.map(({ kind, text }) => text ?? kind)).toEqual([
      'module 0x550000000000 ab01 /usr/bin/an app',
      'alloc',
      'module 0x0 - [vdso]',
    ])
  }
  const wrong = read(recording(PROCESS, r('module', n(0), n(0), string('a')), end(1)))
  expect(wrong.error).toMatchObject({
    code: 'ERR_TRACE_MALFORMED',
    event: 2,
    message: expect.stringContaining('counts 1 event, and not 0') as string,
  })
})

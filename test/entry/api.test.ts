import { getEventListeners } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test, vi } from 'vitest'
import * as heapflow from '../../lib/entry/index.js'
import {
  hatf,
  kmemtrace,
  mtrc,
  ndjson,
  glibcMtrace,
  replay,
  batchesOf,
  compose,
  decodeAny,
  type EventBatch,
  events,
  compact,
  filter,
  fromEvents,
  map,
  merge,
  openTrace,
  repair,
  split,
  stats,
  TraceError,
  verify,
  type TraceEvent,
  type TraceSource,
} from '../../lib/entry/index.js'
import * as stages from '../../lib/entry/stages.js'

const EVENTS = Array.from({ length: 5000 }, (_, i): TraceEvent =>
  i % 2 === 0
    ? { kind: 'alloc', thread: BigInt(i % 3), time: BigInt(i), address: BigInt(i * 64 + 64), size: 48n }
    : { kind: 'free', thread: BigInt(i % 3), time: BigInt(i), address: BigInt((i - 1) * 64 + 64) },
)
const HEADER = { format: 'test', timeUnit: 'ns' } as const

const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string) => join(folder, name)
const encoded = async (events: TraceEvent[], stream: NodeJS.ReadWriteStream) =>
  Buffer.concat(
    await Readable.from(events)
      .pipe(fromEvents(HEADER))
      .pipe(stream as never as Writable & Readable)
      .toArray(),
  )
const LINES = await encoded(EVENTS, ndjson.encode())
writeFileSync(file('t.ndjson'), LINES)
writeFileSync(file('t.ndjson.gz'), gzipSync(LINES))
writeFileSync(file('broken.ndjson'), `${LINES.subarray(0, 100_000).toString()}\nthis is no event\n`)

async function all<T>(source: AsyncIterable<T>): Promise<{ items: T[]; error: unknown }> {
  const items: T[] = []
  try {
    for await (const item of source) items.push(item)
  } catch (error) {
    return { items, error }
  }
  return { items, error: undefined }
}
const eventsOf = (batches: readonly EventBatch[]) => batches.flatMap((batch) => [...batch])

test('the root has every format, and a few functions', () => {
  const formats = stages.FORMATS.map(({ name }) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()))
  const names = Object.keys(heapflow)
  expect(formats.filter((name) => !names.includes(name))).toEqual([])
  expect(names.filter((name) => !formats.includes(name)).toSorted()).toEqual([
    'EventBatch',
    'RecorderError',
    'TraceError',
    'batchesOf',
    'blockTable',
    'blocks',
    'cSource',
    'check',
    'checkLifetimeModel',
    'checkModel',
    'compareProfiles',
    'compose',
    'decodeAny',
    'decompress',
    'eventToJson',
    'events',
    'exportProfile',
    'exportReport',
    'filter',
    'filterFile',
    'fromEvents',
    'generate',
    'gzip',
    'lifetimeModel',
    'lifetimes',
    'map',
    'measure',
    'merge',
    'openTrace',
    'parseBudgets',
    'parseRange',
    'prepareReplay',
    'profile',
    'record',
    'repair',
    'report',
    'simulate',
    'sort',
    'split',
    'stackTable',
    'stats',
    'symbolize',
    'traceModel',
    'verify',
    'zstd',
  ])
})

test('nothing is exported twice', () => {
  expect(Object.keys(stages).filter((name) => name in heapflow)).toEqual([])
})

describe('events', () => {
  test.each<[string, () => TraceSource]>([
    ['a path', () => file('t.ndjson')],
    ['a path of gzip', () => file('t.ndjson.gz')],
    ['a URL', () => pathToFileURL(file('t.ndjson.gz'))],
    ['bytes', () => LINES],
    ['compressed bytes', () => gzipSync(LINES)],
    ['a stream of bytes', () => createReadStream(file('t.ndjson.gz'))],
    [
      'small pieces of bytes',
      () =>
        Readable.from(
          (function* () {
            for (let i = 0; i < LINES.length; i += 1000) yield LINES.subarray(i, i + 1000)
          })(),
        ),
    ],
    ['text', () => [LINES.toString()]],
    ['a stream of batches', () => createReadStream(file('t.ndjson')).pipe(ndjson.decode())],
    ['batches', () => batchesOf(EVENTS, HEADER)],
    ['plain events', () => EVENTS],
    [
      'a generator of plain events',
      () =>
        (async function* () {
          yield* EVENTS
        })(),
    ],
  ])('reads %s', async (_, source) => {
    const { items, error } = await all(events(source()))
    expect(error).toBeUndefined()
    expect(items).toEqual(EVENTS)
  })

  test('gives what is before a fault, then the fault', async () => {
    for (const source of [file('broken.ndjson'), readFileSync(file('broken.ndjson'))]) {
      const { items, error } = await all(events(source))
      expect(error).toBeInstanceOf(TraceError)
      expect(items.length).toBe(((error as TraceError).event as number) - 1)
      expect(items).toEqual(EVENTS.slice(0, items.length))
    }
  })

  test('refuses what is no source', async () => {
    for (const source of [7, {}, null])
      expect(() => events(source as never)).toThrow(/a trace is read from a path, bytes/)
    expect((await all(events([7] as never))).error).toMatchObject({ name: 'TypeError' })
    expect(await all(events([]))).toMatchObject({ error: undefined })
    expect(() => events('x', { sginal: 1 } as never)).toThrow(/did you mean "signal"/)
    await expect(events(file('missing')).next()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('takes a format, and reports warnings', async () => {
    const warnings: string[] = []
    const text = Buffer.from('- 0x10\nodd\n')
    const { items } = await all(events(text, { format: glibcMtrace, onWarning: (warning) => warnings.push(warning) }))
    expect(items).toEqual([
      { kind: 'free', address: 16n },
      { kind: 'comment', text: 'odd' },
    ])
    expect(warnings).toHaveLength(1)
  })

  test('is ended by a signal, even while it waits, and closes the source', async () => {
    for (const source of [new PassThrough(), file('t.ndjson')]) {
      const aborter = new AbortController()
      const reading = all(events(source, { signal: aborter.signal }))
      setTimeout(() => aborter.abort(), source instanceof PassThrough ? 20 : 0)
      const { error } = await reading
      expect(error).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' })
      if (source instanceof PassThrough) expect(source.destroyed).toBe(true)
    }
    const { signal } = new AbortController()
    for (const source of [LINES, Readable.from([LINES])]) events(source, { signal })
    const trace = openTrace(file('t.ndjson'), { signal })
    await trace.batches.next()
    await trace.close()
    expect(getEventListeners(signal, 'abort')).toEqual([])
    const aborted = await all(events(LINES, { signal: AbortSignal.abort() }))
    expect(aborted).toMatchObject({ items: [], error: { name: 'AbortError' } })
  })

  test('closes the source when it is left', async () => {
    const stream = createReadStream(file('t.ndjson'))
    for await (const event of events(stream)) if (event.time === 10n) break
    expect(stream.destroyed).toBe(true)
    let closed = false
    const generator = (function* () {
      try {
        yield* EVENTS
      } finally {
        closed = true
      }
    })()
    for await (const event of events(generator)) if (event.time === 10n) break
    expect(closed).toBe(true)
  })
})

describe('formats of the root', () => {
  test('are loaded when they are used, and work as those of their own', async () => {
    const back = await all(Readable.from([await encoded(EVENTS, hatf.encode())]).pipe(hatf.decode()))
    expect(eventsOf(back.items as EventBatch[])).toEqual(EVENTS)
    expect(mtrc).toMatchObject({ name: 'mtrc', title: 'mpatrol MTRC' })
    expect((await mtrc.load()).name).toBe('mtrc')
  })

  test('check options at once', () => {
    expect(() => mtrc.decode({ reslove: false } as object)).toThrow(
      new RangeError('mtrc.decode(): unknown option "reslove" (did you mean "resolve"?)'),
    )
    expect(() => hatf.encode({ preset: 'x' as 'best' })).toThrow(/: preset must be naive or best, not "x"/)
    expect(() => hatf.encode({ stirct: true } as object)).toThrow(/did you mean "strict"/)
    expect(() => compact.encode({ level: 1, checkpoint: '4K' })).not.toThrow()
    expect(() => kmemtrace.encode({ cpu: 3, wordSize: 4, layout: 'ftrace' })).not.toThrow()
    expect(() => compact.encode({ fast: true, best: true })).toThrow(
      new RangeError('compact.encode(): fast and best cannot be combined'),
    )
    expect(() => kmemtrace.encode({ layout: 'relay', wordSize: 4 })).toThrow(/: wordSize cannot be 4 with layout relay/)
    expect(() => kmemtrace.decode({ layout: 'relay', wordSize: 8 })).not.toThrow()
    expect(() => ndjson.decode({ x: 1 } as object as Record<string, never>)).toThrow(
      /unknown option "x" \(there are no options\)/,
    )
  })

  test('can be given to decodeAny', async () => {
    const { items } = await all(Readable.from(['1: free 0x10\n']).pipe(decodeAny({ format: replay })))
    expect(eventsOf(items)).toHaveLength(1)
  })

  test('report losses', async () => {
    const encode = hatf.encode()
    const losses: unknown[] = []
    encode.on('losses', (counts) => losses.push(...counts))
    await encoded([{ kind: 'alloc', address: 16n, size: 1n, index: 7n }], encode)
    expect(losses).toEqual([['index', 1]])
  })
})

describe('fromEvents', () => {
  const typeError = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' }
  const options = 'fromEvents(): the options must be a plain object, not'
  test.each<[object, unknown]>([
    [{ ...typeError, message: `${options} null` }, null],
    [{ ...typeError, message: `${options} "mtrc"` }, 'mtrc'],
    [{ ...typeError, message: 'fromEvents(): the header must name a format' }, {}],
    [
      { ...typeError, message: 'fromEvents(): unknown unit of time: "ms"' },
      { format: 'x', timeUnit: 'ms' },
    ],
    [
      { name: 'RangeError', message: expect.stringContaining('did you mean "timeUnit"') },
      { format: 'x', timeunit: 'ns' },
    ],
    [
      { ...typeError, message: expect.stringContaining("header's layout") },
      { format: 'x', layout: { a: NaN } },
    ],
    [
      { ...typeError, message: expect.stringContaining("header's layout") },
      { format: 'x', layout: { a: 1n } },
    ],
    [
      { ...typeError, message: expect.stringContaining("header's part") },
      { format: 'x', part: { of: 'a' } },
    ],
  ])('refuses a header that could not be read back: %o', (error, header) => {
    expect(() => fromEvents(header as never)).toThrow(expect.objectContaining(error) as Error)
  })
})

describe('filter and map', () => {
  const pass = async (stream: NodeJS.ReadWriteStream, given: TraceEvent[] = EVENTS) =>
    all(
      Readable.from(given)
        .pipe(fromEvents(HEADER))
        .pipe(stream as never as PassThrough) as AsyncIterable<EventBatch>,
    )

  test('take functions', async () => {
    const kept = await pass(filter((event) => event.kind === 'alloc' && event.thread === 1n))
    expect(eventsOf(kept.items)).toEqual(EVENTS.filter(({ kind, thread }) => kind === 'alloc' && thread === 1n))
    expect(kept.items[0]?.header).toEqual({ ...HEADER, filtered: true })
    const numbers: number[] = []
    await pass(filter({ kind: 'free', where: (_, n) => numbers.push(n) }))
    expect(numbers).toEqual(EVENTS.flatMap(({ kind }, i) => (kind === 'free' ? [i + 1] : [])))
    const rest = await pass(filter({ where: (event) => event.kind === 'alloc', invert: true }))
    expect(eventsOf(rest.items).every(({ kind }) => kind === 'free')).toBe(true)
    const whole = await pass(filter({ where: (event) => event.time === 100n, lifetimes: true }))
    expect(eventsOf(whole.items).map(({ time }) => time)).toEqual([100n, 101n])
    const mapped = await pass(map((event) => void (event.thread = 9n)))
    expect(eventsOf(mapped.items).every(({ thread }) => thread === 9n)).toBe(true)
  })

  test.each([{}, { invert: true }, { lifetimes: true, kind: ['alloc', 'free'] as const }])(
    'a function that throws fails after the events before: %j',
    async (options) => {
      const where = (event: TraceEvent) => {
        if (event.time === 4500n) throw new Error('enough')
        return !('invert' in options)
      }
      const { items, error } = await pass(filter({ ...options, where }))
      expect(error).toMatchObject({
        code: 'ERR_TRACE_EXPRESSION',
        event: 4501,
        message: 'expression: event 4501: enough',
      })
      expect(eventsOf(items)).toEqual(EVENTS.slice(0, 4500))
    },
  )
})

describe('merge', () => {
  const [even, odd] = [0, 1].map((r) => EVENTS.filter((_, i) => Math.floor(i / 2) % 2 === r)) as [
    TraceEvent[],
    TraceEvent[],
  ]

  test('puts sources of any sort in order', async () => {
    writeFileSync(file('even.ndjson'), await encoded(even, ndjson.encode()))
    const bytes = await encoded(odd, ndjson.encode())
    for (const [a, b] of [
      [file('even.ndjson'), bytes],
      [pathToFileURL(file('even.ndjson')), Readable.from([gzipSync(bytes)])],
      [createReadStream(file('even.ndjson')).pipe(ndjson.decode()), batchesOf(odd, HEADER)],
    ] as [TraceSource, TraceSource][]) {
      const { items, error } = await all(merge(a, b, { by: 'time' }))
      expect(error).toBeUndefined()
      expect(eventsOf(items)).toEqual(EVENTS)
    }
    const concatenated = await all(merge(even, bytes, { endToEnd: true }))
    expect(eventsOf(concatenated.items)).toEqual([...even, ...odd])
  })

  test.each<[string, () => TraceSource]>([
    ['plain events', () => [{ kind: 'alloc', address: 16n, size: 8n }]],
    ['lines without a header', () => Buffer.from('{"kind":"alloc","address":"0x10","size":8}\n')],
    ['dumps of memory_replay', () => Buffer.from('1: malloc 0x10 8\n')],
    ['batches', () => batchesOf([{ kind: 'alloc', address: 16n, size: 8n }], HEADER)],
  ])('end to end, %s of two sources are two traces', async (_, source) => {
    const sink = stats()
    await pipeline(merge(source(), source(), source(), { endToEnd: true }), sink)
    const { traces, leaked, faults } = await sink.result
    expect([traces, leaked.blocks, faults.overlaps.blocks]).toEqual([3, 3, 0])
  })

  test.each([
    ['glibc-mtrace', heapflow.glibcMtrace, '= Start\n'],
    ['ltrace', heapflow.ltrace, ''],
    ['replay', heapflow.replay, ''],
    ['tracepoints', heapflow.tracepoints, ''],
    ['valgrind', heapflow.valgrind, ''],
  ] as const)('two files of %s, one after the other, are two traces', async (_, format, text) => {
    const headerOf = async () => ((await format.decode().end(text).toArray())[0] as EventBatch).header
    const [first, second] = [await headerOf(), await headerOf()]
    expect(second).toEqual(first)
    expect(second).not.toBe(first)
  })

  test('closes iterators that wait for the others', async () => {
    let open = 0
    const endless = async function* (): AsyncGenerator<TraceEvent> {
      open++
      try {
        for (let time = 0n; ; time++) yield { kind: 'free', time }
      } finally {
        open--
      }
    }
    for await (const batch of merge(endless(), endless(), { by: 'time' })) {
      expect([open, batch.count > 0]).toEqual([2, true])
      break
    }
    await vi.waitFor(() => expect(open).toBe(0))
  })

  test('names the source that fails, and closes the others', async () => {
    const other = new PassThrough()
    other.write(LINES.subarray(0, 5000))
    const { error } = await all(merge(other, Buffer.from('no trace'), { by: 'time' }))
    expect((error as Error).message).toMatch(/^input 2: /)
    writeFileSync(file('no trace'), 'no trace')
    const { error: ofUrl } = await all(merge(file('t.ndjson'), pathToFileURL(file('no trace')), { by: 'time' }))
    expect((ofUrl as Error).message).toMatch(`${file('no trace')}: `)
    await new Promise((resolve) => setImmediate(resolve))
    expect(other.destroyed).toBe(true)
    const aborter = new AbortController()
    const waiting = new PassThrough()
    const merging = all(merge(waiting, file('t.ndjson'), { signal: aborter.signal }))
    setTimeout(() => aborter.abort(), 20)
    expect((await merging).error).toMatchObject({ name: 'AbortError' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(waiting.destroyed).toBe(true)
  })

  test('refuses what makes no sense', () => {
    expect(() => merge('a', { by: 'time', endToEnd: true })).toThrow(/leave out `by` and `window`/)
    expect(() => merge('a', { bye: 'time' } as never)).toThrow(/unknown option "bye" \(did you mean "by"\?\)/)
    expect(() => merge('a', 7 as never, 'b')).toThrow(/input 2 must be a path, bytes, a stream or an iterable, not 7/)
  })
})

describe('split', () => {
  test('gives each part streams of its own', async () => {
    const sink = split({ by: 'thread' }, (thread) => [
      filter({ kind: 'alloc' }),
      ndjson.encode(),
      createWriteStream(file(`thread-${thread}.ndjson`)),
    ])
    await pipeline(Readable.from(EVENTS), fromEvents(HEADER), sink)
    expect(sink.keys.toSorted()).toEqual(['0', '1', '2'])
    for (const key of sink.keys) {
      const { items } = await all(events(file(`thread-${key}.ndjson`)))
      expect(items).toEqual(EVENTS.filter(({ kind, thread }) => kind === 'alloc' && String(thread) === key))
    }
  })

  test('takes a sink of events, slow ones too', async () => {
    const got = new Map<string, TraceEvent[]>()
    const open = (key: string) => {
      const list: TraceEvent[] = []
      got.set(key, list)
      return new Writable({
        objectMode: true,
        write(batch: EventBatch, _encoding, done) {
          list.push(...batch)
          setTimeout(done, 2)
        },
      })
    }
    await pipeline(Readable.from(EVENTS), split({ by: 'kind' }, open))
    for (const [kind, list] of got) expect(list).toEqual(EVENTS.filter((event) => event.kind === kind))
    expect([...got.keys()]).toEqual(['alloc', 'free'])
  })

  test('writes what came before a fault, without the end marks', async () => {
    const done = pipeline(
      createReadStream(file('broken.ndjson')),
      ndjson.decode(),
      split({ by: 'kind' }, (kind) => [ndjson.encode(), createWriteStream(file(`part-${kind}`))]),
    )
    await expect(done).rejects.toBeInstanceOf(TraceError)
    const before = (await all(events(file('broken.ndjson')))).items
    for (const kind of ['alloc', 'free']) {
      const { items, error } = await all(events(file(`part-${kind}`)))
      expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
      expect(items).toEqual(before.filter((event) => event.kind === kind))
    }
  })

  test.each([
    ['of the source', () => Promise.reject(new Error('lost')), 'lost'],
    ['that is an event', () => ({ kind: 'alloc', size: -1n }), /^split\(\): event 6: /],
  ])('gives each part the plain events before a fault %s', async (_, next, message) => {
    const got: TraceEvent[] = []
    const open = () =>
      new Writable({
        objectMode: true,
        write(batch: EventBatch, _encoding, done) {
          got.push(...batch)
          done()
        },
      })
    const source = async function* () {
      yield* EVENTS.slice(0, 5)
      yield await next()
    }
    await expect(pipeline(source, split({ by: 'kind' }, open))).rejects.toThrow(message)
    expect(got.toSorted((a, b) => Number(a.time) - Number(b.time))).toEqual(EVENTS.slice(0, 5))
  })

  test('fails with a part that fails, and ends the others', async () => {
    const failing = new Writable({ objectMode: true, write: (_chunk, _encoding, done) => done(new Error('full')) })
    const other = new PassThrough({ objectMode: true }).resume()
    const source = Readable.from(EVENTS)
    const done = pipeline(
      source,
      fromEvents(),
      split({ by: 'kind' }, (kind) => (kind === 'free' ? failing : other)),
    )
    await expect(done).rejects.toThrow('full')
    expect(source.destroyed).toBe(true)
    expect(other.destroyed).toBe(true)
  })

  test('is ended by a signal although no one reads the parts, which it closes', async () => {
    const aborter = new AbortController()
    const parts: PassThrough[] = []
    const open = () => {
      const part = new PassThrough({ objectMode: true, highWaterMark: 1 })
      parts.push(part)
      if (parts.length === 2) setImmediate(() => aborter.abort())
      return part
    }
    const done = pipeline(Readable.from(EVENTS), split({ by: 'kind' }, open), { signal: aborter.signal })
    await expect(done).rejects.toMatchObject({ name: 'AbortError' })
    expect(parts.map(({ destroyed }) => destroyed)).toEqual([true, true])
  })

  test('refuses a sink for bytes, and ends the others', async () => {
    const first = new Writable({ objectMode: true, write: (_batch, _encoding, done) => done() })
    const refused = createWriteStream(file('refused.hatf'))
    const open = (key: string) => (key === '0' ? first : refused)
    const split0 = split({ by: 'thread' }, open)
    await expect(pipeline(Readable.from(EVENTS), split0)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_TYPE',
      message: 'split(): the target of "1" takes bytes: put an encoder before it',
    })
    expect(first.destroyed).toBe(true)
    expect(refused.destroyed).toBe(true)
    expect(refused.listenerCount('error')).toBe(1)
  })

  test('bounds the number of parts', async () => {
    const done = pipeline(
      Readable.from(EVENTS),
      split({ by: 'thread', maxParts: 2 }, () => new PassThrough({ objectMode: true }).resume()),
    )
    await expect(done).rejects.toThrow(/more than 2 parts/)
    expect(() => split({ by: 'thread', max: 2 } as never, () => new PassThrough())).toThrow(/unknown option "max"/)
  })
})

describe('verify, repair and stats', () => {
  const FAULTY: TraceEvent[] = [
    { kind: 'free', address: 8n },
    { kind: 'alloc', address: 16n, size: 4n },
    { kind: 'free', address: 16n },
    { kind: 'free', address: 16n },
  ]

  test('verify passes events on, and emits what it finds', async () => {
    const check = verify()
    const found: [number, string][] = []
    check.on('finding', ({ event, fault }) => found.push([event, fault]))
    const { items } = await all(Readable.from(batchesOf(FAULTY)).pipe(fromEvents()).pipe(check))
    expect(eventsOf(items)).toEqual(FAULTY)
    expect(found).toEqual([
      [1, 'unknown-free'],
      [4, 'double-free'],
    ])
    expect(check.result().events).toBe(4)
    expect([...check.result().counts]).toEqual([
      ['unknown-free', 1],
      ['double-free', 1],
    ])
    expect(check.result().findings).toHaveLength(2)
  })

  test('verify emits each finding once, over many batches', async () => {
    const check = verify({ places: 3 })
    const found: number[] = []
    check.on('finding', ({ event }) => found.push(event))
    await all(
      Readable.from(Array.from({ length: 10 }, () => batchesOf(FAULTY)[0]))
        .pipe(fromEvents())
        .pipe(check),
    )
    expect(found).toEqual([...new Set(found)])
    expect(found).toEqual(check.result().findings.map(({ event }) => event))
  })

  test('repair leaves nothing to find', async () => {
    const repaired = repair()
    const check = verify()
    await pipeline(Readable.from(FAULTY), repaired, check, new PassThrough({ objectMode: true }).resume())
    expect(check.result().counts.size).toBe(0)
    expect([...repaired.result().keys()]).toEqual(['free-dropped'])
  })

  test('stats is a sink with a promise', async () => {
    const sink = stats()
    await pipeline(createReadStream(file('t.ndjson')), ndjson.decode(), sink)
    expect(await sink.result).toMatchObject({ events: EVENTS.length })
    const plain = stats()
    await pipeline(Readable.from(EVENTS), plain)
    expect((await plain.result).events).toBe(EVENTS.length)
    const failed = stats()
    await expect(pipeline(createReadStream(file('broken.ndjson')), ndjson.decode(), failed)).rejects.toBeInstanceOf(
      TraceError,
    )
    await expect(failed.result).rejects.toBeInstanceOf(TraceError)
    await expect(pipeline(Readable.from([LINES]), stats())).rejects.toThrow(
      /^stats\(\) takes events.*ndjson\.decode\(\)/,
    )
  })
})

test('streams compose', async () => {
  const both = compose(ndjson.decode(), filter({ kind: 'alloc' }), replay.encode())
  const text = Buffer.concat(await createReadStream(file('t.ndjson')).pipe(both).toArray()).toString()
  expect(text.split('\n')).toHaveLength(2501)
})

import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import * as own from '../../lib/entry/format.js'
import * as heapflow from '../../lib/entry/index.js'

const { sort } = heapflow

/** What a caller without types sees. */
const functions = heapflow as unknown as Record<string, (...values: unknown[]) => unknown>
const call = (name: string, ...values: unknown[]) => functions[name]!(...values)

describe('arguments of callers without types', () => {
  test.each(['blockTable', 'stackTable', 'simulate', 'generate', 'split'] as const)('%s needs options', (name) => {
    for (const value of [undefined, null, 'x', 7])
      expect(() => call(name, value)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_TYPE',
          message: expect.stringMatching(/: the options must be a plain object, not (undefined|null|"x"|7)$/),
        }),
      )
  })

  test('options that were not awaited, lists and maps are no options', () => {
    for (const value of [Promise.resolve({ kind: 'alloc' }), [], new Map([['kind', 'alloc']])])
      expect(() => call('filter', value)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_TYPE',
          message: expect.stringMatching(/^filter: the options must be a plain object, not an (array|object of type )/),
        }),
      )
    expect(() => call('filter', Object.freeze(Object.assign(Object.create(null), { kind: 'alloc' })))).not.toThrow()
  })

  test('compose needs streams', () => {
    expect(() => call('compose')).toThrow('compose(): two or more streams are needed, not 0')
    for (const value of [undefined, null, 'x', {}])
      expect(() => call('compose', heapflow.repair(), value)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_TYPE',
          message: expect.stringMatching(/^compose\(\): not a stream: /),
        }),
      )
  })

  test('parseRange needs a text', () => {
    for (const value of [undefined, null, 5])
      expect(() => call('parseRange', value)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARG_TYPE',
          message: `a range is parsed from a text, not from ${value}`,
        }),
      )
  })

  test('filterFile takes no null for its criteria', () => {
    expect(() => call('filterFile', 'a.mtrc', null)).toThrow('filter: the options must be a plain object, not null')
  })

  test.each(['openTrace', 'filterFile'])('%s needs the path of a file at once', (name) => {
    for (const [value, shown] of [
      [undefined, 'undefined'],
      [Readable.from([]), 'an object of type Readable'],
    ])
      expect(() => call(name, value)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE', message: `a file is a path or a URL, not ${shown}` }),
      )
  })

  test('merge takes no null for its options', () => {
    expect(() => call('merge', 'a.mtrc', null)).toThrow(/^merge: input 2 must be a path, bytes,/)
  })

  test.each<[string, string, object, string]>([
    ['blockTable', 'to', {}, 'blockTable: to must be ndjson, arrow, parquet or csv, not undefined'],
    ['stackTable', 'to', {}, 'stackTable: to must be ndjson, arrow, parquet or csv, not undefined'],
    [
      'symbolize',
      'buildIds',
      { buildIds: ['ab', 7] },
      'symbolize(): buildIds must be an object of strings, not an array',
    ],
    ['filter', 'temporaryBy', { temporaryBy: 'x' }, 'filter: temporaryBy must be heaptrack or memray, not "x"'],
  ])('%s checks its option %s at once', (name, _, options, message) => {
    expect(() => call(name, options)).toThrow(new RangeError(message))
  })

  test('record checks the environment at once', () => {
    expect(() => call('record', ['true'], { env: 5 })).toThrow(new RangeError('record: env must be an object, not 5'))
  })

  test('a report checks the view and the omissions', async () => {
    const sink = heapflow.report()
    sink.end()
    const taken = await sink.result
    const page = (options: object) => () => call('exportReport', taken, options)
    expect(page({ view: 'x' })).toThrow('exportReport: view must be comparison, not "x"')
    expect(page({ omitted: [5] })).toThrow('exportReport: omitted must be an array of strings, not an array')
    expect(() => taken.data({ omitted: 5 } as never)).toThrow('omitted must be an array of strings, not 5')
  })

  test('an exported profile needs a known format, and a measured trace a name', async () => {
    const sink = heapflow.profile()
    sink.end()
    const formats = 'pprof, collapsed, speedscope, dhat, massif or chrome'
    for (const [value, shown] of [['toString', '"toString"'] as const, [5n, '5n'] as const])
      await expect(call('exportProfile', await sink.result, value)).rejects.toThrow(
        new RangeError(`exportProfile: to must be ${formats}, not ${shown}`),
      )
    expect(() => call('measure', [])).toThrow('measure: the name must be a text, not undefined')
  })

  test('what is made of a profile or a report needs the result, and not its promise', async () => {
    const [taken, reported] = [heapflow.profile(), heapflow.report()]
    for (const sink of [taken, reported]) sink.end()
    const hint = (sink: string) => new RegExp(`: the awaited result of ${sink}\\(\\) is needed, not .*Promise`)
    const profile = await taken.result
    await expect(call('exportProfile', taken.result, 'pprof')).rejects.toThrow(hint('profile'))
    expect(() => call('compareProfiles', taken.result, profile)).toThrow(hint('profile'))
    expect(() => call('compareProfiles', profile, taken.result)).toThrow(hint('profile'))
    expect(() => call('exportReport', reported.result)).toThrow(hint('report'))
    const groups = heapflow.parseBudgets({ budgets: [{ max: { peak: '1M' } }] })
    const [measured, learned] = [heapflow.measure(groups, 'a'), heapflow.lifetimes()]
    for (const sink of [measured, learned]) sink.end()
    const one = await measured.result
    expect(() => call('check', [measured.result], [], groups)).toThrow(hint('measure'))
    expect(() => call('check', [one], [measured.result], groups)).toThrow(hint('measure'))
    expect(() => call('check', one, [], groups)).toThrow('check: an array of results is needed, not an object')
    expect(() => call('lifetimeModel', learned.result)).toThrow(hint('lifetimes'))
  })

  test('codecs check the options at once that only programs have', () => {
    expect(() => heapflow.kmemtrace.decode({ cpu: 'x' } as never)).toThrow(
      'cpu must be a whole number from 0 to 2147483647, not "x"',
    )
    expect(() => heapflow.compact.encode({ level: null } as never)).toThrow('level must be 1 or 2, not null')
    expect(() => heapflow.compact.decode({ level: 2 } as never)).toThrow('unknown option "level"')
    expect(() => heapflow.tracepoints.decode({ pageSize: [] } as never)).toThrow(
      'pageSize must be a power of two up to 2^30, not',
    )
    expect(() => heapflow.parquet.encode({ codec: ['none'] } as never)).toThrow(
      'codec must be snappy, zstd or none, not',
    )
  })

  test('what is no format is refused', () => {
    const { registerFormat, decoderOf, formatStreams } = own
    const takers: Record<string, (value: never) => unknown> = { registerFormat, decoderOf, formatStreams }
    for (const [name, take] of Object.entries(takers))
      for (const value of [undefined, null, 'mtrc', { name: 'mine' }])
        expect(() => take(value as never)).toThrow(
          expect.objectContaining({
            code: 'ERR_INVALID_ARG_TYPE',
            message: expect.stringContaining(`${name}: a format is needed, as defineFormat() makes it, not `),
          }),
        )
  })
})

describe('options that are changed after the call', () => {
  const events = [9n, 5n, 7n].map((time) => ({ kind: 'alloc', address: time * 16n, size: 8n, time }) as const)
  const bytes = async (stream: NodeJS.ReadWriteStream) =>
    Buffer.concat(
      await Readable.from(events)
        .pipe(stream)
        .pipe(heapflow.gzip({ level: 0 }))
        .toArray(),
    )

  test.each<[string, (options: never) => NodeJS.ReadWriteStream, object, object]>([
    ['an encoder', heapflow.heapmon.encode, { separator: 'spaces' }, { separator: 'tab' }],
    [
      'a decoder',
      (options) =>
        heapflow.compose(heapflow.ndjson.encode(), heapflow.replay.decode(options), heapflow.ndjson.encode()),
      { lastLine: false },
      { lastLine: 5 },
    ],
    ['sort', (options) => heapflow.compose(sort(options), heapflow.ndjson.encode()), { by: 'time' }, { by: 'thread' }],
    [
      'decodeAny',
      (options) => heapflow.compose(heapflow.ndjson.encode(), heapflow.decodeAny(options), heapflow.ndjson.encode()),
      {},
      { onFormat: 5 },
    ],
    ['cSource', heapflow.cSource, {}, { strict: true }],
    [
      'gzip',
      (options) => heapflow.compose(heapflow.ndjson.encode(), heapflow.gzip(options)),
      { level: 1 },
      { level: 0 },
    ],
  ])('do not change %s', async (_, make, options, later) => {
    const outcome = (stream: NodeJS.ReadWriteStream) => bytes(stream).catch(String)
    const expected = await outcome(make({ ...options } as never))
    const given = { ...options }
    const stream = make(given as never)
    Object.assign(given, later)
    expect(await outcome(stream)).toEqual(expected)
  })
})

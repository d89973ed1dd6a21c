import { readdirSync, readFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type * as Browser from '../../browser/index.js'
import { hatf } from '../../lib/entry/index.js'
import { openTrace } from '../../lib/streams/io/open-trace.js'
import { readSource } from '../../lib/streams/read-source.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { isTested, someOf } from '../support/runs.js'

const ROOT = new URL('../../', import.meta.url)
const BUNDLE = new URL('dist/browser/index.js', ROOT)
const {
  readTrace,
  StatisticsCollector: BundledCollector,
  TraceError,
  FORMATS,
} = (await import(BUNDLE.href)) as typeof Browser

const fixtures = fileURLToPath(new URL('test/fixtures/', ROOT))
const TRACES = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(mtrc|replay|mtrace|heaptrack|raw|hatf|ltrace|log|txt)(\.gz)?$/.test(name))
  .filter((name) => !/verbose|stats/.test(name))
  .map((name) => fixtures + name)
  .filter(isTested)
const MTRC = readFileSync(`${fixtures}mtrc/cxx64.mtrc`)

async function statisticsOf(source: Browser.BrowserSource, options?: Browser.ReadTraceOptions) {
  const collector = new BundledCollector()
  for await (const batch of readTrace(source, options)) collector.add(batch)
  return collector.finish()
}

interface Outcome {
  readonly events: number
  readonly error?: unknown
}

/** What comes of a source: the number of events, and the error after them. */
function outcome(source: Browser.BrowserSource): Promise<Outcome> {
  return outcomeOf(readTrace(source))
}

async function outcomeOf(batches: AsyncIterable<{ readonly count: number }>): Promise<Outcome> {
  let events = 0
  try {
    for await (const batch of batches) events += batch.count
  } catch (error) {
    return { events, error }
  }
  return { events }
}

test.each([
  [null, 'readTrace(): not a Blob, bytes, or a stream of bytes: null'],
  [5, 'readTrace(): not a Blob, bytes, or a stream of bytes: 5'],
  ['a.mtrc', 'readTrace(): not a Blob, bytes, or a stream of bytes: "a.mtrc"'],
  [['a', 'b'], 'readTrace(): a chunk is not bytes: "a"'],
])('what is no source is an error that says so: %j', async (source, message) => {
  const { error } = await outcome(source as unknown as Browser.BrowserSource)
  expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message })
})

test('bytes of another realm are bytes', async () => {
  const bytes = readFileSync(new URL('test/fixtures/mtrc/small64.mtrc.gz', ROOT))
  const foreign = (from: Uint8Array) =>
    runInNewContext('Uint8Array.from(numbers)', { numbers: [...from] }) as Uint8Array
  const { events } = await outcome(bytes)
  expect(await outcome(foreign(bytes))).toEqual({ events })
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 1000) yield foreign(bytes.subarray(at, at + 1000))
  }
  expect(await outcome(pieces())).toEqual({ events })
})

test('the bundle needs nothing of Node', () => {
  expect(readFileSync(BUNDLE, 'utf8')).not.toMatch(/["']node:/)
})

test('the file is as large as the document says', () => {
  const text = readFileSync(new URL('docs/browser.md', ROOT), 'utf8')
  const [, whole, compressed] = /some ([\d.]+) MB, or ([\d.]+) MB by gzip/.exec(text) ?? []
  const bytes = readFileSync(BUNDLE)
  expect(Math.abs(bytes.length / 1e6 - Number(whole))).toBeLessThan(0.1)
  expect(Math.abs(gzipSync(bytes).length / 1e6 - Number(compressed))).toBeLessThan(0.1)
})

describe('a browser reads what Node reads', () => {
  test.each(TRACES)('%s', async (path) => {
    const collector = new StatisticsCollector()
    for await (const batch of openTrace(path).batches) collector.add(batch)
    expect(await statisticsOf(readFileSync(path))).toEqual(collector.finish())
  })

  test('there are traces to read', () => {
    expect(TRACES.length).toBeGreaterThan(20)
  })
})

describe('other compression', () => {
  const xz = fileURLToPath(new URL('test/compression/xz/', ROOT))
  const zstd = fileURLToPath(new URL('test/compression/zstd/', ROOT))

  test.each([...readdirSync(xz).map((name) => xz + name), ...readdirSync(zstd).map((name) => zstd + name)])(
    '%s',
    async (path) => {
      const expected = await outcomeOf(readSource([readFileSync(path)]).batches)
      expect(await outcome(readFileSync(path))).toEqual(expected)
      const cut = readFileSync(path).subarray(0, -5)
      expect((await outcome(cut)).error).toBeInstanceOf(TraceError)
    },
  )

  test('SplitAddr: inflated with a dictionary', async () => {
    const { batches } = openTrace(`${fixtures}mtrc/small64.mtrc.gz`)
    const pieces: Uint8Array[] = []
    await pipeline(batches, hatf.encode({ splitAddr: true }), async (source: AsyncIterable<Uint8Array>) => {
      for await (const piece of source) pieces.push(piece)
    })
    expect(await outcome(Buffer.concat(pieces))).toEqual(await outcomeOf(readSource(pieces).batches))
  })
})

describe('Arrow', () => {
  const folder = fileURLToPath(new URL('test/formats/arrow/foreign/', ROOT))

  test.each(readdirSync(folder).filter((name) => name.includes('.arrow')))('%s', async (name) => {
    expect(await outcome(readFileSync(folder + name))).toEqual({ events: 7 })
  })
})

describe('sources', () => {
  const chunks = [MTRC.subarray(0, 5), MTRC.subarray(5, 700), MTRC.subarray(700)]
  const events = 111

  test.each([
    ['a file', new Blob(chunks)],
    ['a buffer', new Uint8Array(MTRC).buffer],
    ['a stream', new Blob(chunks).stream() as ReadableStream<Uint8Array>],
    [
      'an iterable',
      (async function* () {
        yield* chunks
      })(),
    ],
  ])('%s', async (_, source) => {
    expect(await outcome(source)).toEqual({ events })
  })

  test('of a format of the list, which is no name', async () => {
    const format = FORMATS.find(({ name }) => name === 'mtrc') as Browser.FormatEntry
    expect((await statisticsOf(MTRC, { format })).events).toBe(events)
    await expect(statisticsOf(MTRC, { format: 'mtrc' as never })).rejects.toThrow('format must be a format')
  })

  test('progress is the number of compressed bytes', async () => {
    const bytes = gzipSync(MTRC)
    const seen: number[] = []
    await statisticsOf(bytes, { onProgress: (n) => seen.push(n) })
    expect(seen).toEqual([bytes.length])
  })

  test('a signal ends reading and cancels the stream', async () => {
    let isCancelled = false
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(MTRC)),
      cancel: () => void (isCancelled = true),
    })
    const aborter = new AbortController()
    const reading = statisticsOf(stream, {
      signal: aborter.signal,
      onProgress: () => aborter.abort(new Error('enough')),
    })
    await expect(reading).rejects.toThrow('enough')
    expect(isCancelled).toBe(true)
  })

  describe('a signal ends reading of a source that is stalled', () => {
    const never = new Promise<never>(() => {})
    const stalls = (first: Uint8Array[]) => {
      const closed: string[] = []
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => first.forEach((chunk) => controller.enqueue(chunk)),
        pull: () => never,
        cancel: () => void closed.push('stream'),
      })
      const rest = first.values()
      const iterable: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            const { done, value } = rest.next()
            return done === true ? never : { done: false, value }
          },
          return: () => {
            closed.push('iterable')
            return never
          },
        }),
      }
      return { stream, iterable, closed }
    }

    test.each(['stream', 'iterable'] as const)('a %s', async (kind) => {
      for (const first of [[], [MTRC.subarray(0, 10)], [MTRC]]) {
        const sources = stalls(first.map((chunk) => new Uint8Array(chunk)))
        const aborter = new AbortController()
        setTimeout(() => aborter.abort(new Error('enough')), 5)
        const reading = statisticsOf(sources[kind], { signal: aborter.signal })
        await expect(reading).rejects.toThrow('enough')
        expect(sources.closed).toEqual([kind])
      }
    })

    test('an iterable without promises', async () => {
      let isClosed = false
      const chunks = [MTRC.subarray(0, 10), MTRC.subarray(10)].map((chunk) => new Uint8Array(chunk))
      const plain = (rest: Iterator<Uint8Array>) => ({
        [Symbol.asyncIterator]: () => ({ next: () => rest.next(), return: () => void (isClosed = true) }),
      })
      expect(await outcome(chunks as unknown as Browser.BrowserSource)).toEqual({ events })
      expect(await outcome(plain(chunks.values()) as unknown as Browser.BrowserSource)).toEqual({ events })
      const aborter = new AbortController()
      const reading = statisticsOf(plain(chunks.values()) as unknown as Browser.BrowserSource, {
        signal: aborter.signal,
        onProgress: () => aborter.abort(new Error('enough')),
      })
      await expect(reading).rejects.toThrow('enough')
      expect(isClosed).toBe(true)
    })

    test('that was aborted before', async () => {
      const { stream, closed } = stalls([])
      await expect(statisticsOf(stream, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
      expect(closed).toEqual(['stream'])
    })
  })

  test('a stream in a compression that is not read is cancelled', async () => {
    let isCancelled = false
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.from('BZh91AY&SY and more')),
      cancel: () => void (isCancelled = true),
    })
    expect((await outcome(stream)).error).toMatchObject({ code: 'ERR_TRACE_UNKNOWN_FORMAT' })
    expect(isCancelled).toBe(true)
  })

  test('an unknown option is refused at once', () => {
    expect(() => readTrace(MTRC, { formt: 1 } as object)).toThrow(RangeError)
  })
})

/** Not a multiple of 8, so that all bits of a byte are tried. */
const STEP = 13

describe('gzip', () => {
  const whole = gzipSync(MTRC)

  test('members follow each other, with zeros after the last', async () => {
    const half = MTRC.length >> 1
    const bytes = Buffer.concat([gzipSync(MTRC.subarray(0, half)), gzipSync(MTRC.subarray(half)), Buffer.alloc(512)])
    expect(await outcome(bytes)).toEqual({ events: 111 })
  })

  test('a truncated member is an error at every length', async () => {
    for (const length of someOf(whole.length)) {
      if (length < 2) continue
      const { error } = await outcome(whole.subarray(0, length))
      expect(error, `${length} bytes`).toBeInstanceOf(TraceError)
      expect((error as Browser.TraceError).code).toBe('ERR_TRACE_TRUNCATED')
    }
  })

  test.each([
    ['CRC-32', 8, 'the CRC-32 of a gzip member is wrong'],
    ['length', 4, 'the length of a gzip member is wrong'],
  ])('a wrong %s', async (_, fromEnd, reason) => {
    const bytes = Buffer.from(whole)
    bytes[bytes.length - fromEnd]! ^= 1
    expect((await outcome(bytes)).error).toMatchObject({ message: expect.stringContaining(reason) as string })
  })

  test('garbage after the last member', async () => {
    const { events, error } = await outcome(Buffer.concat([whole, Buffer.from('garbage')]))
    expect(error).toMatchObject({ message: expect.stringContaining('not gzip') as string })
    expect(events).toBe(111)
  })

  test('a flipped bit is an error or changes nothing', { tags: ['slow'] }, async () => {
    for (let bit = 0; bit < 8 * whole.length; bit += STEP) {
      const bytes = Buffer.from(whole)
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      const { events, error } = await outcome(bytes)
      if (error === undefined) expect(events, `bit ${bit}`).toBe(111)
      else expect(error, `bit ${bit}`).toBeInstanceOf(TraceError)
    }
  })
})

import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  checkModel,
  generate,
  ndjson,
  traceModel,
  EventBatch,
  type GenerateOptions,
  type TraceEvent,
  type TraceModel,
} from '../../lib/entry/index.js'
import { batchesOf } from '../../lib/event/batch.js'
import { Generator } from '../../lib/generate/generator.js'
import { MODELS } from '../../lib/generate/models/names.js'
import { TraceSurvey } from '../../lib/generate/survey.js'
import { LifetimeTrainer } from '../../lib/transforms/simulate/lifetimes/trainer.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { Verifier } from '../../lib/transforms/verify.js'
import { conforms, type Schema } from '../support/schema.js'
import { stopwatch } from '../support/stopwatch.js'
import { distance, generated, Lives, critical } from './support.js'

const events = (options: GenerateOptions) => [...generated(options)].flatMap((batch) => [...batch])
const modelOf = (batches: Iterable<EventBatch>): TraceModel => {
  const survey = new TraceSurvey()
  for (const batch of batches) survey.add(batch)
  return survey.finish()
}
const faultsOf = (batches: Iterable<EventBatch>) => {
  const verifier = new Verifier({})
  for (const batch of batches) verifier.check(batch)
  return [...verifier.counts]
}

describe.each(MODELS)('the model %s', (model) => {
  test('has no faults, and is the same each time', () => {
    expect(faultsOf(generated({ model, events: 60_000, scale: 0.1 }))).toEqual([])
    const options = { model, events: 5000, scale: 0.01, threads: 3, seed: 9 } as const
    const first = events(options)
    expect(first).toHaveLength(5000)
    expect(events(options)).toEqual(first)
    expect(events({ ...options, events: 100 })).toEqual(first.slice(0, 100))
    if (model !== 'sh6bench') expect(events({ ...options, seed: 10, threads: 3 })).not.toEqual(first)
  })

  test('has a live set that grows with the scale, and not with the length', { tags: ['slow'] }, () => {
    const peak = (scale: number, n: number) => {
      const collector = new StatisticsCollector()
      for (const batch of generated({ model, events: n, scale })) collector.add(batch)
      return collector.finish().peakBlocks.blocks
    }
    // Whole batches wait in xmalloc, and one does at least.
    const [small, large] = model === 'xmalloc' ? [0.25, 1] : [0.05, 0.15]
    const one = peak(small, 100_000)
    expect(peak(small, 300_000) / one).toBeLessThan(1.7)
    expect(peak(large, 300_000) / one).toBeGreaterThan(1.5)
  })
})

describe('benchmarks are what their sources describe', () => {
  test('larson: sizes are uniform, and threads leave their blocks to others', () => {
    const list = events({ model: 'larson', events: 100_000, scale: 0.02, threads: 2 })
    const sizes = list.filter(({ kind }) => kind === 'alloc').map(({ size }) => Number(size))
    expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([8, 1000])
    expect(
      distance(
        sizes,
        Array.from({ length: 993 }, (_, i) => 8 + i),
      ),
    ).toBeLessThan(0.02)
    expect(new Set(list.map(({ thread }) => thread)).size).toBeGreaterThan(4)
  })

  test('xmalloc: no thread frees what it allocated', () => {
    const list = events({ model: 'xmalloc', events: 50_000, threads: 4 })
    const threads = (kind: string) => new Set(list.filter((event) => event.kind === kind).map(({ thread }) => thread))
    expect([...threads('alloc')].toSorted()).toEqual([1n, 2n])
    expect([...threads('free')].toSorted()).toEqual([3n, 4n])
  })

  test('sh6bench: all but a fifth of the places are freed, upwards and then downwards', () => {
    const list = events({ model: 'sh6bench', events: 2000, scale: 100 / 16_384 })
    const first = list.findIndex(({ kind }) => kind === 'free')
    const addresses = list.slice(0, first).map(({ address }) => address)
    expect(first).toBe(100)
    expect(list.slice(100, 180).map(({ address }) => address)).toEqual(addresses.slice(20).toReversed())
    // Then 80 places are filled, and the next fifth stays.
    expect(list.slice(180, 260).every(({ kind }) => kind === 'alloc')).toBe(true)
    expect(list.slice(260, 280).map(({ address }) => address)).toEqual(addresses.slice(0, 20))
  })

  test('random: each live block is as likely to be freed, so lifetimes are exponential', () => {
    const lives = new Lives()
    for (const batch of generated({ model: 'random', events: 200_000, scale: 0.05 })) lives.add(batch)
    const expected = Array.from({ length: 20_000 }, (_, i) => Math.floor(-500 * Math.log(1 - (i + 0.5) / 20_000)))
    expect(distance(lives.lifetimes, expected)).toBeLessThan(0.02)
  })

  test('mstress: blocks wander between threads, and a few are large', () => {
    const list = events({ model: 'mstress', events: 100_000, scale: 0.1 })
    const owners = new Map<bigint, bigint>()
    let foreign = 0
    for (const { kind, address, thread } of list as { kind: string; address: bigint; thread: bigint }[])
      if (kind === 'alloc') owners.set(address, thread)
      else if (kind === 'free' && owners.get(address) !== thread) foreign++
    expect(foreign).toBeGreaterThan(1000)
    const large = list.filter(({ kind, size }) => kind === 'alloc' && (size as bigint) >= 800n).length
    expect(large / list.filter(({ kind }) => kind === 'alloc').length).toBeGreaterThan(0.003)
  })
})

/** Calls of all kinds, with threads, sites and times. */
function calls(n: number): TraceEvent[] {
  const list: TraceEvent[] = []
  const live: { address: bigint; thread: bigint }[] = []
  let next = 0x1000n
  for (let i = 0; i < n; i++) {
    const thread = BigInt(100 + (i % 3))
    const time = BigInt(i) * 50n
    const size = BigInt([8, 24, 24, 100, 4000, 24][(i * 7) % 6]! + (i % 50 === 0 ? i % 997 : 0))
    const address = (next += 8192n)
    const common = { thread, time, address, size, function: `f${(i * 7) % 4}` }
    if (i % 11 === 10 && live.length > 0) {
      const { address: oldAddress } = live.pop()!
      list.push({ kind: 'realloc', api: 'realloc', ...common, oldAddress })
    } else if (i % 13 === 0) list.push({ kind: 'alloc', api: 'memalign', alignment: 64n, ...common })
    else list.push({ kind: 'alloc', api: i % 5 === 0 ? 'calloc' : 'malloc', ...common })
    live.push({ address, thread })
    while (live.length > 20 + ((i >> 7) % 60)) {
      const [gone] = live.splice((i * 31) % live.length, 1)
      list.push({ kind: 'free', api: 'free', thread: i % 4 === 0 ? 100n : gone!.thread, time, address: gone!.address })
    }
  }
  return list
}

describe('a trace like another one', () => {
  const original = calls(20_000)
  const batches = batchesOf(original, { format: 'test', timeUnit: 'ns' })
  const model = modelOf(batches)

  test('has its calls, sizes and lifetimes', () => {
    const list = events({ like: model })
    expect(faultsOf(generated({ like: model }))).toEqual([])
    const counts = (of: readonly TraceEvent[], field: 'kind' | 'api' | 'size' | 'function' | 'alignment') => {
      const map = new Map<unknown, number>()
      for (const event of of) {
        const value = (event as never as Record<string, unknown>)[field]
        map.set(value, (map.get(value) ?? 0) + 1)
      }
      return [...map.values()].toSorted((a, b) => a - b)
    }
    expect(list.length / original.length).toBeCloseTo(1, 2)
    expect(counts(list, 'alignment')).toEqual(counts(original, 'alignment'))
    const [a, b] = [new Lives(), new Lives()]
    for (const batch of batches) a.add(batch)
    for (const batch of generated({ like: model })) b.add(batch)
    expect(distance(a.sizes, b.sizes)).toBeLessThan(critical(100_000))
    expect(distance(a.lifetimes, b.lifetimes)).toBeLessThan(2 * critical(100_000))
  })

  test('has no alignment that is too large to be kept', () => {
    const list = [64n, 2n ** 32n + 64n, 2n ** 30n, 2n ** 31n].map((alignment, i): TraceEvent => {
      return { kind: 'alloc', api: 'memalign', address: BigInt(i + 1) << 40n, size: 8n, alignment }
    })
    const { kinds } = modelOf(batchesOf(list, { format: 'test' }))
    expect(new Set(kinds.alignment)).toEqual(new Set([64, 0, 2 ** 30]))
  })

  test('has its threads, and frees by other threads', () => {
    const byThread = (of: Iterable<TraceEvent>) => {
      const owners = new Map<unknown, number>()
      const counts = [0, 1, 2].map(() => ({ allocations: 0, foreign: 0 }))
      const numbers = new Map<unknown, number>()
      for (const event of of) {
        const { kind, thread, address } = event as never as Record<string, unknown>
        const number = numbers.get(thread) ?? numbers.size
        numbers.set(thread, number)
        if (kind === 'free' && owners.get(address) !== number) counts[number]!.foreign++
        if (kind === 'free') continue
        counts[number]!.allocations++
        owners.set(address, number)
      }
      return counts.toSorted((a, b) => a.foreign - b.foreign)
    }
    const is = byThread(events({ like: model }))
    for (const [i, { allocations, foreign }] of byThread(original).entries()) {
      expect(Math.abs(is[i]!.allocations / allocations - 1)).toBeLessThan(0.02)
      expect(Math.abs(is[i]!.foreign - foreign)).toBeLessThan(0.02 * allocations)
    }
  })

  test('has frees by other threads after the last allocation, too', () => {
    const addresses = Array.from({ length: 10 }, (_, i) => BigInt(0x1000 * (i + 1)))
    const model = modelOf(
      batchesOf([
        ...addresses.map((address): TraceEvent => ({ kind: 'alloc', thread: 1n, address, size: 8n })),
        ...addresses.map((address): TraceEvent => ({ kind: 'free', thread: 2n, address })),
      ]),
    )
    const frees = events({ like: model }).filter(({ kind }) => kind === 'free')
    expect(frees.map(({ thread }) => thread)).toEqual(addresses.map(() => 2n))
  })

  test('of many small traces after a large one takes no time', { tags: ['slow'] }, () => {
    const header = { format: 'test' }
    const large = batchesOf(
      Array.from({ length: 300_000 }, (_, i): TraceEvent => ({
        kind: 'alloc',
        address: BigInt(16 * (i + 1)),
        size: 8n,
      })),
      header,
    )
    const [survey, trainer] = [new TraceSurvey(), new LifetimeTrainer()]
    const time = stopwatch()
    for (const batch of large) for (const one of [survey, trainer]) one.add(batch)
    for (let i = 0; i < 20_000; i++) {
      const batch = new EventBatch(0, 0, { ...header })
      for (const one of [survey, trainer]) one.add(batch)
    }
    expect(time()).toBeLessThan(3000)
    expect(survey.finish().rows.count.reduce((sum, n) => sum + n, 0)).toBe(300_000)
    expect(trainer.finish().kinds).toEqual([])
  })

  test('has its times on average', () => {
    const list = events({ like: model, times: true })
    const times = list.map(({ time }) => Number(time))
    expect(times.at(-1)! / 1e6).toBeCloseTo(1, 1)
    expect(times.every((time, i) => i === 0 || time >= times[i - 1]!)).toBe(true)
    expect(events({ like: model, events: 10 })[0]).not.toHaveProperty('time')
  })

  test('has its times where most events are reallocs', () => {
    const list = Array.from({ length: 10_000 }, (_, i): TraceEvent => {
      const [time, address, size] = [BigInt(i) * 100n, BigInt(i + 1) << 12n, 8n]
      const oldAddress = BigInt(i) << 12n
      return i % 10 === 0
        ? { kind: 'alloc', time, address, size }
        : { kind: 'realloc', time, address, oldAddress, size }
    })
    const made = events({ like: modelOf(batchesOf(list, { format: 'test', timeUnit: 'ns' })), times: true })
    expect(made.filter(({ kind }) => kind === 'realloc').length).toBeGreaterThan(8500)
    expect(Number(made.at(-1)!.time) / 1e6).toBeCloseTo(1, 2)
  })

  test('has a live set of the scale', { tags: ['slow'] }, () => {
    const peak = (options: GenerateOptions) => {
      const collector = new StatisticsCollector()
      for (const batch of generated(options)) collector.add(batch)
      return collector.finish().peakBlocks.blocks
    }
    const one = peak({ like: model })
    expect(peak({ like: model, scale: 10 }) / one).toBeGreaterThan(9)
    expect(peak({ like: model, scale: 10 }) / one).toBeLessThan(11)
    expect(peak({ like: model, scale: 0.25 }) / one).toBeLessThan(0.4)
  })

  test('is repeated for more events, without growing', { tags: ['slow'] }, () => {
    const options = { like: model, events: 150_000 }
    expect(faultsOf(generated(options))).toEqual([])
    const collector = new StatisticsCollector()
    for (const batch of generated(options)) collector.add(batch)
    const { events: n, peakBlocks } = collector.finish()
    expect(n).toBe(150_000)
    expect(peakBlocks.blocks).toBeLessThan(110)
    expect(events({ like: modelOf([]), events: 10 })).toEqual([])
  })

  test('has a model without names, as its schema says', () => {
    const text = JSON.stringify(model)
    expect(text).not.toMatch(/f[0-3]/)
    const schema = JSON.parse(readFileSync('docs/model.schema.json', 'utf8')) as Schema
    expect(conforms(JSON.parse(text), schema, schema)).toBe(true)
    expect(events({ like: checkModel(JSON.parse(text)) })).toEqual(events({ like: model }))
  })

  test('streams', async () => {
    const sink = traceModel()
    await pipeline(Readable.from(batches), sink)
    expect(await sink.result).toEqual(model)
    let text = ''
    const write = new Writable({ write: (chunk, _, done) => ((text += String(chunk)), done()) })
    await pipeline(generate({ like: await sink.result, events: 9000 }), ndjson.encode(), write)
    expect(text.trim().split('\n')).toHaveLength(9002)
    expect(events({ like: model, events: 9000 })).toHaveLength(9000)
  })
})

describe('large and odd traces', () => {
  test('have bounded models', { tags: ['slow'] }, () => {
    const survey = new TraceSurvey()
    const lives = new Lives()
    let next = 1n
    for (let i = 0; i < 60; i++) {
      const batch = batchesOf(
        Array.from({ length: 4000 }, (_, k): TraceEvent => {
          const address = 64n * next++
          if (k % 2 === 1 && next > 9000n)
            return { kind: 'free', thread: BigInt(k % 1500), address: 64n * (next - BigInt(1 + 2 * (k % 3000)) - 1n) }
          return {
            kind: 'alloc',
            thread: BigInt(k % 1500),
            address,
            size: (next * 7919n) % 100_000n,
            line: k,
            file: 'a',
          }
        }),
      )[0]!
      survey.add(batch)
      lives.add(batch)
    }
    const model = survey.finish()
    expect(model.rows.count.length).toBeLessThanOrEqual(131_072)
    expect(model.threads).toBeLessThanOrEqual(1024)
    expect(model.rows.count.reduce((sum, count) => sum + count, 0)).toBe(lives.sizes.length)
    expect(checkModel(model)).toBe(model)
    const copy = new Lives()
    for (const batch of generated({ like: model })) copy.add(batch)
    expect(distance(lives.sizes, copy.sizes)).toBeLessThan(0.02)
  })

  test('are refused where blocks have no identity', () => {
    const survey = new TraceSurvey()
    const [batch] = batchesOf([{ kind: 'alloc', address: 1n, size: 1n }], {
      format: 'heaptrack',
      layout: { raw: false },
    })
    expect(() => survey.add(batch!)).toThrow('does not say which block')
  })
})

describe('options and models are checked', () => {
  const good = modelOf(batchesOf([{ kind: 'alloc', address: 16n, size: 8n }]))

  test.each([
    [{}, 'either model or like'],
    [{ model: 'larson', like: good }, 'either model or like'],
    [{ model: 'larsen' }, 'larson'],
    [{ model: 'larson', events: -1 }, 'generate(): events must be a whole number from 0 to 9007199254740991, not -1'],
    [{ model: 'larson', scale: 0 }, 'scale must be'],
    [{ model: 'larson', scale: Number.NaN }, 'scale must be'],
    [{ model: 'larson', scale: 1e6 }, 'scale must be smaller: of 40000000000 live blocks, there may be 268435456'],
    [{ model: 'sh6bench', scale: 1e6 }, 'scale must be smaller'],
    [{ model: 'larson', threads: 0 }, 'threads must be'],
    [{ model: 'larson', seed: 0.5 }, 'generate(): seed must be a whole number'],
    [{ like: good, threads: 2 }, 'a model has its own'],
    [{ model: 'larson', sed: 2 }, 'unknown option'],
  ])('%j', (options, message) => {
    expect(() => generate(options as GenerateOptions)).toThrow(message)
  })

  const wrong = (change: (model: Record<string, never>) => void) => {
    const copy = structuredClone(good) as never as Record<string, never>
    change(copy)
    return copy
  }
  test.each([
    ['nothing', null, 'must be an object'],
    ['a list', [], 'must be an object'],
    ['another format', wrong((m) => (m['format'] = 'x' as never)), 'format must be'],
    ['another version', wrong((m) => (m['version'] = 2 as never)), 'version must be 1'],
    ['more', wrong((m) => (m['more'] = 1 as never)), 'unknown property "more"'],
    ['less', wrong((m) => delete m['rows']), 'must have the property rows'],
    [
      'a row of no kind',
      wrong((m) => (((m['rows'] as TraceModel['rows']).kind as number[])[0] = 9)),
      'there are 1 kinds',
    ],
    [
      'half a block',
      wrong((m) => (((m['rows'] as TraceModel['rows']).count as number[])[0] = 0.5)),
      'rows.count must be',
    ],
    ['no block', wrong((m) => (((m['rows'] as TraceModel['rows']).count as number[])[0] = 0)), 'rows.count must be'],
    ['unequal columns', wrong((m) => ((m['rows'] as TraceModel['rows']).count as number[]).push(1)), 'the same length'],
    [
      'a thread too much',
      wrong((m) => (((m['kinds'] as TraceModel['kinds']).thread as number[])[0] = 2)),
      'there are 1 threads',
    ],
    [
      'an odd alignment',
      wrong((m) => (((m['kinds'] as TraceModel['kinds']).alignment as number[])[0] = 24)),
      'no alignment',
    ],
    ['a gap that is text', wrong((m) => (m['gaps'] = ['1'] as never)), 'no gap is'],
  ])('a model with %s', (_, value, message) => {
    expect(() => checkModel(value)).toThrow(message)
    expect(() => checkModel(value)).toThrow(/^JSON: malformed/)
  })

  test('what does not fit an address space is an error', async () => {
    const huge = modelOf(batchesOf([{ kind: 'alloc', address: 16n, size: 2n ** 45n }]))
    const stream = generate({ like: huge, scale: 8 })
    await expect(
      pipeline(stream, async (source) => {
        for await (const _ of source) continue
      }),
    ).rejects.toThrow('do not fit')
  })

  test('a slow consumer gets the events before such an error', async () => {
    const large = modelOf(batchesOf([{ kind: 'alloc', address: 16n, size: 2n ** 34n }]))
    const options = { like: large, scale: 16_384 }
    let made = 0
    const generator = new Generator(options)
    expect(() => {
      for (let batch = generator.next(); batch !== null; batch = generator.next()) made += batch.count
    }).toThrow('do not fit')
    let got = 0
    const slow = new Writable({
      objectMode: true,
      write(batch: EventBatch, _encoding, done) {
        setTimeout(() => {
          got += batch.count
          done()
        }, 5)
      },
    })
    await expect(pipeline(generate(options), slow)).rejects.toThrow('do not fit')
    expect(got).toBe(made)
    expect(got).toBeGreaterThan(0)
  })
})

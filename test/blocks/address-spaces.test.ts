import { describe, expect, test } from 'vitest'
import { AddressSpaces, MAX_PROCESSES, SpacesError } from '../../lib/blocks/address-spaces.js'
import { BlockEffect } from '../../lib/blocks/block-effect.js'
import { LiveSet } from '../../lib/blocks/live-set.js'
import { LiveFiguresReport, type LiveFigures } from '../../lib/cli/report/live-figures.js'
import { StatisticsReport } from '../../lib/cli/report/statistics-report.js'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import { isWritable } from '../../lib/event/format.js'
import { TraceSurvey } from '../../lib/generate/survey.js'
import { BlockTable } from '../../lib/transforms/block-table/block-table.js'
import { FateSurvey } from '../../lib/transforms/fates/survey.js'
import { Filter, type FilterOptions } from '../../lib/transforms/filter.js'
import { Repair } from '../../lib/transforms/repair/repair.js'
import { LiveLog } from '../../lib/transforms/report/live-log.js'
import { LifetimeTrainer } from '../../lib/transforms/simulate/lifetimes/trainer.js'
import { Simulator } from '../../lib/transforms/simulate/simulator.js'
import { Partitioner } from '../../lib/transforms/split.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { Verifier } from '../../lib/transforms/verify.js'
import { decodeAll, drive } from '../support/drive.js'
import { formatNamed } from '../support/formats.js'
import { randomOf } from '../support/model.js'
import { HEADER, inBatches } from '../transforms/events.js'

const alloc = (process: number, address: bigint, index?: bigint): TraceEvent => ({
  kind: 'alloc',
  process: BigInt(process),
  address,
  size: 8n,
  ...(index !== undefined && { index }),
})

/** The number of live blocks after events. */
function live(events: readonly TraceEvent[]): number {
  const set = new LiveSet(0)
  let blocks = 0
  for (const batch of inBatches(events, 100, HEADER)) {
    set.follow(batch)
    for (let row = 0; row < batch.count; row++) blocks += Number(set.begun[row] > 0) - Number(set.ended[row] > 0)
  }
  return blocks
}

const WIDE = 0x0001_7f00_0000_1000n
/** With a tag in the highest byte. */
const TAGGED = 0x0b00_7f00_0000_1000n
const KERNEL = 0xffff_8880_0000_1000n
const CANNOT = expect.objectContaining({
  code: 'ERR_TRACE_LIMIT',
  message: expect.stringMatching(/over the limit: blocks of .* cannot be told apart$/) as string,
}) as Error

describe('blocks at one address in several processes', () => {
  test('are different ones, in user space and in the kernel', () => {
    const processes = [1, 2, 3, 70_000]
    for (const address of [0x1000n, 0x7fff_ffff_f000n, KERNEL]) {
      const events = processes.map((process) => alloc(process, address))
      expect(live(events)).toBe(4)
      const frees = processes.map((process): TraceEvent => ({ kind: 'free', process: BigInt(process), address }))
      expect(live([...events, ...frees])).toBe(0)
    }
  })

  test('of more than 48 bits are refused, whichever comes first', () => {
    expect(live([alloc(1, WIDE), alloc(1, 0x1000n)])).toBe(2)
    expect(() => live([alloc(1, WIDE), alloc(2, 0x1000n)])).toThrow(CANNOT)
    expect(() => live([alloc(1, 0x1000n), alloc(2, WIDE)])).toThrow(CANNOT)
    const realloc: TraceEvent = { kind: 'realloc', process: 2n, oldAddress: WIDE, address: 0x1000n, size: 8n }
    expect(() => live([alloc(1, 0x1000n), realloc])).toThrow(CANNOT)
  })

  test('are told apart by process and by tag, as long as there are fewer than 256 processes', () => {
    const processes = Array.from({ length: 256 }, (_, i) => [alloc(i + 1, TAGGED), alloc(i + 1, 0x1000n)]).flat()
    expect(live(processes.slice(0, -2))).toBe(510)
    expect(() => live(processes)).toThrow(CANNOT)
  })

  test('do not matter where blocks have an index', () => {
    expect(live([alloc(1, WIDE, 1n), alloc(2, WIDE, 2n)])).toBe(2)
  })

  test('are refused beyond the number of processes that are told apart', { tags: ['slow'] }, () => {
    const processes = Array.from({ length: MAX_PROCESSES }, (_, i) => alloc(i + 1, 0x1000n))
    expect(live(processes)).toBe(MAX_PROCESSES)
    expect(() => live([...processes, alloc(0, 0x1000n)])).toThrow(CANNOT)
    const end: TraceEvent = { kind: 'process-end', process: 7n }
    expect(live([...processes, end, alloc(0, 0x1000n)])).toBe(MAX_PROCESSES + 1)
    expect(() => live([...processes, end, alloc(7, 0x1000n), alloc(0, 0x1000n)])).toThrow(CANNOT)
    expect(() => live([...processes, end, alloc(0, 0x1000n), alloc(7, 0x1000n)])).toThrow(CANNOT)
  })

  test('processes that have ended make room for others', { tags: ['slow'] }, () => {
    const random = randomOf(4)
    const set = new LiveSet(0)
    // By process and address, whether the block is live: a plain model.
    const model = new Map<number, Set<bigint>>()
    const events: TraceEvent[] = []
    let last = 0
    let wrong = 0
    for (let n = 0; n < 300_000; n++) {
      const process = random(8) === 0 ? ++last : Math.max(1, last - random(20_000))
      if (process === last && last > 20_000) events.push({ kind: 'process-end', process: BigInt(last - 20_000) })
      const address = 0x1000n * BigInt(1 + random(3))
      const choice = random(8)
      if (choice < 5) events.push(alloc(process, address))
      else if (choice < 7) events.push({ kind: 'free', process: BigInt(process), address })
      else events.push({ kind: 'process-end', process: BigInt(process) })
    }
    expect(last).toBeGreaterThan(MAX_PROCESSES)
    for (const batch of inBatches(events, 4096, HEADER)) {
      set.follow(batch)
      for (let row = 0; row < batch.count; row++) {
        const { kind, process, address = 0n } = batch.event(row)
        const blocks = model.get(Number(process)) ?? new Set()
        model.set(Number(process), blocks)
        if (kind === 'process-end') blocks.clear()
        else {
          const effect = set.effects[row]!
          const wasLive = (effect & (kind === 'free' ? BlockEffect.ended : BlockEffect.reused)) !== 0
          if (wasLive !== blocks.has(address)) wrong++
          if (kind === 'alloc') blocks.add(address)
          else blocks.delete(address)
        }
      }
    }
    expect(wrong).toBe(0)
    expect(set.size).toBe([...model.values()].reduce((n, blocks) => n + blocks.size, 0))
  })

  test('another trace begins without them', () => {
    const spaces = new AddressSpaces()
    const [one, two] = [alloc(1, WIDE), alloc(2, 0x1000n)].map((event) => [...inBatches([event], 1, HEADER)][0]!)
    spaces.of(one!, 0)
    spaces.clear()
    expect(() => spaces.of(two!, 0)).not.toThrow()
  })
})

describe('an encoder refuses blocks that cannot be told apart', () => {
  const events = Array.from({ length: 20 }, (_, i): TraceEvent => ({
    ...alloc(1 + (i >> 3), 0x1000n * BigInt(i + 1)),
    thread: 1n,
    time: BigInt(i),
  }))
  const at = 17
  events[at] = { ...events[at], address: WIDE } as TraceEvent

  test.each(['replay', 'mtrc', 'glibc-mtrace', 'kmemtrace'])('%s writes the events before', (name) => {
    const format = formatNamed(name)
    if (format === undefined || !isWritable(format)) throw new Error(`${name} cannot be written`)
    for (const batchSize of [1, 3, 100]) {
      const { out, error } = drive(format.encoder(), inBatches(events, batchSize, HEADER))
      expect(error).toEqual(CANNOT)
      expect(error).toMatchObject({ format: name, event: at + 1 })
      expect(decodeAll(format.decoder(), Buffer.concat(out)).events).toHaveLength(at)
    }
  })

  test.each(['replay', 'glibc-mtrace'])('%s refuses a collision before them as one', (name) => {
    const format = formatNamed(name)
    if (format === undefined || !isWritable(format)) throw new Error(`${name} cannot be written`)
    const some = events.with(at - 2, { ...events[at - 2], address: 0x1000n } as TraceEvent)
    const { error } = drive(format.encoder(), inBatches(some, 100, HEADER))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: at - 1 })
  })
})

describe('the events before blocks that cannot be told apart are passed on', () => {
  const events = Array.from({ length: 20 }, (_, i) => alloc(1 + (i >> 3), 0x1000n * BigInt(i + 1)))
  const at = 17
  events[at] = { ...events[at], address: WIDE } as TraceEvent

  test.each([1, 3, 100])('in batches of %i', (batchSize) => {
    for (const stage of [
      new Filter({ kind: 'alloc', lifetimes: true }),
      new Simulator({ policy: 'first-fit' }),
      new Repair(),
      new Repair({ window: 3 }),
    ]) {
      const { out, error } = drive(stage, inBatches(events, batchSize, HEADER))
      expect(error).toEqual(CANNOT)
      expect(error).toMatchObject({ event: at + 1 })
      expect(out.reduce((sum, { count }) => sum + count, 0)).toBe(at)
    }
    const partitioner = new Partitioner({ by: 'process', lifetimes: true })
    let count = 0
    expect(() => {
      for (const batch of inBatches(events, batchSize, HEADER))
        for (const part of partitioner.partition(batch)) count += part.batch.count
    }).toThrow(expect.objectContaining({ event: at + 1 }))
    expect(count).toBe(at)
  })

  test.each([1, 3, 100])('and counted, in batches of %i', (batchSize) => {
    const batches = [...inBatches(events, batchSize, HEADER)]
    const faultOf = (add: (batch: EventBatch) => void) => {
      expect(() => batches.forEach(add)).toThrow(expect.objectContaining({ code: 'ERR_TRACE_LIMIT', event: at + 1 }))
    }
    const statistics = new StatisticsCollector()
    faultOf((batch) => statistics.add(batch))
    expect(statistics.finish(false)).toMatchObject({ events: at, kinds: { alloc: at }, allocated: { blocks: at } })
    const verifier = new Verifier()
    faultOf((batch) => verifier.check(batch))
    expect(verifier.events).toBe(at)
    const [trainer, survey, log] = [new LifetimeTrainer(), new TraceSurvey(), new LiveLog()]
    faultOf((batch) => trainer.add(batch))
    faultOf((batch) => survey.add(batch))
    faultOf((batch) => log.add(batch))
    expect(survey.finish().rows.count).toEqual([at])
    expect(log.at({ event: 100 }).liveBlocks).toEqual([at])
  })

  test.each([1, 3, 100])('and reported, in batches of %i', (batchSize) => {
    const report = new StatisticsReport({ print: ({ events: n, complete }) => [`${n} ${complete}`] })
    const { out, error } = drive(report, inBatches(events, batchSize, HEADER))
    expect(Buffer.concat(out).toString()).toBe(`${at} false`)
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: at + 1 })
  })

  test.each([1, 3, 100])(
    'and are the last figures of those that are shown repeatedly, in batches of %i',
    (batchSize) => {
      const print = ({ events: n, complete }: LiveFigures) => `${n} ${complete}`
      const report = new LiveFiguresReport({ every: { events: 1000 }, print })
      const { out, error } = drive(report, inBatches(events, batchSize, HEADER))
      expect(Buffer.concat(out).toString()).toBe(`${at} false`)
      expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: at + 1 })
    },
  )

  const pairs = events.flatMap((event): TraceEvent[] => [event, { ...event, kind: 'free', size: undefined } as never])

  test.each([1, 3, 100])('and have rows in the table of blocks, in batches of %i', (batchSize) => {
    const table = new BlockTable()
    let rows = 0
    const feed = () => {
      for (const batch of inBatches(pairs, batchSize, HEADER)) {
        table.feed(batch)
        for (let some = table.next(); some !== null; some = table.next()) rows += some.count
      }
    }
    expect(feed).toThrow(expect.objectContaining({ code: 'ERR_TRACE_LIMIT', event: 2 * at + 1 }))
    expect(rows).toBe(at)
  })

  test.each<[FilterOptions, number]>([
    [{ temporary: true }, at],
    [{ liveAt: 'peak' }, 1],
    [{ liveAt: { event: 5 } }, 1],
    [{ leaked: true }, 0],
    [{ leaked: true, invert: true }, 2 * at],
  ])('and filtered by fate, with the error: %j', (options, kept) => {
    for (const batchSize of [1, 3, 100]) {
      const survey = new FateSurvey(options)
      const batches = [...inBatches(pairs, batchSize, HEADER)]
      try {
        for (const batch of batches) if (!survey.isDone) survey.add(batch)
      } catch (fault) {
        expect(fault).toMatchObject({ event: 2 * at + 1 })
      }
      const { out, error } = drive(new Filter(options, survey.finish()), batches)
      expect(out.reduce((sum, { count }) => sum + count, 0)).toBe(kept)
      if (!survey.isDone) expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', event: 2 * at + 1 })
    }
  })

  test('by an error that others are not', () => {
    expect(new SpacesError('x', 1, { format: 'test' })).toBeInstanceOf(SpacesError)
    expect(new SpacesError('x', 1, { format: 'test' })).toBeInstanceOf(TraceError)
    expect(new TraceError('ERR_TRACE_LIMIT', 'x')).not.toBeInstanceOf(SpacesError)
  })
})

import { describe, expect, test } from 'vitest'
import { batchesOf, type EventBatch } from '../../../lib/event/batch.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import type { LifetimeOptions, LifetimePredictor } from '../../../lib/transforms/simulate/lifetimes/predictor.js'
import { LifetimeTrainer } from '../../../lib/transforms/simulate/lifetimes/trainer.js'
import { GENERAL, type SimulateOptions } from '../../../lib/transforms/simulate/policies.js'
import { settingsOf } from '../../../lib/transforms/simulate/settings.js'
import { Simulator } from '../../../lib/transforms/simulate/simulator.js'
import { ArenaModel, kindsOf, shortKinds } from '../../oracle/simulate/arenas.js'
import { modelOf } from '../../oracle/simulate/model.js'
import { callsOf, randomFrom, type CallShape } from './calls.js'

function trained(batches: Iterable<EventBatch>, options?: LifetimeOptions): LifetimePredictor {
  const trainer = new LifetimeTrainer(options)
  for (const batch of batches) trainer.add(batch)
  return trainer.finish()
}

/** Calls with stacks, so that those of a site end alike; some have none. */
function stackedCalls(shape: CallShape, sites = 40): TraceEvent[] {
  const random = randomFrom(shape.seed + 1000)
  return [...callsOf(shape)].map((event) => {
    if (event.kind === 'free' || random() < 0.05) return event
    const size = Number(event.size ?? 0n) % 3
    const site = Math.floor(random() * sites)
    return { ...event, stack: [`f${site % 5}`, `g${site % 7}`, `h${site + size}`, 'main'] } as TraceEvent
  })
}

/** Short-lived blocks among others: a site's are freed soon, or late, or mostly soon. */
function program(events: number, seed: number): TraceEvent[] {
  const random = randomFrom(seed)
  const calls: TraceEvent[] = []
  const ends: { at: number; address: bigint }[] = []
  let next = 0x1000n
  for (let i = 0; calls.length < events; i++) {
    while (ends.length > 0 && ends[0]!.at <= i) calls.push({ kind: 'free', address: ends.shift()!.address })
    const site = Math.floor(random() * 12)
    const life = site < 8 ? 1 + Math.floor(random() * 5) : site < 10 && random() < 0.99 ? 3 : 2000
    const address = (next += 0x10n)
    calls.push({ kind: 'alloc', address, size: BigInt(8 + 8 * site), stack: [`f${site}`, 'main'] })
    ends.push({ at: i + life, address })
    ends.sort((a, b) => a.at - b.at)
  }
  return calls
}

function simulated(events: readonly TraceEvent[], options: SimulateOptions) {
  const simulator = new Simulator(options)
  const out: TraceEvent[] = []
  for (const batch of batchesOf(events)) {
    simulator.feed(batch)
    for (let next = simulator.next(); next !== null; next = simulator.next()) out.push(...next)
  }
  const [result] = simulator.results()
  simulator.dispose()
  return { out, result: result! }
}

/** Compares addresses and figures with plain lists. @param training other events; otherwise the same */
function compare(
  events: readonly TraceEvent[],
  options: Partial<SimulateOptions & LifetimeOptions>,
  training = events,
) {
  const { threshold = 32_768, frames, ...rest } = options
  const predict = trained(batchesOf(training), { threshold, ...(frames !== undefined && { frames }) })
  const short = shortKinds(training, threshold, frames)
  expect(predict.kinds.length).toBe(short.size)
  const all: SimulateOptions = { ...rest, policy: 'bump', predict }
  const { out, result } = simulated(events, all)
  const settings = settingsOf(all)
  const { arenas, arenaSize, general } = settings.prediction!
  const model = new ArenaModel(arenas, arenaSize, settings.alignment, settings.page)
  const heap = modelOf({ ...settings, policy: general })
  const at = new Map<bigint, number>()
  const births = new Map<bigint, [birth: number, size: number]>()
  const figures = { allocated: 0, short: 0, predicted: 0, inArenas: 0, late: 0 }
  let clock = 0
  let most = 0
  const kinds = kindsOf(events, frames)
  const allocate = (event: TraceEvent, isShort: boolean): number => {
    if (isShort) figures.predicted++
    const size = Number(event.size)
    const alignment = event.kind === 'alloc' ? Number(event.alignment ?? 0n) : 0
    return (isShort ? model.allocate(size, alignment) : null) ?? heap.allocate(size, alignment)
  }
  const end = (address: bigint): number => {
    const place = at.get(address)!
    at.delete(address)
    const isShort = clock - births.get(address)![0] <= threshold
    if (isShort) figures.short++
    else if (model.has(place)) figures.late++
    return place
  }
  const free = (place: number) => (model.has(place) ? model.free(place) : heap.free(place))
  for (const [i, event] of events.entries()) {
    const { address, oldAddress, size = 0n } = event as { address: bigint; oldAddress?: bigint; size?: bigint }
    let place: number
    const isShort = short.has(kinds[i]!)
    if (event.kind === 'alloc') place = allocate(event, isShort)
    else if (event.kind === 'free') free((place = end(address)))
    else {
      const old = end(oldAddress!)
      const stays = model.has(old) ? isShort && model.resize(old, Number(size)) : heap.resize(old, Number(size))
      place = old
      if (stays && isShort) figures.predicted++
      if (!stays) {
        place = allocate(event, isShort)
        free(old)
      }
    }
    if (event.kind !== 'free') {
      clock += Number(size)
      at.set(address, place)
      births.set(address, [clock, Number(size)])
      figures.allocated++
      if (model.has(place)) figures.inArenas++
    }
    most = Math.max(most, heap.used + model.used)
    if (out[i]!.address !== BigInt(place)) expect({ i, ...out[i] }).toEqual({ i, ...event, address: BigInt(place) })
  }
  for (const place of at.values()) if (model.has(place)) figures.late++
  expect(result.prediction?.blocks).toEqual(figures)
  expect(result.largestHeap?.heap).toBe(most)
  return result
}

describe('arenas for short-lived blocks', () => {
  test('have the blocks of sites and sizes that were short-lived', () => {
    const { prediction } = compare(program(3000, 1), {})
    expect(prediction!.blocks.inArenas).toBeGreaterThan(900)
    expect(prediction!.blocks.late).toBe(0)
  })

  test('have blocks that live longer, if another trace was learned from', () => {
    const { prediction } = compare(program(8000, 2), {}, program(200, 3))
    expect(prediction!.blocks.late).toBeGreaterThan(0)
  })

  test.each(GENERAL)('are before a heap of %s', (general) => {
    for (let seed = 0; seed < 4; seed++) {
      compare(program(1500, 10 + seed), { general, arenas: 1 + seed, arenaSize: 64 << seed })
      compare(stackedCalls({ events: 800, blocks: 30, seed, log: 9 }), { general, threshold: 1 << (8 + 2 * seed) })
    }
  })

  test('are for the sites of another run, whose modules were loaded elsewhere', () => {
    const run = (base: bigint): TraceEvent[] =>
      program(1000, 5).map((event) => {
        if (event.kind === 'free') return event
        const offset = event.size ?? 0n
        return { ...event, stack: [`in /x+0x${offset.toString(16)} [0x${(base + offset).toString(16)}]`, 'main'] }
      })
    const predict = trained(batchesOf(run(0x55d0_0000_0000n)))
    const { result } = simulated(run(0x7f31_0000_0000n), { policy: 'bump', predict })
    expect(result.prediction!.blocks.predicted).toBeGreaterThan(300)
    expect(predict.kinds[0]!.site.stack![0]).toMatch(/^in \/x\+0x[0-9a-f]+$/)
  })

  test('may know sites by their innermost frames', () => {
    for (const frames of [1, 2, 3, 9]) {
      compare(stackedCalls({ events: 800, blocks: 10, seed: frames, log: 7 }), { frames, threshold: 3000 })
      compare(program(1000, frames), { frames, threshold: 2000, page: 1024, alignment: 8, header: 0 })
    }
  })

  test('are those of random traces', { tags: ['slow'], timeout: 120_000 }, () => {
    for (let seed = 0; seed < 60; seed++) {
      const shape = { events: 3000, blocks: 5 + 20 * (seed % 6), seed, log: 4 + (seed % 8) }
      const other = stackedCalls({ ...shape, seed: seed + 1 })
      compare(
        stackedCalls(shape),
        { arenas: 1 + (seed % 20), threshold: 2 ** (seed % 18) },
        seed % 2 ? other : undefined,
      )
    }
  })

  test('are those of a long trace', { tags: ['large'], timeout: 120_000 }, () => {
    compare(program(1_000_000, 5), {})
  })

  test('a block that is resized without a stack is at its old site', () => {
    const events: TraceEvent[] = []
    for (let i = 0n; i < 10n; i++)
      events.push(
        { kind: 'alloc', address: 16n, size: 8n, stack: ['a'] },
        { kind: 'realloc', oldAddress: 16n, address: 32n, size: 80n },
        { kind: 'free', address: 32n },
      )
    const { kinds, training } = trained(batchesOf(events))
    expect(kinds).toEqual([
      { site: { stack: ['a'] }, size: 8 },
      { site: { stack: ['a'] }, size: 80 },
    ])
    expect(training).toMatchObject({ kinds: 2, shortKinds: 2, hasSites: true, isLimited: false })
  })

  test('a block that ends with its process, or never, is not short-lived', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', process: 1n, address: 16n, size: 8n, stack: ['a'] },
      { kind: 'process-end', process: 1n },
      { kind: 'alloc', process: 2n, address: 16n, size: 8n, stack: ['b'] },
      { kind: 'alloc', process: 2n, address: 16n, size: 8n, stack: ['c'] },
      { kind: 'free', process: 2n, address: 16n },
    ]
    expect(trained(batchesOf(events)).kinds.map(({ site }) => site.stack)).toEqual([['b'], ['c']])
    events.splice(4)
    expect(trained(batchesOf(events)).kinds.map(({ site }) => site.stack)).toEqual([['b']])
  })

  test('sites are functions and lines, or sizes alone, where there are no stacks', () => {
    const place = { function: 'f', file: 'f.c', line: 7 }
    const events: TraceEvent[] = [
      { kind: 'alloc', address: 16n, size: 9n, ...place },
      { kind: 'free', address: 16n },
      { kind: 'alloc', address: 16n, size: 9n },
      { kind: 'free', address: 16n },
    ]
    expect(trained(batchesOf(events)).kinds).toEqual([
      { site: place, size: 12 },
      { site: { rest: 'none' }, size: 12 },
    ])
    expect(trained(batchesOf(events.slice(2))).training.hasSites).toBe(false)
    expect(
      simulated(events, { policy: 'bump', predict: trained(batchesOf(events)) }).result.prediction?.blocks,
    ).toEqual({
      allocated: 2,
      short: 2,
      predicted: 2,
      inArenas: 2,
      late: 0,
    })
  })

  test('refuse options without a meaning', () => {
    const predict = trained([])
    const refused = (options: object, message: RegExp) =>
      expect(() => settingsOf(options as SimulateOptions)).toThrow(message)
    refused({ policy: 'best-fit', predict }, /predict is an option of bump, not best-fit/)
    refused({ policy: 'bump', arenas: 3 }, /arenas is an option of bump with predict/)
    refused({ policy: 'bump', predict: {} }, /predict must be what lifetimes\(\) found/)
    refused({ policy: 'bump', predict, arenas: 0 }, /arenas must be a whole number from 1 to 1024/)
    refused({ policy: 'bump', predict, arenaSize: 63 }, /arenaSize must be a whole number from 64/)
    refused({ policy: 'bump', predict, general: 'bump' }, /general must be one of first-fit, next-fit, best-fit/)
    expect(() => new LifetimeTrainer({ threshold: -1 })).toThrow(/threshold must be a whole number from 0/)
    expect(() => new LifetimeTrainer({ frames: 0 })).toThrow(/frames must be a whole number from 1/)
  })
})

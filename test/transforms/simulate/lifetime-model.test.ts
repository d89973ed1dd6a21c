import { describe, expect, test } from 'vitest'
import { LiveSet } from '../../../lib/blocks/live-set.js'
import { batchesOf } from '../../../lib/event/batch.js'
import { TraceError } from '../../../lib/event/error.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { lifetimeModel, MOST_FRAMES, MOST_SITES } from '../../../lib/transforms/simulate/lifetimes/model.js'
import { LifetimePredictor, type LifetimeOptions } from '../../../lib/transforms/simulate/lifetimes/predictor.js'
import { checkLifetimeModel } from '../../../lib/transforms/simulate/lifetimes/read-model.js'
import { LifetimeTrainer } from '../../../lib/transforms/simulate/lifetimes/trainer.js'
import { Simulator } from '../../../lib/transforms/simulate/simulator.js'
import { runs } from '../../support/runs.js'
import { callsOf, randomFrom } from './calls.js'

/** Places of all forms, also one with a name that JSON has to escape. */
const PLACES: Partial<TraceEvent>[] = [
  {},
  { stack: ['f', 'g "quoted" \u0000\ud800', 'main'] },
  { stack: ['f2', 'g "quoted" \u0000\ud800', 'main'] },
  { stack: ['main'] },
  { function: 'f', file: 'a.c', line: 3 },
  { function: 'f', file: 'a.c' },
  { file: 'a.c', line: 4_294_967_295 },
  { callSite: 0xffff_ffff_8000_1234n },
  { callSite: 0n, module: '/lib/libc.so.6' },
  { module: 'app' },
]

/** Calls at these places: some of them have only short-lived blocks. */
function program(seed: number): TraceEvent[] {
  const random = randomFrom(seed)
  return [...callsOf({ events: 500, blocks: 30, seed, log: 10 })].map((event) =>
    event.kind === 'free' ? event : ({ ...event, ...PLACES[Math.floor(random() * PLACES.length)] } as TraceEvent),
  )
}

function trained(events: readonly TraceEvent[], options: LifetimeOptions): LifetimePredictor {
  const trainer = new LifetimeTrainer(options)
  for (const batch of batchesOf(events)) trainer.add(batch)
  return trainer.finish()
}

/** Through text, as a file has it. */
function again(model: unknown): unknown {
  return JSON.parse(JSON.stringify(model))
}

/** A predictor whose stacks are plain lists. */
function plain({ threshold, frames, kinds, training }: LifetimePredictor): unknown {
  const site = (one: { site: object }) => ({ ...one, site: { ...one.site } })
  return {
    threshold,
    frames,
    kinds: kinds.map(site),
    training: { ...training, shortSites: training.shortSites.map(site) },
  }
}

function resultOf(events: readonly TraceEvent[], predict: LifetimePredictor): unknown {
  const simulator = new Simulator({ policy: 'bump', predict }, true)
  for (const batch of batchesOf(events)) {
    simulator.feed(batch)
    while (simulator.next() !== null);
  }
  return simulator.results()
}

const OPTIONS: LifetimeOptions[] = [
  {},
  { threshold: 3000 },
  { threshold: 3000, frames: 2 },
  { threshold: 0, frames: 1 },
]

describe('a model of lifetimes', () => {
  test.each(OPTIONS)('is read as it was written, and predicts the same: %o', (options) => {
    for (let seed = 1; seed <= runs(10); seed++) {
      const predictor = trained(program(seed), options)
      const read = checkLifetimeModel(again(lifetimeModel(predictor)))
      expect(plain(read)).toEqual(plain(predictor))
      expect(again(lifetimeModel(read))).toEqual(again(lifetimeModel(predictor)))
      const other = program(seed + 1000)
      expect(resultOf(other, read)).toEqual(resultOf(other, predictor))
    }
  })

  test('has short-lived blocks of all forms of places', () => {
    const { sites, kinds } = lifetimeModel(trained(program(1), { threshold: 3000 }))
    const forms = new Set(sites.map((site) => Object.keys(site).toSorted().join()))
    expect(forms).toContain('stack')
    expect(forms.size).toBe(7)
    expect(kinds.site).toContain(0)
  })

  test('has each frame once', () => {
    const stacks = Array.from({ length: 100 }, (_, n) => [`leaf${n}`, ...Array.from({ length: 60 }, (_, d) => `f${d}`)])
    const events = stacks.flatMap((stack, n): TraceEvent[] => [
      { kind: 'alloc', address: BigInt(n + 1), size: 8n, stack },
      { kind: 'free', address: BigInt(n + 1) },
    ])
    expect(lifetimeModel(trained(events, {})).stacks.name).toHaveLength(160)
  })

  test.each<[string, (model: Record<string, unknown>) => unknown]>([
    ['the model must be an object', () => []],
    ['the model must be an object', () => null],
    ['the model must have the property format', () => ({})],
    ['format must be "heapflow-lifetimes", not "heapflow-model"', (m) => ({ ...m, format: 'heapflow-model' })],
    ['version must be 1, not 2', (m) => ({ ...m, version: 2 })],
    ['the model: unknown property "more"', (m) => ({ ...m, more: 1 })],
    ['threshold must be a whole number', (m) => ({ ...m, threshold: -1 })],
    ['frames must be a whole number', (m) => ({ ...m, frames: 0 })],
    ['hasSites must be true or false', (m) => ({ ...m, hasSites: 1 })],
    ['names must be an array', (m) => ({ ...m, names: { length: 4 } })],
    ['a name must be a string', (m) => ({ ...m, names: [1] })],
    ['a caller must come before', (m) => ({ ...m, stacks: { name: [0, 0], caller: [2, 1] } })],
    ['a caller must come before', (m) => ({ ...m, stacks: { name: [0], caller: [1] } })],
    ['stacks: there are', (m) => ({ ...m, stacks: { name: [999], caller: [0] } })],
    ['stacks: all columns must have the same length', (m) => ({ ...m, stacks: { name: [0, 0], caller: [0] } })],
    ['a site must be an object', (m) => ({ ...m, sites: [3] })],
    ['a site must have a property', (m) => ({ ...m, sites: [{}] })],
    ['a site: unknown property "__proto__"', (m) => ({ ...m, sites: [JSON.parse('{"__proto__":1}')] })],
    ['a site with a stack must have nothing else', (m) => ({ ...m, sites: [{ stack: 1, line: 1 }] })],
    ['stack must be a whole number from 1', (m) => ({ ...m, sites: [{ stack: 0 }] })],
    ['function must be a whole number', (m) => ({ ...m, sites: [{ function: 'f' }] })],
    ['callSite must be up to 16 hexadecimal digits', (m) => ({ ...m, sites: [{ callSite: '0x1' }] })],
    ['there are 0 sites', (m) => ({ ...m, sites: [] })],
    ['kinds.size must be multiples of 4, not 3', (m) => ({ ...m, kinds: { site: [0], size: [3] } })],
    [
      'top: all columns must have the same length, at most 16',
      (m) => ({
        ...m,
        top: { site: Array(17).fill(1), blocks: Array(17).fill(1), bytes: Array(17).fill(1) },
      }),
    ],
    [
      'the stacks of all kinds have more than',
      (m) => ({
        ...m,
        names: ['f'],
        stacks: { name: Array(1000).fill(0), caller: Array.from({ length: 1000 }, (_, n) => n) },
        sites: [{ stack: 1000 }],
        kinds: { site: Array(100_000).fill(1), size: Array(100_000).fill(8) },
        top: { site: [], blocks: [], bytes: [] },
      }),
    ],
  ])('what is none is refused: %s', (message, damage) => {
    const model = again(lifetimeModel(trained(program(2), { threshold: 3000 }))) as Record<string, unknown>
    expect(() => checkLifetimeModel(damage(model))).toThrow(message)
    expect(() => checkLifetimeModel(damage(model))).toThrow(/^JSON: malformed/)
  })

  test('a damaged model is refused, or is one', () => {
    const text = JSON.stringify(lifetimeModel(trained(program(3), { threshold: 3000 })))
    const random = randomFrom(7)
    const endings = { refused: 0, read: 0 }
    for (let i = 0; i < runs(300); i++) {
      const at = Math.floor(random() * text.length)
      const digit = String(Math.floor(random() * 10))
      const damaged = text.slice(0, at) + (random() < 0.5 ? digit : '') + text.slice(at + 1)
      let value: unknown
      try {
        value = JSON.parse(damaged)
      } catch {
        continue
      }
      try {
        const read = checkLifetimeModel(value)
        expect(plain(checkLifetimeModel(again(lifetimeModel(read))))).toEqual(plain(read))
        if (i % 8 === 0) resultOf(program(4), read)
        endings.read++
      } catch (error) {
        expect(error).toBeInstanceOf(TraceError)
        endings.refused++
      }
    }
    expect(Math.min(endings.refused, endings.read)).toBeGreaterThan(0)
  })

  test('more frames than can be read are refused when it is written: those of the sites at the top count', () => {
    const stack = Array.from({ length: 4096 }, (_, n) => `f${n}`)
    const { threshold, frames, training } = trained([], {})
    const kinds = Array.from({ length: MOST_FRAMES / stack.length }, (_, n) => ({ site: { stack }, size: 4 * n }))
    const shortSites = [{ site: { stack: ['f4095'] }, blocks: 1, bytes: 4 }]
    const predictor = new LifetimePredictor(threshold, frames, kinds, { ...training, shortSites })
    expect(() => lifetimeModel(predictor)).toThrow(/^JSON: over the limit: the stacks have too many frames/)
  })

  test('more sites than can be read are refused when it is written', { tags: ['slow'] }, () => {
    const { threshold, frames, training } = trained([], {})
    const kinds = Array.from({ length: MOST_SITES + 1 }, (_, n) => ({ site: { line: n + 1 }, size: 4 }))
    const model = (count: number) =>
      lifetimeModel(new LifetimePredictor(threshold, frames, kinds.slice(0, count), training))
    expect(checkLifetimeModel(again(model(MOST_SITES))).kinds).toHaveLength(MOST_SITES)
    expect(() => model(MOST_SITES + 1)).toThrow(/^JSON: over the limit: there are too many sites/)
  })

  test('a sum of bytes beyond 2^53 can be read', () => {
    const { threshold, frames, training } = trained([], {})
    const shortSites = [{ site: { line: 1 }, blocks: 2 ** 22, bytes: 2 ** 54 }]
    const model = lifetimeModel(new LifetimePredictor(threshold, frames, [], { ...training, shortSites }))
    expect(checkLifetimeModel(again(model)).training.shortSites[0]?.bytes).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('sizes are predicted up to the largest that can be read', () => {
    const events = [2n ** 32n - 8n, 2n ** 32n - 4n, 2n ** 32n - 3n, 2n ** 32n - 1n, 2n ** 32n].flatMap(
      (size, n): TraceEvent[] => [
        { kind: 'alloc', address: BigInt(n + 1), size, stack: ['f'] },
        { kind: 'free', address: BigInt(n + 1) },
      ],
    )
    const predictor = trained(events, {})
    expect(predictor.kinds.map(({ size }) => size)).toEqual([2 ** 32 - 8, 2 ** 32 - 4])
    const read = checkLifetimeModel(again(lifetimeModel(predictor)))
    for (const one of [predictor, read]) {
      const live = new LiveSet(0)
      const predicted = new Uint8Array(events.length)
      for (const batch of batchesOf(events)) {
        live.follow(batch, 0, batch.count)
        one.reader().predict(batch, 0, batch.count, live, predicted)
      }
      live.dispose()
      expect([...predicted]).toEqual([1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    }
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { MOST_SIZE, NONE, ORDERS, type OrderName } from '../../../lib/transforms/drive/layout.js'
import { Preparation, type PrepareOptions } from '../../../lib/transforms/drive/preparation.js'
import type { PreparedReplay } from '../../../lib/transforms/drive/result.js'
import { blocksByMap } from '../../blocks/blocks.js'
import { eventsOf } from '../../shapes/generate.js'
import { seeded, shapesOf } from '../../shapes/shape.js'
import { drive } from '../../support/drive.js'
import { isCall, readOperations, schedule, type Operation, type Operations } from '../../support/operations.js'
import { runs } from '../../support/runs.js'
import { blockEvents, spacedEvents } from '../events.js'

/** A call, with the number of its block. */
interface Call {
  readonly op: string
  readonly size?: number
  readonly block: number
  readonly old?: number
  /** The call frees any of these, which another one has not. */
  readonly among?: Set<number>
}

/** What a thread is to call, what is left out, and the sizes when most bytes are live, by plain rules. */
function model(events: readonly TraceEvent[]): {
  threads: Map<string, Call[]>
  skipped: PreparedReplay['skipped']
  atPeak: readonly number[]
} {
  const { deeds } = blocksByMap(events)
  const threads = new Map<string, Call[]>()
  const skipped = {
    unknown: 0,
    again: 0,
    reused: 0,
    left: 0,
    existing: 0,
    failed: 0,
    absurd: 0,
    unaligned: 0,
    later: 0,
  }
  /** Blocks that have no place: from before, or too large. */
  const missing = new Map<number, 'existing' | 'absurd'>()
  const alive = new Map<string, string>()
  /** The sizes of blocks that are live. */
  const sizes = new Map<number, number>()
  let bytes = 0
  let most = 0
  let atPeak: readonly number[] = []
  const end = (block: number) => {
    bytes -= sizes.get(block)!
    sizes.delete(block)
  }
  let ended = 0
  /** The thread of the call before. */
  let last: string | undefined
  for (const [e, event] of events.entries()) {
    const { did, ended: old, overwritten, gone = [] } = deeds[e]!
    const has = (name: string) => did.includes(name)
    const key = `${event.process ?? 'none'} ${event.thread ?? 'none'}`
    if (event.kind === 'thread-destroy' && alive.has(key) && [...threads.keys()].indexOf(alive.get(key)!) !== 0) {
      alive.delete(key)
      ended++
    }
    const among = new Set(gone.filter((block) => !missing.has(block)))
    const isLast = last !== undefined && [...alive.values()].includes(last)
    for (const block of among) threads.get(isLast ? last! : [...threads.keys()][0]!)!.push({ op: 'free', block, among })
    for (const block of among) end(block)
    skipped.left += among.size
    if (event.kind === 'process-end')
      for (const [own, name] of alive) {
        if (!own.startsWith(`${event.process ?? 'none'} `) || [...threads.keys()].indexOf(name) === 0) continue
        alive.delete(own)
        ended++
      }
    if (did.length === 0) continue
    if (has('failed')) skipped.failed++
    if (has('failed') || (has('nothing') && event.kind !== 'free')) continue
    if (has('again')) skipped.again++
    else if (has('unknown')) skipped.unknown++
    if (has('unknown') && !has('began')) continue
    if (!alive.has(key)) alive.set(key, `${key} ${ended}`)
    const name = alive.get(key)!
    if (!threads.has(name)) threads.set(name, [])
    const calls = threads.get(name)!
    last = name
    if (has('nothing')) {
      calls.push({ op: 'free', block: 0 })
      continue
    }
    const isMissing = old !== undefined && missing.has(old)
    if (isMissing) skipped[missing.get(old)!]++
    if (overwritten !== undefined) {
      skipped.reused++
      if (!missing.has(overwritten)) {
        calls.push({ op: 'free', block: overwritten })
        end(overwritten)
      }
    }
    const before = old === undefined || isMissing ? 0 : old
    if (before !== 0) end(before)
    if (!has('began')) {
      if (before !== 0) calls.push({ op: 'free', block: before })
      continue
    }
    const block = old ?? e + 1
    const size = Number(event.size ?? 0n)
    missing.delete(block)
    if (event.kind === 'existing' || size > MOST_SIZE) {
      if (before !== 0) calls.push({ op: 'free', block: before })
      missing.set(block, size > MOST_SIZE ? 'absurd' : 'existing')
      skipped[missing.get(block)!]++
      continue
    }
    const alignment = Number(event.alignment ?? 16n)
    const op =
      event.kind === 'realloc' || event.api === 'realloc'
        ? 'realloc'
        : event.api === 'calloc'
          ? 'calloc'
          : event.api === 'memalign' || alignment > 16
            ? 'memalign'
            : 'malloc'
    calls.push({ op, size, block, ...(op === 'realloc' && { old: before }) })
    sizes.set(block, size)
    bytes += size
    if (bytes > most) {
      most = bytes
      atPeak = [...sizes.values()]
    }
  }
  return { threads, skipped, atPeak }
}

function prepared(batches: Iterable<EventBatch>, options: PrepareOptions): [Operations, PreparedReplay, Error?] {
  const preparation = new Preparation(options)
  const { out, error } = drive(preparation, batches)
  const whole = error === undefined ? readOperations(Buffer.concat(out)) : ({} as Operations)
  return [whole, preparation.result(), error]
}

/** Runs the operations in any order that they admit: each call is about the block that the model says. */
function expectModel(
  events: readonly TraceEvent[],
  operations: Operations,
  result: PreparedReplay,
  random: (n: number) => number,
): void {
  const { threads, skipped, atPeak } = model(events)
  expect({ ...result.skipped, later: 0 }).toEqual(skipped)
  const bySize = new Map<number, number>()
  for (const step of atPeak.filter((size) => size <= 1024).map((size) => 8 * Math.ceil(size / 8)))
    bySize.set(step, (bySize.get(step) ?? 0) + 1)
  expect(result.peakSizes.map(({ size, blocks }) => [size, blocks])).toEqual([...bySize].toSorted(([a], [b]) => a - b))
  const lists = [...threads.values()]
  const expected = operations.threads.map((_, t) => lists[t] ?? [])
  expect(operations.threads.map((list) => list.filter(isCall).length)).toEqual(expected.map(({ length }) => length))
  const counts = { malloc: 0, calloc: 0, memalign: 0, realloc: 0, free: 0 }
  const held = new Map<number, number>()
  const next = operations.threads.map(() => 0)
  const take = (slot: number) => {
    if (slot === NONE) return 0
    const block = held.get(slot)
    if (block === undefined) throw new Error(`slot ${slot} is empty`)
    held.delete(slot)
    return block
  }
  schedule(operations, random, (t: number, { op, slot, size, old }: Operation) => {
    const call = expected[t]![next[t]!++]!
    counts[op as keyof typeof counts]++
    if (op === 'free') {
      const block = take(slot)
      const isRight = call.among === undefined ? block === call.block : call.among.delete(block)
      if (call.op !== 'free' || !isRight) throw new Error(`${op}: not ${JSON.stringify(call)}`)
      return
    }
    const before = op === 'realloc' ? take(old!) : undefined
    if (call.op !== op || call.size !== size || call.old !== before)
      throw new Error(`${op} ${size} of ${before}: not ${JSON.stringify(call)}`)
    if (held.has(slot)) throw new Error(`slot ${slot} is not empty`)
    held.set(slot, call.block)
  })
  expect(counts).toEqual(result.calls)
  expect(held.size).toBe(result.final.blocks)
}

/** The slots that there may be: those of live blocks, and those that threads keep. */
const mostSlots = ({ peak, threads }: PreparedReplay) => peak.blocks + 256 * threads

/** Options with an order; of epochs, with their events. */
const inOrder = (order: OrderName, epoch: number) => ({ order, ...(order === 'epochs' && { epoch }) })

describe('the preparation of a replay is that of a plain model', () => {
  test.each(ORDERS)('of shapes, with the order of %s', { tags: ['slow'] }, (order) => {
    const random = seeded(7)
    const numbers = Array.from({ length: runs(12) }, (_, i) => [1, 20, 300, 4000][i % 4]!)
    for (const shape of shapesOf(numbers, ORDERS.indexOf(order))) {
      const batches = [...eventsOf(shape)]
      const [operations, result, error] = prepared(batches, inOrder(order, 1 + random(2000)))
      expect(error).toBeUndefined()
      const first = batches.filter(({ header }) => header === batches[0]!.header)
      expectModel(
        first.flatMap((batch) => [...batch]),
        operations,
        result,
        random,
      )
      expect(result.slots).toBeLessThanOrEqual(mostSlots(result))
    }
  })

  test.each([
    ['blocks as programs make them', blockEvents],
    ['anything', spacedEvents],
  ])('of %s', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fc.constantFrom(...ORDERS), fc.nat(), (events, order, seed) => {
        const [operations, result, error] = prepared(batchesOf(events), inOrder(order, 1 + (seed % 9)))
        if (error !== undefined) return
        expectModel(events, operations, result, seeded(seed))
      }),
      { numRuns: runs(2000) },
    )
  })

  /** Threads that allocate, threads that free, and threads and processes that end and begin again. */
  function* pipeline(events: number, processes: number, random: (n: number) => number): Generator<TraceEvent> {
    const lives: bigint[][] = Array.from({ length: processes }, () => [])
    const kinds = ['malloc', 'calloc', 'memalign', 'new'] as const
    for (let i = 0n; i < events; i++) {
      const thread = BigInt(random(9))
      const at = random(processes)
      const live = lives[at]!
      const own = processes > 1 && { process: BigInt(at) }
      if (own && random(100) === 0) {
        lives[at] = []
        yield { kind: 'process-end', ...own }
        continue
      }
      const isMaker = thread < 3n
      if (random(200) === 0) yield { kind: 'thread-destroy', thread, ...own }
      if (isMaker || live.length === 0) {
        const address = 0x1000n + 64n * i
        live.push(address)
        const api = kinds[random(4)]!
        const size = random(50) === 0 ? 1n << 40n : BigInt(random(5000))
        yield { kind: 'alloc', api, thread, address, size, ...own, ...(api === 'memalign' && { alignment: 64n }) }
      } else {
        const address = live.splice(random(live.length), 1)[0]!
        if (random(4) > 0) yield { kind: 'free', thread, address, ...own }
        else {
          live.push(0x1000n + 64n * i)
          const size = BigInt(random(900))
          yield { kind: 'realloc', thread, oldAddress: address, address: 0x1000n + 64n * i, size, ...own }
        }
      }
    }
  }

  test.each<[OrderName, number]>(ORDERS.map((order) => [order, runs(40)]))(
    'of threads that make what others free, with the order of %s',
    (order, count) => {
      for (let seed = 1; seed <= count; seed++) {
        const random = seeded(seed)
        const events = [...pipeline(1 + random(3000), 1 + (seed % 3), random)]
        const [operations, result] = prepared(batchesOf(events), inOrder(order, 1 + random(300)))
        expectModel(events, operations, result, random)
        expect(result.slots).toBeLessThanOrEqual(mostSlots(result))
      }
    },
  )
})

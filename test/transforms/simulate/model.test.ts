import { describe, expect, test } from 'vitest'
import { batchesOf } from '../../../lib/event/batch.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import type { SimulateOptions } from '../../../lib/transforms/simulate/policies.js'
import { settingsOf } from '../../../lib/transforms/simulate/settings.js'
import { Simulator } from '../../../lib/transforms/simulate/simulator.js'
import { modelOf, type HeapModel } from '../../oracle/simulate/model.js'
import { isWhole } from '../../support/runs.js'
import { callsOf, type CallShape } from './calls.js'

const POLICIES: readonly SimulateOptions[] = [
  { policy: 'first-fit' },
  { policy: 'first-fit', list: 'lifo', trim: 0 },
  { policy: 'first-fit', list: 'fifo', header: 16, smallest: 48 },
  { policy: 'first-fit', coalescing: 'deferred', trim: 65_536 },
  { policy: 'first-fit', list: 'lifo', coalescing: 'deferred', header: 0, smallest: 16 },
  { policy: 'next-fit' },
  { policy: 'next-fit', coalescing: 'deferred', alignment: 8 },
  { policy: 'best-fit', trim: 4096, page: 1024 },
  { policy: 'best-fit', coalescing: 'deferred', header: 4 },
  { policy: 'binary-buddy' },
  { policy: 'binary-buddy', header: 8, smallest: 32 },
  { policy: 'double-buddy' },
  { policy: 'double-buddy', header: 8 },
  { policy: 'weighted-buddy' },
  { policy: 'weighted-buddy', header: 16, alignment: 8, smallest: 8 },
  { policy: 'segregated' },
  { policy: 'segregated', classes: 'tcmalloc', page: 8192 },
  { policy: 'segregated', classes: [16, 48, 100, 128, 1000, 1024, 5000] },
  { policy: 'segregated', classes: 'two-per-power', alignment: 64 },
  { policy: 'bump' },
  { policy: 'bump', header: 8, alignment: 32 },
]
const nameOf = (options: SimulateOptions) =>
  Object.entries(options)
    .map(([name, value]) => (name === 'policy' ? String(value) : `${name} ${String(value)}`))
    .join(', ')

/** What the model makes of the events, and the memory that its heaps have after each that changes the live set. */
function* placed(
  events: Iterable<TraceEvent>,
  options: SimulateOptions,
): Generator<[event: TraceEvent, used: number | undefined]> {
  const settings = settingsOf(options)
  const heaps = new Map<bigint | undefined, HeapModel>()
  const addresses = new Map<bigint, { heap: HeapModel; address: number }>()
  for (const event of events) {
    const { process } = event
    let heap = heaps.get(process)
    if (heap === undefined) heaps.set(process, (heap = modelOf(settings)))
    const used = () => [...heaps.values()].reduce((sum, one) => sum + one.used, 0)
    if (event.kind === 'process-end') {
      heaps.delete(process)
      const left = [...addresses].filter(([, block]) => block.heap === heap)
      for (const [address] of left) addresses.delete(address)
      yield [event, left.length > 0 ? used() : undefined]
      continue
    }
    const size = Number(event.size ?? 0n)
    if (event.kind === 'alloc') {
      const address = heap.allocate(size, Number(event.alignment ?? 0n))
      addresses.set(event.address as bigint, { heap, address })
      yield [{ ...event, address: BigInt(address) }, used()]
    } else if (event.kind === 'free') {
      const { address } = addresses.get(event.address as bigint)!
      addresses.delete(event.address as bigint)
      heap.free(address)
      yield [{ ...event, address: BigInt(address) }, used()]
    } else {
      const { oldAddress, address: newAddress } = event as { oldAddress: bigint; address: bigint }
      const { address: old } = addresses.get(oldAddress)!
      let address = old
      if (!heap.resize(old, size)) {
        address = heap.allocate(size, 0)
        heap.free(old)
      }
      addresses.delete(oldAddress)
      addresses.set(newAddress, { heap, address })
      yield [{ ...event, address: BigInt(address), oldAddress: BigInt(old) } as TraceEvent, used()]
    }
  }
}

/** Compares the kernel with the model. */
function compare(options: SimulateOptions, shape: CallShape): void {
  const events = [...callsOf(shape)]
  const simulator = new Simulator(options)
  const simulated: TraceEvent[] = []
  for (const batch of batchesOf(events)) {
    simulator.feed(batch)
    for (let out = simulator.next(); out !== null; out = simulator.next()) simulated.push(...out)
  }
  let most = 0
  let sum = 0
  let changes = 0
  let i = 0
  for (const [event, used] of placed(events, options)) {
    const { address, oldAddress } = simulated[i] as { address: bigint; oldAddress?: bigint }
    const wanted = event as { address: bigint; oldAddress?: bigint }
    if (address !== wanted.address || oldAddress !== wanted.oldAddress)
      expect({ i, address, oldAddress }).toEqual({ i, address: wanted.address, oldAddress: wanted.oldAddress })
    i++
    if (used === undefined) continue
    most = Math.max(most, used)
    sum += used
    changes++
  }
  const [result] = simulator.results()
  expect(simulated.length).toBe(events.length)
  expect(result?.changes).toBe(changes)
  expect(result?.largestHeap?.heap).toBe(most)
  const requested = result?.timeline.reduce((all, moment) => all + moment.requested, 0) as number
  if (events.length <= 1024) expect(result?.fragmentation.average).toBeCloseTo(sum / requested - 1, 6)
  simulator.dispose()
}

const SMALL: readonly CallShape[] = [
  { events: 300, blocks: 5, seed: 1 },
  { events: 800, blocks: 60, seed: 2 },
  { events: 800, blocks: 30, seed: 3, log: 17 },
  { events: 1000, blocks: 100, seed: 4, log: 8, processes: 3 },
  { events: 1000, blocks: 100, seed: 8, log: 14, processes: 3, ends: true },
]

describe.each(POLICIES.map((options) => [nameOf(options), options] as const))('%s', (_, options) => {
  test('gives the addresses of its model', () => {
    for (const shape of SMALL) compare(options, shape)
  })

  test('gives them to many blocks', { tags: ['slow'], timeout: 120_000 }, () => {
    for (let seed = 10; seed < 30; seed += isWhole() ? 1 : 3)
      compare(options, { events: 3000, blocks: 10 + 20 * (seed % 7), seed, log: 6 + (seed % 9) })
    compare(options, { events: 12_000, blocks: 1500, seed: 5 })
    for (let seed = 40; seed < 46; seed++)
      compare(options, { events: 6000, blocks: 600, seed, log: 8 + (seed % 8), processes: 1 + (seed % 4), ends: true })
  })

  test('gives them where blocks are read ahead', { tags: ['slow'], timeout: 120_000 }, () => {
    compare(options, { events: 20_000, blocks: 9000, seed: 6, log: 9 })
    if (isWhole()) compare(options, { events: 16_000, blocks: 7000, seed: 7, processes: 2 })
  })
})

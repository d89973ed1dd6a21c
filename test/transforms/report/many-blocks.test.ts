import { expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { ReportCollector } from '../../../lib/transforms/report/collector.js'
import { HEAT_SIDE } from '../../../lib/transforms/report/result.js'
import { xorshift } from '../../support/hostile-calls.js'
import { HEADER, inBatches } from '../events.js'
import { pairs } from './whole.js'

const bits = (value: number) => (value === 0 ? 0 : 32 - Math.clz32(value))

/** Blocks that end in any order, 12,000 at a time, and what a plain map says of them. */
function manyBlocks() {
  const random = xorshift(11)
  const live = new Map<number, { size: number; born: number; thread: number }>()
  const heat: Record<number, number> = {}
  const handedOver = new Map<string, number>()
  let [lived, freed] = [0, 0]
  const events: TraceEvent[] = []
  for (let event = 1; event <= 50_000; event++) {
    const place = random(25_000)
    const address = BigInt(65_536 + 512 * place)
    const thread = 1 + random(2)
    const block = live.get(place)
    if (block === undefined) {
      const size = 1 + random(500)
      live.set(place, { size, born: event, thread })
      events.push({ kind: 'alloc', address, size: BigInt(size), thread: BigInt(thread) })
      continue
    }
    live.delete(place)
    events.push({ kind: 'free', address, thread: BigInt(thread) })
    const age = event - block.born
    const cell = bits(block.size) * HEAT_SIDE + bits(age)
    heat[cell] = (heat[cell] ?? 0) + 1
    lived += age
    freed += block.size
    const way = `${block.thread} > ${thread}`
    handedOver.set(way, (handedOver.get(way) ?? 0) + block.size)
  }
  return { events, live, heat, lived, freed, handedOver }
}

test.each([4096, 7])('the ends of many live blocks are those of a plain map, in batches of %s', (batchSize) => {
  const { events, live, heat, lived, freed, handedOver } = manyBlocks()
  const collector = new ReportCollector()
  const batches = batchSize === 4096 ? batchesOf(events) : inBatches(events, batchSize, HEADER)
  for (const batch of batches) collector.add(batch)
  const { churn, threads, summary } = collector.finish().data()
  expect(live.size).toBeGreaterThan(10_000)
  expect(Object.fromEntries(pairs(churn.heat))).toEqual(heat)
  expect(Number(summary.freed.bytes)).toBe(freed)
  expect(Number(summary.leaked.blocks)).toBe(live.size)
  expect(Number(summary.lifetimes.events.sum)).toBe(lived)
  const { from, to, bytes } = threads.matrix
  const name = (row: number) => Number(threads.thread[row])
  expect(new Map(from.map((row, i) => [`${name(row)} > ${name(to[i]!)}`, Number(bytes[i])]))).toEqual(handedOver)
})

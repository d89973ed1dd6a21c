// @module-tag slow
import { expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { seeded } from '../shapes/shape.js'

const PROCESSES = 1000

const title = '700,000 live blocks of 1,000 processes that end are those of a plain Map'

test(title, { tags: ['large'], timeout: 300_000 }, () => {
  const random = seeded(7)
  const live = new Map<number, Map<number, number>>()
  const now = { blocks: 0, bytes: 0 }
  const [peak, leaked] = [
    { blocks: 0, bytes: 0 },
    { blocks: 0, bytes: 0 },
  ]
  const end = (process: number) => {
    for (const size of live.get(process)?.values() ?? []) {
      now.blocks--
      now.bytes -= size
      leaked.blocks++
      leaked.bytes += size
    }
    live.delete(process)
  }
  const event = (i: number): TraceEvent => {
    const number = random(PROCESSES)
    const process = BigInt(number)
    if (i > 1_000_000 && random(1000) === 0) {
      end(number)
      return { kind: 'process-end', process }
    }
    const blocks = live.get(number) ?? new Map<number, number>()
    const [oldest] = blocks
    if (oldest !== undefined && random(100) < 15) {
      const [address, size] = oldest
      blocks.delete(address)
      now.blocks--
      now.bytes -= size
      return { kind: 'free', process, address: BigInt(address) }
    }
    const [address, size] = [16 * (i + 1), 1 + random(500)]
    live.set(number, blocks.set(address, size))
    now.blocks++
    now.bytes += size
    peak.blocks = Math.max(peak.blocks, now.blocks)
    peak.bytes = Math.max(peak.bytes, now.bytes)
    return { kind: 'alloc', process, address: BigInt(address), size: BigInt(size) }
  }
  const collector = new StatisticsCollector()
  for (let from = 0; from < 1_300_000; from += 1000)
    for (const batch of batchesOf(Array.from({ length: 1000 }, (_, i) => event(from + i)))) collector.add(batch)
  const found = collector.finish()
  for (const process of live.keys()) end(process)
  expect(peak.blocks).toBeGreaterThan(650_000)
  expect(found.peakBytes.bytes).toBe(BigInt(peak.bytes))
  expect(found.peakBlocks.blocks).toBe(peak.blocks)
  expect(found.leaked).toEqual({ blocks: leaked.blocks, bytes: BigInt(leaked.bytes) })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventBatch } from '../../../lib/event/batch.js'
import { heaptrack } from '../../../lib/formats/heaptrack/index.js'
import { nameFrames } from '../../../lib/streams/symbols/name-frames.js'
import type { Symbolizer } from '../../../lib/streams/symbols/symbolizer.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { decodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'

const hex = (n: number) => n.toString(16)

/** Names by the offset alone: up to three functions, of which all but the last one are inlined. */
const symbolizer = {
  warnings: [],
  close: () => undefined,
  names: (_module: string, offsets: Iterable<bigint>) =>
    Promise.resolve(
      new Map(
        [...offsets].map((offset) => [
          offset,
          Array.from({ length: Number(offset / 16n) % 4 }, (_, i) => ({ function: `f${offset}-${i}` })),
        ]),
      ),
    ),
} as unknown as Symbolizer

async function named(batches: readonly EventBatch[]): Promise<EventBatch[]> {
  const all = async function* () {
    yield* batches
  }
  const result: EventBatch[] = []
  for await (const batch of nameFrames(all(), () => symbolizer, expect.unreachable)) result.push(batch)
  return result
}

describe('nameFrames', () => {
  it('gives stacks of a tree the same names where their frames come once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(30), fc.nat(20), fc.nat(19)), { maxLength: 150 }),
        fc.integer({ min: 1, max: 400 }),
        async (all, pieces) => {
          const lines = ['v 10400 3', 'x 4 /b/c', 'X ./a', 'm 1 -', 'm 1 x 1000 0 100', 't 1010 0']
          let nodes = 1
          for (const [what, first, second] of all) {
            // Some addresses are in no module.
            if (what < 8) lines.push(`t ${hex(0x1000 + 16 * second)} ${hex(first % ++nodes)}`)
            else if (what < 24) lines.push(`+ ${hex(second)} ${hex(first % (nodes + 1))} ${hex(0x1_0000 + second)}`)
            else lines.push(`- ${hex(0x1_0000 + second)}`)
          }
          const text = Buffer.from(`${[...lines, '+ 1 0 1'].join('\n')}\n`)
          const batchesOf = (isCounted: boolean, size: number) => {
            const decoder = heaptrack.decoder()
            if (isCounted) decoder.giveInfos?.()
            const { batches, error } = decodeAll(decoder, text, size)
            if (error !== undefined) throw error
            return batches
          }
          const plain = await named(batchesOf(false, text.length))
          // The names of each event, by plain arithmetic.
          const events = batchesOf(false, text.length).flatMap((batch) => [...batch])
          for (const [i, event] of plain.flatMap((batch) => [...batch]).entries()) {
            const before = events[i]
            if (event.kind !== 'alloc' || before?.kind !== 'alloc') continue
            const expected = before.stack?.flatMap((frame) => {
              const offset = /\+(0x[0-9a-f]+) /.exec(frame)?.[1]
              const n = offset === undefined ? 0 : Math.floor(Number(offset) / 16) % 4
              return n === 0 ? [frame] : Array.from({ length: n }, (_, k) => `f${Number(offset)}-${k}`)
            })
            expect(event.stack?.map((frame) => frame.replace(/^(f\d+-\d+).*$/, '$1'))).toEqual(expected)
          }
          const statistics = (batches: readonly EventBatch[]) => {
            const collector = new StatisticsCollector()
            for (const batch of batches) collector.add(batch)
            return collector.finish()
          }
          expect(statistics(await named(batchesOf(true, pieces)))).toEqual(statistics(plain))
        },
      ),
      { numRuns: runs(400) },
    )
  })
})

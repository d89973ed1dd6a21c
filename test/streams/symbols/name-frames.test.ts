import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventBatch, TraceEvent } from '../../../lib/event/batch.js'
import { heaptrack } from '../../../lib/formats/heaptrack/index.js'
import type { Format } from '../../../lib/event/format.js'
import { recorder } from '../../../lib/formats/recorder/index.js'
import { nameFrames } from '../../../lib/streams/symbols/name-frames.js'
import type { Symbolizer } from '../../../lib/streams/symbols/symbolizer.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { recordingOf } from '../../formats/recorder/random.js'
import { HEADER, inBatches } from '../../transforms/events.js'
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

async function withNames(batches: readonly EventBatch[]): Promise<EventBatch[]> {
  const all = async function* () {
    yield* batches
  }
  const result: EventBatch[] = []
  for await (const batch of nameFrames(all(), () => symbolizer, expect.unreachable)) result.push(batch)
  return result
}

function batchesOf(format: Format, bytes: Uint8Array, isCounted: boolean, size: number): EventBatch[] {
  const decoder = format.decoder()
  if (isCounted) decoder.giveInfos?.()
  const { batches, error } = decodeAll(decoder, bytes, size)
  if (error !== undefined) throw error
  return batches
}

/** The names of a frame, by plain arithmetic. */
function namesOf(frame: string): string[] {
  const offset = /^in \S+\+(0x[0-9a-f]+)/.exec(frame)?.[1]
  const n = offset === undefined ? 0 : Number((BigInt(offset) / 16n) % 4n)
  return n === 0 ? [frame] : Array.from({ length: n }, (_, k) => `f${BigInt(offset as string)}-${k}`)
}

/** The text of a frame, or only the name if it has one. */
const shortened = (frame: string) => frame.replace(/^(f\d+-\d+).*$/, '$1')

function statistics(batches: readonly EventBatch[]): unknown {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

const choices = fc.array(fc.tuple(fc.nat(30), fc.nat(20), fc.nat(19)), { maxLength: 150 })

function heaptrackOf(all: readonly (readonly [number, number, number])[]): Uint8Array {
  const lines = ['v 10400 3', 'x 4 /b/c', 'X ./a', 'm 1 -', 'm 1 x 1000 0 100', 't 1010 0']
  let nodes = 1
  for (const [what, first, second] of all) {
    // Some addresses are in no module.
    if (what < 8) lines.push(`t ${hex(0x1000 + 16 * second)} ${hex(first % ++nodes)}`)
    else if (what < 24) lines.push(`+ ${hex(second)} ${hex(first % (nodes + 1))} ${hex(0x1_0000 + second)}`)
    else lines.push(`- ${hex(0x1_0000 + second)}`)
  }
  return Buffer.from(`${[...lines, '+ 1 0 1'].join('\n')}\n`)
}

describe('nameFrames', () => {
  it.each([
    ['heaptrack', heaptrack, heaptrackOf],
    ['recorder', recorder, recordingOf],
  ])('gives stacks of a tree the same names, whether their frames come once or not: %s', async (_, format, make) => {
    await fc.assert(
      fc.asyncProperty(choices, fc.integer({ min: 1, max: 400 }), async (all, pieces) => {
        const bytes = make(all)
        const events = batchesOf(format, bytes, false, bytes.length).flatMap((batch) => [...batch])
        for (const size of [bytes.length, pieces]) {
          const named = (await withNames(batchesOf(format, bytes, false, size))).flatMap((batch) => [...batch])
          expect(named.map(({ stack }) => stack?.map(shortened))).toEqual(
            events.map(({ stack }) => stack?.flatMap(namesOf)),
          )
        }
        const plain = statistics(await withNames(batchesOf(format, bytes, false, bytes.length)))
        for (const size of [bytes.length, pieces]) {
          expect(statistics(await withNames(batchesOf(format, bytes, false, size)))).toEqual(plain)
          expect(statistics(await withNames(batchesOf(format, bytes, true, size)))).toEqual(plain)
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('asks again where a path is another module than before', async () => {
    // Names by the build id that the trace had given last.
    let id = ''
    const names = (_module: string, offsets: Iterable<bigint>) =>
      Promise.resolve(new Map([...offsets].map((offset) => [offset, [{ function: id }]])))
    const forget = () => {
      id = id === '' ? 'aa' : 'bb'
    }
    forget()
    const module = (build: string) => ({ kind: 'comment' as const, text: `module 0x1000 ${build} /b/c` })
    const block: TraceEvent = { kind: 'alloc', stack: ['in /b/c+0x10'] }
    const events: TraceEvent[] = [module('aa'), block, module('aa'), block, module('bb'), block]
    const source = async function* () {
      yield* inBatches(events, 1, { format: 'recorder' })
    }
    const stacks: unknown[] = []
    const open = () => ({ warnings: [], close: () => undefined, names, forget }) as unknown as Symbolizer
    for await (const batch of nameFrames(source(), open, expect.unreachable))
      for (const { stack } of batch) if (stack !== undefined) stacks.push(...stack.map((frame) => frame.slice(0, 2)))
    expect(stacks).toEqual(['aa', 'aa', 'bb'])
  })

  it('leaves stacks of more than 65,536 frames as they are', { tags: ['slow'] }, async () => {
    const frameOf = (i: number) => `in /b/c+0x${hex(16 * (1 + (i % 7)))}`
    const stacks = [65_535, 65_536, 65_537, 70_000].map((length) => Array.from({ length }, (_, i) => frameOf(i)))
    const batches = inBatches(
      stacks.map((stack) => ({ kind: 'alloc', stack })),
      3,
      HEADER,
    )
    const named = (await withNames(batches)).flatMap((batch) => [...batch])
    expect(named.map(({ stack }) => stack?.map(shortened))).toEqual(
      stacks.map((stack) => (stack.length > 65_536 ? stack : stack.flatMap(namesOf))),
    )
  })
})

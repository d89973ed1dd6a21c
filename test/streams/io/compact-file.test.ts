// @module-tag slow
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { compact } from '../../../lib/formats/compact/index.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { filterFile } from '../../../lib/streams/filter-file.js'
import { Filter, neededEvents, type FilterOptions } from '../../../lib/transforms/filter.js'
import { corpusFile } from '../../support/corpus.js'
import { drive, encodeAll, slices } from '../../support/drive.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program whose frees are hard to predict. */
function* program(n: number): Generator<TraceEvent> {
  let seed = 7
  const random = (below: number) => ((seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff) >> 8) % below
  const live: bigint[] = []
  const free: bigint[] = []
  let top = 0x5500_0000n
  for (let i = 0; i < n; i++) {
    if (live.length > 100 + random(200)) {
      const [address] = live.splice(random(live.length), 1) as [bigint]
      free.push(address)
      yield { kind: 'free', thread: 1n, sequence: i, address }
    } else {
      const address = free.pop() ?? (top += 64n)
      live.push(address)
      yield { kind: 'alloc', thread: 1n, sequence: i, address, size: BigInt(8 + random(7)) }
    }
  }
}

const range = (from: number, to?: number) => ({ from: BigInt(from), ...(to !== undefined && { to: BigInt(to) }) })

/** What a filter of the whole trace keeps. */
function keptOf(batches: readonly EventBatch[], options: FilterOptions): EventBatch[] {
  return drive(new Filter(options), batches).out
}

async function read(path: string, options: FilterOptions) {
  const stream = filterFile(path, options)
  const warnings: string[] = []
  stream.on('warning', (text: string) => warnings.push(text))
  const batches: EventBatch[] = []
  let error: Error | undefined
  try {
    for await (const batch of stream) batches.push(batch as EventBatch)
  } catch (caught) {
    error = caught as Error
  }
  return { batches, warnings, bytes: stream.bytesRead(), ...(error && { error }) }
}

const eventsOf = (batches: readonly EventBatch[]) => batches.flatMap((batch) => [...batch])

describe('a part of a compact trace', () => {
  const COUNT = 200_000
  const batches = batchesOf(program(COUNT), { format: 'replay', timeUnit: 'ns' })
  const bytes = encodeAll(compact.encoder({ checkpoint: '5K' }), batches)
  const path = join(folder, 'part.hfc')
  writeFileSync(path, bytes)

  it.each([
    [180_000, 180_100],
    [1, 1],
    [5120, 5121],
    [5121, 5121],
    [199_999, 200_000],
  ])('is read from the nearest checkpoint: %i to %i', async (from, to) => {
    const options = { events: range(from, to) }
    const part = await read(path, options)
    expect(part.error).toBeUndefined()
    expect(eventsOf(part.batches)).toEqual(eventsOf(keptOf(batches, options)))
    expect(part.batches[0]?.header).toEqual(keptOf(batches, options)[0]?.header)
    expect(part.bytes).toBeLessThan(bytes.length / 10)
  })

  it('meets the other criteria, too, and keeps lifetimes to the end', async () => {
    const options = { events: [range(150_000, 150_010), range(150_200)], kind: 'alloc' as const }
    expect(eventsOf((await read(path, options)).batches)).toEqual(eventsOf(keptOf(batches, options)))
    const whole = { events: range(190_000, 190_010), lifetimes: true }
    const kept = eventsOf((await read(path, whole)).batches)
    expect(kept).toEqual(eventsOf(keptOf(batches, whole)))
    expect(kept.some(({ kind, sequence }) => kind === 'free' && Number(sequence) > 190_010)).toBe(true)
  })

  it('is all of it where all of it is needed', async () => {
    expect(neededEvents({ events: range(5, 6), invert: true })).toBeUndefined()
    expect(neededEvents({ events: range(5, 6), leaked: true })).toBeUndefined()
    expect(neededEvents({ thread: 1 })).toBeUndefined()
    expect(neededEvents({ events: [range(50, 60), range(5, 6)] })).toEqual({ first: 4, end: 60 })
    const options = { events: range(50_000), invert: true }
    expect(eventsOf((await read(path, options)).batches)).toHaveLength(49_999)
  })

  it('is empty after the last event', async () => {
    expect(eventsOf((await read(path, { events: range(COUNT + 1) })).batches)).toEqual([])
  })

  it('is read from the start, with a warning, if the index is damaged', async () => {
    const copy = bytes.slice()
    // Within the last entry of the index, before its own tail and the end section.
    copy[bytes.length - 70] = copy[bytes.length - 70] ^ 1
    const damaged = join(folder, 'damaged.hfc')
    writeFileSync(damaged, copy)
    const options = { events: range(180_000, 180_100) }
    const { batches: kept, warnings } = await read(damaged, options)
    expect(eventsOf(kept)).toEqual(eventsOf(keptOf(batches, options)))
    expect(warnings).toEqual([expect.stringMatching(/^compact: the index at byte \d+ is damaged: the file is read/)])
  })

  it('is read from the start if the file is truncated', async () => {
    const cut = join(folder, 'cut.hfc')
    writeFileSync(cut, bytes)
    truncateSync(cut, bytes.length - 1000)
    const options = { events: range(100_000, 100_100) }
    const { batches: kept, error } = await read(cut, options)
    expect(eventsOf(kept)).toEqual(eventsOf(keptOf(batches, options)))
    expect(error?.message).toContain('truncated')
  })
})

describe('a real trace of ten million events', { tags: ['corpus', 'slow'] }, () => {
  it('is read for a hundred of them to less than a tenth', async () => {
    const one = drive(replay.decoder(), slices(corpusFile('memory-replay/espresso-largest-m32.txt'), 65_536)).out
    const batches = [...one, ...one, ...one]
    const bytes = encodeAll(compact.encoder({ checkpoint: '1M' }), batches)
    const path = join(folder, 'large.hfc')
    writeFileSync(path, bytes)
    const options = { events: range(9_000_000, 9_000_100) }
    const part = await read(path, options)
    expect(eventsOf(part.batches)).toEqual(eventsOf(keptOf(batches, options)))
    expect(eventsOf(part.batches)).toHaveLength(101)
    expect(part.bytes).toBeLessThan(bytes.length / 10)
  })
})

// @module-tag slow
import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, type EventBatch, type TraceEvent } from '../../../lib/event/batch.js'
import { TraceError } from '../../../lib/event/error.js'
import { compact } from '../../../lib/formats/compact/index.js'
import { LEVEL, type CompactLevel } from '../../../lib/formats/compact/layout.js'
import { selectRows } from '../../../lib/kernel/select.js'
import { openTrace } from '../../../lib/streams/io/open-trace.js'
import { decodeCompact } from '../../oracle/compact/decode.js'
import { corpusPath, corpusTraces } from '../../support/corpus.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { pick, processes, type Trace } from './processes.js'
import { random } from './random.js'

/** Expects that the oracle reads what the encoder writes as the decoder does. */
function readsLikeOracle(batches: Iterable<EventBatch>, level: CompactLevel): void {
  const file = encodeAll(compact.encoder({ level }), batches)
  const should = decodeCompact(file)
  const is = decodeAll(compact.decoder(), file)
  expect(is.error).toBeUndefined()
  expect(is.events).toEqual(should.flatMap(({ events }) => events))
  expect(is.headers.map((header) => ({ kind: 'header', ...header }))).toEqual(should.map(({ header }) => header))
}

function batchesOfAll(traces: readonly Trace[]): EventBatch[] {
  return traces.flatMap(({ header, events }) => batchesOf(events, header))
}

const LEVELS = Object.entries(LEVEL)

test.each(LEVELS)('random traces at the %s level are what the pages say', (_, level) => {
  const traces = fc.array(random(), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(traces, (some) => readsLikeOracle(batchesOfAll(some), level)),
    { numRuns: runs(300) },
  )
})

/** A long trace of few threads, in which sequences of calls recur and many blocks of a size live. */
function long(seed: number, count: number): Trace {
  const live: { address: bigint; size: bigint }[] = []
  const events: TraceEvent[] = []
  let time = 0n
  for (let i = 0; i < count; i++) {
    // Half of the time the program repeats itself.
    const step = i % 512 < 256 ? i % 64 : i
    const choose = (what: number, n: number) => pick(seed + what, step, n)
    const thread = BigInt(choose(0, 40) < 38 ? 1 : choose(1, 3))
    const name = ['main', 'parse', `f${choose(2, 90)}`][choose(3, 3)] as string
    time += [1000n, 2_000_000n, 7n][choose(4, 3)] as bigint
    const place = choose(5, 3) === 0 ? live.length - 1 : choose(6, Math.max(live.length, 1))
    const growth = i % 2048 < 1024 ? 3 : 7
    const size = BigInt([24, 24, 100, 4000][choose(7, 4)] as number)
    const address = BigInt(0x1000 + pick(seed, i, 1 << 24) * 16)
    const what = choose(8, 10)
    if (what >= growth || live.length === 0) {
      live.push({ address, size })
      events.push({ kind: 'alloc', thread, time, address, size, stack: [name, 'main'] })
    } else if (what === 0) {
      const old = live[place] as { address: bigint; size: bigint }
      const moved = choose(9, 2) === 0 ? address : old.address
      live[place] = { address: moved, size }
      events.push({ kind: 'realloc', thread, time, address: moved, oldAddress: old.address, size })
    } else {
      const [block] = live.splice(place, 1)
      events.push({ kind: 'free', thread, time, address: block!.address, ...(what === 1 && { size: block!.size }) })
    }
  }
  return { header: { format: 'test', timeUnit: 'ns' }, events }
}

describe.each(LEVELS)('a long trace at the %s level', (_, level) => {
  test.each([1, 2, 3])('is what the pages say (%i)', (seed) => {
    readsLikeOracle(batchesOfAll([long(seed, 6000)]), level)
  })
})

describe.each(LEVELS)('processes that end, at the %s level', (_, level) => {
  test.each([1, 2, 3])('are what the pages say (%i)', (seed) => {
    readsLikeOracle(batchesOfAll([processes(seed, 20_000)]), level)
  })
})

/** The first events of a trace, or all before its first fault. */
async function headOf(path: URL | string, most: number): Promise<EventBatch[]> {
  const head: EventBatch[] = []
  let left = most
  try {
    for await (const batch of openTrace(path).batches) {
      const rows = Math.min(left, batch.count)
      head.push(
        selectRows(
          batch,
          Int32Array.from({ length: rows }, (_, i) => i),
          rows,
        ),
      )
      left -= rows
      if (left === 0) break
    }
  } catch (error) {
    expect(error).toBeInstanceOf(TraceError)
  }
  return head
}

const FIXTURES = new URL('../../fixtures/', import.meta.url)
const FIXTURE_NAMES = readdirSync(FIXTURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(new URL(`${name}/`, FIXTURES)).map((file) => `${name}/${file}`))
  .filter((name) => !/\.(verbose|stats)\.txt(\.gz)?$/.test(name))

describe.each(LEVELS)('fixtures at the %s level', { tags: ['slow'] }, (_, level) => {
  test.each(FIXTURE_NAMES)('%s', async (name) => {
    readsLikeOracle(await headOf(new URL(name, FIXTURES), 5000), level)
  })
})

describe.each(LEVELS)('long traces at the %s level', { tags: ['slow'] }, (_, level) => {
  const readsLong = async (name: string) => readsLikeOracle(await headOf(new URL(name, FIXTURES), 100_000), level)

  test.each(['replay/mstress-head.txt.gz'])('%s', readsLong)

  test.each(['replay/git.txt.gz', 'mtrc/git.mtrc.gz'])('%s', { tags: ['large'] }, readsLong)
})

describe.each(LEVELS)('the corpus at the %s level', { tags: ['corpus'] }, (_, level) => {
  test.each(corpusTraces())('%s', async (name) => {
    readsLikeOracle(await headOf(corpusPath(name), 50_000), level)
  })
})

import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KNOWN_SUPPRESSIONS, parseSuppressions } from '../../../lib/names/suppressions.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { SiteStatistics } from '../../../lib/transforms/statistics/result.js'
import { suppress } from '../../../lib/transforms/statistics/suppress.js'
import type { EventBatch, TraceEvent } from '../../../lib/event/batch.js'
import { decodeAny } from '../../../lib/streams/decode.js'
import { decompress } from '../../../lib/streams/decompress.js'
import { CORPUS } from '../../support/corpus.js'
import { HEADER, inBatches } from '../events.js'

test('what is suppressed is taken from the leaks of sites and of the whole, and from nothing else', () => {
  const stacks = [['malloc', 'pool', 'main'], ['malloc', 'cache', 'main'], ['malloc', 'lost'], undefined]
  const events: TraceEvent[] = []
  for (let i = 0; i < 400; i++) {
    const stack = stacks[i % 4]
    events.push({ kind: 'alloc', address: BigInt(16 * i + 16), size: BigInt(i), ...(stack && { stack }) })
    if (i % 3 === 0) events.push({ kind: 'free', address: BigInt(16 * i + 16) })
  }
  const collector = new StatisticsCollector()
  for (const batch of inBatches(events, 100, HEADER)) collector.add(batch)
  const all = collector.finish(true)
  const rules = parseSuppressions('leak:pool\nleak:main\nleak:nothing\n')
  const { suppressed, leaked, sites, ...others } = suppress(all, rules)

  const leakOf = (name: string) => {
    const of = all.sites.filter(({ stack }) => stack?.includes(name) === true).map((site) => site.leaked)
    return { blocks: of.reduce((n, one) => n + one.blocks, 0), bytes: of.reduce((n, one) => n + one.bytes, 0n) }
  }
  const [pool, cache] = [leakOf('pool'), leakOf('cache')]
  expect(pool.blocks).toBe(66)
  expect(suppressed).toEqual({
    blocks: pool.blocks + cache.blocks,
    bytes: pool.bytes + cache.bytes,
    rules: [
      { name: 'leak:pool', ...pool },
      // What the first rule holds for is its alone.
      { name: 'leak:main', ...cache },
    ],
  })
  expect(leaked.blocks + (suppressed?.blocks ?? 0)).toBe(all.leaked.blocks)
  expect(leaked.bytes + (suppressed?.bytes ?? 0n)).toBe(all.leaked.bytes)
  expect(sites.reduce((n, site) => n + site.leaked.blocks, 0)).toBe(leaked.blocks)
  const figures = (all: readonly SiteStatistics[]) => all.map((site) => ({ ...site, leaked: undefined }))
  expect(figures(sites)).toEqual(figures(all.sites))
  const { leaked: _, sites: _sites, ...before } = all
  expect(others).toEqual(before)
  expect(suppress(all, []).suppressed).toEqual({ blocks: 0, bytes: 0n, rules: [] })
})

test.each([
  // heaptrack_print: total memory leaked 5.69K, suppressed leaks 3.25K; 5.43K and 52B.
  ['sqlite3', 5688n, 3249n],
  ['python-large', 5432n, 52n],
])(
  'the leaks of %s are those that heaptrack_print reports',
  { tags: ['slow', 'corpus'] },
  async (name, leaked, rest) => {
    const collector = new StatisticsCollector()
    const source = createReadStream(join(CORPUS, 'heaptrack', `${name}.zst`))
      .pipe(decompress())
      .pipe(decodeAny())
    for await (const batch of source as AsyncIterable<EventBatch>) collector.add(batch)
    const statistics = suppress(collector.finish(true), KNOWN_SUPPRESSIONS)
    expect(statistics.leaked.bytes).toBe(leaked)
    expect(statistics.suppressed).toMatchObject({ bytes: rest })
  },
)

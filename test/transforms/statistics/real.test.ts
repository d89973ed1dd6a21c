import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { EventBatch, TraceEvent } from '../../../lib/event/batch.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import type { Amount, Shares, Statistics } from '../../../lib/transforms/statistics/result.js'
import { CORPUS, corpusFile, corpusPath, hasCorpus } from '../../support/corpus.js'
import { drive, slices } from '../../support/drive.js'
import { HEADER, inBatches } from '../events.js'

function collect(batches: Iterable<EventBatch>): Statistics {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

/** The real traces of the corpus whose formats have one file for a trace. */
const REAL = ['mtrc', 'memory-replay'].flatMap((folder) =>
  (hasCorpus ? readdirSync(`${CORPUS}/${folder}`) : [])
    .map((name) => name.replace(/\.gz$/, ''))
    .filter((name) => /\.mtrc$|(?<!verbose|stats)\.txt$/.test(name) && (folder !== 'mtrc' || name.endsWith('.mtrc')))
    .map((name) => `${folder}/${name}`),
)

describe('real traces', { tags: ['corpus'] }, () => {
  const of = (path: string) => {
    const format = path.startsWith('mtrc') ? mtrc : replay
    return collect(drive(format.decoder(), slices(corpusFile(path), 65_536)).out)
  }

  test("espresso on largest.espresso has the figures of the HATF paper's Table 3", () => {
    const result = of('memory-replay/espresso-largest-m32.txt')
    expect(result.allocated).toEqual({ blocks: 1_675_484, bytes: 107_042_242n })
    expect(result.kinds.realloc).toBe(16_128)
    expect(result.freed.blocks).toBe(1_675_482)
    expect(result.faults).toMatchObject({ nullFrees: 32_497, unknownFrees: 0, doubleFrees: 0 })
    expect(result.peakBlocks.blocks).toBe(4389)
    expect(result.peakBytes.bytes).toBe(268_154n)
    expect(result.sizes.histogram.mean).toBeCloseTo(63.9, 1)
  }, 60_000)

  test('threads and reallocs of a dump of Android', () => {
    const result = of('memory-replay/systemui.txt')
    expect(result.threads).toHaveLength(393)
    expect(result.threads.reduce((sum, { events }) => sum + events, 0)).toBe(786_454)
    expect(result.kinds).toMatchObject({ alloc: 392_067, free: 364_863, realloc: 29_167 })
    expect(Object.values(result.reallocs).reduce((sum, n) => sum + n)).toBe(29_167)
    expect(result.allocated.blocks - result.freed.blocks).toBe(result.leaked.blocks + result.faults.overlaps.blocks)
  }, 60_000)

  test('leaks by site are those of all', () => {
    const result = of('mtrc/mt64.mtrc')
    expect(result.sites.reduce((sum, { leaked }) => sum + leaked.bytes, 0n)).toBe(result.leaked.bytes)
    expect(result.leaked).toEqual({ blocks: 24, bytes: 6249n })
  })

  /** A figure summed up over the rows of each table. */
  const sums = ({ sites, sizes, threads }: Statistics, figure: (row: Shares) => Amount) => {
    const sum = (rows: readonly Shares[]) =>
      rows.map(figure).reduce((all, { blocks, bytes }) => ({ blocks: all.blocks + blocks, bytes: all.bytes + bytes }))
    const bySize = sizes.exact.map(({ size, count, atPeak, leaked, temporary }): Shares => {
      const amount = (blocks: number) => ({ blocks, bytes: size * BigInt(blocks) })
      return {
        allocated: amount(count),
        atPeak: amount(atPeak),
        leaked: amount(leaked),
        temporary: { heaptrack: amount(temporary.heaptrack), memray: amount(temporary.memray) },
      }
    })
    return [sum(sites), sum(threads), sum(sizes.others === undefined ? bySize : [...bySize, sizes.others])]
  }

  test.each(REAL)('sites, sizes and threads of %s sum up to the peak, the leaks and all else', (path) => {
    const result = of(path)
    const { allocated, leaked, temporary, peakBytes } = result
    const peak = { blocks: peakBytes.blocks, bytes: peakBytes.bytes }
    expect(peak.blocks).toBeGreaterThan(0)
    expect(sums(result, (row) => row.allocated)).toEqual([allocated, allocated, allocated])
    expect(sums(result, (row) => row.atPeak)).toEqual([peak, peak, peak])
    expect(sums(result, (row) => row.leaked)).toEqual([leaked, leaked, leaked])
    for (const by of ['heaptrack', 'memray'] as const)
      expect(sums(result, (row) => row.temporary[by])).toEqual(Array.from({ length: 3 }, () => temporary[by]))
  })

  test.each(['cxx', 'mtv-small', 'mtv-threads', 'sqlite3', 'python-large'])(
    'temporary allocations of %s are as many as heaptrack says',
    (name) => {
      const lines = execFileSync('zstd', ['-dcq', corpusPath(`heaptrack/${name}.raw.zst`)], { maxBuffer: 2 ** 28 })
      const events = lines
        .toString()
        .split('\n')
        .flatMap((line): TraceEvent[] => {
          const [mode, ...fields] = line.split(' ')
          const number = (i: number) => BigInt(`0x${fields[i]}`)
          if (mode === '+') return [{ kind: 'alloc', address: number(2), size: number(0) }]
          return mode === '-' ? [{ kind: 'free', address: number(0) }] : []
        })
      const expected = new TextDecoder().decode(corpusFile(`heaptrack/${name}.interpret.txt`))
      const figure = (what: string) => Number(new RegExp(`${what}:\\s+(\\d+)`).exec(expected)?.[1])
      const { allocated, leaked, temporary } = collect(inBatches(events, 4096, HEADER))
      expect(allocated.blocks).toBe(figure('\tallocations'))
      expect(leaked.blocks).toBe(figure('leaked allocations'))
      expect(temporary.heaptrack.blocks).toBe(figure('temporary allocations'))
    },
  )
})

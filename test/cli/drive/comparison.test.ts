import { describe, expect, test } from 'vitest'
import { compare, spread } from '../../../lib/cli/drive/comparison.js'
import type { Run } from '../../../lib/cli/drive/runs.js'
import { replayText, skippedText } from '../../../lib/cli/report/replay.js'
import { verdict } from '../../../lib/cli/report/replay-verdict.js'
import type { ReplayComparison } from '../../../lib/transforms/drive/comparison.js'
import type { PreparedReplay } from '../../../lib/transforms/drive/result.js'

const TRACE: PreparedReplay = {
  events: 2_000_000,
  calls: { malloc: 1_000_000, calloc: 0, memalign: 0, realloc: 0, free: 1_000_000 },
  skipped: { unknown: 0, again: 0, reused: 0, left: 0, existing: 0, failed: 0, absurd: 0, unaligned: 0, later: 0 },
  threads: 1,
  processes: 1,
  slots: 10_000,
  epochs: 0,
  peak: { blocks: 10_000, bytes: 10 * 2 ** 20 },
  peakSizes: [],
  final: { blocks: 0, bytes: 0 },
  duration: null,
}
const OPTIONS = { order: 'epochs', touch: 'all', paced: false, runs: 3 }

const run = (cpu: number, peak: number, final = peak): Run => ({
  calls: 2_000_000,
  threads: 1,
  wall: cpu,
  cpu,
  waiting: 0,
  user: 0,
  system: 0,
  start: 100,
  peak,
  final,
  startData: 0,
  finalData: 0,
  minorFaults: 7,
  majorFaults: 1,
  failed: 0,
  damaged: 0,
  misaligned: 0,
  object: '',
})

/** Processor time in ms and the resident set in KiB, of each run of an allocator. */
function compared(
  figures: Readonly<Record<string, readonly (readonly [ms: number, peak: number, final?: number])[]>>,
  trace = TRACE,
): ReplayComparison {
  const all = Object.entries(figures).map(([name, values]) => {
    const runs = values.map(([ms, peak, final]) => run(1e6 * ms, peak, final))
    return {
      allocator: { name, library: null },
      runs,
      watched: {
        ...runs[0]!,
        times: [
          [10, 98],
          [40, 1],
          [900, 1],
        ] as const,
      },
    }
  })
  return compare(trace, OPTIONS, [run(10e6, 100), run(9e6, 96), run(11e6, 104)], all)
}

describe('the comparison of allocators', () => {
  test('has the median and the quartiles', () => {
    expect(spread([5, 1, 3])).toEqual({ low: 2, median: 3, high: 4 })
    expect(spread([4, 1, 2, 3])).toEqual({ low: 1.75, median: 2.5, high: 3.25 })
    expect(spread([])).toEqual({ low: 0, median: 0, high: 0 })
  })

  test('subtracts what the driver takes, and ranks where quartiles do not overlap', () => {
    const { driver, allocators } = compared({
      a: [
        [110, 20_100],
        [120, 20_110],
        [130, 20_120],
      ],
      b: [
        [109, 10_100],
        [121, 10_100],
        [140, 10_100],
      ],
      c: [
        [50, 30_100],
        [51, 30_100],
        [52, 30_100],
      ],
    })
    expect(driver.median).toBe(10e6)
    expect(allocators.map(({ timeRank, peakRank }) => [timeRank, peakRank])).toEqual([
      [2, 2],
      [2, 1],
      [1, 3],
    ])
    expect(allocators[0]).toMatchObject({
      time: { low: 105e6, median: 110e6, high: 115e6 },
      peak: { median: 20_010 * 1024 },
      pageFaults: { median: 8 },
      fragmentation: 20_010 / 10_240 - 1,
      percentiles: { 50: 10, 90: 10, 99: 40, '99.9': 900, 100: 900 },
    })
  })

  test.each([1, 2])('has the highest sample, if that is above the peak of the runs, of %i threads', (threads) => {
    const runs = [run(1e6, 10_100), run(1e6, 10_140), run(1e6, 10_160)]
    const watched = { ...run(1e6, 10_000), moments: [[1, 1, 10_150, 0], [2, 2, 90, 0]] as const } // prettier-ignore
    const all = [{ allocator: { name: 'a', library: null }, runs, watched }]
    const { allocators } = compare({ ...TRACE, threads }, OPTIONS, [run(0, 100)], all)
    const [low, median, high] = threads === 1 ? [10_050, 10_050, 10_055] : [10_020, 10_040, 10_050]
    expect(allocators[0]!.peak).toEqual({ low: low * 1024, median: median * 1024, high: high * 1024 })
  })

  test('has no fragmentation of blocks that are not written to, or that are none', () => {
    const of = (touch: string, bytes: number) => {
      const trace = { ...TRACE, peak: { blocks: 1, bytes } }
      return compare(
        trace,
        { ...OPTIONS, touch },
        [run(1, 100)],
        [{ allocator: { name: 'a', library: null }, runs: [run(2, 110)], watched: run(2, 110) }],
      ).allocators[0]?.fragmentation
    }
    expect([of('all', 8192), of('page', 8192), of('all', 0)]).toEqual([0.25, null, null])
  })

  const three = (ms: number, peak: number, final?: number) =>
    [0, 1, 2].map((i): [number, number, number | undefined] => [ms + i, peak, final])

  test('says in words who needs less', () => {
    const lines = verdict(compared({ glibc: three(110, 20_580), other: three(60, 15_460) }))
    expect(lines).toEqual([
      "Resident set: other needs 25 % less than glibc, 15.0 MiB instead of 20.0 MiB at the peak (margin: 3 % of the program's peak).",
      "Processor time: other takes 25.5 ns a call instead of 50.5 ns a call with glibc, 50.0 ms less for all calls (margin: 10 points of the program's processor time).",
      "Waste: of glibc's resident set at the peak, 50 % (10.0 MiB) is not what the program asked for: headers, rounding, free memory.",
      'More: at the end, 20.0 MiB of 20.0 MiB is resident and not live: trimming (malloc_trim, or a shorter decay) gives back some of it.',
      'More: a live block has 1,049 bytes on average and takes 1,049 bytes besides: hf-simulate --compare all shows which policy or size classes save them.',
    ])
  })

  test('claims nothing within the margin, where quartiles overlap, or for the time of threads', () => {
    const near = compared({ glibc: three(110, 10_440, 100), other: three(109, 10_240, 100) })
    expect(verdict(near)).toEqual([
      "Resident set: no other allocator needs less than glibc by more than the margin, 10.1 MiB at the peak: other 1.9 % (margin: 3 % of the program's peak).",
      "Processor time: no other allocator is certainly faster than glibc, 50.5 ns a call, 101 ms for all calls (margin: 10 points of the program's processor time).",
      "Waste: of glibc's resident set at the peak, 1.0 % (0.10 MiB) is not what the program asked for: headers, rounding, free memory.",
    ])
    const threads = { ...TRACE, threads: 9 }
    const [memory, time] = verdict(compared({ glibc: three(110, 10_340, 100), other: three(60, 9100, 100) }, threads))
    expect(memory).toMatch(
      /^Resident set: no other allocator .* \(margin: 15 % of the program's peak, with threads\)\.$/,
    )
    expect(time).toMatch(/\(no promise: with threads, the change of a real program is another\)\.$/)
  })

  test('names a size class that would save much', () => {
    const peakSizes = [
      { size: 24, blocks: 100_000 },
      { size: 32, blocks: 60_000 },
      { size: 136, blocks: 10_000 },
    ]
    const of = (name: string, trace = { ...TRACE, peakSizes }) =>
      verdict(compared({ [name]: three(110, 20_580, 100) }, trace)).filter((line) => line.includes('pool for blocks'))
    expect(of('glibc')).toEqual([
      'More: a pool for blocks of 32 bytes would save 0.92 MiB (4.6 %): glibc gives 48 bytes to each of the 60,000 live blocks of 25 to 32 bytes.',
    ])
    expect(of('jemalloc')).toEqual([
      'More: a pool for blocks of 24 bytes would save 0.76 MiB (3.8 %): jemalloc gives 32 bytes to each of the 100,000 live blocks of 17 to 24 bytes.',
    ])
    expect(of('mine')).toEqual([])
    expect(of('glibc', { ...TRACE, peakSizes: [{ size: 32, blocks: 20_000 }] })).toEqual([])
    expect(of('glibc', { ...TRACE, peakSizes: [{ size: 24, blocks: 1e6 }] })).toHaveLength(1)
  })

  test('has a wider margin for allocators that return memory by the clock', () => {
    const figures = { glibc: three(110, 10_340, 100), jemalloc: three(109, 8000, 100), other: three(109, 9000, 100) }
    const one = compared(figures)
    expect(verdict(one)[0]).toBe(
      "Resident set: other needs 13 % less than glibc, 8.69 MiB instead of 10.0 MiB at the peak (margin: 3 % of the program's peak).",
    )
    const paced = { ...one, options: { ...one.options, paced: true } }
    expect(verdict(paced)[0]).toMatch(/^Resident set: jemalloc needs 23 % less .* \(margin: 10 % /)
    const two = compared({ glibc: figures.glibc, jemalloc: figures.jemalloc })
    expect(verdict(two)[0]).toMatch(/by more than the margin, 10\.0 MiB at the peak: jemalloc 23 % \(margin: 25 % /)
    const threads = compared({ glibc: figures.glibc, mimalloc: figures.jemalloc }, { ...TRACE, threads: 2 })
    expect(verdict(threads)[0]).toMatch(/: mimalloc 23 % \(margin: 70 % of the program's peak, with threads\)\.$/)
    expect(verdict(compared({ other: three(1, 200, 100), glibc: three(1, 300, 100) }))[0]).toBe(
      'Resident set: no other allocator needs less than other, 0.10 MiB at the peak.',
    )
  })

  test('shows a table', () => {
    const lines = replayText(compared({ glibc: three(110, 10_340) }), 120).split('\n')
    expect(lines.slice(-6)).toEqual([
      '2,000,000 calls of 1 thread, 3 runs each; 10,000 live blocks, 10,485,760 bytes at their peaks',
      '  allocator  rank  ns a call  quartiles  peak KiB  rank  maxima  final KiB  faults  50 %  99 %  99.9 %  longest',
      '  glibc         1       50.5  50.3-50.8    10,240     1   0.0 %     10,240       8    10    40     900      900',
      "The driver's own 5.00 ns a call are subtracted. maxima: the peak over the most live bytes, less 1. The last four columns",
      '  are ns of sampled calls.',
      '',
    ])
  })

  test('says what was skipped', () => {
    expect(skippedText(TRACE)).toBeUndefined()
    const one = { ...TRACE.skipped, unknown: 1, again: 1, left: 1, failed: 1 }
    expect(skippedText({ ...TRACE, skipped: one })).toBe(
      'skipped: 1 free or realloc of an unknown block, 1 double free, 1 failed call; ' +
        'freed when their process ended: 1 block',
    )
    const skipped = { ...TRACE.skipped, unknown: 1200, again: 3, reused: 4, absurd: 2, unaligned: 1 }
    expect(skippedText({ ...TRACE, skipped, processes: 2 })).toBe(
      'skipped: 1,200 frees or reallocs of unknown blocks, 3 double frees, ' +
        '2 allocations of more than 2^46 bytes and calls that end their blocks; ' +
        'freed before their address is allocated again: 4 blocks; ' +
        'changed: 1 alignment that is no power of two or above 2^30; the blocks of 2 processes are in one heap',
    )
  })
})

import { heatCell, TREE_METRICS, type ReportData, type TreeMetric } from '../../lib/transforms/report/result.js'

/*
 * A small report in which every view has something to show. Its figures are made up, but agree with each other where
 * the page adds them.
 */

const MOMENTS = [100, 200, 300, 400]
const SITES = 3

/** The names of the frames, from the outermost to the three that allocate. */
export const NAMES = ['main', 'parse', 'load', 'grow', 'copy', 'keep'] as const

/** Own values of the nodes, of which the last three are sites. */
const OWN: Readonly<Record<TreeMetric, readonly number[]>> = {
  allocatedBytes: [0, 0, 0, 0, 6_000_000, 3_000_000, 1_000_000],
  allocatedBlocks: [0, 0, 0, 0, 60, 300, 40],
  peakBytes: [0, 0, 0, 0, 500_000, 100_000, 400_000],
  peakBlocks: [0, 0, 0, 0, 5, 10, 20],
  endBytes: [0, 0, 0, 0, 0, 2048, 400_000],
  endBlocks: [0, 0, 0, 0, 0, 2, 20],
  temporaryBlocks: [0, 0, 0, 0, 30, 200, 0],
  foreignFrees: [0, 0, 0, 0, 0, 12, 0],
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const total = (metric: TreeMetric) => sum(OWN[metric])
const ofSites = (metric: TreeMetric) => OWN[metric].slice(-SITES)
const each = <T>(make: (n: number) => T) => Array.from({ length: SITES }, (_, n) => make(n))

/** The report. @param names of frames, in place of `NAMES` */
export function sample(names: readonly string[] = NAMES): ReportData {
  const peak = {
    blocks: total('peakBlocks'),
    bytes: total('peakBytes'),
    event: 250,
    allocatedBytes: 6_000_000,
    time: 2_250_000,
  }
  const bars = (count: number) => ({ count, sum: 9 * count, mean: 9, bars: [{ from: 8, to: 15, count }] })
  const amount = (blocks: number, bytes: number) => ({ blocks, bytes })
  return {
    version: 1,
    name: 'sample.mtrc',
    isFile: true,
    generator: 'heapflow 1.2.3',
    fields: ['function', 'stack'],
    notes: ['The trace is truncated.'],
    omitted: ['7 of 10 sites are in one row.'],
    summary: {
      complete: false,
      filtered: false,
      identified: true,
      exact: true,
      traces: 1,
      formats: ['mtrc'],
      events: 400,
      blockEvents: 400,
      kinds: { alloc: 390, realloc: 10 },
      apis: {},
      allocated: amount(total('allocatedBlocks'), total('allocatedBytes')),
      freed: amount(378, 9_597_952),
      leaked: amount(total('endBlocks'), total('endBytes')),
      peakBytes: peak,
      peakBlocks: { ...peak, blocks: 40, event: 260 },
      temporary: { heaptrack: amount(230, 1_000_000), memray: amount(240, 1_100_000) },
      reallocs: { inPlace: 1, moved: 9, resized: 0, allocated: 0, freed: 0, failed: 0, nothing: 0, unknown: 0 },
      faults: { unknownFrees: 1, doubleFrees: 1, nullFrees: 0, overlaps: amount(0, 0), failedAllocations: 0 },
      sizes: { smallest: 0, largest: 100_000, histogram: bars(400) },
      lifetimes: { events: bars(378), bytes: bars(378), time: bars(378) },
      time: { unit: 'us', first: 1_000_000, last: 3_000_000, span: 2_000_000 },
      peakTime: 1_250_000,
      mismatches: [],
      mpatrol: {
        allocated: amount(400, 10_000_000),
        freed: amount(378, 9_597_952),
        unfreed: amount(22, 402_048),
        peak: amount(40, 1_000_000),
        reserved: amount(0, 0),
        internal: amount(0, 0),
        smallest: 0,
        largest: 100_000,
      },
      full: [],
      siteCount: 10,
      threadCount: 2,
      processCount: 1,
      cpuCount: 0,
    },
    timeline: {
      event: MOMENTS,
      time: [500_000, 1_000_000, null, 2_000_000],
      liveBytes: [300_000, 800_000, 700_000, total('endBytes')],
      liveBlocks: [10, 30, 35, total('endBlocks')],
      minBytes: [0, 300_000, 600_000, 402_048],
      maxBytes: [300_000, 900_000, total('peakBytes'), 700_000],
      minBlocks: [0, 10, 30, 22],
      maxBlocks: [10, 30, 40, 35],
      allocations: [110, 100, 100, 90],
      allocatedBytes: [1_000_000, 5_000_000, 3_000_000, 1_000_000],
      frees: [90, 80, 95, 113],
    },
    frames: names.map((name, n) => ({ name, file: `src/${n}.c`, line: n + 1 })),
    tree: {
      parents: [-1, 0, 1, 1, 2, 3, 1],
      frames: [-1, 0, 1, 2, 3, 4, 5],
      ...(Object.fromEntries(TREE_METRICS.map((metric) => [metric, [...OWN[metric]]])) as Record<TreeMetric, number[]>),
    },
    sites: {
      node: [4, 5, 6],
      stack: [
        [3, 1, 0],
        [4, 2, 0],
        [5, 0],
      ],
      allocatedBlocks: ofSites('allocatedBlocks'),
      allocatedBytes: ofSites('allocatedBytes'),
      peakBlocks: ofSites('peakBlocks'),
      peakBytes: ofSites('peakBytes'),
      endBlocks: ofSites('endBlocks'),
      endBytes: ofSites('endBytes'),
      ownPeakBlocks: [6, 12, 20],
      ownPeakBytes: [600_000, 120_000, '18446744073709551615'],
      temporaryBlocks: ofSites('temporaryBlocks'),
      temporaryBytes: [900_000, 100_000, 0],
      memrayBlocks: [35, 205, 0],
      memrayBytes: [1_000_000, 100_000, 0],
      foreignFrees: ofSites('foreignFrees'),
      meanEvents: [10, 20, 300],
      meanTime: [1000, 2000, 300_000],
      reallocs: [10, 0, 0],
      grown: [8, 0, 0],
      shrunk: [2, 0, 0],
      moved: [9, 0, 0],
      spark: each((n) => MOMENTS.map((_, m) => 1000 * (n + 1) * (m + 1))),
      sparkMoments: { event: MOMENTS },
      heatCells: [
        [heatCell(7, 4), 50],
        [heatCell(7, 4), 8, heatCell(9, 2), 290],
        [heatCell(12, 8), 20],
      ],
    },
    generations: {
      event: MOMENTS,
      time: [500_000, 1_000_000, null, 2_000_000],
      allocatedBytes: [1_000_000, 5_000_000, 3_000_000, 1_000_000],
      allocatedBlocks: [110, 100, 100, 90],
      endBytes: [100_000, 100_512, 100_512, 101_024],
      endBlocks: [5, 5, 5, 7],
      sites: { site: [2], endBytes: [[100_000, 100_000, 100_000, 100_000]], endBlocks: [[5, 5, 5, 5]] },
    },
    peakSites: {
      event: MOMENTS,
      time: [500_000, 1_000_000, null, 2_000_000],
      site: [0, 2, 1],
      bytes: [
        [200_000, 500_000, 450_000, 0],
        [100_000, 200_000, 300_000, 400_000],
        [0, 100_000, 90_000, 2048],
      ],
      rest: [0, 0, 0, 0],
    },
    churn: {
      heat: [heatCell(7, 4), 58, heatCell(9, 2), 290, heatCell(12, 8), 20],
      sizes: {
        size: [64, 256, 100_000],
        count: [290, 60, 50],
        peakBlocks: [10, 5, 20],
        endBlocks: [2, 0, 20],
        temporaryBlocks: [200, 30, 0],
        others: { sizes: 4, count: 9, bytes: 90 },
      },
      chains: { from: [1, 2], to: [1, 3], count: [6, 2] },
      grown: 8,
      shrunk: 2,
      same: 0,
      moved: 9,
      grownBytes: 8192,
      shrunkBytes: 100,
    },
    threads: {
      name: ['thread 1', 'thread 2', ''],
      process: [null, null, null],
      thread: [1, 2, null],
      events: [300, 90, 10],
      allocatedBlocks: [300, 90, 10],
      allocatedBytes: [9_000_000, 900_000, 100_000],
      peakBlocks: [30, 5, 0],
      peakBytes: [900_000, 100_000, 0],
      endBlocks: [20, 2, 0],
      endBytes: [400_000, 2048, 0],
      frees: [290, 80, 8],
      foreignFrees: [4, 8, 0],
      matrix: {
        from: [0, 0, 1, 1, 2],
        to: [0, 1, 0, 1, 2],
        blocks: [286, 8, 4, 72, 8],
        bytes: [8_000_000, 8000, 4000, 800_000, 90_000],
      },
      othersForeign: 0,
    },
    addresses: {
      map: {
        event: MOMENTS,
        rowBytes: 65_536,
        ranges: [
          { name: 'heap', owner: '', from: '0x5500000000', to: '0x5500020000', row: 0, rows: 2 },
          { name: 'mapped', owner: '', from: '0x7fff00000000', to: '0x7fff00010000', row: 2, rows: 1 },
        ],
        cells: [
          [1000, 1000, 1000, 500],
          [0, 300, 200, 0],
          [0, 0, 900, 900],
        ],
        small: 0,
      },
      pageBytes: 4096,
      mostPages: 246,
      pages: {
        from: [0, 1024, 2048, 3072],
        to: [1024, 2048, 3072, 4096],
        atPeak: [1, 2, 3, 240],
        atEnd: [20, 5, 5, 90],
      },
      use: { event: MOMENTS, liveBytes: [300_000, 800_000, 700_000, 402_048], pages: [80, 246, 200, 120] },
      sparse: { site: [2, 1], pages: [18.5, 1.5], bytes: [70_000, 5000] },
    },
    problems: {
      counts: { unknownFree: 1, doubleFree: 1, overlap: 0, failedAllocation: 0, zeroSize: 2, unknownRealloc: 0 },
      kind: ['unknownFree', 'zeroSize', 'doubleFree', 'zeroSize'],
      event: [1, 7, 80, 90],
      address: ['0x5500000010', null, '0x5500000020', '0x5500000030'],
      size: [null, 0, null, 0],
      stack: [[], [3, 1, 0], [5, 0], []],
    },
    comparison: comparison(),
    replay: replay(),
  }
}

/** What two allocators need for the calls of the sample. */
export function replay(): NonNullable<ReportData['replay']> {
  const spread = (median: number) => ({ median, low: median - 400, high: median + 400 })
  const allocator = (name: string, n: number) => ({
    name,
    library: n === 0 ? null : `/usr/lib/lib${name}.so`,
    time: spread(20_000 / (n + 1)),
    wall: spread(30_000),
    peak: spread(2 ** 21 / (n + 1)),
    final: spread(2 ** 20),
    pageFaults: spread(500),
    timeRank: 2 - n,
    peakRank: n === 0 ? 2 : null,
    fragmentation: n === 0 ? 2 ** 21 / 1_000_000 - 1 : null,
    percentiles: n === 0 ? { 50: 10, 90: 20, 99: 200, '99.9': 1900, 100: 28_672 } : null,
    moments: [
      { calls: 100, time: 1000, resident: 2 ** 19 },
      { calls: 400 + n, time: 9000, resident: 2 ** 20 },
    ],
    failed: n,
  })
  return {
    trace: {
      events: 400,
      calls: { malloc: 380, calloc: 0, memalign: 0, realloc: 20, free: 0 },
      threads: 2,
      peak: { blocks: 35, bytes: 1_000_000 },
    },
    options: { order: 'epochs', touch: 'all', paced: false, runs: 3 },
    driver: spread(800),
    allocators: [allocator('glibc', 0), allocator('other', 1)],
    verdict: ['Resident set: other needs 50 % less than glibc.', 'Processor time: other takes 25.0 ns a call.'],
  }
}

function comparison(): NonNullable<ReportData['comparison']> {
  const figures = (bytes: number[], blocks: number[]) => ({
    allocatedBlocks: blocks,
    allocatedBytes: bytes,
    peakBlocks: blocks,
    peakBytes: bytes,
    endBlocks: blocks,
    endBytes: bytes,
    temporaryBlocks: blocks,
    temporaryBytes: bytes,
  })
  const whole = (bytes: number, blocks: number) =>
    Object.fromEntries(
      Object.entries(figures([bytes], [blocks])).map(([name, [value]]) => [name, value]),
    ) as NonNullable<ReportData['comparison']>['totals']['old']
  return {
    old: 'yesterday.mtrc',
    totals: { old: whole(1024, 10), new: whole(3072, 9) },
    differing: 2,
    changes: {
      depths: [0, 1, 2, 3, 2],
      nodeFrames: [-1, 0, 1, 3, 5],
      node: [3, 4],
      folded: [0, 0],
      before: figures([1024, 0], [10, 0]),
      after: figures([0, 3072], [0, 9]),
      grown: figures([], []),
    },
  }
}

/** What `hf-replay --json` writes of it. What reports do not have is made up. */
export function replayJson() {
  const { trace, ...rest } = replay()
  const unused = { skipped: 0, processes: 1, slots: 35, epochs: 1, peakSizes: 0, final: 0, duration: null }
  return { trace: { ...trace, ...unused }, ...rest, pools: null }
}

/** What a run without any event has. */
export function emptySample(): ReportData {
  const full = sample()
  const none = <T extends object>(columns: T): T =>
    Object.fromEntries(
      Object.entries(columns).map(([name, value]) => [
        name,
        Array.isArray(value)
          ? []
          : typeof value === 'object'
            ? none(value as object)
            : typeof value === 'number'
              ? 0
              : value,
      ]),
    ) as T
  const { comparison: _, addresses: __, replay: ___, ...rest } = full
  const summary = none(full.summary)
  delete summary.time
  delete summary.lifetimes.time
  const timeline = none(full.timeline)
  delete timeline.time
  return {
    ...rest,
    notes: [],
    omitted: [],
    frames: [],
    summary,
    timeline,
    tree: {
      ...none(full.tree),
      parents: [-1],
      frames: [-1],
      ...(Object.fromEntries(TREE_METRICS.map((metric) => [metric, [0]])) as Record<TreeMetric, number[]>),
    },
    sites: none(full.sites),
    generations: none(full.generations),
    peakSites: none(full.peakSites),
    churn: none(full.churn),
    threads: none(full.threads),
    problems: none(full.problems),
  }
}

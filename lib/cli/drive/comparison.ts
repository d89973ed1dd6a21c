import { KIB } from '../../bytes/units.js'
import type { AllocatorFigures, ReplayComparison, Spread } from '../../transforms/drive/comparison.js'
import type { PreparedReplay } from '../../transforms/drive/result.js'
import type { Allocator } from './allocators.js'
import type { Run } from './runs.js'

export interface Runs {
  readonly allocator: Allocator
  readonly runs: readonly Run[]
  /** The run with samples. */
  readonly watched: Run
}

/** The figures of runs. @param empty the runs of the empty allocator */
export function compare(
  trace: PreparedReplay,
  options: ReplayComparison['options'],
  empty: readonly Run[],
  all: readonly Runs[],
): ReplayComparison {
  const driver = spread(empty.map(({ cpu }) => cpu))
  // The stacks of threads, and what the C library takes.
  const own = spread(empty.map(({ peak }) => peak)).median
  const memory = (values: readonly number[]) => spread(values.map((value) => KIB * Math.max(0, value - own)))
  const figures = all.map(({ allocator: { name, library }, runs, watched }) => ({
    name,
    library,
    time: spread(runs.map(({ cpu }) => Math.max(0, cpu - driver.median))),
    wall: spread(runs.map(({ wall }) => wall)),
    peak: memory(runs.map(({ peak }) => Math.max(peak, trace.threads === 1 ? highest(watched) : 0))),
    final: memory(runs.map(({ final }) => final)),
    pageFaults: spread(runs.map(({ minorFaults, majorFaults }) => minorFaults + majorFaults)),
    percentiles: percentilesOf(watched),
    moments: (watched.moments ?? []).map(([calls, time, resident]) => ({
      calls,
      time,
      resident: KIB * Math.max(0, resident - own),
    })),
    failed: Math.max(...[...runs, watched].map(({ failed }) => failed)),
  }))
  const isWhole = options.touch === 'all' && trace.peak.bytes > 0
  const whole = figures.filter(({ failed }) => failed === 0)
  const [times, peaks] = [whole.map(({ time }) => time), whole.map(({ peak }) => peak)]
  return {
    trace,
    options,
    driver,
    allocators: figures.map((one) => ({
      ...one,
      fragmentation: isWhole && one.failed === 0 ? one.peak.median / trace.peak.bytes - 1 : null,
      timeRank: one.failed === 0 ? rank(one.time, times) : null,
      peakRank: one.failed === 0 ? rank(one.peak, peaks) : null,
    })),
  }
}

/**
 * The highest sample of the resident set. Linux's own mark of the peak may be some hundred KiB too low where memory
 * goes back afterwards, because the kernel counts pages by processor and adds them up later; samples are exact.
 */
function highest({ moments = [] }: Run): number {
  return Math.max(0, ...moments.map(([, , resident]) => resident))
}

/** The median and the quartiles, between two values where they are not one of them. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) => {
    const place = part * (sorted.length - 1)
    const [below, above] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0]
    return below + (above - below) * (place - Math.floor(place))
  }
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

/** 1 and how many are certainly less. */
function rank({ low }: Spread, all: readonly Spread[]): number {
  return 1 + all.filter(({ high }) => high < low).length
}

/** The highest time of each class is not known, so each percentile is the lowest of its class. */
function percentilesOf({ times = [] }: Run): AllocatorFigures['percentiles'] {
  const all = times.reduce((n, [, calls]) => n + calls, 0)
  if (all === 0) return null
  const at = (percent: number) => {
    let below = 0
    for (const [ns, calls] of times) {
      below += calls
      if (100 * below >= percent * all) return ns
    }
    return times.at(-1)?.[0] ?? 0
  }
  return { 50: at(50), 90: at(90), 99: at(99), '99.9': at(99.9), 100: at(100) }
}

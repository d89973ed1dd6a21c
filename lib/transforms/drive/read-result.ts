import { flag, list, properties, whole, wrong } from '../../event/model-checks.js'
import { showValue } from '../../event/message-text.js'
import type { AllocatorFigures, ReplayResult, Spread } from './comparison.js'
import type { CallCounts, LiveAmount } from './result.js'

/** The limits of results: more is none of hf-replay's. */
const MOST_ALLOCATORS = 100
const MOST_MOMENTS = 512
const MOST_SENTENCES = 1000
/** The maximum bytes of their JSON. */
export const MOST_RESULT_BYTES = 1 << 22

const RESULT = ['trace', 'options', 'driver', 'allocators', 'pools', 'verdict']
const TRACE = 'events calls skipped threads processes slots epochs peak peakSizes final duration'.split(' ')
const CALLS = ['malloc', 'calloc', 'memalign', 'realloc', 'free'] as const
const ALLOCATOR =
  'name library time wall peak final pageFaults timeRank peakRank fragmentation percentiles moments failed'.split(' ')
const PERCENTILES = ['50', '90', '99', '99.9', '100'] as const

/**
 * Checks the result of `hf-replay --json`, which may have been written to do harm.
 * @param value the result of `JSON.parse` for a file
 * @throws TraceError (ERR_TRACE_MALFORMED) for anything else
 */
export function checkReplayResult(value: unknown): ReplayResult {
  const { trace, options, driver, allocators, verdict } = properties('the result of hf-replay', value, RESULT)
  const { events, calls, threads, peak } = properties('trace', trace, TRACE)
  const { order, touch, paced, runs } = properties('options', options, ['order', 'touch', 'paced', 'runs'])
  return {
    trace: {
      events: count('events', events),
      calls: each('calls', calls, CALLS) satisfies CallCounts,
      threads: count('threads', threads),
      peak: each('peak', peak, ['blocks', 'bytes']) satisfies LiveAmount,
    },
    options: {
      order: text('order', order),
      touch: text('touch', touch),
      paced: flag('paced', paced),
      runs: count('runs', runs),
    },
    driver: spread('driver', driver),
    allocators: list('allocators', allocators, MOST_ALLOCATORS).map(allocatorOf),
    verdict: list('verdict', verdict, MOST_SENTENCES).map((sentence) => text('verdict', sentence)),
  }
}

function allocatorOf(value: unknown): AllocatorFigures {
  const figures = properties('an allocator', value, ALLOCATOR)
  const { name, library, fragmentation, percentiles, moments, failed } = figures
  const spreadOf = (key: 'time' | 'wall' | 'peak' | 'final' | 'pageFaults') => spread(key, figures[key])
  const rank = (key: 'timeRank' | 'peakRank') => (figures[key] === null ? null : count(key, figures[key]))
  return {
    name: text('name', name),
    library: library === null ? null : text('library', library),
    time: spreadOf('time'),
    wall: spreadOf('wall'),
    peak: spreadOf('peak'),
    final: spreadOf('final'),
    pageFaults: spreadOf('pageFaults'),
    timeRank: rank('timeRank'),
    peakRank: rank('peakRank'),
    fragmentation: fragmentation === null ? null : amount('fragmentation', fragmentation, -1),
    percentiles: percentiles === null ? null : each('percentiles', percentiles, PERCENTILES),
    moments: list('moments', moments, MOST_MOMENTS).map((moment) =>
      each('moments', moment, ['calls', 'time', 'resident']),
    ),
    failed: count('failed', failed),
  }
}

/** Counts, bytes or nanoseconds, each with a name. */
function each<Name extends string>(of: string, value: unknown, names: readonly Name[]): Record<Name, number> {
  const found = properties(of, value, names)
  return Object.fromEntries(names.map((name) => [name, count(`${of}.${name}`, found[name])])) as Record<Name, number>
}

/** Medians and quartiles may be between two values. */
function spread(of: string, value: unknown): Spread {
  const { median, low, high } = properties(of, value, ['median', 'low', 'high'])
  return {
    median: amount(`${of}.median`, median),
    low: amount(`${of}.low`, low),
    high: amount(`${of}.high`, high),
  }
}

function count(name: string, value: unknown): number {
  return whole(name, value, 0, Number.MAX_SAFE_INTEGER)
}

function amount(name: string, value: unknown, least = 0): number {
  if (typeof value === 'number' && value >= least && value <= Number.MAX_SAFE_INTEGER) return value
  throw wrong(`${name} must be a number from ${least} to 2^53, not ${showValue(value)}`)
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw wrong(`${name} must be a string, not ${showValue(value)}`)
}

import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { parseBudgets } from '../../../lib/entry/index.js'
import type { BudgetGroup } from '../../../lib/transforms/check/budgets.js'
import { CheckCollector, type Measured } from '../../../lib/transforms/check/measure.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { HEADER, inBatches } from '../events.js'

/** What of the program was changed. */
export interface Change {
  /** How many times as much `parse` keeps. */
  readonly parse?: number
  /** How many blocks `open` leaks more. */
  readonly leaks?: number
  /** How many times as many temporary allocations `print` makes. */
  readonly temporary?: number
}

/**
 * The events of one run of a program whose runs differ: in the order of its two threads, by 1 % in what `parse` keeps,
 * by 6 % in the cache of `index`, and by 1 % in the number of temporary allocations.
 */
export function runOf(seed: number, { parse = 1, leaks = 0, temporary = 1 }: Change = {}): TraceEvent[] {
  let state = seed * 2_654_435_761 + 1
  const random = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
  const about = (value: number, noise: number) => Math.round(value * (1 + noise * (random() - 0.5)))
  const events: TraceEvent[] = []
  let next = 0x1000n
  const alloc = (name: string, size: number) => {
    const address = next
    next += 0x10000n
    const stack = ['malloc', `${name} at src/${name}.c:7`, 'run at src/main.c:3', 'main at src/main.c:9']
    events.push({ kind: 'alloc', address, size: BigInt(size), stack })
    return address
  }
  const free = (address: bigint) => events.push({ kind: 'free', address })
  for (let i = 0; i < 3; i++) alloc('open', 100)
  const kept: bigint[] = []
  let [parsed, indexed, printed] = [60, 60, about(200 * temporary, 0.01)]
  const [parseSize, indexSize] = [about(2000 * parse, 0.01), about(1000, 0.06)]
  while (parsed + indexed + printed > 0) {
    const which = random() * (parsed + indexed + printed)
    if (which < parsed && parsed-- > 0) kept.push(alloc('parse', parseSize))
    else if (which < parsed + indexed && indexed-- > 0) kept.push(alloc('index', indexSize))
    else if (printed-- > 0) free(alloc('print', 64))
  }
  for (const address of kept) free(address)
  for (let i = 0; i < leaks; i++) alloc('open', 24)
  return events
}

/** Budgets from the form of a file. */
export function budgets(...groups: object[]): BudgetGroup[] {
  return parseBudgets({ budgets: groups })
}

/** What was measured of events. */
export function measured(
  events: readonly TraceEvent[],
  groups: readonly BudgetGroup[],
  header: TraceHeader = HEADER,
  batchSize = 100,
): Measured {
  const collector = new CheckCollector(groups, 'run')
  for (const batch of inBatches(events, batchSize, header)) collector.add(batch)
  return collector.finish()
}

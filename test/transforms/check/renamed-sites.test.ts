import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SpacesError } from '../../../lib/blocks/address-spaces.js'
import { EventBatch } from '../../../lib/event/batch.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { GroupNames } from '../../../lib/transforms/check/functions.js'
import { RenamedSites } from '../../../lib/transforms/check/renamed-sites.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { runs } from '../../support/runs.js'
import { anyEvent, HEADER, inBatches } from '../events.js'

const OWN = new OwnFrames()

/** The events with other sites. */
function renamed(events: readonly TraceEvent[], group: { at?: string; each?: string }, size = 4096): TraceEvent[] {
  const sites = new RenamedSites(new GroupNames(group, OWN))
  return [...inBatches(events, size, HEADER)].flatMap((batch) => [...sites.rename(batch)])
}

describe('other sites', () => {
  test.each([{ at: 'm*' }, { each: '*' }])('change no other figure: %j', (group) => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.integer({ min: 1, max: 41 }), (events, size) => {
        const sites = new RenamedSites(new GroupNames(group, OWN))
        const [plain, other] = [new StatisticsCollector(), new StatisticsCollector()]
        for (const batch of inBatches(events, size, HEADER)) {
          try {
            plain.add(batch)
          } catch (error) {
            // Random processes and addresses may be too many to tell blocks apart.
            fc.pre(!(error instanceof SpacesError))
            throw error
          }
          other.add(sites.rename(batch))
        }
        // The kind of a reservation is a text, which no budget needs.
        const { sites: before, mpatrol: _before, ...wanted } = plain.finish()
        const { sites: after, mpatrol: _after, ...found } = other.finish()
        expect(found).toEqual(wanted)
        const sum = (some: typeof before) => some.reduce((bytes, { allocated }) => bytes + allocated.bytes, 0n)
        expect(sum(after)).toBe(sum(before))
      }),
      { numRuns: runs(100) },
    )
  })

  test('are the row, however deep it begins and wherever a stack is cut into batches', () => {
    const stacks = [1, 30, 31, 32, 33, 62, 63, 64, 65, 66, 200].map((wrappers) => [
      ...Array.from({ length: wrappers }, () => 'malloc'),
      `f${wrappers}`,
      'main',
    ])
    const only = Array.from({ length: 100 }, () => 'malloc')
    const events = [...stacks, only].map((stack, i): TraceEvent => ({
      kind: 'alloc',
      address: BigInt(16 * i + 16),
      stack,
    }))
    const names = [...stacks.map((stack) => stack.at(-2)), 'malloc']
    for (const size of [1, 5, 100]) {
      expect(renamed(events, { each: '*' }, size).map(({ function: name }) => name)).toEqual(names)
      const isOne = renamed(events, { at: 'f6*' }, size).map(({ function: name }) => name === 'in')
      expect(isOne).toEqual(names.map((name) => name?.startsWith('f6') === true))
    }
  })

  test('follow a table of strings that grows', () => {
    const sites = new RenamedSites(new GroupNames({ each: 'a*' }, OWN))
    const first = new EventBatch(1, 0, HEADER)
    first.push({ kind: 'alloc', address: 16n, stack: ['a1'] })
    const second = new EventBatch(2, 0, HEADER, first.strings)
    const names = (batch: EventBatch) => [...sites.rename(batch)].map(({ function: name }) => name)
    expect(names(first)).toEqual(['a1'])
    second.push({ kind: 'alloc', address: 32n, stack: ['a2'] })
    second.push({ kind: 'alloc', address: 48n, stack: ['b'] })
    expect(names(second)).toEqual(['a2', ''])
  })

  test.each([
    ['parse*', ['parse', 'parse_line', 'parse(int)'], ['xparse', 'pars']],
    ['*::parse', ['a::parse', 'x::y::parse'], ['a::parser', 'parse']],
    ['a*b*c', ['abc', 'axbxc', 'abbcc'], ['ab', 'acb', 'abcd']],
    ['ab*ba', ['abba', 'abxba'], ['aba']],
    ['*', ['x'], []],
    ['std::vector<...>::push_back', ['std::vector<int, std::allocator<int> >::push_back(int&&)'], ['std::vector']],
    ['(x)', ['(x)'], ['x']],
  ])('%s matches whole names', (at, yes, no) => {
    const { isMatch } = new GroupNames({ at }, OWN)
    expect([yes.filter((name) => !isMatch(name)), no.filter(isMatch)]).toEqual([[], []])
  })
})

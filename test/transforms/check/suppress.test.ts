import { expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { parseSuppressions } from '../../../lib/names/suppressions.js'
import { check } from '../../../lib/transforms/check/check.js'
import { CheckCollector } from '../../../lib/transforms/check/measure.js'
import { HEADER, inBatches } from '../events.js'
import { budgets } from './program.js'

const STACKS = [
  ['malloc', 'grow at pool.c:3', 'main'],
  ['malloc', 'read at cache.c:4', 'main'],
  ['malloc', 'in /usr/lib/libother.so.1+0x20', 'main'],
  ['malloc', 'read at cache.c:9', 'start'],
]

/** Two blocks leak for each one that is freed. */
function events(): TraceEvent[] {
  return Array.from({ length: 300 }, (_, i): TraceEvent[] => {
    const address = BigInt(16 * i + 16)
    const stack = STACKS[i % 4]
    const one: TraceEvent = { kind: 'alloc', address, size: BigInt(i), stack }
    return i % 3 === 0 ? [one, { kind: 'free', address }] : [one]
  }).flat()
}

const GROUPS = budgets(
  { max: { leaked: 0, 'leaked-blocks': 0, peak: '1G' } },
  { each: '*', max: { leaked: 0 } },
  { at: 'main', max: { leaked: 0 } },
)

function measured(rules: string, trace = events()) {
  const collector = new CheckCollector(GROUPS, 'run', new OwnFrames(), parseSuppressions(rules))
  for (const batch of inBatches(trace, 64, HEADER)) collector.add(batch)
  return collector.finish()
}

/** The bytes leaked, of a trace without the leaks whose stacks match. */
function without(...names: string[]) {
  const left = events().filter(
    ({ kind, address, stack = [] }) =>
      kind !== 'alloc' ||
      ((Number(address) - 16) / 16) % 3 === 0 ||
      !stack.some((frame) => names.some((name) => frame.includes(name))),
  )
  return measured('', left)
}

test.each([
  ['leak:pool.c', ['pool.c']],
  ['leak:libother', ['libother']],
  ['leak:^read$\nleak:grow', ['read', 'grow']],
  ['leak:main', ['main']],
  ['leak:nothing', []],
])('what %j suppresses is leaked by no function, nor by the whole', (rules, names) => {
  const [is, all, expected] = [measured(rules), measured(''), without(...names)]
  const value = (one: ReturnType<typeof measured>, group: number, name: string) => one.groups[group]?.get(name)?.leaked
  expect([is.whole.leaked, is.whole['leaked-blocks']]).toEqual([expected.whole.leaked, expected.whole['leaked-blocks']])
  expect(is.whole.peak).toEqual(all.whole.peak)
  for (const group of [1, 2])
    for (const name of is.groups[group]?.keys() ?? [])
      expect([name, value(is, group, name)]).toEqual([name, value(expected, group, name) ?? { value: 0n }])
  const { blocks, bytes } = is.suppressed ?? { blocks: -1, bytes: -1n }
  const { leaked } = all.profile.statistics
  expect([leaked.blocks - blocks, leaked.bytes - bytes]).toEqual([
    is.profile.statistics.leaked.blocks,
    is.profile.statistics.leaked.bytes,
  ])
  expect(all.suppressed).toBe(undefined)
})

test('they are not among the sites of a budget, and the result says how much they are', () => {
  const { budgets: rows, suppressed } = check([measured('leak:grow')], [], GROUPS)
  expect(suppressed).toEqual([{ blocks: 50, bytes: 7500n }])
  const [leaked] = rows
  expect(leaked?.verdict).toBe('beyond')
  expect(leaked?.sites?.length).toBe(3)
  expect(JSON.stringify(leaked?.sites?.map(({ stack }) => stack))).not.toContain('grow')
})

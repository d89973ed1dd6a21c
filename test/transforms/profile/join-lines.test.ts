import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { frameText } from '../../../lib/transforms/profile/frames.js'
import { joinLines } from '../../../lib/transforms/profile/join-lines.js'
import type { Profile } from '../../../lib/transforms/profile/profile.js'
import { runs } from '../../support/runs.js'

function profileOf(stacks: readonly string[][]): Profile {
  const collector = new ProfileCollector()
  const events = stacks.map((stack, i): TraceEvent => ({
    kind: 'alloc',
    address: BigInt(i + 1),
    size: BigInt(i + 1),
    stack,
  }))
  for (const batch of batchesOf(events, { format: 'x' })) collector.add(batch)
  return collector.finish()
}

/** The bytes of each stack. No two nodes have the same stack. */
function bytesByStack({ frames, tree, samples }: Profile): Map<string, bigint> {
  const result = new Map<string, bigint>()
  const nodes = new Map<string, number>()
  for (const { node, allocated } of samples()) {
    const path: string[] = []
    for (let at = node; at > 0; at = tree.parents[at]) {
      expect(tree.parents[at]).toBeLessThan(at)
      path.push(frameText(frames[tree.frames[at]] as Profile['frames'][number]))
    }
    const key = path.join(' < ')
    expect(nodes.get(key) ?? node).toBe(node)
    nodes.set(key, node)
    result.set(key, (result.get(key) ?? 0n) + allocated.bytes)
  }
  return result
}

test('the lines of a function of a file are one frame; what has no function is not', () => {
  const profile = profileOf([
    ['f (a.c:1)', 'main (m.c:5)'],
    ['f (a.c:2)', 'main (m.c:6)'],
    ['f (b.c:1)', 'main (m.c:7)'],
    ['f', 'main (m.c:7)'],
    ['a.c:1', 'lib.so [0x10]'],
    ['a.c:2', 'lib.so [0x20]'],
  ])
  expect([...bytesByStack(joinLines(profile))]).toEqual([
    ['f (a.c) < main (m.c)', 3n],
    ['f (b.c) < main (m.c)', 3n],
    ['f < main (m.c)', 4n],
    ['a.c:1 < lib.so [0x10]', 5n],
    ['a.c:2 < lib.so [0x20]', 6n],
  ])
  expect([...joinLines(profileOf([])).samples()]).toEqual([])
})

test('figures are those of a plain model', () => {
  const frame = fc.tuple(fc.constantFrom('f', 'g', 'h'), fc.constantFrom('a.c', 'b.c'), fc.integer({ min: 1, max: 3 }))
  fc.assert(
    fc.property(fc.array(fc.array(frame, { minLength: 1, maxLength: 5 }), { maxLength: 60 }), (stacks) => {
      const profile = profileOf(stacks.map((stack) => stack.map(([name, file, line]) => `${name} (${file}:${line})`)))
      const model = new Map<string, bigint>()
      for (const [i, stack] of stacks.entries()) {
        const key = stack.map(([name, file]) => `${name} (${file})`).join(' < ')
        model.set(key, (model.get(key) ?? 0n) + BigInt(i + 1))
      }
      expect(bytesByStack(joinLines(profile))).toEqual(model)
    }),
    { numRuns: runs(200) },
  )
})

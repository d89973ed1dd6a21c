import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { MAX_NAME } from '../../../lib/transforms/profile/frames.js'
import { MAX_DEPTH } from '../../../lib/transforms/profile/stacks.js'

/** The names of the frames in the profile of one allocation, the outermost first. */
function namesOf(stack: string[]): string[] {
  const collector = new ProfileCollector()
  const events: TraceEvent[] = [{ kind: 'alloc', address: 16n, size: 8n, stack }]
  for (const batch of batchesOf(events, { format: 'test' })) collector.add(batch)
  const { frames, tree, samples } = collector.finish(true)
  const names: string[] = []
  for (const { node } of samples())
    for (let at = node; at > 0; at = tree.parents[at]!) names.unshift(frames[tree.frames[at]!]!.name)
  return names
}

describe('what a profile leaves out', () => {
  test('frames of a stack beyond the limit', () => {
    const stack = (depth: number) => Array.from({ length: depth }, (_, i) => `f${i}`)
    for (const depth of [MAX_DEPTH - 1, MAX_DEPTH]) expect(namesOf(stack(depth))).toEqual(stack(depth).toReversed())
    const inner = stack(MAX_DEPTH).toReversed()
    expect(namesOf(stack(MAX_DEPTH + 1))).toEqual(['[outer frames left out]', ...inner])
  })

  test('characters of a name beyond the limit', () => {
    for (const length of [MAX_NAME - 1, MAX_NAME]) expect(namesOf(['f'.repeat(length)])).toEqual(['f'.repeat(length)])
    const [name] = namesOf(['f'.repeat(MAX_NAME + 1)])
    expect(name).toMatch(/^f{4096}\[and 1 more, [0-9a-f]+\]$/)
  })
})

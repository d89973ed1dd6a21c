import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { frameText } from '../../../lib/transforms/profile/frames.js'
import { namedFrameText } from '../../../lib/names/named-frame.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { ownStacks } from '../../../lib/transforms/profile/own-stacks.js'
import type { Profile } from '../../../lib/transforms/profile/profile.js'
import { seeded } from '../../shapes/shape.js'
import { HEADER, inBatches } from '../events.js'

function profileOf(events: readonly TraceEvent[], options = {}): Profile {
  const collector = new ProfileCollector(options)
  for (const batch of inBatches(events, 100, HEADER)) collector.add(batch)
  return collector.finish()
}

/** The frames of each stack, the innermost first, with the figures of its samples. */
function stacksOf({ frames, tree, samples }: Profile, textOf = frameText): [string[], unknown][] {
  return [...samples()].map(({ node, allocated, live, atPeak, temporary }) => {
    const path: string[] = []
    for (let at = node; at > 0; at = tree.parents[at]) path.push(textOf(frames[tree.frames[at]]!))
    return [path, { allocated, live, atPeak, temporary }]
  })
}

const alloc = (stack: string[], i: number): TraceEvent => ({
  kind: 'alloc',
  address: BigInt(16 * (i + 1)),
  size: BigInt(i),
  thread: BigInt(i % 3),
  stack,
})

describe('ownStacks', () => {
  const WRAPPED = ['operator new(unsigned long)', 'std::vector<int>::push_back(int)', 'fill (a.cpp:3)', 'main']

  test('ends stacks with the innermost frame of the program', () => {
    const stacks = [WRAPPED, ['fill (a.cpp:3)', 'main'], ['malloc'], ['malloc', 'operator new(unsigned long)']]
    const own = ownStacks(profileOf(stacks.map(alloc)), new OwnFrames())
    const paths = stacksOf(own).map(([path]) => path)
    const fill = ['fill (a.cpp:3)', 'main']
    expect(paths).toEqual([fill, fill, ['malloc'], ['operator new(unsigned long)']])
    // No node is left that no stack has.
    expect([...own.tree.parents]).toHaveLength(5)
  })

  test('hides what is asked for, or nothing', () => {
    const profile = profileOf([alloc(WRAPPED, 1)])
    const paths = (own: OwnFrames) => stacksOf(ownStacks(profile, own))[0]?.[0]
    expect(paths(new OwnFrames({ hide: [/^fill/] }))).toEqual(['main'])
    expect(paths(new OwnFrames({ all: true }))).toEqual(WRAPPED)
  })

  test('does not take threads for frames of the program', () => {
    const profile = profileOf([alloc(['malloc', 'calloc'], 1)], { threadRoot: true })
    expect(stacksOf(ownStacks(profile, new OwnFrames(), 1))[0]?.[0]).toEqual(['calloc', 'thread 1'])
  })

  test('of random stacks, each loses what its row does not begin with, and keeps its figures', () => {
    const random = seeded(5)
    const names = [
      'malloc',
      'operator new(unsigned long)',
      'std::map<int, int>::operator[]',
      '0x123',
      'f (f.c:1)',
      'g',
      'main',
    ]
    const events = Array.from({ length: 500 }, (_, i) =>
      alloc(
        Array.from({ length: 1 + random(7) }, () => names[random(names.length)]),
        i,
      ),
    )
    const profile = profileOf(events)
    const own = new OwnFrames()
    const expected = stacksOf(profile, namedFrameText).map(([path, figures]) => [path.slice(own.start(path)), figures])
    expect(stacksOf(ownStacks(profile, own), namedFrameText)).toEqual(expected)
  })

  test('an empty profile stays one', () => {
    expect(stacksOf(ownStacks(profileOf([]), new OwnFrames()))).toEqual([])
  })
})

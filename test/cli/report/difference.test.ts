import { expect, test } from 'vitest'
import { differenceText } from '../../../lib/cli/report/difference.js'
import type { TraceEvent } from '../../../lib/event/trace-event.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { compareProfiles, type ProfileMatch } from '../../../lib/transforms/profile/difference.js'
import { HEADER, inBatches } from '../../transforms/events.js'

function textOf(
  events: readonly TraceEvent[],
  old: readonly TraceEvent[] = [],
  tree = false,
  match: ProfileMatch = 'names',
): string {
  const [before, after] = [old, events].map((some) => {
    const collector = new ProfileCollector()
    for (const batch of inBatches(some, 10, HEADER)) collector.add(batch)
    return collector.finish()
  }) as [ReturnType<ProfileCollector['finish']>, ReturnType<ProfileCollector['finish']>]
  return differenceText(compareProfiles(before, after, { match }), 'allocated', 5, {
    own: new OwnFrames(),
    columns: 100,
    tree,
  })
}

test('of nothing and nothing there is no ratio', () => {
  const [one, two]: TraceEvent[] = [
    { kind: 'alloc', address: 16n, size: 8n, function: 'f' },
    { kind: 'alloc', address: 32n, size: 8n, function: 'f' },
  ]
  expect(textOf([one!, two!], [one!])).toMatch(/temporary +0 +0 +0 +- +0\n/)
  expect(textOf([one!, two!], [one!])).toMatch(/allocated +8 +16 +\+8 +2\.00 +\+1\n/)
})

test.each([false, true])('quotes in names are shown, and those around them are not: tree %s', (tree) => {
  const text = textOf(
    [
      { kind: 'alloc', address: 16n, size: 300n, function: '"q"' },
      { kind: 'alloc', address: 32n, size: 200n, stack: ['"\\"s\\""'] },
      { kind: 'alloc', address: 48n, size: 100n, stack: ['"x at y"'] },
    ],
    [],
    tree,
  )
  expect(text.trim().split('\n').slice(-3)).toEqual([
    expect.stringMatching(/ {2}"q"$/),
    expect.stringMatching(/ {2}"s"$/),
    expect.stringMatching(/ {2}x at y$/),
  ])
})

test.each([false, true])('rows begin as those of hf-stats where a module has no names: tree %s', (tree) => {
  const unnamed = 'in /lib/libstdc++.so.6+0x17e012 [0x7f36a497e012]'
  const caller = 'std::pmr::memory_resource::allocate(unsigned long)'
  const stack = ['operator new(unsigned long)', unnamed, caller, 'load()', 'in /lib/libc.so.6 [0x7f0011]', 'main']
  const text = textOf([{ kind: 'alloc', address: 16n, size: 8n, stack }], [], tree)
  const callers = 'in libc.so.6 [0x7f0011] < main'
  expect(text).toContain(tree ? `load\n        +8 bytes, +1 block: ${callers}\n` : `  load < ${callers}\n`)
})

test('lines are shown as in hf-stats where they tell sites apart', () => {
  const stack = ['load() at /src/app/load.cpp:12 in /src/app/app+0x10', 'main at /src/app/main.cpp:3']
  expect(textOf([{ kind: 'alloc', address: 16n, size: 8n, stack }], [], false, 'lines')).toMatch(
    / {2}load at load.cpp:12 < main at main.cpp:3$/m,
  )
})

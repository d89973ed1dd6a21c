import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { ProfileCollector } from '../../../lib/transforms/profile/collector.js'
import { compareProfiles, isEqual, type ProfileMatch } from '../../../lib/transforms/profile/difference.js'
import type { Profile } from '../../../lib/transforms/profile/profile.js'
import { randomOf } from '../../support/model.js'
import { runs } from '../../support/runs.js'
import { SEED } from '../../support/seed.js'
import { HEADER } from '../events.js'
import { anyTraces } from '../statistics/random.js'

function profileOf(events: Iterable<TraceEvent>): Profile {
  const collector = new ProfileCollector()
  for (const batch of batchesOf(events, HEADER)) collector.add(batch)
  return collector.finish()
}

const random = randomOf(SEED)

const at = (size: number, more: object): TraceEvent => ({
  kind: 'alloc',
  address: BigInt(random(2 ** 32)) << 8n,
  size: BigInt(size),
  ...more,
})

describe('compareProfiles', () => {
  test('finds no difference between equal traces, and has all figures of both', () => {
    fc.assert(
      fc.property(anyTraces, anyTraces, ([first], [second]) => {
        const [a, b] = [first?.events ?? [], second?.events ?? []]
        expect(compareProfiles(profileOf(a), profileOf(a)).stacks.every(isEqual)).toBe(true)
        const { old, new: next, stacks } = compareProfiles(profileOf(a), profileOf(b))
        for (const [side, total] of [
          ['old', old],
          ['new', next],
        ] as const) {
          for (const figure of ['allocated', 'atPeak', 'leaked', 'temporary'] as const) {
            const sum = stacks.reduce((all, one) => all + one[side][figure].bytes, 0n)
            expect(sum).toBe(total[figure].bytes)
          }
        }
        expect(new Set(stacks.map((one) => JSON.stringify(one.stack()))).size).toBe(stacks.length)
      }),
      { numRuns: runs(200) },
    )
  })

  const names = (match: ProfileMatch, a: object, b: object) =>
    compareProfiles(profileOf([at(1, a)]), profileOf([at(1, b)]), { match }).stacks.map((one) => one.stack())

  test.each([
    [{ function: 'f', file: 'a.c', line: 1 }, { function: 'f', file: 'a.c', line: 2 }, [['f']], 2],
    [{ function: 'f', file: 'a.c', line: 1 }, { function: 'f', file: 'b/a.c', line: 1 }, [['f']], 2],
    [{ file: 'a.c', line: 1 }, { file: 'a.c', line: 2 }, [['a.c']], 2],
    [{ callSite: 0x5001n }, { callSite: 0x7001n }, [['0x...001']], 1],
    [{ callSite: 1n }, { callSite: 2n }, [['0x...001'], ['0x...002']], 2],
    [{ module: 'a', callSite: 0x5001n }, { module: 'b', callSite: 0x7001n }, [['a [0x5001]'], ['b [0x7001]']], 2],
    // There is nothing to match the call sites with, so they remain apart.
    [{ stack: ['in a [0x5001]', 'in a [0x6001]'] }, { function: 'f' }, [['a [0x5001]', 'a [0x6001]'], ['f']], 2],
    [{ stack: ['in a+0x5001'] }, { stack: ['in a+0x7001'] }, [['a+0x5001'], ['a+0x7001']], 2],
    [{ stack: ['in a [0x5001]'] }, { stack: ['in a [0x7001]'] }, [['a [0x...001]']], 1],
    [
      { stack: ['in a [0x5001]'] },
      { stack: ['in a [0x7001]', 'in a [0x5001]'] },
      [['a [0x5001]'], ['a [0x7001]', 'a [0x5001]']],
      2,
    ],
    [{ stack: ['f+0x12', 'main'] }, { stack: ['f+0x14', 'main'] }, [['f', 'main']], 1],
    [{ stack: ['f [0x12]'] }, { stack: ['f [0x14]'] }, [['f']], 1],
    [{ stack: ['f (a.c:1)', 'main'] }, { stack: ['f (a.c:9)', 'main'] }, [['f', 'main']], 2],
    [{ function: 'f' }, { function: 'g' }, [['f'], ['g']], 2],
  ])('%o and %o match by names', (a, b, expected, byLines) => {
    expect(names('names', a, b)).toEqual(expected)
    expect(names('lines', a, b)).toHaveLength(byLines)
    expect(names('all', a, b)).toHaveLength(2)
  })

  test('refuses unknown options', () => {
    const profile = profileOf([])
    expect(() => compareProfiles(profile, profile, { by: 'names' } as object)).toThrow(/unknown option "by"/)
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { differenceText } from '../../../lib/cli/report/difference.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import type { ComparedFigures, ComparedStack, ProfileDifference } from '../../../lib/transforms/profile/difference.js'
import { runs } from '../../support/runs.js'

/* The callers below the rows of `hf-diff --tree`. */

const FIGURES = ['allocated', 'atPeak', 'leaked', 'temporary'] as const
const names = { own: new OwnFrames(), columns: 200, tree: true }

/** Blocks of one byte. */
const figures = (leaked: number, allocated = 0): ComparedFigures => {
  const amount = (blocks: number) => ({ blocks, bytes: BigInt(blocks) })
  return { allocated: amount(allocated), atPeak: amount(0), leaked: amount(leaked), temporary: amount(0) }
}

/** Stacks that leak another number of blocks, and may allocate others. */
const row = (stack: string[], old: ComparedFigures, next: ComparedFigures): ComparedStack => ({
  old,
  new: next,
  stack: () => stack,
})

function difference(stacks: readonly ComparedStack[]): ProfileDifference {
  const total = (side: 'old' | 'new') => {
    const sum = figures(0)
    for (const one of stacks)
      for (const figure of FIGURES) {
        sum[figure].blocks += one[side][figure].blocks
        sum[figure].bytes += one[side][figure].bytes
      }
    return sum
  }
  return {
    old: total('old'),
    new: total('new'),
    by: 'stack',
    stacks,
    temporaryBy: 'heaptrack',
    identified: true,
    full: false,
  }
}

/** The lines of the table of sites after its heads. */
function shown(stacks: readonly ComparedStack[], top = 20): string[] {
  const lines = differenceText(difference(stacks), 'leaked', top, names).trimEnd().split('\n')
  return lines.slice(lines.findIndex((line) => line.startsWith('Sites')) + 2)
}

test('callers are shown that lead to a change of the figure, also to changes that cancel each other', () => {
  const lines = shown([
    row(['make', 'grows', 'main'], figures(1), figures(4)),
    row(['make', 'same', 'main'], figures(2, 5), figures(2, 6)),
    row(['make', 'cancels', 'one', 'main'], figures(1), figures(3)),
    row(['make', 'cancels', 'other', 'main'], figures(5), figures(3)),
    row(['call', 'same', 'main'], figures(2, 5), figures(2, 6)),
  ])
  expect(lines.map((line) => line.replace(/^.* (?=make$|call$)/, '  '))).toEqual([
    '  make',
    '        +3 bytes, +3 blocks: grows < main',
    '        0 bytes, 0 blocks: cancels',
    '          +2 bytes, +2 blocks: one < main',
    '          -2 bytes, -2 blocks: other < main',
    '  call',
  ])
})

const frame = fc.constantFrom('a', 'b', 'c', 'd')
const someStacks = fc.uniqueArray(fc.array(frame, { minLength: 1, maxLength: 4 }), {
  maxLength: 14,
  selector: (stack) => stack.join(' '),
})
const some = someStacks.chain((stacks) =>
  fc.tuple(
    ...stacks.map((stack) =>
      fc
        .tuple(fc.nat(3), fc.nat(3), fc.nat(1))
        .map(([old, next, more]) => row(stack, figures(old, 9), figures(next, 9 + more))),
    ),
  ),
)

/** The lines below rows as the callers that they lead to, the innermost frame first, and the change of bytes. */
function pathsOf(lines: readonly string[]): [string, number][] {
  const paths: [string, number][] = []
  let above: string[][] = []
  for (const line of lines) {
    const [, spaces = '', bytes, chain = ''] = /^( {8} *)([-+]?\d+) bytes?, .* blocks?: (.*)$/.exec(line) ?? []
    if (bytes === undefined) {
      above = [[line.trim().split(/ +/).at(-1) as string]]
      continue
    }
    const level = (spaces.length - 8) / 2 + 1
    above.length = level
    above.push([...(above[level - 1] as string[]), ...chain.split(' < ')])
    paths.push([(above[level] as string[]).join(' '), Number(bytes)])
  }
  return paths
}

test('each caller has the change of all stacks below it, and each stack that changed has its callers', () => {
  fc.assert(
    fc.property(some, (stacks) => {
      const lines = shown(stacks)
      fc.pre(!lines.some((line) => line.trim() === '...'))
      const changeOf = ({ old, new: next }: ComparedStack) => Number(next.leaked.bytes - old.leaked.bytes)
      const changed = stacks
        .filter((one) => changeOf(one) !== 0)
        .map((one) => [`${one.stack().join(' ')} `, one] as const)
      const paths = pathsOf(lines)
      for (const [path, bytes] of paths) {
        const below = changed.filter(([text]) => text.startsWith(`${path} `))
        expect(below.length).toBeGreaterThan(0)
        expect(bytes).toBe(below.reduce((sum, [, one]) => sum + changeOf(one), 0))
      }
      for (const [text, one] of changed)
        if (one.stack().length > 1)
          expect(paths.some(([path]) => `${path} ` === text || text.startsWith(`${path} `))).toBe(true)
    }),
    { numRuns: runs(300) },
  )
})

test('the callers of a row are the same, however many rows are shown', () => {
  fc.assert(
    fc.property(some, (stacks) => {
      const all = pathsOf(shown(stacks, 100))
      for (let top = 1; top < 6; top++) {
        const few = pathsOf(shown(stacks, top))
        expect(few).toEqual(all.slice(0, few.length))
        const [next] = all.slice(few.length)
        if (next !== undefined && few.length > 0)
          expect(next[0].split(' ')[0]).not.toBe((few.at(-1) as [string, number])[0].split(' ')[0])
      }
    }),
    { numRuns: runs(100) },
  )
})

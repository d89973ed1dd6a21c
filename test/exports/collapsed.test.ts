import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROFILE_VALUES } from '../../lib/transforms/option-values.js'
import { VALUES } from '../../lib/transforms/profile/values.js'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { scratch, shell } from '../support/commands.js'
import { hostileEvents, isInstalled, profileOf, written } from './support.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

const HEAPTRACK = 'test/fixtures/heaptrack/mtv-small.heaptrack.gz'
const hasHeaptrack = isInstalled('sh', '-c', 'command -v heaptrack_print')

/** The lines of a file, each as its frames and its figure, as speedscope reads them. */
function lines(bytes: Uint8Array): [stack: string, value: bigint][] {
  const text = Buffer.from(bytes).toString()
  if (text === '') return []
  expect(text.endsWith('\n')).toBe(true)
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const [, stack, value] = /^(.*) (\d+)$/.exec(line) ?? []
      return [stack as string, BigInt(value as string)]
    })
}

const sum = (all: readonly [string, bigint][]) => all.reduce((total, [, value]) => total + value, 0n)

describe('collapsed stacks', () => {
  test('of bytes allocated sum up to those of hf-stats --json', { tags: ['slow'] }, async () => {
    const statistics = JSON.parse((await shell(`hf-stats --json ${TRACE}`)).stdout.toString()) as Profile['statistics']
    const all = lines((await shell(`hf-profile --to collapsed ${TRACE}`)).stdout)
    expect(sum(all)).toBe(BigInt(statistics.allocated.bytes))
    expect(all.map(([stack]) => stack)).toContain('edge (ks_main.c)')
    const apart = lines((await shell(`hf-profile --to collapsed --lines ${TRACE}`)).stdout)
    expect(sum(apart)).toBe(sum(all))
    expect(apart.length).toBeGreaterThan(all.length)
    expect(apart.map(([stack]) => stack)).toContain('edge (ks_main.c:86)')
    const peak = lines((await shell(`hf-profile --to collapsed --value peak-blocks ${TRACE}`)).stdout)
    expect(sum(peak)).toBe(BigInt(statistics.peakBytes.blocks))
  })

  test.each(PROFILE_VALUES)('%s: one line for each stack, whatever the names', async (value) => {
    const profile = profileOf(hostileEvents(), { threadRoot: true, at: { event: 12 } })
    const all = lines(await written('collapsed', profile, { value }))
    const expected = [...profile.samples()].map((sample) => BigInt(VALUES[value].of(sample, 'heaptrack')))
    expect(sum(all)).toBe(expected.reduce((a, b) => a + b, 0n))
    expect(all.length).toBeGreaterThan(0)
    for (const [stack] of all) expect(stack).toMatch(/^(thread \d|\[no thread\]);[^;\n]+(;[^;\n]+)?$/)
  })

  test('are sorted by their frames', async () => {
    const all = lines(await written('collapsed', profileOf(hostileEvents())))
    const stacks = all.map(([stack]) => stack.split(';'))
    const isBefore = (a: readonly string[], b: readonly string[]) => {
      const i = a.findIndex((frame, f) => frame !== b[f])
      return i < 0 || (b[i] !== undefined && a[i] < b[i])
    }
    stacks.slice(1).forEach((stack, i) => expect(isBefore(stacks[i]!, stack)).toBe(true))
  })

  test.skipIf(!hasHeaptrack)(
    "have the figures of heaptrack's own reader (needs heaptrack_print)",
    { tags: ['slow'] },
    async () => {
      for (const [type, value] of [
        ['allocations', 'allocated-blocks'],
        ['leaked', 'live-bytes'],
        ['peak', 'peak-bytes'],
      ] as const) {
        const file = join(scratch(), type)
        const options = ['-F', file, '--flamegraph-cost-type', type, HEAPTRACK]
        expect(spawnSync('heaptrack_print', options).status).toBe(0)
        // Its lines are by instruction, not by line of source.
        const own = await shell(`hf-profile --to collapsed --value ${value} ${HEAPTRACK}`)
        expect([type, sum(lines(own.stdout))]).toEqual([type, sum(lines(readFileSync(file)))])
      }
    },
  )

  test('of nothing are empty', async () => {
    expect(lines(await written('collapsed', profileOf([])))).toEqual([])
  })
})

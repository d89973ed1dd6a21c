import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { scratch, shell } from '../support/commands.js'
import { hostileEvents, isInstalled, profileOf, written } from './support.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

/** What `ms_print` prints of a file: snapshots as their columns, and the text. */
function printed(bytes: Uint8Array): { rows: number[][]; text: string } {
  const file = join(scratch(), 'massif.out')
  writeFileSync(file, bytes)
  const { status, stdout, stderr } = spawnSync('ms_print', [file], { encoding: 'utf8', maxBuffer: 1 << 26 })
  // Perl remarks on trees that are deeper than a hundred frames, and prints them.
  expect({ status, stderr: stderr.replace(/^Deep recursion .*\n/gm, '') }).toEqual({ status: 0, stderr: '' })
  const rows = [...stdout.matchAll(/^ *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +0 +0$/gm)].map((row) =>
    row.slice(1).map((cell) => Number(cell.replaceAll(',', ''))),
  )
  return { rows, text: stdout }
}

/** Checks that the children of each line of a tree are as many as it says, and have at most its bytes. */
function checkTrees(text: string): number {
  let trees = 0
  const lines = text.split('\n')
  const check = (at: number, depth: number): { next: number; bytes: bigint } => {
    const [, indent, count, bytes] = /^( *)n(\d+): (\d+) /.exec(lines[at]) ?? []
    expect(indent).toHaveLength(depth)
    let next = at + 1
    let sum = 0n
    for (let child = 0; child < Number(count); child++) {
      const found = check(next, depth + 1)
      next = found.next
      sum += found.bytes
    }
    expect(sum <= BigInt(bytes as string)).toBe(true)
    return { next, bytes: BigInt(bytes as string) }
  }
  for (const [l, line] of lines.entries()) {
    if (!/^n\d/.test(line)) continue
    trees++
    const { next } = check(l, 0)
    expect(lines[next]).toMatch(/^(#-----------|)$/)
  }
  return trees
}

describe.skipIf(!isInstalled('sh', '-c', 'command -v ms_print'))('ms_print (needs valgrind)', () => {
  test('shows the peak and the end that hf-stats --json has', { tags: ['slow'] }, async () => {
    const { peakBytes, leaked } = JSON.parse(
      (await shell(`hf-stats --json ${TRACE}`)).stdout.toString(),
    ) as Profile['statistics']
    const { stdout } = await shell(`hf-profile --to massif ${TRACE}`)
    expect(checkTrees(stdout.toString())).toBe(2)
    const { rows, text } = printed(stdout)
    expect(rows.length).toBeLessThanOrEqual(100)
    expect(Math.max(...rows.map(([, , total]) => total as number))).toBe(Number(peakBytes.bytes))
    expect(rows.at(-1)?.[2]).toBe(Number(leaked.bytes))
    const peak = Number(/\[?(\d+) \(peak\)/.exec(text)?.[1])
    expect(rows[peak]?.slice(1, 3)).toEqual([Number(peakBytes.allocatedBytes), Number(peakBytes.bytes)])
    expect(text).toContain('100.00% (3,000,000B) 0x6: edge (ks_main.c:86)')
  })

  test('has the command of the program where the trace has it', async () => {
    const events: TraceEvent[] = [{ kind: 'alloc', address: 1n, size: 10n }]
    const cmd = async (header: TraceHeader) =>
      /^cmd: .*$/m.exec((await written('massif', profileOf(events, {}, header), { name: 'app.hfrec' })).toString())?.[0]
    expect(await cmd({ format: 'recorder', layout: { command: './app #1\n-v' } })).toBe('cmd: ./app _1_-v')
    const without: TraceHeader['layout'][] = [{ command: '' }, { command: 7 }, undefined]
    for (const layout of without) expect(await cmd({ format: 'x', ...(layout && { layout }) })).toBe('cmd: app.hfrec')
    const { stdout } = await shell('hf-profile --to massif test/golden/recorder/processes.hfrec')
    expect(stdout.toString()).toMatch(/^cmd: (?!processes).+$/m)
  })

  test('shows time in milliseconds where the trace has it', async () => {
    const events = Array.from({ length: 200 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      address: BigInt(i + 1),
      size: 10n,
      function: 'f',
      time: BigInt(i) * 5000n,
    }))
    const { rows, text } = printed(await written('massif', profileOf(events, {}, { format: 'x', timeUnit: 'us' })))
    expect(text).toContain('time(ms)')
    expect(rows.at(-1)?.slice(0, 3)).toEqual([rows.length - 1, 995, 2000])
  })

  test('takes any names, deep stacks and small branches', async () => {
    const deep: TraceEvent = {
      kind: 'alloc',
      address: 7n,
      size: 5000n,
      stack: Array.from({ length: 900 }, (_, i) => `deep ${i}`),
    }
    const small = Array.from({ length: 300 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      address: BigInt(i + 100_000),
      size: 5n,
      stack: ['leaf', `caller ${i}`],
    }))
    const bytes = await written('massif', profileOf([...hostileEvents(), deep, ...small]))
    expect(checkTrees(bytes.toString())).toBe(2)
    expect(bytes.toString()).toMatch(/n0: 1500 in 300 places, all below massif's threshold \(1\.00%\)/)
    expect(printed(bytes).text).toContain('deep 899')
  })

  test('takes several traces, and nothing', async () => {
    const fork = readFileSync('test/fixtures/mtrc/fork-parent64.mtrc')
    printed((await shell('hf-profile --to massif', fork)).stdout)
    printed(await written('massif', profileOf([])))
  })
})

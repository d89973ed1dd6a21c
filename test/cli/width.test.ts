import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandLine, scratch, shell } from '../support/commands.js'

const STACK = Array.from({ length: 8 }, (_, i) => `name_of_a_function_${i} at source_${i}.c:1${i}`)
const TRACE = `${JSON.stringify({ kind: 'alloc', address: '0x10', size: 7, stack: STACK })}\n`

describe('the width of rows', () => {
  async function widest(line: string): Promise<number> {
    const { code, stdout, stderr } = await shell(line, TRACE)
    expect([code, stderr]).toEqual([0, ''])
    return Math.max(
      ...stdout
        .toString()
        .split('\n')
        .map((text) => text.length),
    )
  }

  test('is 100, or what COLUMNS or --width says, which is stronger', { tags: ['slow'] }, async () => {
    const leaks = 'hf-stats --section leaks'
    const widths = [
      await widest(leaks),
      await widest(`COLUMNS=200 ${leaks}`),
      await widest(`COLUMNS=60 ${leaks}`),
      await widest(`COLUMNS=60 ${leaks} --width 170`),
    ]
    for (const [i, most] of [100, 200, 60, 170].entries()) {
      expect(widths[i]).toBeLessThanOrEqual(most)
      // A frame more would not fit.
      expect(widths[i]).toBeGreaterThan(most - 46)
    }
    for (const odd of ['', '0', '-5', 'wide', '1e3', '50.5'])
      expect(await widest(`COLUMNS='${odd}' ${leaks}`)).toBe(widths[0])
    // As for ls and git, the least is what can be read.
    expect(await widest(`COLUMNS=3 ${leaks}`)).toBe(await widest(`COLUMNS=40 ${leaks}`))
  })

  test('a file has 100, whatever the terminal is', { tags: ['slow'] }, async () => {
    const file = join(scratch(), 'out')
    const text = async (line: string) => {
      await shell(line, TRACE)
      return (await shell(`cat ${file}`)).stdout.toString()
    }
    const plain = await text(`hf-stats --section leaks -o ${file}`)
    expect(await text(`COLUMNS=200 hf-stats --section leaks -o ${file}`)).toBe(plain)
    expect(await text(`hf-stats --section leaks --width 200 -o ${file}`)).not.toBe(plain)
  })

  test.each(['39', '10001', 'x', '-1'])('--width %s is refused', async (width) => {
    const { code, stderr } = await shell(`hf-stats --width=${width}`, TRACE)
    expect([code, stderr]).toEqual([2, expect.stringContaining('--width')])
  })

  test('no form without rows takes --width', { tags: ['slow'] }, async () => {
    for (const line of ['hf-stats --json', 'hf-stats --mpatrol', 'hf-stats --every 1s', 'hf-diff --json'])
      expect((await shell(`${line} --width 80 /dev/null${line.startsWith('hf-diff') ? ' /dev/null' : ''}`)).code).toBe(
        2,
      )
  })

  const hasScript = spawnSync('script', ['--version'], { stdio: 'ignore' }).error === undefined
  test.skipIf(!hasScript)('is that of the terminal, unless COLUMNS says another one', { tags: ['slow'] }, async () => {
    const file = join(scratch(), 'trace.ndjson')
    await shell(`cat > ${file}`, TRACE)
    const on = async (columns: number, before: string) => {
      const line = commandLine(`stty cols ${columns}; ${before} hf-stats --section leaks ${file}`)
      const { stdout } = await shell(`script -qec ${JSON.stringify(line)} /dev/null`)
      return stdout.toString().replaceAll('\r', '')
    }
    const piped = async (columns: number) =>
      (await shell(`hf-stats --section leaks --width ${columns} ${file}`)).stdout.toString()
    expect(await on(60, '')).toBe(await piped(60))
    expect(await on(180, '')).toBe(await piped(180))
    expect(await on(60, 'COLUMNS=180')).toBe(await piped(180))
  })
})

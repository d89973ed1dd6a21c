import { expect, test } from 'vitest'
import { shell } from '../support/commands.js'

/** Several threads, so that the definitions differ. */
const TRACE = 'test/fixtures/replay/mstress-head.txt.gz'

interface Amount {
  blocks: number
  bytes: number
}

async function outputOf(line: string): Promise<string> {
  const { code, stdout } = await shell(line)
  expect(code).toBe(0)
  return stdout.toString()
}

test('all commands count temporary allocations by the same definition', async () => {
  const { temporary } = JSON.parse(await outputOf(`hf-stats --json ${TRACE}`)) as {
    temporary: Record<'heaptrack' | 'memray', Amount>
  }
  expect(temporary.heaptrack).not.toEqual(temporary.memray)
  for (const by of [undefined, 'heaptrack', 'memray'] as const) {
    const flag = by === undefined ? '' : `--temporary-by ${by}`
    const { blocks, bytes } = temporary[by ?? 'heaptrack']
    const kept = await outputOf(`hf-filter --temporary ${flag} ${TRACE}`)
    expect(kept.match(/"kind":"(alloc|realloc)"/g)).toHaveLength(blocks)
    const lines = (
      await outputOf(`hf-profile --to collapsed --value temporary-bytes --thread-root ${flag} ${TRACE}`)
    ).trim()
    expect(lines.split('\n').reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(bytes)
    const difference = JSON.parse(await outputOf(`hf-diff --json ${flag} ${TRACE} ${TRACE}`)) as {
      new: { temporary: Amount }
      temporaryBy?: string
    }
    expect(difference.new.temporary).toEqual({ blocks, bytes })
    expect(difference.temporaryBy).toBe(by === 'memray' ? by : undefined)
    expect((await shell(`hf-check --max-temporary ${blocks} ${flag} ${TRACE}`)).code).toBe(0)
    expect((await shell(`hf-check --max-temporary ${blocks - 1} ${flag} ${TRACE}`)).code).toBe(1)
    expect(await outputOf(`hf-stats --section sizes ${flag} ${TRACE}`)).toContain(`temporary (${by ?? 'heaptrack'})`)
  }
  expect(await outputOf(`hf-stats --section sites --sort memray ${TRACE}`)).not.toContain('(heaptrack)')
}, 60_000)

test.each([
  ['hf-filter --temporary-by memray', '--temporary-by needs --temporary'],
  ['hf-stats --json --temporary-by memray', '--temporary-by and --json cannot be combined'],
  ['hf-diff --to html --temporary-by memray x', '--temporary-by and --to html cannot be combined'],
  ['hf-profile --to massif --temporary-by memray', '--temporary-by does not apply to massif'],
  ['hf-check --max-peak 1 --temporary-by valgrind', '--temporary-by must be one of heaptrack, memray'],
])('%s is a usage error', async (line, message) => {
  const { code, stderr } = await shell(`${line} ${TRACE}`)
  expect([code, stderr.toString()]).toEqual([2, expect.stringContaining(message)])
})

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

test(
  'all commands count temporary allocations by the same definition',
  { tags: ['slow'], timeout: 60_000 },
  async () => {
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
  },
)

test.each([
  ['hf-filter --temporary-by memray', '--temporary-by needs --temporary'],
  ['hf-stats --json --temporary-by memray', '--temporary-by and --json cannot be combined'],
  ['hf-stats --temporary-by memray --section timeline', '--temporary-by needs a table of these sections: temporary,'],
  ['hf-stats --temporary-by heaptrack --section summary --section peak', '--temporary-by needs a table'],
  ['hf-stats --temporary-by memray --section sites --by thread', '--temporary-by needs a table'],
  ['hf-stats --temporary-by memray --top 0', '--temporary-by needs a table'],
  ['hf-stats --sort memray --temporary-by heaptrack', '--sort memray and --temporary-by heaptrack cannot be combined'],
  ['hf-stats --sort heaptrack --temporary-by memray', '--sort heaptrack and --temporary-by memray cannot be combined'],
  ['hf-diff --collapsed --temporary-by memray x', '--temporary-by needs --sort temporary with --collapsed'],
  ['hf-diff --collapsed --sort allocated --temporary-by heaptrack x', '--temporary-by needs --sort temporary'],
  ['hf-profile --to collapsed --temporary-by memray', '--temporary-by needs --value temporary-bytes or'],
  [
    'hf-profile --to collapsed --value peak-bytes --temporary-by memray',
    '--temporary-by needs --value temporary-bytes',
  ],
  ['hf-check --max-peak 1K --temporary-by memray', '--temporary-by needs a budget of temporary allocations'],
  ['hf-diff --to html --temporary-by memray x', '--temporary-by and --to html cannot be combined'],
  ['hf-profile --to massif --temporary-by memray', '--temporary-by does not apply to massif'],
  ['hf-check --max-peak 1 --temporary-by valgrind', '--temporary-by must be one of heaptrack, memray'],
])('%s is a usage error', { tags: ['slow'] }, async (line, message) => {
  const { code, stderr } = await shell(`${line} ${TRACE}`)
  expect([code, stderr.toString()]).toEqual([2, expect.stringContaining(message)])
})

test.each([
  'hf-stats --sort memray --temporary-by memray',
  'hf-stats --temporary-by memray --section timeline --section sizes',
  'hf-stats --temporary-by memray --section temporary --by thread',
  `hf-diff --collapsed --sort temporary --temporary-by memray ${TRACE}`,
  `hf-diff --sort peak --temporary-by memray ${TRACE}`,
  'hf-profile --to collapsed --value temporary-blocks --temporary-by memray',
  'hf-profile --to speedscope --value peak-bytes --temporary-by memray',
  `hf-check --grow temporary=0 --baseline ${TRACE} --temporary-by memray`,
  `hf-check --max-peak 1G --at 'nothing*' --max-temporary 5 --temporary-by memray`,
])('%s depends on the definition', { tags: ['slow'] }, async (line) => {
  const { code, stderr } = await shell(`${line} ${TRACE}`)
  // No function matches the pattern: that is the last one's 3.
  expect([code, stderr.toString()]).toEqual([line.includes('nothing*') ? 3 : 0, ''])
})

test('a file of budgets has some of temporary allocations, or not', { tags: ['slow'] }, async () => {
  const check = async (budgets: string) =>
    (
      await shell(
        `printf '{"budgets":[{"max":{"${budgets}":"90%%"}}]}' | hf-check --budgets /dev/stdin --temporary-by memray ${TRACE}`,
      )
    ).code
  expect([await check('temporary'), await check('wasted')]).toEqual([0, 2])
})

test.each([
  ...['text', 'markdown', 'junit', 'sarif'].map((form) => `hf-check --to ${form} --max-temporary 1`),
  'hf-profile --to speedscope',
  `hf-diff --sort temporary test/fixtures/mtrc/cxx64.mtrc`,
])('%s names the definition that is not the default', { tags: ['slow'] }, async (line) => {
  const outputs = await Promise.all(
    ['', '--temporary-by heaptrack', '--temporary-by memray'].map(async (flag) =>
      (await shell(`${line} ${flag} ${TRACE}`)).stdout.toString(),
    ),
  )
  const [implied, heaptrack, memray] = outputs
  expect(implied).toMatch(/temporary/)
  expect(implied).not.toMatch(/memray|heaptrack/)
  expect(heaptrack).toBe(implied)
  // Not in the names of budgets, rules and columns that others look for.
  const figures = [...(memray ?? '').matchAll(/temporary allocations|(blocks|bytes) temporary/g)]
  expect(figures.length).toBeGreaterThan(0)
  for (const { 0: figure, index } of figures) expect(memray?.slice(index + figure.length)).toMatch(/^ \(memray\)/)
})

import { expect, test } from 'vitest'
import { shell } from '../support/commands.js'

const INTERPRETED = 'test/fixtures/heaptrack/mtv-small.heaptrack.gz'
const RAW = 'test/fixtures/heaptrack/mtv-small.raw.gz'
const WARNING =
  /an interpreted heaptrack file does not say which block is freed, so temporary allocations and lifetimes/

/** The values of a key, anywhere in a value. */
function valuesOf(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => (name === key ? [one] : valuesOf(one, key)))
}

test(
  'figures that depend on which block is freed are null, a dash or missing where the trace does not say it',
  { tags: ['slow'] },
  async () => {
    const json = await shell(`hf-stats --json ${INTERPRETED}`)
    expect(json.stderr).toMatch(WARNING)
    const statistics = JSON.parse(json.stdout.toString()) as Record<string, unknown>
    expect(statistics).toMatchObject({ identified: false, temporary: null, lifetimes: null })
    for (const key of ['temporary', 'lived']) {
      expect(valuesOf(statistics, key).length).toBeGreaterThan(1)
      expect(valuesOf(statistics, key).filter((value) => value !== null)).toEqual([])
    }
    const text = (await shell(`hf-stats ${INTERPRETED}`)).stdout.toString()
    expect(text).toMatch(/^ {2}mean lifetime +-$/m)
    expect(text).toMatch(/^ {2}temporary \(heaptrack\) +-$/m)
    expect(text).not.toMatch(/by temporary allocations|Lifetimes of freed/)
    const [head = '', ...rows] = (await shell(`hf-stats --tsv --section sites ${INTERPRETED}`)).stdout
      .toString()
      .trimEnd()
      .split('\n')
    const column = head.split('\t').indexOf('temporary_heaptrack')
    expect(new Set(rows.map((row) => row.split('\t')[column]))).toEqual(new Set(['']))
    expect(await shell(`hf-filter --temporary ${INTERPRETED}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not say which blocks are temporary') as string,
    })
  },
)

test('the table of blocks has neither lifetimes nor temporary blocks then', { tags: ['slow'] }, async () => {
  const { stdout, stderr } = await shell(`hf-blocks ${INTERPRETED}`)
  expect(stderr).toMatch(WARNING)
  const rows = stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => Object.keys(JSON.parse(line) as object))
  expect(rows.length).toBeGreaterThan(100)
  expect(rows.flat().filter((name) => /^(temporary|lifetime)/.test(name))).toEqual([])
  const raw = (await shell(`hf-blocks ${RAW} | head -n 1`)).stdout.toString()
  expect(JSON.parse(raw)).toMatchObject({
    temporary: expect.any(Number) as number,
    temporaryMemray: expect.any(Number) as number,
  })
})

test('profiles and comparisons leave them out, and refuse to be about them', { tags: ['slow'] }, async () => {
  const refused = {
    code: 1,
    stdout: Buffer.alloc(0),
    stderr: expect.stringContaining('does not say which blocks are temporary') as string,
  }
  for (const format of ['collapsed', 'speedscope'])
    expect(await shell(`hf-profile --to ${format} --value temporary-bytes ${INTERPRETED}`)).toMatchObject(refused)
  expect(await shell(`hf-diff --sort temporary ${RAW} ${INTERPRETED}`)).toMatchObject(refused)
  const text = async (command: string) => (await shell(`${command} | cat`)).stdout.toString()
  expect(await text(`hf-profile --to speedscope ${INTERPRETED}`)).not.toContain('temporary')
  expect(await text(`hf-profile --to speedscope ${RAW}`)).toContain('bytes of temporary allocations')
  expect(await text(`hf-profile --to pprof ${INTERPRETED} | gunzip`)).not.toContain('temporary_space')
  expect(await text(`hf-profile --to pprof ${RAW} | gunzip`)).toContain('temporary_space')
  const { bklt, pps } = JSON.parse(await text(`hf-profile --to dhat ${INTERPRETED}`)) as {
    bklt: boolean
    pps: object[]
  }
  expect(bklt).toBe(false)
  expect(pps.filter((point) => 'tl' in point)).toEqual([])
  expect(await text(`hf-diff ${RAW} ${INTERPRETED}`)).not.toContain('temporary')
  const both = JSON.parse(await text(`hf-diff --json ${RAW} ${INTERPRETED}`)) as object
  expect(both).toMatchObject({ identified: false })
  expect(new Set(valuesOf(both, 'temporary'))).toEqual(new Set([null]))
})

test('a raw recording has them', { tags: ['slow'] }, async () => {
  const { stdout, stderr } = await shell(`hf-stats --json ${RAW}`)
  expect(stderr).not.toMatch(WARNING)
  const statistics = JSON.parse(stdout.toString()) as Record<string, unknown>
  expect(statistics['identified']).toBe(true)
  expect(valuesOf(statistics, 'temporary').filter((value) => value === null)).toEqual([])
})

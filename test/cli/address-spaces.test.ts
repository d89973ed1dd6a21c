// @module-tag slow
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const lines = (...records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
const header = { kind: 'header', format: 'replay', timeUnit: 'ns' }

/** A program that allocates and frees one block, at the address that another program uses too. */
function trace(size: number, from: number, to: number): string {
  const block = { thread: 1, address: '0x1000' }
  return lines(
    header,
    { kind: 'alloc', ...block, time: from, size },
    { kind: 'free', ...block, time: to },
    { kind: 'end', events: 2 },
  )
}

/** Pages, an object in them, and the ends of both. */
const kernel = lines(
  { kind: 'header', format: 'kmemtrace' },
  { kind: 'alloc', api: 'pages', address: '0x1000', size: 4096 },
  { kind: 'alloc', api: 'kmalloc', address: '0x1000', size: 64 },
  { kind: 'free', api: 'kfree', address: '0x1000' },
  { kind: 'free', api: 'pages', address: '0x1000' },
  { kind: 'end', events: 4 },
)

interface Figures {
  leaked: { blocks: number }
  faults: { unknownFrees: number }
  events: number
}

async function figures(line: string, input = ''): Promise<[events: number, leaked: number, unknown: number]> {
  const { code, stdout, stderr } = await shell(`set -o pipefail; ${line}`, input)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { events, leaked, faults } = JSON.parse(stdout.toString()) as Figures
  return [events, leaked.blocks, faults.unknownFrees]
}

describe('Equal addresses of two processes', () => {
  test('are two blocks for hf-filter --lifetimes, hf-verify and hf-stats', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'a.ndjson'), trace(5000, 1, 8))
    writeFileSync(join(folder, 'b.ndjson'), trace(6000, 2, 4))
    const merge = `cd ${folder} && hf-merge --by time --number-processes a.ndjson b.ndjson`
    expect(await figures(`${merge} | hf-stats --json`)).toEqual([4, 0, 0])
    expect(await figures(`${merge} | hf-filter --kind alloc --size 4K.. --lifetimes | hf-stats --json`)).toEqual([
      4, 0, 0,
    ])
    expect(await figures(`${merge} | hf-filter --kind alloc --size ..5500 --lifetimes | hf-stats --json`)).toEqual([
      2, 0, 0,
    ])
    expect((await shell(`${merge} | hf-verify`)).code).toBe(0)
  })

  test('stay two in MTRC, and are refused by formats that would make one of them', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'a.ndjson'), trace(5000, 1, 8))
    writeFileSync(join(folder, 'b.ndjson'), trace(6000, 2, 4))
    const merge = `set -o pipefail; cd ${folder} && hf-merge --by time --number-processes a.ndjson b.ndjson`
    const { code, stderr } = await shell(`${merge} | mtrc-encode -o both.mtrc`)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('process (4)') as unknown })
    expect(await figures(`hf-stats --json ${folder}/both.mtrc`)).toEqual([4, 0, 0])
    expect(await shell(`${merge} | hatf-encode -o both.hatf`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'hatf: event 2: the format has no processes, and another has a block at this address: use hf-split --by process first',
      ) as unknown,
    })
    const split = `${merge} | hf-split --by process -o 'part-{}.hatf' && hf-verify part-1.hatf && hf-verify part-2.hatf`
    expect((await shell(split)).code).toBe(0)
  })

  test.each(['--by size-class --lifetimes', '--by process', '--by shard --shards 3'])(
    'stay whole in the parts of hf-split %s',
    async (how) => {
      const folder = scratch()
      writeFileSync(join(folder, 'a.ndjson'), trace(5000, 1, 8))
      writeFileSync(join(folder, 'b.ndjson'), trace(60, 2, 4))
      const line = `cd ${folder} && hf-merge --by time --number-processes a.ndjson b.ndjson | hf-split ${how} -o 'part-{}.ndjson'`
      expect(await shell(line)).toMatchObject({ code: 0, stderr: '' })
      const parts = readdirSync(folder).filter((name) => name.startsWith('part-'))
      expect(parts).not.toContain('part-none.ndjson')
      for (const part of parts) {
        expect((await figures(`hf-stats --json ${join(folder, part)}`)).slice(1)).toEqual([0, 0])
        expect(readFileSync(join(folder, part), 'utf8')).toContain('"kind":"free"')
      }
    },
  )
})

test('Pages and objects of a kernel at one address are two blocks', async () => {
  const filter = (api: string) => `hf-filter --kind alloc --api ${api} --lifetimes | hf-stats --json`
  expect(await figures('hf-stats --json', kernel)).toEqual([4, 0, 0])
  expect(await figures(filter('pages'), kernel)).toEqual([2, 0, 0])
  expect(await figures(filter('kmalloc'), kernel)).toEqual([2, 0, 0])
})

describe('Blocks that cannot be told apart', () => {
  /** The last event is in another process, at an address that uses the bits of processes. */
  const unclear = lines(
    header,
    ...Array.from({ length: 5 }, (_, i) => ({
      kind: 'alloc',
      process: 1,
      address: `0x${i + 1}000`,
      size: 10,
      stack: ['f'],
    })),
    { kind: 'free', process: 1, address: '0x1000' },
    { kind: 'alloc', process: 2, address: '0x1000000001000', size: 10 },
    { kind: 'end', events: 7 },
  )

  test.each([
    ['hf-stats --json', '"events": 6,'],
    ['hf-stats', 'bytes leaked'],
    ['hf-stats --mpatrol', 'allocated: 5 (50 bytes)'],
    ['hf-stats --table', 'free'],
    ['hf-verify --json', '"events":6,'],
    ['hf-profile --to collapsed', 'f 50'],
    ['hf-blocks --to csv', '0x1000'],
    ['hf-report', 'replay'],
    ['hf-filter --leaked', '0x2000'],
  ])('have an event number in %s, after what came before', async (line, before) => {
    const { code, stdout, stderr } = await shell(line, unclear)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('replay: event 7: over the limit: blocks of several processes at') as unknown,
    })
    expect(stdout.toString()).toContain(before)
  })
})

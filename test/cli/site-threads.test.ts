// @module-tag slow
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { WritableFormat } from '../../lib/event/format.js'
import { eventsOf } from '../shapes/generate.js'
import { shapesOf, type Shape } from '../shapes/shape.js'
import { scratch, shell } from '../support/commands.js'
import { drive } from '../support/drive.js'
import { formatNamed } from '../support/formats.js'

/** A program whose threads free each other's blocks. */
const SHAPE: Shape = {
  ...shapesOf([2000], 1)[0],
  threads: 7,
  processes: 0,
  sites: 1000,
  frames: 2,
  deaths: 'random',
  reallocs: 'move',
  traces: 1,
  faulty: false,
}

async function output(line: string): Promise<string> {
  const { code, stdout, stderr } = await shell(line)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.toString()
}

function traceOf(shape: Shape): string {
  const path = join(scratch(), 'shape.hfc')
  const { encoder } = formatNamed('compact') as WritableFormat
  writeFileSync(path, Buffer.concat(drive(encoder({}), [...eventsOf(shape)]).out))
  return path
}

/** The rows of a TSV under their header row, with some columns, in order. */
const rowsOf = (text: string, separator: string, columns: readonly string[]) => {
  const [head = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(separator))
  return rows.map((cells) => columns.map((name) => cells[head.indexOf(name)]).join(' ')).toSorted()
}

describe('sites and threads', () => {
  test('are the sums of DuckDB over the blocks', async () => {
    const trace = traceOf(SHAPE)
    const pairs = await output(`hf-stats --section handoffs --tsv ${trace}`)
    const bySql = await output(`hf-sql --to csv ${trace} "select * from handoffs"`)
    const expected = rowsOf(bySql, ',', ['site', 'thread', 'endThread', 'bytes', 'blocks'])
    expect(expected.length).toBeGreaterThan(100)
    expect(rowsOf(pairs, '\t', ['site', 'thread', 'freed_by_thread', 'bytes', 'blocks'])).toEqual(expected)

    const own = await output(`hf-stats --section site-threads --tsv ${trace}`)
    const sums = await output(
      `hf-sql --to csv ${trace} "select site, thread, sum(size) as bytes, count(*) as allocations, ` +
        `coalesce(sum(size) filter (ending = 'live'), 0) as leaked_bytes, ` +
        `count(*) filter (ending = 'live') as leaked_blocks, sum(temporary) as temporary_heaptrack, ` +
        `sum(temporaryMemray) as temporary_memray, coalesce(sum(peakSize) filter (peakEvent = ` +
        `(select max(peakEvent) from spans)), 0) as peak_bytes from spans group by all"`,
    )
    const names = ['site', 'thread', 'bytes', 'allocations', 'leaked_bytes', 'leaked_blocks', 'peak_bytes']
    const columns = [...names, 'temporary_heaptrack', 'temporary_memray']
    expect(rowsOf(own, '\t', columns)).toEqual(rowsOf(sums, ',', columns))
  })

  test('are shown as text, by site or by function', async () => {
    const trace = join(scratch(), 'a.ndjson')
    const lines = [
      '{"kind":"header","format":"ndjson"}',
      ...[1, 2, 3, 4, 5, 6].map(
        (n) => `{"kind":"alloc","thread":1,"address":"0x${n}0","size":${n * 100},"stack":["malloc","make","main"]}`,
      ),
      ...[2, 3, 4, 5, 6, 1].map((thread, i) => `{"kind":"free","thread":${thread},"address":"0x${i + 1}0"}`),
      '{"kind":"alloc","thread":9,"address":"0x90","size":7,"stack":["make","run"]}',
      '{"kind":"end","events":13}',
    ]
    writeFileSync(trace, `${lines.join('\n')}\n`)
    expect(await output(`hf-stats --section handoffs --section site-threads ${trace}`)).toBe(
      `Top sites and threads by bytes allocated (2 in all)
  thread  bytes   share  allocations  at peak  leaked  freed by others  site
  1       2,100  99.7 %            6    2,100       0            1,500  make < main
  9           7   0.3 %            1        0       7                0  make < run

Top sites by bytes that another thread freed (1 in all)
  bytes  blocks  of allocations  site
  1,500       5          83.3 %  make < main
        thread 1 to thread 6: 1 block, 500 bytes
        thread 1 to thread 5: 1 block, 400 bytes
        thread 1 to thread 4: 1 block, 300 bytes
        thread 1 to thread 3: 1 block, 200 bytes
        1 more pair of threads: 1 block, 100 bytes
`,
    )
    const byFunction = await output(`hf-stats --by function --section handoffs ${trace}`)
    expect(byFunction).toContain('  1,500       5          71.4 %  make')
    const { sites } = JSON.parse(await output(`hf-stats --json --section handoffs ${trace}`)) as {
      sites: { threads: object[] }[]
    }
    expect(sites.map(({ threads }) => threads.length)).toEqual([1, 1])
  })

  test('are left out where one thread does everything', async () => {
    expect(await output('hf-stats --section handoffs test/fixtures/mtrc/cxx64.mtrc')).toBe(
      'handoffs: nothing to show\n',
    )
  })
})

import { readFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parquetMetadata } from 'hyparquet'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'
const rowsIn = (bytes: Buffer) =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('hf-blocks', () => {
  test('has a row for each block, or for each size', async () => {
    const blocks = await shell(`hf-blocks ${TRACE}`)
    expect({ code: blocks.code, stderr: blocks.stderr }).toEqual({ code: 0, stderr: '' })
    const spans = rowsIn((await shell(`gunzip -c ${TRACE} | heapflow blocks --spans`)).stdout)
    const rows = rowsIn(blocks.stdout)
    expect(rows).toHaveLength(1252)
    expect(spans).toHaveLength(1252 + 306)
    expect(rows.filter(({ ending }) => ending === 'live').reduce((sum, { size }) => sum + Number(size), 0)).toBe(6527)
  })

  test('writes the format of the name, of --to or of the environment', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const file = (name: string) => join(folder, name)
    for (const name of ['a.parquet', 'a.csv', 'a.arrows', 'a.ndjson.gz']) {
      const { code, stderr } = await shell(`hf-blocks -o ${file(name)} ${TRACE}`)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    }
    expect(readFileSync(file('a.parquet')).subarray(-4).toString()).toBe('PAR1')
    expect(readFileSync(file('a.csv'), 'utf8')).toMatch(/^trace,birth,/)
    expect(gunzipSync(readFileSync(file('a.ndjson.gz'))).equals((await shell(`hf-blocks ${TRACE}`)).stdout)).toBe(true)
    const arrow = readFileSync(file('a.arrows'))
    expect((await shell(`hf-blocks -u ${TRACE} | cat`)).stdout.equals(arrow)).toBe(true)
    expect((await shell(`HEAPFLOW_WIRE=arrow hf-blocks ${TRACE} | cat`)).stdout.equals(arrow)).toBe(true)
    const wrong = await shell(`hf-blocks -o ${file('a.txt')} ${TRACE}`)
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('as .ndjson, .jsonl, .arrows, .parquet, .pq, .csv do: name one with --to'),
    ])
    expect((await shell(`hf-blocks -u --to csv ${TRACE}`)).code).toBe(2)
    // A table is no trace.
    const events = await shell(`hf-stats ${file('a.parquet')}`)
    const isTable =
      /^hf-stats: \S+: (parquet|arrow): [^\n]*a table of blocks, as hf-blocks writes it, and not of events[^\n]*\n$/
    expect([events.code, events.stderr]).toEqual([1, expect.stringMatching(isTable)])
    const streamed = await shell(`hf-stats ${file('a.arrows')}`)
    expect([streamed.code, streamed.stderr]).toEqual([1, expect.stringMatching(isTable)])
  })

  test('a truncated trace has its rows, and then the error', async () => {
    const folder = scratch()
    const cut = join(folder, 'cut.mtrc')
    const whole = gunzipSync(readFileSync(TRACE))
    writeFileSync(cut, whole.subarray(0, whole.length / 2))
    const { code, stdout, stderr } = await shell(`hf-blocks ${cut}`)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^hf-blocks: .*cut\.mtrc: mtrc: byte \d+/)
    const stats = JSON.parse((await shell(`hf-stats --json ${cut}`)).stdout.toString()) as {
      leaked: { blocks: number }
    }
    const rows = rowsIn(stdout)
    expect(rows.filter(({ ending }) => ending === 'live')).toHaveLength(stats.leaked.blocks)
    expect(rows.filter(({ ending }) => ending === 'free').length).toBeGreaterThan(300)
    const parquet = await shell(`hf-blocks ${cut} -o ${join(folder, 'b.parquet')}`)
    expect(parquet.code).toBe(1)
    expect(existsSync(join(folder, 'b.parquet'))).toBe(false)
    const table = parquetMetadata(Uint8Array.from(readFileSync(join(folder, 'b.parquet.partial'))).buffer)
    expect(Number(table.num_rows)).toBe(rows.length)
  })
})

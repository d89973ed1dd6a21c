import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
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
  test('has a row for each block, or for each size', { tags: ['slow'] }, async () => {
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
    expect(readFileSync(file('a.csv'), 'utf8').split('\n', 1)[0]).toMatch(/,frame,function,.*,stackId$/)
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

  test('a truncated trace has its rows, and then the error', { tags: ['slow'] }, async () => {
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

  test('writes each stack once, to a table of its own', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const cxx = 'test/fixtures/heaptrack/cxx.raw.gz'
    const file = (name: string) => join(folder, name)
    const whole = rowsIn((await shell(`hf-blocks --full-stacks ${cxx}`)).stdout)
    const { code, stdout, stderr } = await shell(`hf-blocks --stacks ${file('s.ndjson')} ${cxx}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = rowsIn(stdout)
    const stacks = new Map(rowsIn(readFileSync(file('s.ndjson'))).map(({ stackId, stack }) => [stackId, stack]))
    expect(stacks.size).toBeGreaterThan(5)
    expect(rows.map(({ stackId }) => stacks.get(stackId))).toEqual(whole.map(({ stack }) => stack))
    expect(rows.map((row) => ({ ...row }))).toEqual(
      whole.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'site' && name !== 'stack')),
      ),
    )
    // The format is that of the name, else that of the rows; the rows may go to a file, and the stacks to a pipe.
    const csv = await shell(`hf-blocks --stacks ${file('s.csv')} -o ${file('b.ndjson')} ${cxx}`)
    expect([csv.code, csv.stdout.length]).toEqual([0, 0])
    expect(readFileSync(file('s.csv'), 'utf8').split('\n').slice(0, 2)).toEqual([
      'stackId,stack',
      `1,${(stacks.get(1) as string[]).join(' < ')}`,
    ])
    const piped = await shell(`hf-blocks --stacks - -o ${file('b.csv')} ${cxx}`)
    expect(piped.stdout.toString()).toBe(readFileSync(file('s.csv'), 'utf8'))
  })

  test('refuses to write stacks where rows go', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const refusal = async (flags: string) => {
      const { code, stderr } = await shell(`hf-blocks ${flags} ${TRACE}`)
      return [code, stderr]
    }
    const both = (path: string) => [2, expect.stringContaining(`cannot both be written to ${path}`)]
    expect(await refusal('--stacks -')).toEqual(both('-'))
    expect(await refusal(`--stacks ${folder}/a.csv -o ${folder}/a.csv`)).toEqual(both(`${folder}/a.csv`))
    // However it is named: through another path, a link to its folder, or a link to a file that is not there yet.
    mkdirSync(join(folder, 'real'))
    symlinkSync('real', join(folder, 'link'))
    symlinkSync('real/a.csv', join(folder, 'dangling.csv'))
    for (const name of ['./real/a.csv', 'link/a.csv', 'dangling.csv'])
      expect(await refusal(`-o ${folder}/real/a.csv --stacks ${folder}/${name}`)).toEqual(both(`${folder}/${name}`))
    expect(await refusal(`--stacks ${folder}/real/a.csv > ${folder}/real/a.csv`)).toEqual(both(`${folder}/real/a.csv`))
    expect(readdirSync(join(folder, 'real'))).toEqual(['a.csv'])
    expect(await refusal(`--stacks ${folder}/a.csv --full-stacks`)).toEqual([
      2,
      expect.stringContaining('--stacks and --full-stacks cannot be combined'),
    ])
    expect(await refusal(`--stacks ${folder}/a.txt`)).toEqual([2, expect.stringContaining('give it another name')])
  })

  test('the stacks of a truncated trace have another name', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const cut = join(folder, 'cut.raw')
    const whole = gunzipSync(readFileSync('test/fixtures/heaptrack/cxx.raw.gz'))
    writeFileSync(cut, whole.subarray(0, whole.lastIndexOf('\n+') + 2))
    const { code, stdout, stderr } = await shell(`hf-blocks --stacks ${folder}/s.parquet ${cut}`)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${folder}/s.parquet.partial`)])
    expect(existsSync(join(folder, 's.parquet'))).toBe(false)
    const table = parquetMetadata(Uint8Array.from(readFileSync(join(folder, 's.parquet.partial'))).buffer)
    expect(Number(table.num_rows)).toBe(Math.max(...rowsIn(stdout).map(({ stackId = 0 }) => Number(stackId))))
  })
})

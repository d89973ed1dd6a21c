import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const TRACE = '{"kind":"alloc","address":"0x10","size":8}\n{"kind":"free","address":"0x10"}\n'

/** A folder with a trace in it, and what a command does there. */
async function run(command: string) {
  const folder = scratch()
  writeFileSync(join(folder, 'alloc.ndjson'), TRACE)
  const { code, stdout, stderr } = await shell(`cd ${folder} && ${command}`)
  return { code, stdout, stderr, files: readdirSync(folder).filter((name) => name !== 'alloc.ndjson'), folder }
}

describe('Parquet', () => {
  test.each([
    ['hf-convert alloc.ndjson x.parquet.gz', 'the ending .gz'],
    ['parquet-encode -o x.parquet.GZ alloc.ndjson', 'the ending .gz'],
    ['parquet-encode -z -o x.parquet alloc.ndjson', '--gzip'],
    ['hf-filter -o x.parquet.gz alloc.ndjson', 'the ending .gz'],
    ['hf-merge -o x.parquet.gz alloc.ndjson', 'the ending .gz'],
    ["hf-split --by kind -o '{}.parquet.gz' alloc.ndjson", 'the ending .gz'],
    ['hf-blocks -o x.parquet.gz alloc.ndjson', 'the ending .gz'],
    ['hf-blocks -o x.csv --stacks y.parquet.gz alloc.ndjson', 'the ending .gz'],
    ["hf-sql --to parquet -o x.gz alloc.ndjson 'select 1'", 'the ending .gz'],
  ])('is not compressed as a whole: %s', async (command, what) => {
    const { code, stderr, files } = await run(command)
    expect(stderr).toContain(
      `Parquet has its pages compressed, and cannot be read from a compressed file: leave out ${what}`,
    )
    expect({ code, files }).toEqual({ code: 2, files: [] })
  })
})

describe('names', () => {
  test.each(['x.NDJSON.GZ', 'x.ndjson.Gz'])('in upper case say that the output is compressed: %s', async (name) => {
    const { code, folder } = await run(`hf-convert alloc.ndjson ${name}`)
    expect(code).toBe(0)
    expect(gunzipSync(readFileSync(join(folder, name))).toString()).toContain('"kind":"alloc"')
  })

  test.each([
    ['hf-filter -u -o u.ndjson alloc.ndjson', 'u.ndjson of a file in the format ndjson'],
    ['hf-convert -u alloc.ndjson u.NDJSON.gz', 'u.NDJSON.gz of a file in the format ndjson'],
    ['mtrc-decode -u -o u.mtrc alloc.ndjson', 'u.mtrc of a file in the format mtrc'],
    ['hf-blocks -u -o u.csv alloc.ndjson', 'u.csv of a file in the format csv'],
  ])('of another format are refused with --arrow: %s', async (command, what) => {
    const { code, stderr, files } = await run(command)
    expect(stderr).toContain(`--arrow and the name ${what} cannot be combined`)
    expect({ code, files }).toEqual({ code: 2, files: [] })
  })

  test.each([
    ['hf-filter -z -o u.ndjson.zst alloc.ndjson', '--gzip and the name u.ndjson.zst'],
    ['hf-convert --zstd alloc.ndjson u.ndjson.GZ', '--zstd and the name u.ndjson.GZ'],
    ["hf-split -z --by kind -o '{}.ndjson.zst' alloc.ndjson", '--gzip and the name {}.ndjson.zst'],
  ])('of another compression are refused: %s', async (command, what) => {
    const { code, stderr, files } = await run(command)
    expect(stderr).toContain(`${what} cannot be combined`)
    expect({ code, files }).toEqual({ code: 2, files: [] })
  })

  test('that are those of the input leave no part of hf-split behind', async () => {
    const { code, stderr, files } = await run("hf-split --by kind -o '{}.ndjson' alloc.ndjson")
    expect(stderr).toBe('hf-split: alloc.ndjson is the input too: write to another file; see hf-split --help\n')
    expect({ code, files }).toEqual({ code: 2, files: [] })
  })
})

test('--part of a file that is missing says that alone', async () => {
  const { code, stderr } = await run('hf-filter --part 1/2 missing.hfc')
  expect(stderr).toBe('hf-filter: missing.hfc: no such file or directory\n')
  expect(code).toBe(1)
})

test('hf-sql writes names that are not UTF-8 as other commands do', { tags: ['slow'] }, async () => {
  const trace = '{"kind":"alloc","address":"0x10","function":"caf\\udce9"}\n'
  const query = async (to: string) => {
    const sql = 'select function as name, [function] as list from events'
    return (await shell(`hf-sql --to ${to} - '${sql}'`, trace)).stdout
  }
  expect((await query('ndjson')).toString()).toBe('{"name":"caf\\udce9","list":["caf\\udce9"]}\n')
  expect((await query('csv')).toString('latin1')).toBe('name,list\ncaf\xe9,"[""caf\\udce9""]"\n')
  expect((await query('table')).toString('latin1')).toContain('caf\xe9  ["caf\xe9"]')
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ALL_COMMANDS } from '../../lib/cli/heapflow.js'
import { arrow } from '../../lib/formats/arrow/index.js'
import { decodeAll } from '../support/drive.js'
import { scratch, shell } from '../support/commands.js'

const TRACE = gunzipSync(readFileSync(new URL('../fixtures/mtrc/small64.mtrc.gz', import.meta.url)))
const isArrow = (bytes: Uint8Array) => arrow.sniff(bytes)

/** Runs a command line on the trace, which must succeed. */
async function output(line: string, input: Uint8Array = TRACE): Promise<Buffer> {
  const { code, stdout, stderr } = await shell(`set -o pipefail; ${line}`, input)
  expect({ line, code, stderr: stderr.replace(/^hatf-encode: warning: not representable.*\n/m, '') }).toEqual({
    line,
    code: 0,
    stderr: '',
  })
  return stdout
}

describe('-u writes Arrow', () => {
  test('is a flag of every command that writes lines of JSON', () => {
    const writers = ALL_COMMANDS.filter(({ name }) =>
      /-decode$|^hf-(record|convert|filter|map|sort|split|merge|verify)$/.test(name),
    )
    expect(writers.length).toBeGreaterThanOrEqual(20)
    for (const { name, flags } of writers)
      expect({ name, short: flags.find((flag) => flag.name === 'arrow')?.short }).toEqual({ name, short: 'u' })
  })

  test('with it, pipelines end in the same bytes', { tags: ['slow'] }, async () => {
    const lines = await output('mtrc-decode | hf-filter --kind alloc --lifetimes | hf-sort --by address | hatf-encode')
    const columns = await output(
      'mtrc-decode -u | hf-filter -u --kind alloc --lifetimes | hf-sort -u --by address | hatf-encode',
    )
    expect(columns.equals(lines)).toBe(true)
    expect((await output('mtrc-decode -u | hf-map -u --number-threads | mtrc-encode')).length).toBe(TRACE.length)
    expect((await output('mtrc-decode -u | mtrc-encode')).equals(TRACE)).toBe(true)
  })

  test('each of them writes a whole stream', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const file = join(folder, 't.mtrc')
    writeFileSync(file, TRACE)
    for (const line of [
      `mtrc-decode -u ${file}`,
      `hf-filter -u ${file}`,
      `hf-map -u ${file}`,
      `hf-sort -u --by address ${file}`,
      `hf-merge -u --end-to-end ${file} ${file}`,
      `hf-convert -u ${file}`,
      `hf-convert -u ${file} -`,
      `heapflow convert --to arrow ${file} -`,
      `arrow-encode ${file}`,
    ]) {
      const bytes = await output(line)
      expect({ line, isArrow: isArrow(bytes) }).toEqual({ line, isArrow: true })
      expect(decodeAll(arrow.decoder(), bytes).error).toBeUndefined()
    }
    await output(`hf-verify --repair -u -o ${folder}/repaired ${file} 2>/dev/null`)
    expect(isArrow(readFileSync(join(folder, 'repaired')))).toBe(true)
    await output(`hf-split -u --by kind -o ${folder}/part-{} ${file}`)
    expect(isArrow(readFileSync(join(folder, 'part-alloc')))).toBe(true)
  })

  test('every command reads it', { tags: ['slow'] }, async () => {
    const lines = await output('mtrc-decode')
    const columns = await output('mtrc-decode -u')
    for (const command of ['hf-stats', 'hf-verify --json || true', 'hf-profile --to collapsed', 'hf-filter'])
      expect((await output(command, columns)).equals(await output(command, lines))).toBe(true)
    expect((await output('arrow-decode', columns)).equals(lines)).toBe(true)
  })

  test('it contradicts --to', async () => {
    const { code, stderr } = await shell('hf-filter -u --to hatf', TRACE)
    expect(code).toBe(2)
    expect(stderr).toContain('--to and --arrow cannot be combined')
  })
})

describe('HEAPFLOW_WIRE', { tags: ['slow'] }, () => {
  test('makes pipes carry Arrow, but not files', async () => {
    const folder = scratch()
    const line = `mtrc-decode | tee ${folder}/decoded | hf-filter | tee ${folder}/filtered | hf-stats > ${folder}/stats`
    await output(`export HEAPFLOW_WIRE=arrow; ${line}; hf-filter ${folder}/decoded > ${folder}/lines`)
    expect(isArrow(readFileSync(join(folder, 'decoded')))).toBe(true)
    expect(isArrow(readFileSync(join(folder, 'filtered')))).toBe(true)
    expect(readFileSync(join(folder, 'lines')).equals(await output('mtrc-decode'))).toBe(true)
    expect(readFileSync(join(folder, 'stats')).equals(await output('hf-stats'))).toBe(true)
  })

  test('does not matter where a flag or a name says what to write', async () => {
    const folder = scratch()
    const bytes = await output('export HEAPFLOW_WIRE=arrow; hf-filter --to ndjson | cat')
    expect(bytes.equals(await output('mtrc-decode'))).toBe(true)
    await output(`export HEAPFLOW_WIRE=ndjson; mtrc-decode -o ${folder}/t.arrows`)
    expect(isArrow(readFileSync(join(folder, 't.arrows')))).toBe(true)
  })

  test('must be one of the two', async () => {
    const { code, stderr } = await shell('HEAPFLOW_WIRE=parquet mtrc-decode', TRACE)
    expect(code).toBe(2)
    expect(stderr).toContain('HEAPFLOW_WIRE must be ndjson or arrow, not "parquet"')
  })
})

describe('truncation', () => {
  test('reaches the end of a pipeline', async () => {
    const cut = TRACE.subarray(0, TRACE.length - 100)
    const { code, stderr } = await shell('mtrc-decode -u | hf-filter -u | hatf-encode > /dev/null', cut)
    expect(code).toBe(1)
    expect(stderr).toContain('hatf-encode: stdin: arrow: ')
    expect(stderr).toContain('truncated: no end mark')
  })
})

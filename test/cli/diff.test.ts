// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ComparedFigures } from '../../lib/transforms/profile/difference.js'
import { scratch, shell } from '../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

/** The trace without the frees of blocks that a function allocated, as lines of JSON. */
async function withoutFrees(name: string): Promise<string> {
  const lines = (await shell('mtrc-decode', gunzipSync(readFileSync(TRACE)))).stdout.toString().split('\n')
  const own = new Set<unknown>()
  const kept = lines.filter((line) => {
    if (line === '' || /"kind":"(header|end)"/.test(line)) return false
    const { kind, index, function: from } = JSON.parse(line) as Record<string, unknown>
    if (kind === 'alloc' && from === name) own.add(index)
    return kind !== 'free' || !own.has(index)
  })
  expect(kept.length).toBeLessThan(lines.length - 10)
  const file = join(scratch(), 'new.ndjson')
  writeFileSync(file, `${kept.join('\n')}\n`)
  return file
}

interface Compared {
  difference: ComparedFigures
  ratio: Record<string, number | null>
  sites: { stack: string[]; old: ComparedFigures; new: ComparedFigures; difference: ComparedFigures }[]
}

/** A line of JSON; a text as it is. */
function textOf(row: unknown): string {
  return typeof row === 'string' ? row : JSON.stringify(row)
}

describe('hf-diff', () => {
  test('says that nothing differs in a trace and itself', async () => {
    const { code, stdout: text } = await shell(`hf-diff ${TRACE} ${TRACE}`)
    expect([code, text.toString()]).toEqual([0, 'Nothing differs: all sites have the same figures in both.\n'])
    const { stdout } = await shell(`hf-diff --json ${TRACE} ${TRACE}`)
    expect((JSON.parse(stdout.toString()) as { sites: unknown[] }).sites).toEqual([])
  })

  test('names the site first whose frees are missing', async () => {
    const file = await withoutFrees('lex_node')
    const text = await shell(`hf-diff ${TRACE} ${file}`)
    expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 0, stderr: '' })
    const lines = text.stdout.toString().split('\n')
    const heads = lines.findIndex((line) => line.startsWith('Sites by the difference in bytes live at the end'))
    expect(lines[heads + 2]).toMatch(/^ +0 +[\d,]+ +\+[\d,]+ +new +\+\d+ /)
    expect(lines.slice(heads + 2, heads + 4).some((line) => line.endsWith(' lex_node'))).toBe(true)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)

    const { difference, ratio, sites } = JSON.parse(
      (await shell(`hf-diff --json ${TRACE} ${file}`)).stdout.toString(),
    ) as Compared
    const [first] = sites
    expect(first?.stack).toEqual(['lex_node'])
    // The rest are blocks that other functions resized.
    expect(first?.difference.leaked.bytes).toBeGreaterThan(Number(difference.leaked.bytes) / 2)
    expect(first?.difference.allocated).toEqual({ blocks: 0, bytes: 0 })
    expect(ratio['allocated']).toBe(1)

    const stacks = (await shell(`hf-diff --collapsed ${TRACE} -`, readFileSync(file))).stdout.toString()
    expect(stacks).toContain(`\nlex_node 0 ${first?.new.leaked.bytes}\n`)
  })

  test('compares sizes where no event has a site', async () => {
    const old = '{"kind":"alloc","address":16,"size":8}'
    const more = `${old}\\n{"kind":"alloc","address":32,"size":8}\\n{"kind":"alloc","address":48,"size":1}`
    const folder = scratch()
    const files = `printf '${old}\\n' > ${folder}/a.ndjson; printf '${more}\\n' > ${folder}/b.ndjson;`
    const text = (await shell(`${files} hf-diff ${folder}/a.ndjson ${folder}/b.ndjson`)).stdout.toString()
    expect(text.split('\n').slice(7)).toEqual([
      'Sizes by the difference in bytes live at the end (2 differ)',
      '  old bytes  new bytes  difference  ratio  blocks  at peak  allocated  temporary  size',
      '          8         16          +8   2.00      +1       +8         +8          0  8 bytes',
      '          0          1          +1    new      +1       +1         +1          0  1 byte',
      '',
    ])
    const same = await shell(`hf-diff ${folder}/a.ndjson ${folder}/a.ndjson`)
    expect(same.stdout.toString()).toBe('Nothing differs: blocks of all sizes have the same figures in both.\n')
  })

  test.each(['cxx.heaptrack.gz', 'mtv-small.heaptrack.gz'])(
    'names the site first whose frees are missing, of a recording by heaptrack: %s',
    async (name) => {
      const trace = `test/fixtures/heaptrack/${name}`
      interface Row {
        kind: string
        address?: string
        size?: number
        stack?: string[]
      }
      const rows = (await shell(`heaptrack-decode ${trace}`)).stdout
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Row)
      // The stack whose blocks that are freed have most bytes.
      const blocks = new Map<string, Row>()
      const freed = new Map<string, number>()
      for (const row of rows) {
        if (row.kind === 'alloc') blocks.set(row.address as string, row)
        const { stack, size = 0 } = (row.kind === 'free' ? blocks.get(row.address ?? '') : undefined) ?? {}
        if (stack !== undefined) freed.set(JSON.stringify(stack), (freed.get(JSON.stringify(stack)) ?? 0) + size)
      }
      const [[site, bytes]] = [...freed].toSorted(([, a], [, b]) => b - a) as [[string, number]]
      const isOfSite = ({ address }: Row) => JSON.stringify(blocks.get(address ?? '')?.stack) === site
      const kept = rows.filter((row) => row.kind !== 'end' && !(row.kind === 'free' && isOfSite(row)))
      expect(kept.length).toBeLessThan(rows.length - 1)
      const file = join(scratch(), 'new.ndjson')
      writeFileSync(file, [...kept, { kind: 'end', events: kept.length - 1 }, ''].map(textOf).join('\n'))

      const { code, stdout, stderr } = await shell(`hf-diff --json --match all ${trace} ${file}`)
      expect([
        code,
        stderr.replaceAll(/.*: an interpreted heaptrack file does not say which block is freed, .*\n/g, ''),
      ]).toEqual([0, ''])
      const { difference, sites } = JSON.parse(stdout.toString()) as Compared
      expect(difference.leaked.bytes).toBe(bytes)
      // The peak is elsewhere then, so other sites differ in what they hold there.
      const [first, ...others] = sites
      expect(first?.difference.leaked.bytes).toBe(bytes)
      expect(others.filter((other) => Number(other.difference.leaked.bytes) !== 0)).toEqual([])
      const names = (JSON.parse(site) as string[]).map((frame) => frame.split(/ (?:at|in) /)[0])
      expect(first?.stack).toHaveLength(names.length)
      for (const [i, frame] of names.entries()) if (!/^(?:at|in) /.test(frame)) expect(first?.stack[i]).toContain(frame)

      const byNames = JSON.parse((await shell(`hf-diff --json ${trace} ${file}`)).stdout.toString()) as Compared
      expect(byNames.sites[0]?.difference.leaked.bytes).toBe(bytes)
      const same = (await shell(`hf-diff --json ${trace} ${trace}`)).stdout.toString()
      expect((JSON.parse(same) as Compared).sites).toEqual([])
    },
  )

  test('orders sites by any figure, and shows as many as are asked for', async () => {
    const file = await withoutFrees('lex_node')
    const sites = async (flags: string) =>
      (JSON.parse((await shell(`hf-diff --json ${flags} ${TRACE} ${file}`)).stdout.toString()) as { sites: object[] })
        .sites
    expect(await sites('--top 1 --sort temporary')).toHaveLength(1)
    expect((await sites('--match lines')).length).toBeGreaterThanOrEqual((await sites('')).length)
  })

  test.each([
    ['hf-diff', /name two traces, OLD and NEW, not 0/],
    [`hf-diff ${TRACE}`, /name two traces, OLD and NEW, not 1/],
    ['hf-diff - -', /standard input can be read only once/],
    ['hf-diff --json --collapsed a b', /--json and --collapsed cannot be combined/],
    ['hf-diff --sort size a b', /--sort must be one of leaked, peak, allocated, temporary/],
  ])('%s is a mistake', async (line, message) => {
    const { code, stderr } = await shell(line)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('names that differ in bytes that are not UTF-8 stay apart, in hf-check and hf-profile, too', async () => {
    const lines = (sizes: readonly [number, number]) =>
      ['\\udce9', '\\udce8']
        .map((e, i) => `{"kind":"alloc","address":"0x${i + 1}000","size":${sizes[i]},"stack":["caf${e}","main"]}\n`)
        .join('')
    const [old, now] = [`${scratch()}/old.ndjson`, `${scratch()}/new.ndjson`]
    writeFileSync(old, lines([100, 1000]))
    writeFileSync(now, lines([1000, 100]))
    const { stdout } = await shell(`hf-diff ${old} ${now}`)
    expect(stdout.toString()).toMatch(/\+900 .*caf\\xe9 < main\n.*-900 .*caf\\xe8 < main\n/)
    const checked = await shell(`hf-check --each '*' --max-leaked 1000 ${old}`)
    expect([checked.code, checked.stdout.toString()]).toEqual([
      0,
      expect.stringContaining('each * (2 functions)') as string,
    ])
    const beyond = await shell(`hf-check --to json --each 'caf*' --max-leaked 500 ${old}`)
    expect(beyond.stdout.toString()).toContain(String.raw`"function": "caf\\xe8"`)
    expect((await shell(`hf-profile --to collapsed ${old}`)).stdout.toString().split('\n').toSorted()).toEqual([
      '',
      String.raw`main;caf\xe8 1000`,
      String.raw`main;caf\xe9 100`,
    ])
  })

  test('a trace that cannot be read is an error that names it', async () => {
    const { code, stderr, stdout } = await shell(`hf-diff ${TRACE} no-such-file`)
    expect({ code, stdout: stdout.length }).toEqual({ code: 1, stdout: 0 })
    expect(stderr).toMatch(/no-such-file: no such file/)
  })
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { jsonText } from '../../lib/cli/report/json.js'
import { StatisticsReport } from '../../lib/cli/report/statistics-report.js'
import { siteName } from '../../lib/cli/report/site-sections.js'
import { reportText } from '../../lib/cli/report/text.js'
import { bytes, grouped, rounded, tableLines, visible } from '../../lib/cli/report/columns.js'
import { mtrc, ndjson } from '../../lib/entry/index.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { scratch, shell } from '../support/commands.js'
import { mpatrolFile } from '../formats/mtrc/mpatrol.js'
import { drive, encodeEvents } from '../support/drive.js'
import { HEADER, inBatches } from '../transforms/events.js'

const EVENTS = Array.from({ length: 6000 }, (_, i): TraceEvent => {
  const block = {
    index: BigInt((i >> 1) + 1),
    thread: BigInt(i % 3),
    function: `f${i % 40}`,
    file: 'a.c',
    line: (i % 40) + 1,
  }
  return i % 2 === 0 || i > 5990
    ? { kind: 'alloc', address: BigInt(4096 + i * 16), size: BigInt((i % 900) + 1), ...block, index: BigInt(i + 1) }
    : { kind: 'free', ...block, index: BigInt(i) }
})
const TRACE = encodeEvents(mtrc.format.encoder(), EVENTS, { format: 'mtrc' })

function statisticsOf(events: readonly TraceEvent[]) {
  const collector = new StatisticsCollector()
  for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
  return collector.finish()
}

describe('hf-stats', () => {
  test('tells people what is in a trace', async () => {
    const { code, stdout, stderr } = await shell('hf-stats --top 3', TRACE)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const text = stdout.toString()
    expect(text).toMatch(/^ {2}events +6,000, 6,000 of them about blocks$/m)
    expect(text).toContain('Sites with the most bytes live at the end, of ')
    expect(text).toMatch(/The 3 most frequent of [\d,]+ sizes/)
    expect(text.split('\n').every((line) => line === line.trimEnd())).toBe(true)
  })

  test('tells programs, in JSON', async () => {
    const { code, stdout } = await shell('mtrc-decode | heapflow stats --json', TRACE)
    expect(code).toBe(0)
    const result = JSON.parse(stdout.toString()) as Record<string, unknown> & { sites: object[]; kinds: object }
    expect(result).toMatchObject({
      complete: true,
      traces: 1,
      formats: ['mtrc'],
      events: 6000,
      kinds: { alloc: EVENTS.filter(({ kind }) => kind === 'alloc').length },
    })
    expect(result.sites).toHaveLength(25)
    expect(
      (JSON.parse((await shell('hf-stats --json --top 2', TRACE)).stdout.toString()) as typeof result).sites,
    ).toEqual(result.sites.slice(0, 2))
  })

  test('prints statistics and table as mpatrol does, from whatever format', async () => {
    const { stdout } = await shell('hf-stats --mpatrol', TRACE)
    expect(stdout.toString()).toMatch(/^memory allocation tracing statistics\n-{36}\nallocated: 3005 \(\d+ bytes\)\n/)
    const whole = await shell('hf-stats --table --sources', TRACE)
    expect(whole.stdout.toString().endsWith(`\n\n${stdout.toString()}`)).toBe(true)
    expect(whole.stdout.toString().split('\n')).toHaveLength(2 + 6000 * 2 + 1 + 14)
    expect((await shell('mtrc-decode | hf-stats --table --sources', TRACE)).stdout.equals(whole.stdout)).toBe(true)
    expect((await shell('hf-stats --table', TRACE)).stdout.toString().split('\n')).toHaveLength(2 + 6000 + 1 + 14)
  })

  test('of a trace that is cut, tells what was read, and then the fault', async () => {
    const cut = TRACE.subarray(0, 20_000)
    for (const form of ['', '--json', '--mpatrol', '--table']) {
      const { code, stdout, stderr } = await shell(`hf-stats ${form}`, cut)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^hf-stats: mtrc: byte \d+, event \d+: truncated: .*\n$/)
      expect(stdout.length).toBeGreaterThan(200)
    }
    expect(JSON.parse((await shell('hf-stats --json', cut)).stdout.toString())).toMatchObject({ complete: false })
    expect((await shell('hf-stats', cut)).stdout.toString()).toContain('1 (mtrc), cut short')
    const nothing = await shell(
      'hf-stats',
      'this is no trace of any kind, and it is long enough to tell that for sure, is it not',
    )
    expect(nothing).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
  })

  test('writes to a file, compressed or not, and never to its input', async () => {
    const folder = scratch()
    const input = join(folder, 'a.mtrc')
    writeFileSync(input, TRACE)
    expect((await shell(`hf-stats ${input} -o ${folder}/a.txt && hf-stats ${input} -o ${folder}/b.txt.gz`)).code).toBe(
      0,
    )
    const text = readFileSync(join(folder, 'a.txt'))
    expect(text.toString()).toContain('Summary')
    expect(gunzipSync(readFileSync(join(folder, 'b.txt.gz'))).equals(text)).toBe(true)
    expect(gunzipSync((await shell(`hf-stats -z ${input}`)).stdout).equals(text)).toBe(true)
    expect(await shell(`hf-stats ${input} -o ${input}`)).toMatchObject({ code: 2 })
    expect(readFileSync(input).equals(TRACE)).toBe(true)
  })

  test('takes all traces of an input together, or one', async () => {
    const two = Buffer.concat([TRACE, TRACE])
    const events = async (flags: string) =>
      (JSON.parse((await shell(`hf-stats --json ${flags}`, two)).stdout.toString()) as { events: number }).events
    expect([await events(''), await events('--trace 1'), await events('--trace 2')]).toEqual([12_000, 6000, 6000])
    expect(await shell('hf-stats --trace 3', two)).toMatchObject({
      code: 1,
      stderr: 'hf-stats: there is no trace 3: the input has 2\n',
    })
    const first = await shell('hf-stats --mpatrol', two)
    expect(first.stderr).toMatch(/^hf-stats: warning: the input has 2 traces, and this is the first alone/)
    expect(first.stdout.equals((await shell('hf-stats --mpatrol', TRACE)).stdout)).toBe(true)
    // The first trace is whole, though the second is cut.
    const cut = await shell('hf-stats --json --trace 1', two.subarray(0, two.length - 1000))
    expect(cut.code).toBe(1)
    expect(JSON.parse(cut.stdout.toString())).toMatchObject({ complete: true, events: 6000 })
  })

  test.each([
    ['hf-stats --json --table', /one form at a time, not --json and --table/],
    ['hf-stats --sources', /--sources needs --table/],
    ['hf-stats --trace 0', /--trace counts from 1/],
    ['hf-stats --top some', /--top needs a whole number/],
    ['hf-stats a b', /one input at a time/],
  ])('a command line that makes no sense: %s', async (line, message) => {
    const { code, stdout, stderr } = await shell(line, TRACE)
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test("prints what mpatrol's reader prints for a program that forked", async () => {
    const input = mpatrolFile('fork-parent64.mtrc')
    expect(
      (await shell('hf-stats --mpatrol 2>/dev/null', input)).stdout.equals(mpatrolFile('fork-parent64.stats.txt')),
    ).toBe(true)
    expect(
      (await shell('mtrc-decode 2>/dev/null | hf-stats --table --sources 2>/dev/null', input)).stdout.equals(
        mpatrolFile('fork-parent64.verbose.txt'),
      ),
    ).toBe(true)
  })
})

describe('the report', () => {
  test('leaves out what a trace does not tell', () => {
    const text = reportText(statisticsOf([{ kind: 'comment', text: 'x' }]), 10)
    expect(text).toContain('most bytes live   none')
    expect(text).not.toMatch(/Sites|Reallocs|Out of the ordinary|threads|undefined|NaN/)
  })

  test('has every section of a trace that tells much', () => {
    const common = { thread: 1n, process: 5n, callSite: 0xffff_ffff_8100_0000n }
    const text = reportText(
      statisticsOf([
        { kind: 'alloc', api: 'kmalloc', address: 1n, size: 40n, cpu: 0, time: 10n, usable: 64n, ...common },
        {
          kind: 'free',
          api: 'kmem_cache_free',
          address: 1n,
          cpu: 1,
          time: 900n,
          thread: 2n,
          process: 5n,
          present: 4096n,
        },
        { kind: 'realloc', oldAddress: 77n, address: 2n, size: 2_000_000n, ...common },
        { kind: 'alloc', address: 2n, size: 3n, process: 5n, stack: ['a\x1b[2J', 'b', 'c', 'd', 'e', 'f', 'g'] },
        { kind: 'free', address: 0n, process: 6n },
        { kind: 'free', address: 9n },
      ]),
      10,
    )
    for (const part of [
      'overhead',
      'wasted',
      'resident when freed',
      'freed on another CPU',
      'allocated by kmalloc, freed by kmem_cache',
      '1, 2,000,000 bytes (1.9 MiB) lost',
      'frees of null',
      'frees of unknown blocks',
      'reallocs of unknown blocks',
      'Lifetimes of freed blocks, in units of time',
      '0xffffffff81000000',
      'a\\x1b[2J < b < c < d < e < f < ...',
      'CPUs',
      'Processes',
      'The 2 busiest of 2 threads',
    ])
      expect(text).toContain(part)
  })

  test('does not report on nothing', () => {
    const stage = new StatisticsReport({ print: () => 'report' })
    stage.cut()
    expect(stage.next()).toBeNull()
    expect(
      drive(new StatisticsReport({ print: ({ events }) => String(events) }), inBatches([{ kind: 'free' }], 1, HEADER))
        .out,
    ).toEqual([Buffer.from('1')].map((one) => new Uint8Array(one)))
  })

  test('JSON has integers in full, addresses in hex, and names as they are', () => {
    const text = jsonText(
      statisticsOf([
        { kind: 'alloc', address: 1n, size: 2n ** 64n - 1n, callSite: 2n ** 64n - 1n },
        { kind: 'alloc', address: 2n, size: 2n ** 64n - 1n, function: 'a"\udcff' },
      ]),
    )
    expect(text).toContain('"allocated": {"blocks": 2, "bytes": 36893488147419103230}')
    expect(text).toContain('"callSite": "0xffffffffffffffff"')
    expect((JSON.parse(text) as { sites: object[] }).sites).toContainEqual(
      expect.objectContaining({ function: 'a"\udcff' }),
    )
    expect(jsonText({ a: [], b: {}, c: [1n, 2], d: undefined, e: [{ f: [1] }] })).toBe(
      '{\n  "a": [],\n  "b": {},\n  "c": [1, 2],\n  "e": [\n    {"f": [1]}\n  ]\n}\n',
    )
  })

  test('names of sites', () => {
    expect([
      siteName({ function: 'f', file: 'a.c', line: 3 }),
      siteName({ function: 'f' }),
      siteName({ file: 'a.c' }),
      siteName({ function: 'f', line: 4 }),
      siteName({ rest: 'others' }),
      siteName({ rest: 'none' }),
    ]).toEqual(['f at a.c:3', 'f', 'a.c', 'f at line 4', '(others)', '(not told)'])
  })

  test('numbers and columns', () => {
    expect([grouped(0), grouped(123), grouped(1234n), grouped(-1234567)]).toEqual(['0', '123', '1,234', '-1,234,567'])
    expect([rounded(0), rounded(0.044), rounded(12.34), rounded(99_999.6)]).toEqual(['0', '0.04', '12.3', '100,000'])
    expect([bytes(1n), bytes(1_048_576n), bytes(2n ** 70n)]).toEqual([
      '1 byte',
      '1,048,576 bytes (1.0 MiB)',
      '1,180,591,620,717,411,303,424 bytes (1024.0 EiB)',
    ])
    expect(visible('a\nb\x7f')).toBe('a\\x0ab\\x7f')
    expect(
      tableLines({
        title: 'T',
        heads: ['n', ' name'],
        rows: [
          ['1', 'x'],
          ['23', ''],
        ],
      }),
    ).toEqual(['T', '   n  name', '   1  x', '  23'])
  })

  test('the same from NDJSON as from the trace itself', async () => {
    const lines = encodeEvents(ndjson.format.encoder(), EVENTS.slice(0, 100), { format: 'replay', timeUnit: 'ns' })
    const { stdout } = await shell('hf-stats --json', lines)
    expect(JSON.parse(stdout.toString())).toMatchObject({ formats: ['replay'], events: 100 })
  })
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { jsonText } from '../../lib/cli/report/json.js'
import { StatisticsReport } from '../../lib/cli/report/statistics-report.js'
import { siteNamePieces } from '../../lib/cli/report/names.js'
import { OwnFrames } from '../../lib/names/own-frames.js'
import { reportPieces } from '../../lib/cli/report/text.js'
import { bytes, grouped, rounded, tableLines, visible } from '../../lib/cli/report/columns.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import type { Site, SiteStatistics } from '../../lib/transforms/statistics/result.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { scratch, shell } from '../support/commands.js'
import { mpatrolFile } from '../formats/mtrc/mpatrol.js'
import { drive, encodeEvents } from '../support/drive.js'
import { HEADER, inBatches } from '../transforms/events.js'

const reportText = (...of: Parameters<typeof reportPieces>) => [...reportPieces(...of)].join('')
const siteName = (site: Site) => [...siteNamePieces(site)].join('')

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
  test('reports what is in a trace', async () => {
    const { code, stdout, stderr } = await shell('hf-stats --top 3', TRACE)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const text = stdout.toString()
    expect(text).toMatch(/^ {2}events +6,000 \(block events: 6,000\)$/m)
    expect(text).toMatch(/^ {2}peak memory +.* at event 6,000 of 6,000 \(100\.0 %\), /m)
    expect(text).toMatch(/^ {2}live bytes +[▁▂▃▄▅▆▇█]{60}$/m)
    const titles = text.split('\n').filter((line) => /^\S/.test(line))
    expect(titles.map((line) => line.replace(/ \(.*/, ''))).toEqual([
      'Summary',
      'Top sites by bytes live at the peak',
      'Top sites by bytes leaked',
      'Top sites by temporary allocations',
      'Top threads by bytes live at the peak',
      'Top threads by bytes leaked',
      'Top sites by bytes allocated',
      'Top sizes by allocations',
      'Sizes, in bytes',
      'Lifetimes of freed blocks, in events',
      'Lifetimes of freed blocks, in bytes allocated in between',
      'Events',
      'Top threads by events',
      'Top sites and threads by bytes allocated',
      'Top sites by bytes that another thread freed',
    ])
    expect(text).toMatch(/Top sizes by allocations \([\d,]+ in all\)/)
    expect(text.split('\n').every((line) => line === line.trimEnd())).toBe(true)
  })

  test('shows the sections that are asked for, in the order of the report', { tags: ['slow'] }, async () => {
    const report = async (flags: string) => (await shell(`hf-stats ${flags}`, TRACE)).stdout.toString()
    const whole = await report('--top 10')
    const chosen = await report('--section leaks --section summary --section reallocs')
    const paragraphs = whole.trimEnd().split('\n\n')
    expect(chosen).toBe(
      `${[...paragraphs.filter((one) => /^Summary|^Top .* by bytes leaked/.test(one)), 'reallocs: nothing to show'].join('\n\n')}\n`,
    )
    expect(await report('--section threads')).toMatch(/^Top threads by events \(\d+ in all\)\n/)
    expect((await report('--section timeline --width 140')).trimEnd().split('\n')).toHaveLength(2 + 24)
    expect((await report('--timeline 7 --width 140')).split('\n\n')[1]?.split('\n')).toHaveLength(2 + 7)
  })

  test('says who holds the peak, who leaks and who allocates for nothing within 40 lines', async () => {
    const { stdout } = await shell('hf-stats', TRACE)
    const lines = stdout.toString().split('\n').slice(0, 40)
    for (const what of ['live at the peak', 'leaked', 'temporary allocations']) {
      const at = lines.findIndex((line) => new RegExp(`^Top sites by .*${what}`).test(line))
      expect(at, what).toBeGreaterThan(0)
      expect(lines[at + 4], what).toMatch(/ at a\.c:\d+$/)
    }
  })

  test('durations are shown in seconds or milliseconds, too', async () => {
    const lines = [
      '{"kind":"header","format":"recorder","timeUnit":"ns"}',
      '{"kind":"alloc","address":"0x10","size":5,"time":1000000000}',
      '{"kind":"alloc","address":"0x20","size":5,"time":1025000000}',
      '{"kind":"free","address":"0x10","time":2700000000}',
      '{"kind":"end","events":3}',
    ]
    const { stdout } = await shell('hf-stats --section summary --width 200', `${lines.join('\n')}\n`)
    const text = stdout.toString()
    expect(text).toMatch(/^ {2}time +1,700,000,000 ns \(1\.70 s\), from 1,000,000,000$/m)
    expect(text).toMatch(/^ {2}peak memory .*, after 25\.0 ms, /m)
    expect(text).toMatch(/^ {2}mean lifetime .*, 1,700,000,000 ns \(1\.70 s\)$/m)
  })

  test('shows what threads are called', { tags: ['slow'] }, async () => {
    const lines = [
      '{"kind":"header","format":"recorder","timeUnit":"ns"}',
      '{"kind":"alloc","thread":7,"address":"0x10","size":500,"stack":["f"]}',
      '{"kind":"comment","thread":8,"text":"thread first"}',
      '{"kind":"alloc","thread":8,"address":"0x300","size":400,"stack":["g"]}',
      '{"kind":"free","thread":8,"address":"0x10"}',
      '{"kind":"comment","thread":8,"text":"thread GC#1\\u001b"}',
      '{"kind":"comment","thread":7,"text":"not a name"}',
      '{"kind":"end","events":6}',
    ]
    const input = `${lines.join('\n')}\n`
    const text = (await shell('hf-stats', input)).stdout.toString()
    expect(text).toMatch(/^ {2}thread {2}name +bytes +share/m)
    expect(text).toMatch(/^ {2}8 +GC#1\\x1b +400 /m)
    expect(text).toMatch(/^ {2}7 +500 /m)
    expect(text).toContain('thread 7 to thread 8 (GC#1\\x1b): 1 block, 500 bytes')
    const json = JSON.parse((await shell('hf-stats --json', input)).stdout.toString()) as {
      threads: { thread: number; name?: string }[]
      sites: { threads?: { freedBy?: { name?: string }[] }[] }[]
    }
    expect(json.threads.map(({ thread, name }) => [thread, name])).toEqual([
      [8, 'GC#1\u001b'],
      [7, undefined],
    ])
    expect(json.sites.flatMap(({ threads = [] }) => threads.flatMap(({ freedBy = [] }) => freedBy))).toMatchObject([
      { thread: 8, name: 'GC#1\u001b' },
    ])
    const tsv = (await shell('hf-stats --section threads --tsv', input)).stdout.toString().split('\n')
    expect(tsv[0]).toMatch(/\tname$/)
    expect(tsv[2]).toMatch(/^7\t.*\t$/)
    // Not in traces of other formats.
    const other = (await shell('hf-stats', input.replace('"recorder"', '"ndjson"'))).stdout.toString()
    expect(other).not.toContain('GC#1')
  })

  test('shows what processes run', { tags: ['slow'] }, async () => {
    const lines = [
      '{"kind":"header","format":"recorder","timeUnit":"ns"}',
      '{"kind":"alloc","address":"0x10","size":500}',
      '{"kind":"comment","process":2,"text":"process 2 is pid 4711, started by 1: /usr/bin/gcc -c\\n a.c"}',
      '{"kind":"alloc","process":2,"address":"0x10","size":400}',
      '{"kind":"comment","process":3,"text":"process 3 is pid 4711, in place of 2: sh"}',
      '{"kind":"comment","process":3,"text":"lost events"}',
      `{"kind":"comment","process":4,"text":"process 4 is pid 9, forked by an unknown one: ${'x'.repeat(5000)} y"}`,
      '{"kind":"alloc","process":5,"address":"0x10","size":400}',
      '{"kind":"end","events":7}',
    ]
    const input = `${lines.join('\n')}\n`
    const text = (await shell('hf-stats --section processes --width 200', input)).stdout.toString()
    expect(text).toMatch(/^ +process {2}events +share {2}allocations +bytes +at peak +leaked {2}command$/m)
    expect(text).toMatch(/^ +2 +2 +28\.6 % +1 +400 +400 +400 {2}gcc -c a\.c$/m)
    expect(text).toMatch(/^ +5 +1 +14\.3 % +1 +400 +400 +400$/m)
    expect(text).toMatch(/^ +\(no number\) +1 +14\.3 % +1 +500 +500 +500$/m)
    const leaks = (await shell('hf-stats --section leaks --width 200', input)).stdout.toString()
    expect(leaks).toMatch(/^Top processes by bytes leaked \(3 in all\)$/m)
    expect(leaks).toMatch(/^ {2}\(no number\) +500 +38\.5 % +38\.5 % +1 +100\.0 %$/m)
    expect(leaks).toMatch(/^ +2 +400 +30\.8 % +69\.2 % +1 +100\.0 % {2}gcc -c a\.c$/m)
    const listed = JSON.parse(
      (await shell('hf-stats --json --section leaks --top 1', input)).stdout.toString(),
    ) as object
    expect(listed).toMatchObject({ processes: [{ value: 2, leaked: { bytes: 400 } }] })
    const json = JSON.parse((await shell('hf-stats --json', input)).stdout.toString()) as {
      processes: { value: number; command?: string }[]
    }
    const commands = Object.fromEntries(json.processes.map(({ value, command }) => [value, command]))
    expect(commands).toEqual({ 2: 'gcc -c a.c', 3: 'sh', 4: 'x'.repeat(120), 5: undefined })
  })

  test('says how many of the allocated blocks were there before', async () => {
    const { stdout } = await shell('hf-stats --section summary test/golden/recorder/attached.hfrec')
    const text = stdout.toString()
    expect(text).toMatch(
      /^ {2}allocated .*\n {4}existing +[\d,]+ blocks? of these: of a parent process, or from before /m,
    )
    const { stdout: none } = await shell('hf-stats --section summary test/fixtures/mtrc/cxx64.mtrc')
    expect(none.toString()).not.toContain('existing')
  })

  test('says what sites are sorted by', async () => {
    const text = (await shell('hf-stats --sort leaked --section sites', TRACE)).stdout.toString()
    expect(text).toMatch(/^Top sites by bytes leaked \(25 in all\)$/m)
  })

  test('sorts sites by what is asked for', { tags: ['slow'] }, async () => {
    const names = async (key: string) => {
      const { stdout } = await shell(`hf-stats --json --sort ${key}`, TRACE)
      return (JSON.parse(stdout.toString()) as { sites: SiteStatistics[] }).sites
    }
    for (const [key, figure] of [
      ['bytes', (site: SiteStatistics) => site.allocated.bytes],
      ['blocks', (site: SiteStatistics) => site.allocated.blocks],
      ['peak', (site: SiteStatistics) => site.atPeak.bytes],
      ['own-peak', (site: SiteStatistics) => site.ownPeak.bytes],
      ['leaked', (site: SiteStatistics) => site.leaked.bytes],
      ['memray', (site: SiteStatistics) => site.temporary.memray.blocks],
      ['heaptrack', (site: SiteStatistics) => site.temporary.heaptrack.blocks],
    ] as const) {
      const figures = (await names(key)).map((site) => Number(figure(site)))
      expect(figures).toEqual(figures.toSorted((a, b) => b - a))
    }
  })

  test('writes tables as TSV, with whole numbers', { tags: ['slow'] }, async () => {
    const rows = async (flags: string) => {
      const { stdout, stderr, code } = await shell(`hf-stats --tsv ${flags}`, TRACE)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const [heads, ...lines] = stdout
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t'))
      return lines.map((cells) => Object.fromEntries(heads!.map((head, i) => [head, cells[i]])))
    }
    const { leaked, peakBytes, allocated } = JSON.parse((await shell('hf-stats --json', TRACE)).stdout.toString()) as {
      [key in 'leaked' | 'peakBytes' | 'allocated']: { blocks: number; bytes: number }
    }
    const sum = (table: Record<string, string | undefined>[], head: string) =>
      table.reduce((all, row) => all + Number(row[head]), 0)
    const timeline = await rows('--section timeline --timeline 50')
    expect(timeline).toHaveLength(50)
    expect(timeline.at(-1)).toMatchObject({ event: '6000', time: '', bytes: String(leaked.bytes) })
    expect(sum(timeline, 'allocated_bytes')).toBe(allocated.bytes)
    expect(await rows('--section timeline')).toHaveLength(1500)
    for (const section of ['sites', 'threads']) {
      const table = await rows(`--section ${section}`)
      expect(sum(table, 'peak_bytes')).toBe(peakBytes.bytes)
      expect(sum(table, 'leaked_bytes')).toBe(leaked.bytes)
    }
    const sizes = await rows('--section sizes')
    expect(sizes.reduce((all, row) => all + Number(row['size']) * Number(row['peak_blocks']), 0)).toBe(peakBytes.bytes)
    expect(sum(sizes, 'leaked_blocks')).toBe(leaked.blocks)
    expect(await rows('--section sites --top 2')).toHaveLength(2)
  })

  test('writes JSON for programs', async () => {
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

  test('the rows of a section of JSON have the order of its table', { tags: ['slow'] }, async () => {
    const events = `
      {"kind":"alloc","thread":1,"address":"0x10","size":9,"function":"busy"}
      {"kind":"free","thread":1,"address":"0x10"}
      {"kind":"alloc","thread":2,"address":"0x20","size":5,"function":"keeper"}
      {"kind":"alloc","thread":1,"address":"0x30","size":6,"function":"taker"}
      {"kind":"free","thread":2,"address":"0x30"}
      {"kind":"realloc","thread":1,"address":"0x40","size":2,"function":"small"}`
    const first = async (flags: string, input = events) => {
      const { sites, threads, sizes } = JSON.parse(
        (await shell(`hf-stats --json --top 1 ${flags}`, Buffer.from(input))).stdout.toString(),
      ) as { sites: { function: string }[]; threads: { thread: number }[]; sizes: { exact: { size: number }[] } }
      return [sites?.[0]?.function ?? sizes.exact[0]?.size, threads?.[0]?.thread]
    }
    expect(await first('--section sites --section threads')).toEqual(['busy', 1])
    expect(await first('--section leaks')).toEqual(['keeper', 2])
    expect(await first('--section peak')).toEqual(['taker', 1])
    expect(await first('--section temporary')).toEqual(['busy', 1])
    expect(await first('--section handoffs')).toEqual(['taker', undefined])
    expect(await first('--section summary --section leaks --section peak')).toEqual(['keeper', 2])
    expect(await first('--section leaks --sort bytes')).toEqual(['busy', 2])
    expect(await first('--section leaks', events.replaceAll(/,"function":"\w+"/g, ''))).toEqual([5, 2])
    const twice = events.replaceAll('"size":5', '"size":3').replace('{"kind":"realloc"', (end) => {
      return `{"kind":"alloc","thread":2,"address":"0x50","size":7,"function":"keeper","line":2}\n      ${end}`
    })
    expect(await first('--by function', twice)).toEqual(['keeper', 1])
  })

  test('prints statistics and table as mpatrol does, from whatever format', { tags: ['slow'] }, async () => {
    const { stdout } = await shell('hf-stats --mpatrol', TRACE)
    expect(stdout.toString()).toMatch(/^memory allocation tracing statistics\n-{36}\nallocated: 3005 \(\d+ bytes\)\n/)
    const whole = await shell('hf-stats --table --sources', TRACE)
    expect(whole.stdout.toString().endsWith(`\n\n${stdout.toString()}`)).toBe(true)
    expect(whole.stdout.toString().split('\n')).toHaveLength(2 + 6000 * 2 + 1 + 14)
    expect((await shell('mtrc-decode | hf-stats --table --sources', TRACE)).stdout.equals(whole.stdout)).toBe(true)
    expect((await shell('hf-stats --table', TRACE)).stdout.toString().split('\n')).toHaveLength(2 + 6000 + 1 + 14)
  })

  test('reports what was read of a truncated trace, and then the fault', async () => {
    const cut = TRACE.subarray(0, 20_000)
    for (const form of ['', '--json', '--mpatrol', '--table']) {
      const { code, stdout, stderr } = await shell(`hf-stats ${form}`, cut)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^hf-stats: stdin: mtrc: byte \d+, event \d+: truncated: .*\n$/)
      expect(stdout.length).toBeGreaterThan(200)
    }
    expect(JSON.parse((await shell('hf-stats --json', cut)).stdout.toString())).toMatchObject({ complete: false })
    expect((await shell('hf-stats', cut)).stdout.toString()).toContain('1 (mtrc), truncated')
    const nothing = await shell(
      'hf-stats',
      'this is no trace of any kind, and it is long enough to tell that for sure, is it not',
    )
    expect(nothing).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
  })

  test('writes to a file, compressed or not, and never to its input', { tags: ['slow'] }, async () => {
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

  test('takes all traces of an input together, or one', { tags: ['slow'] }, async () => {
    const two = Buffer.concat([TRACE, TRACE])
    const events = async (flags: string) =>
      (JSON.parse((await shell(`hf-stats --json ${flags}`, two)).stdout.toString()) as { events: number }).events
    expect([await events(''), await events('--trace 1'), await events('--trace 2')]).toEqual([12_000, 6000, 6000])
    expect(await shell('hf-stats --trace 3', two)).toMatchObject({
      code: 1,
      stderr: 'hf-stats: there is no trace 3: the input has 2\n',
    })
    const first = await shell('hf-stats --mpatrol', two)
    expect(first.stderr).toMatch(/^hf-stats: warning: stdin: the input has 2 traces, and this is the first alone/)
    expect(first.stdout.equals((await shell('hf-stats --mpatrol', TRACE)).stdout)).toBe(true)
    // The first trace is whole, though the second is cut.
    const cut = await shell('hf-stats --json --trace 1', two.subarray(0, two.length - 1000))
    expect(cut.code).toBe(1)
    expect(JSON.parse(cut.stdout.toString())).toMatchObject({ complete: true, events: 6000 })
  })

  test.each([
    ['hf-stats --json --table', /--json and --table cannot be combined/],
    ['hf-stats --tsv --mpatrol', /--tsv and --mpatrol cannot be combined/],
    ['hf-stats --mpatrol --section leaks', /--section and --mpatrol cannot be combined/],
    ['hf-stats --json --depth 3', /--depth and --json cannot be combined/],
    ['hf-stats --depth 0', /--depth needs a whole number from 1 on, not "0"/],
    ['hf-stats --section leak', /--section must be one of summary, timeline, peak, leaks, /],
    ['hf-stats --sort size', /--sort must be one of bytes, blocks, /],
    ['hf-stats --timeline 0', /--timeline needs a whole number from 1 to 2000, not "0"/],
    ['hf-stats --timeline 2001', /--timeline needs a whole number from 1 to 2000, not "2001"/],
    ['hf-stats --timeline 5 --section leaks', /--timeline needs --section timeline/],
    ['hf-stats --tsv', /--tsv needs one --section, which can be timeline, sites, sizes, threads/],
    ['hf-stats --tsv --section peak', /--tsv needs one --section/],
    ['hf-stats --section sites --by thread', /--section sites has no rows by thread; these sections have: peak, leaks/],
    ['hf-stats --section peak --section overhead --by thread', /--section overhead has no rows by thread/],
    ['hf-stats --by thread --section sizes', /--by needs one of these sections: peak, leaks, temporary, threads/],
    ['hf-stats --by function --depth 3', /--depth and --by function cannot be combined/],
    ['hf-stats --by module --tree', /--tree and --by module cannot be combined/],
    ['hf-stats --by thread --sort peak', /--sort and --by thread cannot be combined/],
    ['hf-stats --by thread --hide x', /--hide and --by thread cannot be combined/],
    ['hf-stats --by thread --json', /--json and --by thread cannot be combined/],
    ['hf-stats --by thread --tsv --section sites', /--tsv and --by thread cannot be combined/],
    ['hf-stats --section summary --sort peak', /--sort needs --section sites;/],
    ['hf-stats --section peak --sort peak', /--sort needs --section sites;/],
    ['hf-stats --section sites --tree', /--tree needs one of these sections: peak, leaks;/],
    ['hf-stats --section sizes --depth 3', /--depth needs one of these sections: peak, leaks, temporary, sites, /],
    ['hf-stats --section threads --by function', /--by needs one of these sections: peak, leaks, temporary, sites, /],
    ['hf-stats --section timeline --hide x', /--hide needs one of these sections/],
    ['hf-stats --section summary --top 3', /--top needs one of these sections: .*sizes, threads, cpus, processes;/],
    [
      'hf-stats --section sizes --suppress-known',
      /--suppress-known needs one of these sections: summary, leaks, sites;/,
    ],
    ['hf-stats --section peak --suppress-known', /--suppress-known needs one of these sections/],
    ['hf-stats --json --section overhead --sort peak', /--sort needs one of these sections: peak, leaks, /],
    ['hf-stats --json --section summary --top 3', /--top needs one of these sections/],
    ['hf-stats --tsv --section threads --sort peak', /--sort needs --section sites;/],
    ['hf-stats --tsv --section timeline --top 3', /--top needs one of these sections: sites, sizes, threads, /],
    ['hf-stats --allocator --by function', /--by and --allocator cannot be combined/],
    ['hf-stats --sources', /--sources needs --table/],
    ['hf-stats --trace 0', /--trace needs a whole number from 1 on, not "0"/],
    ['hf-stats --top some', /--top needs a whole number/],
    ['hf-stats a b', /one input at a time, not 2 \(hf-merge --end-to-end joins/],
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

/** How sites are named where the output is not a terminal. */
const NAMES = { own: new OwnFrames(), columns: 100 }

describe('hf-stats --suppress', () => {
  const trace = ['pool', 'tzset_internal', 'lost']
    .map(
      (name, i) => `{"kind":"alloc","address":"0x${i + 1}0","size":${10 ** i},"stack":["malloc","${name}","main"]}\n`,
    )
    .join('')

  test('leaves leaks out, and says how much that is', { tags: ['slow'] }, async () => {
    const rules = join(scratch(), 'rules')
    writeFileSync(rules, '# known\nleak:^pool$\n')
    const text = (await shell(`hf-stats --suppress ${rules} --suppress-known`, trace)).stdout.toString()
    expect(text).toContain('leaked                 1 block, 100 bytes (still live at exit)')
    expect(text).toContain('suppressed leaks       2 blocks, 11 bytes, by 2 rules')
    const leaks = (await shell(`hf-stats --section leaks --suppress ${rules}`, trace)).stdout.toString()
    expect(leaks).toContain('\nSuppressed leaks: 1 block, 1 byte, by 1 rule\n')
    expect(leaks).not.toContain('pool')
    const { stdout } = await shell(`hf-stats --json --by function --suppress ${rules}`, trace)
    const { leaked, suppressed } = JSON.parse(stdout.toString()) as { leaked: unknown; suppressed: unknown }
    expect(leaked).toEqual({ blocks: 2, bytes: 110 })
    expect(suppressed).toEqual({ blocks: 1, bytes: 1, rules: [{ name: 'leak:^pool$', blocks: 1, bytes: 1 }] })

    writeFileSync(rules, 'leak:pool\nrace:x\n')
    const wrong = await shell(`hf-stats --suppress ${rules}`, trace)
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(`${rules}: line 2: neither leak:PATTERN`)])
    expect((await shell('hf-stats --suppress /no/such', trace)).code).toBe(2)
    const folder = await shell('hf-stats --suppress /tmp', trace)
    expect(folder.stderr).toContain('the suppressions cannot be read: /tmp: is a directory')
    expect((await shell('hf-stats --suppress-known --mpatrol', trace)).code).toBe(2)
  })
})

describe('the report', () => {
  test('leaves out what a trace does not have', () => {
    const text = reportText(statisticsOf([{ kind: 'comment', text: 'x' }]), { top: 10, names: NAMES })
    expect(text).toMatch(/^ {2}peak memory +none$/m)
    expect(text).not.toMatch(/sites|Reallocs|Anomalies|threads|live bytes|undefined|NaN/)
  })

  test('has every section of a trace that has every field', () => {
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
        {
          kind: 'alloc',
          address: 2n,
          size: 3n,
          process: 5n,
          stack: ['a\x1b[2J', 'b\udc9b1m\u202e', 'c', 'd', 'e', 'f', 'g'],
        },
        { kind: 'free', address: 0n, process: 6n },
        { kind: 'free', address: 9n },
      ]),
      { top: 10, timeline: 3, names: NAMES },
    )
    for (const part of [
      'overhead',
      'wasted',
      'resident when freed',
      'cross-CPU frees',
      'allocated by kmalloc, freed by kmem_cache',
      '1, 2,000,000 bytes (1.9 MiB) lost',
      'free(NULL)',
      'frees of unknown blocks',
      'reallocs of unknown blocks',
      'Lifetimes of freed blocks, in units of time',
      '0xffffffff81000000',
      'a\\x1b[2J < b\\x9b1m\\u202e < c < d < e < f < ...',
      'CPUs',
      'Processes',
      'Top threads by events (3 in all)',
      'Timeline of live bytes, time in units of time',
    ])
      expect(text).toContain(part)
  })

  test('has sizes where no event names its site', () => {
    const text = reportText(
      statisticsOf([
        { kind: 'alloc', address: 1n, size: 4080n },
        { kind: 'alloc', address: 2n, size: 4080n },
        { kind: 'alloc', address: 3n, size: 20n },
        { kind: 'free', address: 3n },
        { kind: 'free', address: 2n },
      ]),
      { top: 10, sections: ['peak', 'leaks', 'temporary'], names: NAMES },
    )
    expect(text).toBe(`Top sizes by bytes live at the peak (2 in all)
   size  bytes   share  cumulative  blocks
  4,080  8,160  99.8 %      99.8 %       2
     20     20   0.2 %     100.0 %       1

Top sizes by bytes leaked (1 in all)
   size  bytes    share  cumulative  blocks  of allocations
  4,080  4,080  100.0 %     100.0 %       1          50.0 %

Top sizes by temporary allocations (2 in all)
   size  allocations  heaptrack  of these  memray
     20            1          1   100.0 %       1
  4,080            2          0     0.0 %       1
`)
  })

  test('does not report on nothing', () => {
    const stage = new StatisticsReport({ print: () => 'report' })
    stage.endTruncated()
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
      siteName({ module: './a', callSite: 16n }),
      siteName({ function: 'f' }),
      siteName({ file: 'a.c' }),
      siteName({ function: 'f', line: 4 }),
      siteName({ rest: 'others' }),
      siteName({ rest: 'none' }),
    ]).toEqual(['f at a.c:3', './a [0x10]', 'f', 'a.c', 'f at line 4', '(others)', '(unknown)'])
  })

  test('numbers and columns', () => {
    expect([grouped(0), grouped(123), grouped(1234n), grouped(-1234567)]).toEqual(['0', '123', '1,234', '-1,234,567'])
    expect([rounded(0), rounded(0.044), rounded(12.34), rounded(99_999.6)]).toEqual(['0', '0.04', '12.3', '100,000'])
    expect([bytes(1n), bytes(1_048_576n), bytes(2n ** 70n)]).toEqual([
      '1 byte',
      '1,048,576 bytes (1.0 MiB)',
      '1,180,591,620,717,411,303,424 bytes (1024.0 EiB)',
    ])
    expect(visible('a\nb\x7f\u200b\u{e0001}')).toBe('a\\x0ab\\x7f\\u200b\\u{e0001}')
    expect(
      tableLines(
        {
          title: 'T',
          heads: ['n', ' name'],
          rows: [
            ['1', 'x'],
            ['23', ''],
          ],
        },
        80,
      ),
    ).toEqual(['T', '   n  name', '   1  x', '  23'])
  })

  test('the same from NDJSON as from the trace itself', async () => {
    const lines = encodeEvents(ndjson.format.encoder(), EVENTS.slice(0, 100), { format: 'replay', timeUnit: 'ns' })
    const { stdout } = await shell('hf-stats --json', lines)
    expect(JSON.parse(stdout.toString())).toMatchObject({ formats: ['replay'], events: 100 })
  })
})

test('names that are not UTF-8 keep their bytes', { tags: ['slow'] }, async () => {
  const name = 'f\udcff'
  const line = (key: string) => `{"kind":"alloc","address":"0x${key}","size":5,"stack":[${JSON.stringify(name)}]}\n`
  const input = `{"kind":"header","format":"x"}\n${line('10')}${line('20')}{"kind":"end"}\n`
  const bytes = Buffer.concat([Buffer.from('f'), Buffer.from([255])])
  for (const flags of ['--section sites', '--tsv --section sites', '--tree --section leaks']) {
    const { code, stdout } = await shell(`hf-stats ${flags}`, input)
    expect([code, stdout.includes(bytes)]).toEqual([0, true])
  }
})

test('the shares of processes are of all events, also of those without a process', async () => {
  const line = (process: string) => `{"kind":"alloc",${process}"address":"0x10","size":5}\n`
  const input = `{"kind":"header","format":"x"}\n${line('')}${line('')}${line('')}${line('"process":2,')}{"kind":"end"}\n`
  const { stdout } = await shell('hf-stats --section processes', input)
  const rows = stdout
    .toString()
    .split('\n')
    .map((text) => text.trim().replace(/ {2,}/g, ' | '))
  expect(rows).toEqual([
    'Processes',
    'process | events | share | allocations | bytes | at peak | leaked',
    '2 | 1 | 25.0 % | 1 | 5 | 5 | 5',
    '(no number) | 3 | 75.0 % | 3 | 15 | 5 | 5',
    '',
  ])
})

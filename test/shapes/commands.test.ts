// @module-tag slow
import { afterAll, describe, expect, it } from 'vitest'
import { PROFILE_FORMATS } from '../../lib/exports/profile-formats.js'
import { POLICIES, WHOLE, type PolicyName } from '../../lib/transforms/simulate/policies.js'
import { reportData } from '../support/report-data.js'
import { isWhole } from '../support/runs.js'
import { amount, parse, ShapeFile, type Figures } from './run-commands.js'
import { shapesOf } from './shape.js'

interface Amount {
  readonly blocks: number
  readonly bytes: number | string
}
interface StatsJson {
  readonly events: number
  readonly blockEvents: number
  readonly traces: number
  readonly kinds: Record<string, number>
  readonly reallocs: Record<string, number>
  readonly faults: Record<string, number> & { readonly overlaps: Amount }
  readonly allocated: Amount
  readonly freed: Amount
  readonly leaked: Amount
  readonly peakBytes: Amount & { readonly event: number }
  readonly peakBlocks: Amount & { readonly event: number }
  readonly temporary: { readonly heaptrack: Amount; readonly memray: Amount }
}

/**
 * The numbers of blocks. Some five seconds for each of the small ones, and half a minute for 100,000. From about a
 * million on, an output is too long for one string.
 */
const BLOCKS = (process.env['HEAPFLOW_COMMAND_BLOCKS'] ?? (isWhole() ? '0,1,12,150,2500,8000' : '1,2500'))
  .split(',')
  .map(Number)

const some = (counts: Iterable<readonly [string, number]>) =>
  Object.fromEntries([...counts].filter(([, count]) => count > 0).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** What hf-stats says, as text, with what plain code counts. */
function expectStats(found: StatsJson, figures: Figures): void {
  const { overlaps: foundOverlaps, ...faults } = found.faults
  const of = ({ blocks, bytes, event }: Amount & { event: number }) => ({ amount: amount({ blocks, bytes }), event })
  const { peakBytes, peakBlocks } = figures
  expect({
    events: found.events,
    blockEvents: found.blockEvents,
    traces: found.traces,
    kinds: some(Object.entries(found.kinds)),
    reallocs: some(Object.entries(found.reallocs)),
    faults: some(Object.entries(faults)),
    overlaps: amount(foundOverlaps),
    allocated: amount(found.allocated),
    freed: amount(found.freed),
    leaked: amount(found.leaked),
    peakBytes: of(found.peakBytes),
    peakBlocks: of(found.peakBlocks),
    heaptrack: amount(found.temporary.heaptrack),
    memray: amount(found.temporary.memray),
  }).toEqual({
    events: figures.events,
    blockEvents: figures.blockEvents,
    traces: figures.traces,
    kinds: some(figures.kinds),
    reallocs: some(figures.reallocs),
    faults: some(figures.faults),
    overlaps: amount(figures.overlaps),
    allocated: amount(figures.allocated),
    freed: amount(figures.freed),
    leaked: amount(figures.leaked),
    peakBytes: { amount: amount(peakBytes), event: peakBytes.event },
    peakBlocks: { amount: amount(peakBlocks), event: peakBlocks.event },
    heaptrack: amount(figures.temporary.heaptrack),
    memray: amount(figures.temporary.memray),
  })
}

/** The sums of columns of tab-separated values, by their names. */
function sumsOf(table: string): Record<string, bigint> {
  const [head, ...rows] = table
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
  const sums: Record<string, bigint> = {}
  head?.forEach((name, i) => {
    if (i > 0) sums[name] = rows.reduce((sum, row) => sum + BigInt(/^\d+$/.test(row[i] ?? '') ? row[i]! : 0), 0n)
  })
  return sums
}

const grouped = (n: bigint | number) => String(n).replace(/\B(?=(\d{3})+$)/g, ',')

describe.each(shapesOf(BLOCKS, 11))('commands on $blocks blocks, freed: $deaths, reallocs: $reallocs', (shape) => {
  const file = new ShapeFile(shape)
  const { figures } = file
  afterAll(() => file.remove())
  const isEmpty = figures.events === 0

  it('hf-stats', async () => {
    expectStats(await file.json('hf-stats --json $T'), figures)
    const text = await file.output('hf-stats $T')
    const { allocated, leaked } = figures
    expect(text).toContain(`${grouped(allocated.blocks)} block${allocated.blocks === 1 ? '' : 's'}`)
    expect(text).toContain(grouped(leaked.bytes))
    const sites = sumsOf(await file.output('hf-stats --tsv --section sites $T'))
    if (allocated.blocks > 0)
      expect(sites).toMatchObject({
        bytes: allocated.bytes,
        allocations: BigInt(allocated.blocks),
        peak_bytes: figures.peakBytes.bytes,
        leaked_bytes: leaked.bytes,
        leaked_blocks: BigInt(leaked.blocks),
        temporary_heaptrack: BigInt(figures.temporary.heaptrack.blocks),
        temporary_memray: BigInt(figures.temporary.memray.blocks),
      })
    for (const by of ['function', 'module', 'thread']) await file.output(`hf-stats --by ${by} $T`)
    await file.output('hf-stats --mpatrol $T', [/the input has \d traces/])
    await file.output('hf-stats --allocator $T', [
      /allocator/,
      /the input has \d traces, and this is the first alone: choose with --trace/,
    ])
  })

  it('hf-blocks and hf-sql', async () => {
    const rows = (await file.output('hf-blocks --spans $T')).split('\n').filter((line) => line.includes('"ending"'))
    const sums = new Map<string, { blocks: number; bytes: bigint }>()
    for (const line of rows) {
      const { ending, size = 0 } = parse<{ ending: string; size?: number | string }>(line)
      const sum = sums.get(ending) ?? { blocks: 0, bytes: 0n }
      sums.set(ending, { blocks: sum.blocks + 1, bytes: sum.bytes + BigInt(size) })
    }
    const { allocated, leaked } = figures
    const nothing = { blocks: 0, bytes: 0n }
    expect(rows).toHaveLength(allocated.blocks)
    expect(sums.get('live') ?? nothing).toEqual(leaked)
    expect(sums.get('overlap') ?? nothing).toEqual(figures.overlaps)
    const query = `select ending, count(*) blocks, sum(size)::hugeint::varchar bytes from %s group by ending`
    const ofSql = async (line: string) => {
      const text = await file.output(line)
      const lines = text.split('\n').filter((one) => one !== '')
      const found = lines.map((one) => parse<{ ending: string; blocks: number; bytes: string | null }>(one))
      return new Map(found.map(({ ending, blocks, bytes }) => [ending, { blocks, bytes: BigInt(bytes ?? 0) }]))
    }
    expect(await ofSql(`hf-sql --to ndjson $T "${query.replace('%s', 'spans')}"`)).toEqual(sums)
    // The table as a file, summed up by DuckDB itself.
    await file.output('hf-blocks --spans -o spans.parquet $T')
    expect(await duckdbSums(file.path('spans.parquet'))).toEqual(sums)
    const [line] = (await file.output(`hf-sql --to ndjson $T 'select count(*) n from events'`)).split('\n')
    expect(parse(line ?? '')).toEqual({ n: figures.events })
  })

  it('hf-filter', async () => {
    const count = async (criteria: string) =>
      Number(
        await file.output(`hf-filter ${criteria} $T | jq -c 'select(.kind != "header" and .kind != "end")' | wc -l`, [
          /no event has the field/,
        ]),
      )
    const criteria = [
      '--thread 1',
      '--process 1',
      '--cpu 1',
      '--api malloc',
      '--size 10..100000',
      '--address 0x10000..',
    ]
    criteria.push(
      '--time 30..',
      '--events 3..20',
      '--function site1',
      "--stack '/caller[0-3]/'",
      '--leaked',
      '--temporary',
    )
    criteria.push('--live-at peak', '--module none', '--file none', '--type none', '--heap 1')
    // The ends of processes in which blocks leak are among the leaks, and those of all processes among the others.
    const ends = await count('--leaked --kind process-end')
    for (const one of criteria) {
      const n = (await count(one)) + (await count(`-v ${one}`))
      expect({ one, n }).toEqual({ one, n: figures.events + (one === '--leaked' ? ends : 0) })
    }
    for (const [kind, n] of figures.kinds) expect({ kind, n: await count(`--kind ${kind}`) }).toEqual({ kind, n })
    const stats = (line: string) =>
      file.json<StatsJson>(`hf-filter ${line} $T | hf-stats --json`, [/events were removed/])
    expect(amount((await stats('--leaked --lifetimes')).leaked)).toEqual(amount(figures.leaked))
    expect(amount((await stats('--live-at peak')).leaked)).toEqual(amount(figures.peakBytes))
    const all = await stats('--size 0..')
    expect(amount(all.allocated)).toEqual(amount(figures.allocated))
  })

  it('hf-map, hf-sort and hf-symbolize', async () => {
    const stats = async (line: string) => expectStats(await file.json(`${line} | hf-stats --json`), figures)
    await stats(`hf-map -e 'true' $T`)
    await stats('hf-map --anonymize all --key k $T')
    if (shape.threads > 0) await stats('hf-map --number-threads $T')
    if (shape.timed && shape.traces === 1) await stats('hf-sort --by time $T')
    const sizes = await file.output('hf-sort --by size --memory 1M $T')
    expect(sizes.split('\n').length).toBe(file.lines.toString().split('\n').length)
    expect((await file.output('hf-symbolize --tool none $T')) === file.lines.toString()).toBe(true)
  })

  it('hf-split and hf-merge', async () => {
    for (const by of ['thread', 'kind', 'size-class', 'shard']) {
      const { code, stderr } = await file.run(`mkdir -p ${by} && hf-split --by ${by} --number -o '${by}/{}.ndjson' $T`)
      // Several traces are not split.
      if (shape.traces > 1 && code === 1) {
        expect(stderr).toMatch(/trace/)
        continue
      }
      const others = stderr.replace(/.*no event has the field.*\n/, '')
      expect({ by, code, others }).toEqual({ by, code: 0, others: '' })
      if (isEmpty) continue
      const merged = await file.output(`hf-merge ${by}/*.ndjson`)
      expect({ by, isSame: merged === file.lines.toString() }).toEqual({ by, isSame: true })
    }
  })

  it('hf-verify', async () => {
    const { code, stdout } = await file.run('hf-verify --json $T')
    const { events, faults } = parse<{ events: number; faults: Record<string, number> }>(stdout.toString())
    expect({ code, events }).toEqual({ code: Object.keys(faults).length > 0 ? 1 : 0, events: figures.events })
    expect(faults['unknown-free'] ?? 0).toBe(figures.faults.get('unknownFrees') ?? 0)
    expect(faults['double-free'] ?? 0).toBe(figures.faults.get('doubleFrees') ?? 0)
    await file.run('hf-verify --repair -o repaired.ndjson $T')
    const again = await file.run('hf-verify repaired.ndjson')
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('hf-convert', async () => {
    for (const to of ['arrow', 'parquet', 'compact', 'ndjson']) {
      const text = await file.output(`hf-convert --to ${to} -o c.${to} $T && hf-convert --to ndjson c.${to}`)
      expect({ to, isSame: text === file.lines.toString() }).toEqual({ to, isSame: true })
    }
    const { allocated, leaked } = figures
    for (const to of ['mtrc', 'kmemtrace', 'glibc-mtrace', 'heaptrack', 'replay', 'heapmon', 'hatf-ascii', 'hatf']) {
      const { code, stderr } = await file.run(`hf-convert --to ${to} -o c.${to} $T`)
      if (code !== 0) {
        // What cannot be written at all is one message.
        expect({ to, code }).toEqual({ to, code: 1 })
        const errors = stderr.split('\n').filter((line) => line !== '' && !/warning|^ {2}/.test(line))
        expect({ to, errors: errors.length, stderr }).toEqual({ to, errors: 1, stderr })
        continue
      }
      // Nothing is lost without a word.
      const back = await file.run(`hf-stats --json --from ${to} c.${to} || hf-stats --json c.${to}`)
      const found = parse<StatsJson>(back.stdout.toString() || '{"allocated":{}}')
      if (stderr === '') {
        expect({ to, allocated: amount(found.allocated) }).toEqual({ to, allocated: amount(allocated) })
        expect({ to, leaked: amount(found.leaked) }).toEqual({ to, leaked: amount(leaked) })
      }
    }
  })

  it('hf-profile', async () => {
    const { allocated, leaked, peakBytes } = figures
    for (const { name } of PROFILE_FORMATS) await file.output(`hf-profile --to ${name} -o p.${name} $T`)
    const lines = file.read('p.collapsed').split('\n')
    const sum = lines.reduce((total, line) => total + BigInt(/ (\d+)$/.exec(line)?.[1] ?? 0), 0n)
    expect(sum).toBe(allocated.bytes)
    const { pps } = parse<{ pps: Record<string, number | string>[] }>(file.read('p.dhat'))
    const total = (name: string) => pps.reduce((n, row) => n + BigInt(row[name] ?? 0), 0n)
    const [tb, tbk, gb, eb, ebk] = ['tb', 'tbk', 'gb', 'eb', 'ebk'].map(total)
    expect({ tb, tbk, gb, eb, ebk }).toEqual({
      tb: allocated.bytes,
      tbk: BigInt(allocated.blocks),
      gb: peakBytes.bytes,
      eb: leaked.bytes,
      ebk: BigInt(leaked.blocks),
    })
    expect(file.read('p.massif')).toContain(`Peak: ${peakBytes.bytes} bytes in ${peakBytes.blocks} blocks`)
    const counters = [...file.read('p.chrome').matchAll(/"name":"live bytes","args":\{"bytes":(\d+)\}/g)]
    // Blocks of processes that have ended are not live at the end.
    const atEnd = shape.ends ? file.figures.timeline.at(-1)?.live.bytes : leaked.bytes
    if (counters.length > 0) expect(BigInt(counters.at(-1)![1]!)).toBe(atEnd)
    const { profiles } = parse<{ profiles: { name: string; weights: (number | string)[] }[] }>(
      file.read('p.speedscope'),
    )
    for (const { name, weights } of profiles) {
      const weight = weights.reduce<bigint>((n, one) => n + BigInt(one), 0n)
      if (name === 'allocated bytes') expect(weight).toBe(allocated.bytes)
      if (name === 'allocations') expect(weight).toBe(BigInt(allocated.blocks))
    }
  })

  it('hf-report', async () => {
    await file.output('hf-report -o page.html $T')
    const { summary } = reportData(file.read('page.html')) as unknown as { summary: StatsJson }
    const { allocated, freed, leaked, peakBytes, peakBlocks, temporary } = figures
    for (const [name, value] of Object.entries({ allocated, freed, leaked, peakBytes, peakBlocks })) {
      const found = summary[name as 'allocated']
      expect({ name, value: amount(found) }).toEqual({ name, value: amount(value) })
    }
    expect(amount(summary.temporary.heaptrack)).toBe(amount(temporary.heaptrack))
  })

  it('hf-diff', async () => {
    interface Sums {
      readonly allocated: Amount
      readonly atPeak: Amount
      readonly leaked: Amount
    }
    interface Diff {
      readonly old: Sums
      readonly new: Sums
      readonly sites: readonly unknown[]
    }
    const { allocated, leaked, peakBytes } = figures
    const all = { allocated: amount(allocated), atPeak: amount(peakBytes), leaked: amount(leaked) }
    const none = { allocated: amount({ blocks: 0, bytes: 0 }), atPeak: amount({ blocks: 0, bytes: 0 }) }
    const sums = (one: Sums) => ({
      allocated: amount(one.allocated),
      atPeak: amount(one.atPeak),
      leaked: amount(one.leaked),
    })
    const self = await file.json<Diff>('hf-diff --json $T $T')
    expect({ old: sums(self.old), new: sums(self.new), sites: self.sites }).toEqual({ old: all, new: all, sites: [] })
    const other = await file.json<Diff>('hf-diff --json - $T < /dev/null', [/the input is empty/])
    expect({ old: sums(other.old), new: sums(other.new) }).toMatchObject({ old: none, new: all })
    const gone = await file.json<Diff>('hf-diff --json $T - < /dev/null', [/the input is empty/])
    expect({ old: sums(gone.old), new: sums(gone.new) }).toMatchObject({ old: all, new: none })
  })

  it('hf-check', async () => {
    const measures: Record<string, number | bigint> = {
      peak: figures.peakBytes.bytes,
      blocks: figures.peakBlocks.blocks,
      allocated: figures.allocated.bytes,
      allocations: figures.allocated.blocks,
      leaked: figures.leaked.bytes,
      'leaked-blocks': figures.leaked.blocks,
      temporary: figures.temporary.heaptrack.blocks,
      'double-frees': figures.faults.get('doubleFrees') ?? 0,
      'unknown-frees': figures.faults.get('unknownFrees') ?? 0,
      overlaps: figures.overlaps.blocks,
      'failed-allocations': (figures.faults.get('failedAllocations') ?? 0) + (figures.reallocs.get('failed') ?? 0),
    }
    const limits = Object.keys(measures).map((name) => `--max-${name} 0`)
    const { code, stdout } = await file.run(`hf-check --to json ${limits.join(' ')} $T`)
    const { budgets } = parse<{ budgets: { figure: string; value: number | string }[] }>(stdout.toString())
    const found = Object.fromEntries(budgets.map(({ figure, value }) => [figure, String(value)]))
    if (isEmpty) {
      // A program that was not recorded is within no budget.
      expect({ code, values: new Set(Object.values(found)) }).toEqual({ code: 3, values: new Set(['null']) })
      return
    }
    expect(found).toEqual(Object.fromEntries(Object.entries(measures).map(([name, n]) => [name, String(n)])))
    expect(code).toBe(Object.values(measures).some((n) => Number(n) > 0) ? 1 : 0)
    // A limit of no bytes leaked is one of no blocks, too, and limits have at most 15 digits.
    const limited = Object.entries(measures).filter(([name, n]) => n < 1e15 && (name !== 'leaked' || n > 0))
    const wide = limited.map(([name, n]) => `--max-${name} ${n}`)
    expect((await file.run(`hf-check ${wide.join(' ')} $T`)).code).toBe(0)
  })

  it('hf-simulate', async () => {
    interface Simulated {
      readonly traces: {
        readonly simulations: {
          readonly events: number
          readonly mostLive: { readonly blocks: number; readonly requested: number } | null
        }[]
      }[]
    }
    for (const policy of [...POLICIES, 'all']) {
      const how = policy === 'all' ? '--compare all' : `--policy ${policy}`
      const { code, stdout, stderr } = await file.run(`hf-simulate --json ${how} $T`)
      const others = stderr.replace(/.*warning.*\n/g, '')
      if (figures.allocated.bytes > 1n << 44n && code === 1) {
        // A heap has no room for so much.
        expect({ policy, others }).toEqual({ policy, others: expect.stringMatching(/: over the limit: /) })
        continue
      }
      if (WHOLE.includes(policy as PolicyName) && /several address spaces/.test(others)) continue
      expect({ policy, code, others }).toEqual({ policy, code: 0, others: '' })
      const { traces } = parse<Simulated>(stdout.toString())
      expect(traces.reduce((n, { simulations }) => n + (simulations[0]?.events ?? 0), 0)).toBe(figures.events)
      const mostLive = traces[0]?.simulations[0]?.mostLive
      if (traces.length === 1 && figures.overlaps.blocks === 0 && mostLive && shape.reallocs !== 'fail')
        expect({ policy, requested: BigInt(mostLive.requested) }).toEqual({
          policy,
          requested: figures.peakBytes.bytes,
        })
    }
  })
})

/** The sums of a table of spans by how they ended. */
async function duckdbSums(path: string): Promise<Map<string, { blocks: number; bytes: bigint }>> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  const query = `select ending::varchar, count(*)::integer, coalesce(sum(size), 0)::varchar from '${path}' group by all`
  const rows = (await connection.runAndReadAll(query)).getRows()
  connection.closeSync()
  instance.closeSync()
  return new Map(
    rows.map(([ending, n, bytes]) => [String(ending), { blocks: Number(n), bytes: BigInt(String(bytes)) }]),
  )
}

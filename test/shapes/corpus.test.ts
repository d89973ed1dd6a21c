// @module-tag slow
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { shell } from '../support/commands.js'
import { corpusPath, corpusTraces } from '../support/corpus.js'
import { reportData } from '../support/report-data.js'
import { amount, parse } from './run-commands.js'

/** Larger files are left out, in bytes: they take minutes. */
const MOST = Number(process.env['HEAPFLOW_CORPUS_BYTES'] ?? 400_000)

interface Amount {
  readonly blocks: number
  readonly bytes: number | string
}
interface Stats {
  readonly identified: boolean
  readonly events: number
  readonly allocated: Amount
  readonly leaked: Amount
  readonly peakBytes: Amount
  readonly peakBlocks: Amount
  readonly temporary: { readonly heaptrack: Amount } | null
  readonly kinds: { readonly lost?: number }
}
interface Sums {
  readonly allocated: Amount
  readonly atPeak: Amount
  readonly leaked: Amount
}

const folder = mkdtempSync(join(tmpdir(), 'heapflow-corpus-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What other tools print of a trace lies beside it. */
const isTrace = (name: string) => !/\.(stats|report|verbose)\.txt(\.gz)?$|heaptrack\/.*\.log$/.test(name)
const traces = corpusTraces().filter(
  (name) => name === 'none' || (isTrace(name) && statSync(corpusPath(name)).size <= MOST),
)

describe('each figure of a real trace has one value everywhere', { tags: ['corpus'] }, () => {
  it.each(traces)('%s', async (name) => {
    const run = (line: string) => shell(`T="${corpusPath(name)}"; cd "${folder}" && ${line}`)
    const statsRun = await run('hf-stats --json --no-symbolize $T')
    const stats = parse<Stats>(statsRun.stdout.toString())
    // A trace that was cut is cut for all.
    const status = statsRun.code
    const { allocated, leaked, peakBytes, peakBlocks, temporary } = stats

    const sql = await run(`hf-sql --to ndjson $T "select count(*) n from events"`)
    expect({ code: sql.code, n: parse<{ n: number }>(sql.stdout.toString() || '{"n":0}').n }).toEqual({
      code: status,
      n: stats.events,
    })
    if (stats.identified) {
      const query = `select count(*) blocks, coalesce(sum(size), 0)::varchar bytes, count(*) filter (ending = 'live') live from spans`
      const spans = await run(`hf-sql --to ndjson $T "${query}"`)
      const found = parse<Amount & { live: number }>(spans.stdout.toString())
      expect({ amount: amount(found), live: found.live }).toEqual({ amount: amount(allocated), live: leaked.blocks })
    }

    await run('hf-report --no-symbolize --embed 0 -o page.html $T')
    const page = statSync(join(folder, 'page.html'), { throwIfNoEntry: false }) ? 'page.html' : 'page.html.partial'
    const { summary } = reportData(readFileSync(join(folder, page), 'utf8')) as unknown as { summary: Stats }
    for (const figure of ['allocated', 'leaked', 'peakBytes', 'peakBlocks'] as const)
      expect({ figure, amount: amount(summary[figure]) }).toEqual({ figure, amount: amount(stats[figure]) })
    rmSync(join(folder, page))

    const check = await run(
      'hf-check --to json --max-peak 0 --max-blocks 0 --max-allocated 0 --max-allocations 0 --max-leaked 0 ' +
        '--max-temporary 0 $T',
    )
    const { budgets } = parse<{ budgets: { figure: string; value: number | string | null }[] }>(
      check.stdout.toString() || '{"budgets":[]}',
    )
    if (status === 0) {
      const values = new Map(budgets.map(({ figure, value }) => [figure, value === null ? null : String(value)]))
      const expected = {
        peak: peakBytes.bytes,
        blocks: peakBlocks.blocks,
        allocated: allocated.bytes,
        allocations: allocated.blocks,
        leaked: leaked.bytes,
        'leaked-blocks': leaked.blocks,
        temporary: temporary?.heaptrack.blocks,
      }
      for (const [figure, value] of Object.entries(expected)) {
        const one = values.get(figure)
        // What cannot be known without the identity of blocks, or where the recorder lost events, is null.
        if (one === null && (!stats.identified || (stats.kinds.lost ?? 0) > 0)) continue
        expect({ figure, value: one }).toEqual({ figure, value: String(value) })
      }
      const diff = await run('hf-diff --json --no-symbolize $T $T')
      const { old, new: next, sites } = parse<{ old: Sums; new: Sums; sites: unknown[] }>(diff.stdout.toString())
      for (const side of [old, next]) {
        expect(amount(side.allocated)).toBe(amount(allocated))
        expect(amount(side.leaked)).toBe(amount(leaked))
        expect(amount(side.atPeak)).toBe(amount(peakBytes))
      }
      expect(sites).toEqual([])
    }
  })
})

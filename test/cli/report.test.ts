// @module-tag slow
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MAX_PAGE_BYTES } from '../../lib/exports/report/template.js'
import { parseJson } from '../../lib/event/json.js'
import { plain } from '../../lib/transforms/report/plain.js'
import type { Plain, ReportData } from '../../lib/transforms/report/result.js'
import type { Statistics } from '../../lib/transforms/statistics/result.js'
import { scratch, shell } from '../support/commands.js'
import { LIMIT, peak } from '../support/peak.js'
import { COMPARED } from '../../lib/transforms/report/compared.js'
import { comparedRows, manyStacks } from '../support/compared.js'
import { reportData } from '../support/report-data.js'

const FIXTURES = 'test/fixtures'
const TRACE = `${FIXTURES}/mtrc/small64.mtrc.gz`

/** The tables of hf-stats, as JSON has them. */
type Tables = Plain<Pick<Statistics, 'sites' | 'threads' | 'processes' | 'cpus' | 'timeline'>>

/** The figures of a stack in hf-diff --json. */
type Compared = Record<'allocated' | 'atPeak' | 'leaked' | 'temporary', { blocks: number; bytes: number }>

async function pageOf(line: string, input: Uint8Array | string = ''): Promise<string> {
  const { stdout, stderr, code } = await shell(line, input)
  expect({ code, stderr: stderr.replace(/^hf-report: warning.*\n/gm, '') }).toEqual({ code: 0, stderr: '' })
  return stdout.toString()
}

describe('hf-report', () => {
  test('has the figures of hf-stats', async () => {
    const { stdout } = await shell(`hf-stats --json ${TRACE}`)
    const { sites, threads, processes, cpus, timeline, ...expected } = plain(
      parseJson(stdout.toString()),
    ) as unknown as ReportData['summary'] & Tables
    delete (expected.sizes as { exact?: unknown }).exact
    const { summary, timeline: line, threads: table, ...data } = reportData(await pageOf(`hf-report ${TRACE}`))
    expect(summary).toMatchObject(expected)
    expect(summary).toMatchObject({
      siteCount: sites.length,
      threadCount: threads.filter(({ rest, allocated, frees }) => rest !== 'none' || allocated.blocks + frees > 0)
        .length,
      processCount: processes.length,
      cpuCount: cpus.length,
    })
    expect(line.maxBytes).toEqual(timeline.map(({ maxBytes }) => maxBytes))
    expect(table.events).toEqual(threads.map(({ events }) => events))
    expect(data.sites.allocatedBytes).toEqual(sites.map(({ allocated }) => allocated.bytes))
    expect(data.sites.endBlocks.reduce((sum, n) => sum + n, 0)).toBe(expected.leaked.blocks)
  })

  test('writes a file, from a file or a pipe', async () => {
    const file = join(scratch(), 'report.html')
    expect(await pageOf(`hf-report -o ${file} ${TRACE}`)).toBe('')
    const page = readFileSync(file, 'utf8')
    expect(reportData(page)).toMatchObject({
      name: 'small64.mtrc.gz',
      isFile: true,
      generator: expect.stringMatching(/^heapflow \d/),
    })
    expect(page).toMatch(/^<!doctype html>/i)
    const piped = await pageOf('hf-report', readFileSync(TRACE))
    expect(reportData(piped)).toEqual({ ...reportData(page), name: 'standard input', isFile: false })
  })

  test('compares with another trace', async () => {
    const old = `${FIXTURES}/mtrc/cxx64.mtrc`
    const data = reportData(await pageOf(`hf-report --compare ${old} ${TRACE}`))
    expect(data.comparison!.old).toBe('cxx64.mtrc')
    const { stdout } = await shell(`hf-diff --json ${old} ${TRACE}`)
    const { sites }: { sites: { stack: string[] }[] } = JSON.parse(stdout.toString())
    const texts = comparedRows(data).map((stack) => stack.join(';'))
    expect(texts.toSorted()).toEqual(sites.map(({ stack }) => stack.join(';')).toSorted())
    const same = reportData(await pageOf(`hf-report --compare ${TRACE} ${TRACE}`)).comparison!
    expect(same.changes.node).toEqual([])
  })

  test('has all stacks that differ, with the figures of hf-diff', async () => {
    const [old, next] = ['old', 'new'].map((name) => join(scratch(), `${name}.ndjson`)) as [string, string]
    writeFileSync(old, manyStacks(3000, 1))
    writeFileSync(next, manyStacks(3200, 2))
    const data = reportData(await pageOf(`hf-diff --to html ${old} ${next}`))
    const { changes, differing } = data.comparison!
    const json = JSON.parse((await shell(`hf-diff --json ${old} ${next}`)).stdout.toString()) as {
      sites: { stack: string[]; old: Compared; new: Compared }[]
    }
    const figures = ({ allocated, atPeak, leaked, temporary }: Compared) =>
      [allocated, atPeak, leaked, temporary].flatMap(({ blocks, bytes }) => [blocks, bytes])
    const key = (stack: string[]) => stack.join(';')
    const rows = comparedRows(data).map((stack, row) => {
      const side = (columns: typeof changes.before) => COMPARED.map((name) => columns[name][row])
      return [key(stack), ...side(changes.before), ...side(changes.after)]
    })
    const expected = json.sites.map((site) => [key(site.stack), ...figures(site.old), ...figures(site.new)])
    const order = (a: unknown[], b: unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1)
    expect(differing).toBe(expected.length)
    expect(differing).toBeGreaterThan(2000)
    expect(Math.max(...changes.folded)).toBe(0)
    expect(rows.toSorted(order)).toEqual(expected.toSorted(order))
    expect(data.omitted.some((one) => one.includes('that differ'))).toBe(false)
  })

  test('writes the report on the part that was read, then the error', async () => {
    const bytes = readFileSync(`${FIXTURES}/mtrc/cxx64.mtrc`).subarray(0, 1000)
    const { stdout, stderr, code } = await shell('hf-report', bytes)
    expect(code).toBe(1)
    expect(stderr).toMatch(/mtrc/)
    const { notes, summary } = reportData(stdout.toString())
    expect(notes).toEqual(['The trace is truncated: the report is of the part that could be read.'])
    expect(summary.complete).toBe(false)
    const file = join(scratch(), 'report.html')
    const named = await shell(`hf-report -o ${file}`, bytes)
    expect(named.stderr).toContain(`${file}.partial; a browser shows it under a name that ends in .html\n`)
    expect(existsSync(file)).toBe(false)
    expect(reportData(readFileSync(`${file}.partial`, 'utf8')).summary).toEqual(summary)
  })

  test('takes one trace of several', async () => {
    const two = Buffer.concat([readFileSync(TRACE), readFileSync(TRACE)])
    const { notes, summary } = reportData(await pageOf('hf-report', two))
    expect([summary.traces, summary.events]).toEqual([2, 2 * 2798])
    expect(notes).toEqual([expect.stringMatching(/^The input has 2 traces/)])
    const file = join(scratch(), 'two.mtrc')
    writeFileSync(file, two)
    const second = reportData(await pageOf(`hf-report --trace 2 ${file}`))
    expect([second.summary.events, second.name, second.isFile]).toEqual([2798, 'two.mtrc', false])
    const fifo = reportData(await pageOf(`hf-report <(cat ${TRACE})`))
    expect([fifo.summary.events, fifo.isFile]).toEqual([2798, false])
  })

  test('reports what is not certain', async () => {
    const { stderr, stdout } = await shell(`hf-filter --kind alloc ${TRACE} | hf-report`)
    expect(stderr).toMatch(/^hf-report: warning: stdin: events were removed/m)
    expect(reportData(stdout.toString()).notes).toEqual([expect.stringMatching(/^Events were removed/)])
  })

  test('has the trace in it as compact-encode writes it, up to a limit', async () => {
    const { stdout: expected } = await shell(`compact-encode --fast ${TRACE}`)
    const traceIn = (page: string) => /id="report-trace">([A-Za-z0-9+/=]*)<\/script>/.exec(page)?.[1]
    expect(traceIn(await pageOf(`hf-report ${TRACE}`))).toBe(expected.toString('base64'))
    expect(traceIn(await pageOf(`hf-report --embed ${expected.length}`, readFileSync(TRACE)))).toBe(
      expected.toString('base64'),
    )
    const above = await pageOf(`hf-report --embed ${expected.length - 1} ${TRACE}`)
    expect(traceIn(above)).toBe(undefined)
    expect(reportData(above).omitted).toEqual([expect.stringMatching(/^The trace itself is not in this page/)])
    const none = await pageOf(`hf-report --embed 0 ${TRACE}`)
    expect(none).not.toMatch(/report-trace|wasm-unsafe-eval|contains the whole trace/)
    expect(reportData(none).omitted).toEqual([])
    expect(none.length).toBeLessThan(280_000)
  })

  test('refuses a file that hf-replay did not write', async () => {
    const file = join(scratch(), 'replay.json')
    const output = join(scratch(), 'report.html')
    for (const [text, message] of [
      ['{"trace":{}', /^hf-report: .*replay\.json: JSON: malformed: /],
      [
        '{"trace":{}}',
        /^hf-report: .*replay\.json: JSON: malformed: the result of hf-replay must have the property options/,
      ],
    ] as const) {
      writeFileSync(file, text)
      const { code, stderr } = await shell(`hf-report --replay ${file} -o ${output} ${TRACE}`)
      expect(code).toBe(1)
      expect(stderr).toMatch(message)
      expect(existsSync(output)).toBe(false)
    }
    const nameless = await shell(`hf-report --replay '' -o ${output} ${TRACE}`)
    expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining('--replay needs a name') as string])
    const written = await shell(`hf-report --replay ${file} -o ${file} ${TRACE}`)
    expect([written.code, written.stderr]).toEqual([2, expect.stringContaining('the file of --replay') as string])
  })

  test('has the chosen trace of several in it', async () => {
    const two = Buffer.concat([readFileSync(`${FIXTURES}/mtrc/small32.mtrc.gz`), readFileSync(TRACE)])
    const [, text = ''] = /id="report-trace">([^<]*)</.exec(await pageOf('hf-report --trace 2', two)) ?? []
    const { stdout } = await shell('hf-stats --json', Buffer.from(text, 'base64'))
    expect(JSON.parse(stdout.toString())).toMatchObject({ traces: 1, events: 2798 })
  })

  test.each([
    ['hf-report --embed 65M', /--embed needs a number of bytes such as 4096 or 64M, at most 64M, not "65M"/],
    ['hf-report --embed 1..2', /--embed needs a number of bytes/],
    ['hf-report --embed x', /--embed needs a number of bytes/],
    ['hf-report --embed 999999999999999G', /--embed needs a number of bytes/],
    ['hf-report a b', /one input at a time/],
    ['hf-report --compare - ', /standard input can be read only once/],
    ['hf-report --replay - ', /standard input can be read only once/],
    ['hf-report --match lines', /--match needs --compare/],
    ['hf-report --trace 0', /--trace needs a whole number from 1 on/],
  ])('%s is a mistake', async (line, message) => {
    const { code, stderr } = await shell(line)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})

/** Writes a trace of events that a function makes as lines. */
function makeTrace(path: string, lines: number, line: (i: number) => string): void {
  const file = openSync(path, 'w')
  let text = ''
  for (let i = 0; i < lines; i++) {
    text += line(i)
    if (text.length < 1e6) continue
    writeSync(file, text)
    text = ''
  }
  writeSync(file, text)
  closeSync(file)
}

describe('hf-report on large traces', { tags: ['slow'], timeout: 600_000 }, () => {
  test(
    '1,000,000 distinct stacks, with long names, make a page of no more than 5 MB',
    { tags: ['large'] },
    async () => {
      const path = join(scratch(), 'many.ndjson')
      makeTrace(path, 1_000_000, (i) => {
        const name = `</script><img src=x onerror=alert(${i})>${(i * 7919).toString(36).repeat(i % 20)}`
        return (
          `{"kind":"alloc","address":"0x${(16 * i + 16).toString(16)}","size":${(i % 99) + 1},"stack":["${name}","mid${i % 1000}","main"]}\n` +
          (i % 3 === 0 ? '' : `{"kind":"free","address":"0x${(16 * i + 16).toString(16)}"}\n`)
        )
      })
      const { stdout, code } = await shell(`hf-report ${path}`)
      expect(code).toBe(0)
      expect(stdout.length).toBeLessThanOrEqual(MAX_PAGE_BYTES)
      const page = stdout.toString()
      expect(page).not.toContain('<img')
      const { sites, summary, omitted, notes } = reportData(page)
      expect(sites.allocatedBlocks.reduce((sum, n) => sum + n, 0)).toBe(1_000_000)
      expect(summary.allocated.blocks).toBe(1_000_000)
      expect(omitted.join(' ')).toMatch(/sites, [\d,]+ are listed/)
      expect(notes.join(' ')).toMatch(/more sites than are distinguished/)
    },
  )

  test('a copy of 26 MB takes no more memory than that and its encoder', { tags: ['large'] }, async () => {
    const path = join(scratch(), 'random.txt')
    let state = 1
    const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
    makeTrace(path, 2_500_000, () => {
      const block = `${(random() % 0x7fff).toString(16)}${(random() >>> 1).toString(16).padStart(8, '0')}0`
      return `1: malloc 0x${block} ${random() * 16 + (random() >>> 28)}\n1: free 0x${block}\n`
    })
    const page = join(scratch(), 'report.html')
    const more = (await peak(`hf-report --embed 64M -o ${page}`, path)) - (await peak('hf-report --embed 0', path))
    const { size } = statSync(page)
    expect(size).toBeGreaterThan(34_000_000)
    expect(more).toBeGreaterThan(size * 0.75)
    expect(more).toBeLessThan(size * 0.75 + 65_000_000)
  })

  test('20,000,000 events take as little memory as any command', { tags: ['large'] }, async () => {
    const path = join(scratch(), 'long.txt')
    makeTrace(path, 10_000_000, (i) => {
      const block = (0x5500_0000 + (i % 1000) * 4096).toString(16)
      return `${(i % 9) + 1}: malloc 0x${block} ${i % 5000}\n${(i % 9) + 1}: free 0x${block}\n`
    })
    const bytes = await peak('hf-report', path)
    expect(bytes).toBeGreaterThan(20_000_000)
    expect(bytes).toBeLessThan(LIMIT)
  })
})

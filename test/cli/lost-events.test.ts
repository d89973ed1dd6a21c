// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { totalsWarnings } from '../../lib/cli/report/warnings.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { scratch, shell } from '../support/commands.js'
import { HEADER, inBatches } from '../transforms/events.js'

const DUMP = gunzipSync(readFileSync(fileURLToPath(new URL('../fixtures/replay/mstress-head.txt.gz', import.meta.url))))

const MARKED =
  /^hf-stats: warning: \S+: events were removed: leaks \(\d+\) and frees and reallocs of unknown blocks \(\d+\) may be false; use --lifetimes with hf-filter and hf-split\n$/
const GUESSED =
  /^hf-stats: warning: \S+: \d+ frees and reallocs are of unknown blocks, so leaks may be false; if the trace was filtered or split, use --lifetimes with hf-filter and hf-split\n$/

describe('hf-stats warns of leaks that may be false', () => {
  test.each([
    ['hf-filter --size 64.. | hf-stats --json', MARKED],
    ['hf-filter --size 64.. | hf-filter | hf-map -e "" | hf-stats --json', MARKED],
    ['hf-filter --kind alloc -o x.ndjson; hf-stats x.ndjson', MARKED],
    ["hf-split --by thread -o 'part-{}.ndjson'; for f in part-*; do hf-stats $f; break; done", MARKED],
    ['hf-filter --events 1000..3000 -o x.txt; hf-stats x.txt', GUESSED],
    ['hf-stats', /^$/],
    ['hf-filter --kind alloc --size 64.. --lifetimes | hf-stats', /^$/],
    ['hf-filter --process 5 --invert | hf-stats', /no event has the field process/],
    ["hf-split --by thread --lifetimes -o 'part-{}.ndjson'; for f in part-*; do hf-stats $f; done", /^$/],
    ["hf-split --by thread --number -o 'part-{}.ndjson'; hf-merge part-* | hf-stats", /^$/],
  ])('%s', async (line, expected) => {
    const { code, stderr } = await shell(`cd ${scratch()}; cat > in; (cat in) | ${line}`, DUMP)
    expect(code).toBe(0)
    expect(stderr).toMatch(expected)
  })

  test('also in JSON, and where one trace of several lacks events', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'in.txt'), DUMP)
    const line = `cd ${folder}; (hf-filter in.txt; hf-filter --kind alloc in.txt) | hf-stats --json`
    const { stdout, stderr } = await shell(line)
    expect(JSON.parse(stdout.toString())).toMatchObject({ filtered: true, traces: 2 })
    expect(stderr).toMatch(MARKED)
    expect(JSON.parse((await shell(`hf-stats --json ${folder}/in.txt`)).stdout.toString())).toMatchObject({
      filtered: false,
    })
  })
})

describe('what the recorder lost is reported', () => {
  const trace = fileURLToPath(new URL('../golden/tracepoints/ftrace.txt', import.meta.url))
  const counted = 'the recorder lost 1717 events in 2 places'

  test.each([
    ['hf-filter --size 4.. IN | hf-stats', `hf-stats: warning: stdin: ${counted}, so every figure may be wrong`],
    [
      'hf-filter --api kmalloc --lifetimes IN | hf-stats',
      `hf-stats: warning: stdin: ${counted}, so every figure may be wrong`,
    ],
    [
      'hf-filter --leaked IN | hf-profile -o x.pb.gz',
      `hf-profile: warning: stdin: ${counted}, so every figure may be wrong`,
    ],
    [
      'hf-filter --kind alloc IN',
      'hf-filter: warning: IN: the recorder lost events in 2 places, which kind left out: kind lost keeps them',
    ],
    ['hf-blocks IN', `hf-blocks: warning: IN: ${counted}, so blocks may be missing or wrong`],
    ['hf-sql IN "select count(*) from events"', `hf-sql: warning: IN: ${counted}, so rows may be missing or wrong`],
    [
      'hf-sql IN "select count(*) from blocks, spans"',
      `hf-sql: warning: IN: ${counted}, so rows may be missing or wrong`,
    ],
  ])('%s', async (line, warning) => {
    const { code, stderr } = await shell(`cd ${scratch()}; ${line.replace('IN', trace)}`)
    expect(code).toBe(0)
    const lines = stderr.split('\n').filter((one) => one.includes('lost'))
    expect(lines).toEqual([warning.replace('IN', trace)])
  })

  test('hf-verify', async () => {
    const { code, stdout } = await shell(`hf-verify ${trace}`)
    expect(stdout.toString().split('\n')[0]).toBe(`${counted}, so faults may be false or hidden`)
    const json = await shell(`hf-verify --json ${trace}`)
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ lost: 2, lostEvents: 1717 })
    expect(json.code).toBe(code)
    expect((await shell('hf-verify', '1: malloc 0x1000 8\n')).stdout.toString()).toBe('1 event, no faults\n')
  })
})

describe('totalsWarnings', () => {
  /** So many blocks that are freed, leak, and are freed without having been allocated. */
  const warning = (freed: number, leaked: number, unknown: number, isFiltered = false) => {
    const address = (i: number) => BigInt(i + 1)
    const some = (n: number, kind: 'alloc' | 'free', from = 0): TraceEvent[] =>
      Array.from({ length: n }, (_, i) => ({ kind, address: address(from + i), size: 1n }))
    const collector = new StatisticsCollector()
    const events = [...some(freed, 'alloc'), ...some(freed + unknown, 'free'), ...some(leaked, 'alloc')]
    const header = { ...HEADER, ...(isFiltered && { filtered: true as const }) }
    for (const batch of inBatches(events, 4096, header)) collector.add(batch)
    return totalsWarnings(collector.finish())[0]
  }

  test('comes where the header says that events were left out, and it matters', () => {
    expect(warning(5, 1, 0, true)).toContain('leaks (1) and frees and reallocs of unknown blocks (0)')
    expect(warning(5, 0, 1, true)).toContain('leaks (0) and frees and reallocs of unknown blocks (1)')
    expect(warning(5, 0, 0, true)).toBe(undefined)
  })

  test('comes where the recorder lost events', async () => {
    const trace = new URL('../golden/tracepoints/ftrace.txt', import.meta.url)
    const lost = 'the recorder lost 1717 events in 2 places, so every figure may be wrong'
    const { stdout, stderr } = await shell(
      `hf-stats ${fileURLToPath(trace)} > /dev/null; hf-report ${fileURLToPath(trace)}`,
    )
    expect(stderr).toContain(lost)
    expect(stdout.toString()).toContain('The recorder lost 1717 events in 2 places')
  })

  test('counts reallocs as what they are', () => {
    const collector = new StatisticsCollector()
    const events = Array.from({ length: 10 }, (_, i): TraceEvent => {
      return { kind: 'realloc', oldAddress: BigInt(0x7000 + i), address: BigInt(i + 1), size: 1n }
    })
    for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
    expect(totalsWarnings(collector.finish())[0]).toContain('10 frees and reallocs are of unknown blocks')
  })

  test('comes else only where many frees are of unknown blocks, and something leaks', () => {
    expect(warning(0, 1, 10)).toContain('10 frees and reallocs are of unknown blocks')
    expect(warning(0, 1, 9)).toBe(undefined)
    expect(warning(0, 0, 10)).toBe(undefined)
    expect(warning(990, 1, 10)).toContain('10 frees')
    expect(warning(991, 1, 10)).toBe(undefined)
  })
})

describe('commands that simulate, replay and generate warn of what a trace lacks', () => {
  const files = {
    'lost.ndjson': '{"kind":"alloc","address":"0x10","size":8}\n{"kind":"lost","count":5}\n',
    'removed.ndjson':
      '{"kind":"header","format":"x","filtered":true}\n{"kind":"alloc","address":"0x10","size":8}\n{"kind":"end"}\n',
    'sampled.ndjson': '{"kind":"alloc","address":"0x10","size":8,"weight":3}\n',
    'whole.ndjson': '{"kind":"alloc","address":"0x10","size":8}\n',
  }
  const WARNINGS = {
    'lost.ndjson': ['lost.ndjson: the recorder lost 5 events in 1 place, so every figure may be wrong'],
    'removed.ndjson': [
      'removed.ndjson: events were removed from the trace, so blocks that seem to be live may have been freed; ' +
        'use --lifetimes with hf-filter and hf-split',
    ],
    'sampled.ndjson': [
      'sampled.ndjson: the trace is sampled: 1 event has a weight and stands for several, but figures count every ' +
        'recorded event once',
    ],
    'whole.ndjson': [],
  }
  test.each([
    ...(process.platform === 'linux' ? ['hf-replay --runs 1 --allocator glibc FILE'] : []),
    'hf-simulate --compare all FILE',
    'hf-simulate --policy best-fit FILE',
    'hf-simulate --policy best-fit -o out.ndjson FILE',
    'hf-simulate --policy bump --predict FILE FILE',
    'hf-simulate --policy bump --predict FILE whole.ndjson',
    'hf-simulate --predict FILE --write-model m.json',
    'hf-generate --like FILE -o out.ndjson',
    'hf-generate --like FILE --write-model m.json',
  ])('%s', async (line) => {
    const folder = scratch()
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    for (const [name, expected] of Object.entries(WARNINGS)) {
      const { code, stderr } = await shell(`cd ${folder} && ${line.replaceAll('FILE', name)}`)
      const warnings = [...stderr.matchAll(/warning: (.*)/g)].map(([, text]) => text)
      expect({ name, code, warnings }).toEqual({ name, code: 0, warnings: expected })
    }
  })
})

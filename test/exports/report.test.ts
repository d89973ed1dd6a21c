import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { reportPage, type PageOptions } from '../../lib/exports/report/page.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { staticTables } from '../../lib/exports/report/tables.js'
import { sample } from '../page/sample.js'
import { reportData } from '../support/report-data.js'
import { HEADER, inBatches } from '../transforms/events.js'

const TEMPLATE =
  '<!doctype html><title><!--heapflow:title--></title><div id="tables"><!--heapflow:tables--></div><!--heapflow:data-->'

function pageOf(events: readonly TraceEvent[], options: Partial<PageOptions> = {}): string {
  return Buffer.concat([...piecesOf(events, options)]).toString()
}

function piecesOf(events: readonly TraceEvent[], options: Partial<PageOptions>): Iterable<Uint8Array> {
  const collector = new ReportCollector()
  for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
  const gzip = (bytes: Uint8Array) => gzipSync(bytes)
  return reportPage(collector.finish(), { template: TEMPLATE, gzip, ...options })
}

const alloc = (i: number, more: object = {}): TraceEvent => ({
  kind: 'alloc',
  address: BigInt(16 * i + 16),
  size: BigInt((i % 100) + 1),
  ...more,
})

const HOSTILE = [
  '</script><img src=x onerror=alert(1)>',
  '<!--<script>',
  '$&$`$1',
  '"><svg onload=alert(1)>',
  "' onclick='x",
  'null\0byte\u0085',
  '\u202eright to left',
  'lone \ud800 surrogate',
  '<!--heapflow:data-->',
]

describe('reportPage', () => {
  test('has the data, and the first rows of each view as tables', () => {
    const events = Array.from({ length: 100 }, (_, i) =>
      alloc(i, { stack: [`f${i} (a.c:${i + 1})`, 'main'], time: BigInt(i), thread: BigInt(i % 3) }),
    )
    const page = pageOf(events, { name: 'app.mtrc', generator: 'heapflow 1.2.3' })
    expect(page).toMatch(/^<!doctype html><title>app\.mtrc - heapflow report<\/title>/)
    const data = reportData(page)
    expect(data).toMatchObject({ version: 1, name: 'app.mtrc', generator: 'heapflow 1.2.3' })
    expect(data.summary.allocated).toEqual({ blocks: 100, bytes: 5050 })
    const titles = [...page.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, title]) => title)
    expect(titles).toEqual([
      'Summary',
      'Notes',
      'Timeline',
      'Sites by bytes allocated',
      'Live at the end, by site',
      'Live at the end, by when it was allocated',
      'Live at the peak, by site',
      'Sizes',
      'Threads',
      'Pages by live bytes',
      'Addresses',
      'Problems in the trace',
    ])
    expect(page).toContain('<tr><th scope="row">bytes allocated</th><td>5050</td></tr>')
    expect(page).toContain(
      '<td>100</td><td>1</td><td>100</td><td>100</td><td><bdi>f99 at a.c:100 \u2190 main</bdi></td>',
    )
    // The rows of the timeline sum up to all allocations.
    const timeline = /<h2>Timeline<\/h2>([^]*?)<\/table>/.exec(page)![1]!
    const rows = [...timeline.matchAll(/<tr><td>([^]*?)<\/td><\/tr>/g)].map(([, row]) => row!.split('</td><td>'))
    expect(rows).toHaveLength(20)
    expect(rows.reduce((sum, row) => sum + Number(row.at(-2)), 0)).toBe(100)
    expect(rows.at(-1)!.slice(0, 3)).toEqual(['100', '99', '5050'])
    expect(page).toContain('<p>80 more rows.</p>')
  })

  test('has the table of allocators that hf-replay shows', () => {
    const page = [...staticTables(sample())].join('')
    const table = page.slice(page.indexOf('<h2>Allocators'))
    const rows = [...table.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(?:<bdi>)?(.*?)(?:<\/bdi>)?<\/t[hd]>/g)].map(([, cell]) => cell),
    )
    expect(rows[0]).toEqual([
      'allocator',
      'rank by time',
      'ns a call',
      'quartiles',
      'rank by memory',
      'resident bytes at the peak',
      'maxima',
      'at the end',
      'page faults',
    ])
    const glibc = ['glibc', '2', '50.0', '49.0 to 51.0', '2', '2097152', '109.7 %', '1048576', '500']
    const other = ['other', '1', '25.0', '24.0 to 26.0', '', '1048576', '', '1048576', '500']
    expect(rows.slice(1)).toEqual([glibc, other])
    const slow = sample()
    const [first] = slow.replay!.allocators
    const time = { median: 493_800, low: 400_000, high: 40_000 }
    const changed = { ...slow, replay: { ...slow.replay!, allocators: [{ ...first!, time }] } }
    expect([...staticTables(changed)].join('')).toContain('<td><bdi>1,235</bdi></td><td><bdi>1,000 to 100</bdi></td>')
  })

  test('names are text, whatever they are', { tags: ['slow'] }, () => {
    const events = [
      ...HOSTILE.map((name, i) => alloc(i, { stack: [name, `${name} (${name}:3)`] })),
      ...HOSTILE.map((name, i): TraceEvent => ({ kind: 'free', address: BigInt(0x9000 + i), function: name })),
    ]
    for (const name of HOSTILE) {
      const page = pageOf(events, { name })
      const parts = page.split(
        /<\/?(?:title|h2|p|ul|li|table|thead|tr|th|td|bdi|div|script)(?: scope="(?:row|col)"| id="tables"| type="application\/octet-stream" id="report-data")?>/,
      )
      for (const text of parts) expect(text.replace('<!doctype html>', '')).not.toMatch(/[<>"'\0]/)
      expect(page.match(/<script/g)).toHaveLength(1)
      const data = reportData(page)
      expect(data.name).toBe(name.toWellFormed())
      expect(data.frames.map((frame) => frame.name)).toContain(HOSTILE[0])
    }
  })

  test('names of 1 MiB are cut, and marked', () => {
    const page = pageOf([alloc(1, { stack: ['x'.repeat(1 << 20)] })], { name: 'y'.repeat(1 << 20) })
    expect(page.length).toBeLessThan(50_000)
    expect(page).toMatch(/x{200}\[and \d+ more\]/)
    expect(page).toMatch(/<title>y{200}\[and \d+ more\] - heapflow report<\/title>/)
  })

  test('a page that would be too large has less, and says so', { tags: ['slow'] }, () => {
    let state = 1
    const random = () => (state = Math.imul(state, 0x41c6_4e6d) + 12_345) >>> 8
    const events = Array.from({ length: 6000 }, (_, i) =>
      alloc(i, { stack: Array.from({ length: 5 }, () => `${random().toString(36)}${random().toString(36)}`) }),
    )
    const whole = pageOf(events)
    expect(whole.length).toBeGreaterThan(200_000)
    const page = pageOf(events, { most: 100_000 })
    expect(page.length).toBeLessThanOrEqual(100_000)
    const data = reportData(page)
    expect(data.sites.node.length).toBeLessThan(reportData(whole).sites.node.length)
    expect(data.omitted.join(' ')).toMatch(/Of 6,000 sites, [\d,]+ are listed/)
    expect(page).toContain('<h2>Left out</h2>')
    expect(data.tree.allocatedBytes.reduce<number>((sum, bytes) => sum + Number(bytes), 0)).toBe(
      Number(data.summary.allocated.bytes),
    )
    expect(() => pageOf(events, { most: 1000 })).toThrow(/the smallest report has more than 1000 bytes/)
  })

  test('the trace is in the page however it is cut, and never as a whole in memory', () => {
    const trace = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * i) >> 3))
    const plain = pageOf([alloc(1)])
    for (const sizes of [[200_000], [0, 1, 2, 24_571, 49_151, 3], [24_576, 24_576]]) {
      let at = 0
      const chunks = [...sizes, trace.length].map((size) => trace.subarray(at, (at += size)))
      const pieces = [...piecesOf([alloc(1)], { trace: chunks })]
      const [, text = ''] =
        /id="report-trace">([A-Za-z0-9+/=]*)<\/script>$/.exec(Buffer.concat(pieces).toString()) ?? []
      expect(Buffer.from(text, 'base64').equals(trace)).toBe(true)
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(plain.length + 66_000)
    }
  })

  test.each(['', TEMPLATE + TEMPLATE, '<!--heapflow:data--><!--heapflow:tables--><!--heapflow:title-->'])(
    'refuses the template %j',
    (template) => {
      expect(() => pageOf([alloc(1)], { template })).toThrow(/the page of reports does not have one/)
    },
  )
})

import { describe, expect, test, vi } from 'vitest'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { TraceCopy } from '../../lib/exports/report/trace-copy.js'
import { CompactDecoder, CompactEncoder } from '../../lib/formats/compact/index.js'
import { exportReport } from '../../lib/streams/report.js'
import { ReportCollector } from '../../lib/transforms/report/collector.js'
import { reportData } from '../support/report-data.js'
import { HEADER, inBatches } from '../transforms/events.js'

const EVENTS = Array.from({ length: 9000 }, (_, i): TraceEvent => ({
  kind: 'alloc',
  address: BigInt(64 * ((i * 7919) % 9973) + 16),
  size: BigInt((i * i) % 977),
}))

/** The copy of some batches. */
function copyOf(batches: readonly EventBatch[], most: number, complete = true) {
  const copy = new TraceCopy(most)
  for (const batch of batches) copy.add(batch)
  const chunks = copy.finish(complete)
  return { bytes: chunks && Buffer.concat(chunks), reason: copy.reason }
}

/** The bytes that the encoder gives for them. */
function encoded(batches: readonly EventBatch[]): Uint8Array {
  const encoder = new CompactEncoder({ level: 1 })
  const pieces: Uint8Array[] = []
  const take = () => {
    for (let piece = encoder.next(); piece !== null; piece = encoder.next()) pieces.push(piece)
  }
  for (const batch of batches) {
    encoder.feed(batch)
    take()
  }
  encoder.end()
  take()
  return Buffer.concat(pieces)
}

describe('the copy of a trace', () => {
  test('is a compact trace of the fast level, however the events come', () => {
    const expected = encoded(inBatches(EVENTS, 4096, HEADER))
    for (const size of [1000, 4096])
      expect(copyOf(inBatches(EVENTS, size, HEADER), 1e6).bytes!.equals(expected)).toBe(true)
  })

  test('is there up to the limit, and not with a byte more', () => {
    const batches = () => inBatches(EVENTS, 4096, HEADER)
    const { length } = encoded(batches())
    expect(copyOf(batches(), length)).toMatchObject({ bytes: { length }, reason: undefined })
    const above = copyOf(batches(), length - 1)
    expect(above.bytes).toBe(undefined)
    expect(above.reason).toBe(
      `The trace itself is not in this page, so it cannot be filtered here: as a compact trace it has more than ${length - 1} bytes. hf-report --embed SIZE sets the limit.`,
    )
    expect(copyOf(batches(), 2048).reason).toContain('more than 2 KiB.')
  })

  test('of a truncated trace is truncated after all events', () => {
    const { bytes } = copyOf(inBatches(EVENTS, 4096, HEADER), 1e6, false)
    const decoder = new CompactDecoder()
    decoder.feed(bytes!)
    let events = 0
    const take = () => {
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) events += batch.count
    }
    take()
    decoder.end()
    expect(take).toThrow(expect.objectContaining({ code: 'ERR_TRACE_TRUNCATED' }))
    expect(events).toBe(EVENTS.length)
  })

  test('takes no more memory than its bytes, and keeps none of it', () => {
    const copy = new TraceCopy(1e6)
    for (let i = 0; i < 10; i++) for (const batch of inBatches(EVENTS, 4096, HEADER)) copy.add(batch)
    const chunks = copy.finish(true)!
    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks.map(({ buffer }) => buffer.byteLength)).toEqual(chunks.map(({ length }) => length))
    expect(Object.values(copy)).not.toContain(chunks)
  })

  test('that is given up encodes nothing any more', () => {
    const encoding = (['feed', 'end', 'endTruncated'] as const).map((name) => vi.spyOn(CompactEncoder.prototype, name))
    const copy = new TraceCopy(3)
    const [batch] = inBatches(EVENTS.slice(0, 100), 100, HEADER)
    copy.add(batch!)
    expect(copy.reason).toContain('more than 3 bytes')
    copy.add(batch!)
    expect(copy.finish(true)).toBe(undefined)
    expect(encoding.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0])
    vi.restoreAllMocks()
  })

  test('is given up where the format has a limit, and the report goes on', () => {
    const long = { kind: 'alloc', address: 16n, size: 1n, function: 'x'.repeat((1 << 24) + 1) } as const
    const { bytes, reason } = copyOf(inBatches([long], 1, HEADER), 1e9)
    expect(bytes).toBe(undefined)
    expect(reason).toMatch(/^The trace itself is not in this page, .*: compact: .*\.$/)
  })
})

describe('exportReport with a trace', () => {
  const pageOf = (options: Parameters<typeof exportReport>[1]) => {
    const collector = new ReportCollector()
    for (const batch of inBatches(EVENTS, 4096, HEADER)) collector.add(batch)
    return Buffer.from(exportReport(collector.finish(), options)).toString()
  }

  test('has it in the page, whose policy lets a worker read it, and warns', { tags: ['slow'] }, () => {
    const trace = encoded(inBatches(EVENTS, 4096, HEADER))
    const page = pageOf({ trace })
    const [, text = ''] = /id="report-trace">([A-Za-z0-9+/=]*)<\/script>/.exec(page) ?? []
    expect(Buffer.from(text, 'base64').equals(trace)).toBe(true)
    expect(page).toMatch(/script-src 'sha256-[^;]* 'wasm-unsafe-eval'; .*worker-src blob:;/)
    expect(page).toContain('<p>This page contains the whole trace: addresses,')
    expect(reportData(page)).toEqual(reportData(pageOf({})))
    expect(pageOf({})).not.toMatch(/report-trace|wasm-unsafe-eval|worker-src|contains the whole trace/)
  })

  test('the trace does not count as a part of the report', () => {
    const trace = new Uint8Array(5_000_000)
    trace.set(encoded(inBatches(EVENTS, 4096, HEADER)))
    expect(reportData(pageOf({ trace })).omitted).toEqual(reportData(pageOf({})).omitted)
  })

  test('more sentences about what was left out', () => {
    expect(reportData(pageOf({ omitted: ['Something <b>.'] })).omitted.at(-1)).toBe('Something <b>.')
  })

  test('refuses what is no compact trace', () => {
    expect(() => pageOf({ trace: Buffer.from('{"kind":"header"}') })).toThrow(/the trace is not in the compact format/)
    expect(() => pageOf({ trace: new Uint8Array(0) })).toThrow(RangeError)
  })
})

import { describe, expect, it } from 'vitest'
import type { Decoder } from '../../lib/event/stage.js'
import { LtraceDecoder } from '../../lib/formats/ltrace/decode.js'
import { MAX_LINE as MAX_LTRACE } from '../../lib/formats/ltrace/layout.js'
import { TracepointsDecoder } from '../../lib/formats/tracepoints/decode.js'
import { MAX_LINE as MAX_TRACEPOINTS } from '../../lib/formats/tracepoints/layout.js'
import { ValgrindDecoder } from '../../lib/formats/valgrind/decode.js'
import { MAX_LINE as MAX_VALGRIND } from '../../lib/formats/valgrind/layout.js'
import { decodeAll } from '../support/drive.js'

interface Lines {
  decoder: () => Decoder
  limit: number
  /** A line with an event, and the two parts of one that becomes too long by spaces between them. */
  line: string
  long: [string, string]
}

const NO_EVENT = 'a line that is no event'

const KFREE = 'ls-1 [000] 1.000000: kfree: call_site=f+0x1/0x2 ptr=0000000000000010'

const LOGS: Record<string, Lines> = {
  'ltrace, a call': {
    decoder: () => new LtraceDecoder(),
    limit: MAX_LTRACE,
    line: '1 malloc(5) = 0x10',
    long: ['1 malloc(7)', ' = 0x20'],
  },
  'ltrace, the end of a call': {
    decoder: () => new LtraceDecoder(),
    limit: MAX_LTRACE,
    line: '1 malloc(5) = 0x10',
    long: ['1 <... realloc resumed> )', ' = 0x20'],
  },
  'valgrind, a call': {
    decoder: () => new ValgrindDecoder(),
    limit: MAX_VALGRIND,
    line: '--7-- malloc(5) = 0x10',
    long: ['--7-- malloc(7)', ' = 0x20'],
  },
  'valgrind, a result': {
    decoder: () => new ValgrindDecoder(),
    limit: MAX_VALGRIND,
    line: '--7-- malloc(5) = 0x10',
    long: ['--7--  = 0x20', ''],
  },
  tracepoints: {
    decoder: () => new TracepointsDecoder(),
    limit: MAX_TRACEPOINTS,
    line: KFREE,
    long: [KFREE, ''],
  },
}

/** A line of `bytes` bytes with its line feed. */
const padded = ([before, after]: [string, string], bytes: number) =>
  `${before}${' '.repeat(bytes - before.length - after.length - 1)}${after}\n`

const decode = (decoder: Decoder, text: string, step: number) => ({
  ...decodeAll(decoder, new Uint8Array(Buffer.from(text)), step),
  warnings: decoder.warnings,
})

describe.each(Object.entries(LOGS))('%s', (_, { decoder, limit, line, long }) => {
  it.each([1, 2, 50 * limit])('in a line that is over the limit by %i bytes is an error', (more) => {
    const text = `${line}\n${NO_EVENT}\n${padded(long, limit + more)}${line}\n`
    for (const step of [1000, limit, 1_000_000]) {
      const { events, error } = decode(decoder(), text, step)
      expect(events).toHaveLength(1)
      const place = { line: 3, column: 1, offset: line.length + NO_EVENT.length + 2, event: 2 }
      expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', ...place })
    }
  })

  it('in an endless line is an error', () => {
    const { events, error } = decode(decoder(), `${line}\n${padded(long, 10_000_000).slice(0, -1)}`, 65_536)
    expect(events).toHaveLength(1)
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', line: 2, event: 2 })
  })
})

describe.each(Object.entries(LOGS))(
  'other lines over the limit are skipped: %s',
  (_, { decoder, limit, line, long }) => {
    it.each([1, 2, 50 * limit])('by %i bytes', (more) => {
      const other = `${'x '.repeat((limit + more) / 2)}${long.join('')}`
      for (const step of [1000, limit, 1_000_000]) {
        const { events, error, warnings } = decode(decoder(), `${line}\n${other}\n${line}\n`, step)
        expect(error).toBeUndefined()
        expect(events).toHaveLength(2)
        expect(warnings?.[0]).toContain(': 1; the first is line 2')
      }
    })
  },
)

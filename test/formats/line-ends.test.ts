import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MtraceDecoder } from '../../lib/formats/glibc-mtrace/decode.js'
import { HeaptrackDecoder } from '../../lib/formats/heaptrack/decode.js'
import { formatNamed } from '../../lib/formats/index.js'
import { LtraceDecoder } from '../../lib/formats/ltrace/decode.js'
import { ReplayDecoder } from '../../lib/formats/replay/decode.js'
import { TracepointsDecoder } from '../../lib/formats/tracepoints/decode.js'
import { ValgrindDecoder } from '../../lib/formats/valgrind/decode.js'
import { decodeAll } from '../support/drive.js'

const DECODERS = {
  valgrind: ValgrindDecoder,
  ltrace: LtraceDecoder,
  tracepoints: TracepointsDecoder,
  heaptrack: HeaptrackDecoder,
  'glibc-mtrace': MtraceDecoder,
  replay: ReplayDecoder,
}
/** The formats of logs, which a terminal may have written. */
const LOGS = ['valgrind', 'ltrace', 'tracepoints']

/** The text of a fixture, of at most 100,000 bytes. */
function textOf(url: URL): string {
  const bytes = readFileSync(url)
  const text = (url.pathname.endsWith('.gz') ? gunzipSync(bytes) : bytes).subarray(0, 100_000).toString('latin1')
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

describe.each(Object.entries(DECODERS))('%s', (format, Decoder) => {
  const folder = new URL(`../fixtures/${format}/`, import.meta.url)
  test.each(readdirSync(folder))('lines that end in CR LF are recognized and read as others: %s', async (name) => {
    const text = textOf(new URL(name, folder))
    const read = (bytes: Uint8Array, size?: number) => {
      const decoder = new Decoder()
      const { events, error } = decodeAll(decoder, bytes, size)
      return { events, error, warnings: decoder.warnings }
    }
    const plain = read(Buffer.from(text, 'latin1'))
    expect(plain.events.length).toBeGreaterThan(10)
    for (const end of LOGS.includes(format) ? ['\r\n', '\r\r\n'] : ['\r\n']) {
      const other = Buffer.from(text.replaceAll('\n', end), 'latin1')
      expect(await formatNamed(format)?.sniff(other)).toBe(true)
      for (const size of [undefined, 61, 1]) {
        if (size === 1 && text.length > 10_000) continue
        expect(read(other, size)).toEqual(plain)
      }
    }
  })
})

test.each([
  ['heaptrack', () => new HeaptrackDecoder(), 'v 10500 3\r\nc 1\r\n+ zz\r\n', { offset: 16, line: 3 }],
  ['glibc-mtrace', () => new MtraceDecoder(), '= Start\r\n+ 0x10 0x5\r\n- 0x1', { offset: 21, line: 3 }],
])('the place of a fault counts all bytes of lines that end in CR LF: %s', (_, decoder, text, place) => {
  for (const size of [1, 5, 100]) expect(decodeAll(decoder(), Buffer.from(text), size).error).toMatchObject(place)
})

test('lines that are read again, because no event shows yet what is written where, have the same numbers', () => {
  const lines = [
    '# tracer: nop\n',
    '#\n',
    '# entries-in-buffer/entries-written: 8/20   #P:2\n',
    '  kworker/0:0-eve-12   (     12) \r\n',
    '[000] dN.2.  1.000001: kmalloc: call_site=f.part.0+0x4/0x1f0 [ext4] ptr=00000000af155ea9 bytes_req=' +
      '5 bytes_alloc=8 gfp_flags=GFP_KERNEL|__GFP_ZERO node=-1 accounted=true\n',
    '           <...>-13   (-------) [001] .....  1.000002: kfree: call_site=c10b963e ptr=  (null)\n',
    '          a b "c-14   (     12) [001] .....  1.000003: mm_page_alloc: page=00000000fd63d833 pfn=0x1' +
      '9b6ad order=2 migratetype=1 gfp_flags=none\n',
    'CPU:1 [LOST 1705 EVENTS]\n',
    '              ls-1',
  ]
  const bytes = Buffer.from(lines.join(''))
  const whole = decodeAll(new TracepointsDecoder(), bytes)
  expect(whole.error).toMatchObject({ line: lines.length })
  for (const size of [1, 7, 64, 100, 200, 500])
    expect(decodeAll(new TracepointsDecoder(), bytes, size).error).toEqual(whole.error)
})

import { createReadStream, createWriteStream, writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { member, zip } from './compression/archive.js'
import { scratch } from './support/commands.js'
import { rleFrame } from './compression/zstd-bytes.js'
import { LIMIT, peak } from './support/peak.js'

const EVENTS = 5_000_000
const LIVE = 1000

/** The text of a dump whose live set stays small, made as it is read. */
function* dump(events: number): Generator<string> {
  let text = ''
  for (let i = 0; i < events / 2; i++) {
    const block = (0x5500_0000 + (i % LIVE) * 4096).toString(16)
    text += `${(i % 9) + 1}: malloc 0x${block} ${i % 5000}\n${(i % 9) + 1}: free 0x${block}\n`
    if (text.length > 60_000) {
      yield text
      text = ''
    }
  }
  yield text
}

describe(`peak memory on ${EVENTS} events`, { tags: ['slow'], timeout: 300_000 }, () => {
  test('is within the limit for every command', { tags: ['large'] }, async () => {
    const folder = scratch()
    const file = (name: string) => join(folder, name)
    const { replay, mtrc, hatf, heaptrack, ndjson, arrow, decompress, compose } = await import('../lib/entry/index.js')
    await pipeline(Readable.from(dump(EVENTS)), createWriteStream(file('t.txt')))
    const pairs = { mtrc, hatf, heaptrack, ndjson, arrow } as const
    for (const [name, pair] of Object.entries(pairs)) {
      await pipeline(
        createReadStream(file('t.txt')),
        compose(decompress(), replay.decode(), pair.encode()),
        createWriteStream(file(`t.${name}`)),
      )
    }
    const commands: [string, string][] = [
      ['replay-decode', 't.txt'],
      ['mtrc-decode', 't.mtrc'],
      ['hatf-decode', 't.hatf'],
      ['heaptrack-decode', 't.heaptrack'],
      ['heaptrack-encode', 't.heaptrack'],
      ['replay-encode', 't.ndjson'],
      ['mtrc-encode', 't.ndjson'],
      ['hatf-encode', 't.ndjson'],
      ['heaptrack-encode', 't.ndjson'],
      ['hatf-encode --attributes', 't.ndjson'],
      ['hf-filter --size 100.. --lifetimes', 't.ndjson'],
      ['hf-map --anonymize all --key k --number-threads', 't.ndjson'],
      [`hf-split --by thread -o '${folder}/{}.hatf'`, 't.mtrc'],
      ['hf-convert - - --to hatf', 't.mtrc'],
      ['hatf-encode --split-addr', 't.mtrc'],
      ['kmemtrace-encode', 't.mtrc'],
      ['heapmon-encode', 't.mtrc'],
      ['mtrc-decode -u', 't.mtrc'],
      ['hf-filter -u', 't.arrow'],
      ['hatf-encode', 't.arrow'],
      ['parquet-encode', 't.mtrc'],
      ['hf-sort --by size', 't.mtrc'],
      ['hf-stats', 't.mtrc'],
      ['hf-stats --every 100k --json', 't.mtrc'],
      ['hf-profile --to pprof', 't.mtrc'],
      ['hf-report', 't.mtrc'],
      ['hf-verify --allow zero-size', 't.mtrc'],
    ]
    const peaks: Record<string, number> = {}
    for (const [line, input] of commands) peaks[line] = await peak(line, file(input))
    for (const [line, bytes] of Object.entries(peaks)) {
      expect(bytes, line).toBeGreaterThan(20_000_000)
      expect(bytes, line).toBeLessThan(LIMIT)
    }
  })
})

describe('peak memory on input that was made large', { tags: ['slow'], timeout: 300_000 }, () => {
  const repeated = (text: string, bytes: number) => Buffer.from(text.repeat(Math.ceil(bytes / text.length)))
  const spaced = (i: number) =>
    `{"kind": "alloc", "thread": ${i % 9}, "address": "0x${(i * 48).toString(16)}", "size": ${i % 5000}, "stack": ["f", "main"]}\n` +
    `{"kind": "free", "address": "0x${(i * 48).toString(16)}"}\n`

  test.each<[string, string, () => Uint8Array]>([
    [
      'lines with spaces, as json.dumps writes them',
      'hf-filter',
      () => Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => spaced(i)).join('')),
    ],
    [
      'lines with a space before a comma, in gzip',
      'hf-filter',
      () => gzipSync(repeated('{"kind":"free" ,"address":"0x10"}\n', 200_000_000)),
    ],
    [
      'empty lines in gzip',
      'hf-filter',
      () => gzipSync(Buffer.concat([Buffer.from('{"kind":"alloc"}\n'), Buffer.alloc(500_000_000, '\n')])),
    ],
    ['zeros in gzip', 'kmemtrace-decode', () => gzipSync(Buffer.alloc(500_000_000))],
    ['zeros in zip', 'kmemtrace-decode', () => zip([member('relay', new Uint8Array(500_000_000))])],
    ['empty lines in zstd', 'hf-filter', () => rleFrame(4000)],
    ['zeros in xz', 'kmemtrace-decode', () => readFileSync(new URL('compression/xz/zeros.xz', import.meta.url))],
    [
      'a trace of glibc',
      'glibc-mtrace-decode',
      () => repeated('@ a:[0x10] + 0x55d0 0x18\n@ a:[0x20] - 0x55d0\n', 60_000_000),
    ],
    [
      'a log of valgrind',
      'valgrind-decode',
      () => repeated('--77-- malloc(24) = 0x4A42040\n--77-- free(0x4A42040)\n', 60_000_000),
    ],
    [
      'a log of ltrace',
      'ltrace-decode',
      () => repeated('77 malloc(24) = 0x55d0\n77 free(0x55d0) = <void>\n', 60_000_000),
    ],
    [
      'kmem tracepoints',
      'tracepoints-decode',
      () =>
        repeated(
          `${' '.repeat(14)}ls-77      [000]   10.000001: kmalloc: call_site=a+0x1 ptr=0x10 bytes_req=8\n`,
          60_000_000,
        ),
    ],
  ])('is within the limit: %s', async (_, line, make) => {
    const file = join(scratch(), 'input')
    writeFileSync(file, make())
    const bytes = await peak(line, file)
    expect(bytes).toBeGreaterThan(20_000_000)
    expect(bytes).toBeLessThan(LIMIT)
  })
})

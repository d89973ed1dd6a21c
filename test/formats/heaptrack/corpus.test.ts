import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { heaptrack } from '../../../lib/formats/heaptrack/index.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { CORPUS, corpusPath, listOfCorpus } from '../../support/corpus.js'
import { decodeAll, encodeAll, type Decoded } from '../../support/drive.js'
import { LiveBlocks } from '../../support/live-blocks.js'

/** A recording and what independent scripts counted in it: lines by their letters. */
interface Recording {
  file: string
  print: string
  counts: Readonly<Record<string, number>>
}

function recordings(): Recording[] {
  const readme = readFileSync(`${CORPUS}heaptrack/README.md`, 'utf8')
  return [...readme.matchAll(/^(\S+) (RAW|INT) (lines=.*)$/gm)].map(([, name, sort, text]) => ({
    file: `${name}${sort === 'RAW' ? '.raw' : ''}.zst`,
    print: `${name}.print.txt`,
    counts: Object.fromEntries(
      [...(text as string).matchAll(/(?:\[(.?)\]|([\w-]+))=(\d+)/g)].map(([, letter, word, n]) => [
        letter ?? (word as string),
        Number(n),
      ]),
    ),
  }))
}

function read(file: string): Uint8Array {
  return new Uint8Array(execFileSync('zstd', ['-dcq', corpusPath(`heaptrack/${file}`)], { maxBuffer: 1 << 28 }))
}

/** Lines by their letters. */
function letters(bytes: Uint8Array): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const line of Buffer.from(bytes).toString('latin1').split('\n').slice(0, -1))
    counts[line[0] ?? ''] = (counts[line[0] ?? ''] ?? 0) + 1
  return counts
}

function statisticsOf({ batches }: Decoded) {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

/** Bytes as heaptrack_print writes them: powers of 1000, two decimals. */
function shown(bytes: number): string {
  const [unit, size] = bytes < 1000 ? ['B', 1] : bytes < 1e6 ? ['K', 1e3] : ['M', 1e6]
  return size === 1 ? `${bytes}B` : `${(bytes / size).toFixed(2)}${unit}`
}

const hasZstd = existsSync('/usr/bin/zstd')

describe.runIf(hasZstd)('recordings of heaptrack', { tags: ['corpus'] }, () => {
  it.each(listOfCorpus(recordings, { file: 'none', print: '', counts: {} }))(
    '$file: the counts of its README, and the same bytes back',
    { timeout: 60_000 },
    ({ file, counts }) => {
      const bytes = read(file)
      const decoded = decodeAll(heaptrack.decoder(), bytes, 65_536)
      expect(decoded.error).toBeUndefined()
      const live = new LiveBlocks()
      const kinds: Record<string, number> = {}
      let total = 0n
      for (const event of decoded.events) {
        live.add(event)
        const kind = event.kind === 'other' ? `other ${event.code}` : event.kind
        kinds[kind] = (kinds[kind] ?? 0) + 1
        if (event.kind === 'alloc') total += event.size as bigint
      }
      expect(kinds).toMatchObject({ alloc: counts['+'], free: counts['-'], 'other 82': counts['R'] })
      expect({ total, peak: live.peak, blocks: live.sizes.size, bytes: live.bytes, again: live.again }).toEqual({
        total: BigInt(counts['total_bytes'] as number),
        peak: BigInt(counts['peak'] as number),
        blocks: counts['live_blocks'],
        bytes: BigInt(counts['live_bytes'] as number),
        again: 0,
      })
      expect(live.unknown).toBe(counts['free-unknown'] ?? 0)
      const again = encodeAll(heaptrack.encoder(), decoded.batches)
      expect(Buffer.from(again).equals(bytes)).toBe(true)
      const { ['']: empty = 0, ...rest } = letters(again)
      const wanted = Object.fromEntries(Object.entries(counts).filter(([key]) => key.length === 1))
      expect(rest).toEqual(wanted)
      expect(empty).toBe(counts[''] ?? 0)
    },
  )

  it.each(listOfCorpus(recordings, { file: 'none', print: '', counts: {} }))(
    '$file: the figures of heaptrack_print',
    { timeout: 60_000 },
    ({ file, print, counts }) => {
      const { allocated, leaked, peakBytes } = statisticsOf(decodeAll(heaptrack.decoder(), read(file)))
      const report = readFileSync(corpusPath(`heaptrack/${print}`), 'utf8')
      const figure = (pattern: RegExp) => pattern.exec(report)?.[1]
      expect(String(allocated.blocks)).toBe(figure(/calls to allocation functions: (\d+)/))
      expect(shown(Number(peakBytes?.bytes))).toBe(figure(/peak heap memory consumption: (\S+)/))
      expect(leaked).toEqual({ blocks: counts['live_blocks'], bytes: BigInt(counts['live_bytes'] as number) })
      // Its leaks do not include those that are suppressed.
      const leaks = figure(/total memory leaked: (\S+)/)
      if (!report.includes('suppressed leaks')) expect(shown(Number(leaked.bytes))).toBe(leaks)
    },
  )
})

describe('recordings in the repository', () => {
  const folder = new URL('../../fixtures/heaptrack/', import.meta.url)
  const fixture = (name: string) => gunzipSync(readFileSync(new URL(`${name}.gz`, folder)))

  it.each(['cxx', 'mtv-small'])('%s: raw and interpreted files have the same blocks', (name) => {
    const [raw, interpreted] = ['raw', 'heaptrack'].map((end) => {
      const bytes = fixture(`${name}.${end}`)
      const decoded = decodeAll(heaptrack.decoder(), bytes)
      expect(Buffer.from(encodeAll(heaptrack.encoder(), decoded.batches)).equals(bytes)).toBe(true)
      return decoded
    }) as [Decoded, Decoded]
    const allocs = ({ events }: Decoded) =>
      events.flatMap((event) =>
        event.kind !== 'alloc'
          ? []
          : [[event.size, event.stack?.map((frame) => /\[0x\w+\]/.exec(frame)?.[0]).filter(Boolean)]],
      )
    expect(allocs(raw)).toEqual(allocs(interpreted))
    const figures = (decoded: Decoded) => {
      const { allocated, leaked, peakBytes, peakBlocks } = statisticsOf(decoded)
      return { allocated, leaked, peak: peakBytes?.bytes, blocks: peakBlocks?.blocks }
    }
    expect(figures(raw)).toEqual(figures(interpreted))
  })
})

import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { EventBatch } from '../../../lib/event/batch.js'
import type { WritableFormat } from '../../../lib/event/format.js'
import { heaptrack } from '../../../lib/formats/heaptrack/index.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { replay } from '../../../lib/formats/replay/index.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { scratch } from '../../support/commands.js'
import { decodeAll, encodeAll } from '../../support/drive.js'

const PRINT = '/usr/bin/heaptrack_print'

/** What heaptrack_print says of a file. It says on standard error what it could not read. */
async function print(
  bytes: Uint8Array,
): Promise<{ figures: Record<string, string>; text: string; complaints: string }> {
  const path = join(scratch(), 'a.heaptrack')
  writeFileSync(path, bytes)
  const options = ['-f', path, '-H', `${path}.sizes`, '-p', '1', '-a', '1', '-T', '0', '-l', '1', '-n', '5']
  const { stdout, stderr } = await promisify(execFile)(PRINT, options, { maxBuffer: 1 << 26 })
  const figures = Object.fromEntries(
    [...stdout.matchAll(/^([\w ]+?)(?: \(.*\))?: (\S+)/gm)].map(([, name, value]) => [name as string, value as string]),
  )
  const histogram = readFileSync(`${path}.sizes`, 'utf8')
  const sizes = [...histogram.matchAll(/^(\d+)\t(\d+)$/gm)].map(([, size, n]) => [Number(size), Number(n)])
  expect(sizes.length).toBeGreaterThan(0)
  return { figures, text: stdout, complaints: stderr }
}

function shown(bytes: bigint): string {
  const n = Number(bytes)
  return n < 1000 ? `${n}B` : n < 1e6 ? `${(n / 1e3).toFixed(2)}K` : `${(n / 1e6).toFixed(2)}M`
}

function statisticsOf(batches: readonly EventBatch[]) {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

describe.skipIf(!existsSync(PRINT))('heaptrack_print reads what is written', () => {
  it.each<[string, WritableFormat, string]>([
    ['an MTRC trace with functions', mtrc, 'mtrc/small64.mtrc.gz'],
    ['a memory_replay trace', replay, 'replay/mstress-head.txt.gz'],
    ['a raw trace', heaptrack, 'heaptrack/cxx.raw.gz'],
    ['an interpreted trace', heaptrack, 'heaptrack/cxx.heaptrack.gz'],
  ])('%s has the same totals', async (_, format, name) => {
    const source = gunzipSync(readFileSync(new URL(`../../fixtures/${name}`, import.meta.url)))
    const { batches } = decodeAll(format.decoder(), source)
    const { allocated, leaked, peakBytes } = statisticsOf(batches)
    const { figures, complaints } = await print(encodeAll(heaptrack.encoder({ interpreted: true }), batches))
    expect(complaints).not.toMatch(/failed|invalid|out of bounds|corrupt/i)
    expect(figures).toMatchObject({
      'calls to allocation functions': String(allocated.blocks),
      'peak heap memory consumption': shown(peakBytes?.bytes as bigint),
      'total memory leaked': shown(leaked.bytes),
    })
  })

  it('shows the names of functions, files and lines', async () => {
    const source = gunzipSync(readFileSync(new URL('../../fixtures/mtrc/small64.mtrc.gz', import.meta.url)))
    const { text } = await print(encodeAll(heaptrack.encoder(), decodeAll(mtrc.decoder(), source).batches))
    expect(text).toMatch(/edge\s+at ks_main\.c:86/)
  })
})

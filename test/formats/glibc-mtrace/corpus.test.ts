import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { glibcMtrace } from '../../../lib/formats/glibc-mtrace/index.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { corpusCounts } from '../../support/corpus-counts.js'
import { CORPUS, corpusFile } from '../../support/corpus.js'
import { decodeAll, encodeAll } from '../../support/drive.js'
import { LiveBlocks } from '../../support/live-blocks.js'

const FILES = corpusCounts('mtrace')
const REPORTED = FILES.filter(({ name }) => existsSync(`${CORPUS}mtrace/${name.replace('.mtrace', '.report.txt')}`))

/** Counts by the operations of lines; a realloc has two. */
function countsOf(name: string) {
  const decoded = decodeAll(glibcMtrace.decoder(), corpusFile(`mtrace/${name}`), 65_536)
  const live = new LiveBlocks()
  const asScript = new LiveBlocks(true)
  const counts: Record<string, number> = {}
  const add = (key: string) => (counts[key] = (counts[key] ?? 0) + 1)
  for (const event of decoded.events) {
    live.add(event)
    asScript.add(event)
    if (event.kind === 'alloc') add('+')
    if (event.kind === 'alloc' && event.address === 0n) add('+nil')
    if (event.kind === 'free') add('-')
    if (event.kind === 'realloc' && event.address === 0n) add('!')
    else if (event.kind === 'realloc') ['<', '>'].forEach(add)
    if (event.kind === 'comment') add(event.text as string)
    if (event.callSite === undefined && event.kind !== 'comment') add('noloc')
  }
  if (decoded.headers[0]?.layout === undefined) add('= Start')
  return { ...decoded, live, asScript, counts }
}

describe('real traces', { tags: ['corpus'] }, () => {
  it.each(FILES)('$name has the events that were counted, and comes back byte for byte', ({ name, counts: wanted }) => {
    const { counts, live, batches, error } = countsOf(name)
    expect(error).toBeUndefined()
    const {
      lines: _,
      noloc,
      dup,
      'free-unknown': unknown,
      live: blocks,
      live_bytes: bytes,
      peak,
      bad,
      ...kinds
    } = wanted
    expect(counts).toEqual({ ...kinds, ...(noloc && { noloc }) })
    expect({
      dup: live.again,
      unknown: live.unknown,
      blocks: live.sizes.size,
      bytes: live.bytes,
      peak: live.peak,
    }).toEqual({
      dup,
      unknown,
      blocks,
      bytes: BigInt(bytes as number),
      peak: BigInt(peak as number),
    })
    expect(bad).toBe(0)
    const collector = new StatisticsCollector()
    for (const batch of batches) collector.add(batch)
    const { leaked } = collector.finish()
    expect(Buffer.from(encodeAll(glibcMtrace.encoder(), batches)).equals(corpusFile(`mtrace/${name}`))).toBe(true)
    expect(leaked).toEqual({ blocks, bytes: live.bytes })
  })

  it.each(REPORTED)("of $name those blocks are live at the end that glibc's script lists", ({ name }) => {
    const { asScript } = countsOf(name)
    const report = Buffer.from(corpusFile(`mtrace/${name.replace('.mtrace', '.report.txt')}`)).toString()
    const rows = [...report.matchAll(/^0x0*([0-9a-f]+)\s+(0x[0-9a-f]+|0)  at/gm)]
    expect(new Map(rows.map(([, address, size]) => [BigInt(`0x${address}`), BigInt(size as string)]))).toEqual(
      asScript.sizes,
    )
    expect(report.includes('No memory leaks.')).toBe(asScript.sizes.size === 0)
  })
})

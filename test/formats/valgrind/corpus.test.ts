import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { valgrind } from '../../../lib/formats/valgrind/index.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { corpusCounts } from '../../support/corpus-counts.js'
import { corpusFile } from '../../support/corpus.js'
import { decodeAll } from '../../support/drive.js'
import { LiveBlocks } from '../../support/live-blocks.js'

/** The name in the log of the function that made an event. */
const nameOf = ({ api, fields }: TraceEvent): string =>
  ((fields as { call?: string } | undefined)?.call ?? api) as string

/** Counts as the script has them: of a realloc that stands with a malloc or free in one line, that counts too. */
function countsOf(events: readonly TraceEvent[]): Record<string, number> {
  const counts: Record<string, number> = { 'lone-result': 0 }
  const add = (key: string) => (counts[key] = (counts[key] ?? 0) + 1)
  for (const event of events) {
    if (event.kind === 'realloc' && event.oldAddress === 0n) ['realloc-nested', 'malloc'].forEach(add)
    else if (event.kind === 'realloc' && event.size === 0n) ['realloc-nested', 'free', 'lone-result'].forEach(add)
    else if (event.api === 'calloc' && event.elementSize !== undefined) add('calloc-no-result')
    else add(nameOf(event))
  }
  return counts
}

/** `in use at exit` and `total heap usage` of each process, in the order of the log. */
const SUMMARY =
  /in use at exit: ([\d,]+) bytes in ([\d,]+) blocks \| total heap usage: ([\d,]+) allocs, ([\d,]+) frees/g
const plain = (text: string | undefined) => Number((text as string).replaceAll(',', ''))

describe('real logs', { tags: ['corpus'] }, () => {
  it.each(corpusCounts('valgrind'))('$name has the events that were counted', ({ name, counts: wanted, text }) => {
    const { events, batches, error } = decodeAll(valgrind.decoder(), corpusFile(`valgrind/${name}`), 65_536)
    expect(error).toBeUndefined()
    const calls = Object.fromEntries(
      [...text.matchAll(/(?:\[([^\]]+)\]|(lone-result))=(\d+)/g)].map(([, key, lone, n]) => [key ?? lone, Number(n)]),
    )
    expect(countsOf(events)).toEqual(calls)
    expect(events.filter(({ kind, address }) => kind === 'free' && address === 0n)).toHaveLength(
      wanted['free(null)'] as number,
    )

    const summaries = [...text.matchAll(SUMMARY)]
    if (summaries.length !== 1) return
    const live = new LiveBlocks()
    for (const event of events) live.add(event)
    const { live_blocks: blocks, live_bytes: bytes, peak } = wanted
    expect([live.sizes.size, live.bytes, live.peak]).toEqual([blocks, BigInt(bytes as number), BigInt(peak as number)])
    const [, inUse, inBlocks, allocs, frees] = summaries[0]
    const collector = new StatisticsCollector()
    for (const batch of batches) collector.add(batch)
    const { leaked } = collector.finish()
    expect(leaked).toEqual({ bytes: BigInt(plain(inUse)), blocks: plain(inBlocks) })
    // valgrind counts a realloc as one allocation and one free, and one of the calls that failed, where any did.
    const made = events.filter(({ kind, address }) => kind !== 'free' && address !== 0n).length
    expect(plain(allocs) - made).toBe(wanted['failed'] === 4 ? 1 : 0)
    expect(plain(allocs) - plain(frees)).toBe(blocks)
  })

  it('tells the processes of a log apart', () => {
    const { events } = decodeAll(valgrind.decoder(), corpusFile('valgrind/sh-stderr-mixed.log'))
    const processes = [...new Set(events.map(({ process }) => process))]
    expect(processes).toHaveLength(3)
    const inUse = processes.map((process) => {
      const live = new LiveBlocks()
      for (const event of events) if (event.process === process) live.add(event)
      return [live.bytes, live.sizes.size]
    })
    // The shell, and two programs that it started: between fork and exec each of them got two blocks, which are no more
    // in what valgrind says at its exit.
    expect(inUse).toEqual([
      [9706n, 46],
      [21_791n + 528n, 30 + 2],
      [528n, 2],
    ])
  })
})

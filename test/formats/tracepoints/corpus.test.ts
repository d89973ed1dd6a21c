import { describe, expect, it } from 'vitest'
import { tracepoints } from '../../../lib/formats/tracepoints/index.js'
import { corpusCounts } from '../../support/corpus-counts.js'
import { corpusFile } from '../../support/corpus.js'
import { decodeAll } from '../../support/drive.js'

/** Of which the independent script could not read the sizes, for they are in hex. */
const HEX_SIZES = 'ftrace-fields-option.txt'

describe('real traces', { tags: ['corpus'] }, () => {
  it.each(corpusCounts('kmem'))('$name has the events that were counted', ({ name, counts: wanted }) => {
    const decoder = tracepoints.decoder()
    const { events, error } = decodeAll(decoder, corpusFile(`kmem/${name}`), 65_536)
    expect(error).toBeUndefined()
    const counts: Record<string, number> = { 'null-kfree': 0 }
    let requested = 0n
    let allocated = 0n
    for (const event of events) {
      if (event.kind === 'lost') continue
      const key = event.api === 'pages' ? `mm_page_${event.kind}` : (event.api as string)
      counts[key] = (counts[key] ?? 0) + 1
      if (key === 'kfree' && event.address === 0n) counts['null-kfree'] = (counts['null-kfree'] ?? 0) + 1
      if (event.kind !== 'alloc' || event.api === 'pages') continue
      requested += event.size ?? 0n
      allocated += event.usable ?? 0n
    }
    const { lines, other = 0, bytes_req: bytesRequested, bytes_alloc: bytesAllocated, ...kinds } = wanted
    expect(counts).toEqual({ 'null-kfree': 0, ...kinds })
    if (name !== HEX_SIZES)
      expect([requested, allocated]).toEqual([BigInt(bytesRequested ?? 0), BigInt(bytesAllocated ?? 0)])
    // Whatever is no event is counted, except for headers and empty lines.
    const skipped = Number(/: (\d+); the first/.exec(decoder.warnings?.[0] ?? '')?.[1] ?? 0)
    expect(skipped).toBeLessThanOrEqual(other)
    expect(events.filter(({ kind }) => kind !== 'lost').length + skipped).toBeLessThanOrEqual(lines as number)
    if (other === 0) expect(decoder.warnings).toEqual([])
  })

  it('objects are matched as an independent script matched them', () => {
    const { events } = decodeAll(tracepoints.decoder(), corpusFile('kmem/ftrace-mono-large.txt'), 65_536)
    const live = new Map<bigint, string>()
    const found = { matched: 0, unknown: 0, again: 0 }
    for (const { kind, api, address = 0n, type = 'kmalloc' } of events) {
      if (api === 'pages' || address === 0n) continue
      if (kind === 'alloc') {
        if (live.has(address)) found.again++
        live.set(address, type)
      } else if (live.delete(address)) found.matched++
      else found.unknown++
    }
    expect({ ...found, live: live.size }).toEqual({ matched: 169_307, unknown: 72, again: 630, live: 537 })
  })

  it('says what was overwritten', () => {
    const { events } = decodeAll(tracepoints.decoder(), corpusFile('kmem/ftrace-overrun.txt'))
    expect(events[0]).toEqual({ kind: 'lost', count: 1705n })
  })
})

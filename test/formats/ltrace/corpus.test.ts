import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { ltrace } from '../../../lib/formats/ltrace/index.js'
import { corpusFile } from '../../support/corpus.js'
import { corpusCounts } from '../../support/corpus-counts.js'
import { decodeAll } from '../../support/drive.js'
import { LiveBlocks } from '../../support/live-blocks.js'

/** The name in the log of the function that made an event. */
const nameOf = ({ api, fields }: TraceEvent): string =>
  ((fields as { call?: string } | undefined)?.call ?? api) as string

describe('real logs', { tags: ['corpus'] }, () => {
  it.each(corpusCounts('ltrace'))(
    'of $name every call that was counted is an event, calls within calls too',
    ({ name, counts, text }) => {
      const decoder = ltrace.decoder({ inner: true })
      const { events, error } = decodeAll(decoder, corpusFile(`ltrace/${name}`), 65_536)
      expect(error).toBeUndefined()
      const found: Record<string, number> = {}
      for (const event of events) found[nameOf(event)] = (found[nameOf(event)] ?? 0) + 1
      const wanted = Object.fromEntries([...text.matchAll(/\[([^=]+)\]=(\d+)/g)].map(([, key, n]) => [key, Number(n)]))
      // The last malloc of a tracer that was killed never returned.
      if (name === 'gawk-large.ltrace') wanted['malloc'] = (wanted['malloc'] as number) - 1
      expect(found).toEqual(wanted)
      const skipped = Number(/: (\d+); the first/.exec(decoder.warnings?.[0] ?? '')?.[1] ?? 0)
      expect(skipped).toBe(counts['other'])
    },
  )

  it('operator new and the malloc that it calls are one allocation', () => {
    for (const name of ['cxx.ltrace', 'cxx-demangle.ltrace']) {
      const { events } = decodeAll(ltrace.decoder(), corpusFile(`ltrace/${name}`))
      const live = new LiveBlocks()
      for (const event of events) live.add(event)
      expect([live.again, live.unknown]).toEqual([0, 0])
      expect(events.every(({ api }) => api === 'new' || api === 'delete')).toBe(true)
    }
  })

  it('threads that cut each other do not mix up their calls', () => {
    const { events } = decodeAll(ltrace.decoder(), corpusFile('ltrace/mtv-r-T-x.ltrace'))
    const live = new LiveBlocks()
    for (const event of events) live.add(event)
    expect(live.again).toBe(0)
    // Nothing tells where posix_memalign put its blocks.
    const nowhere = events.filter(({ kind }) => kind === 'lost')
    expect(nowhere.map(nameOf)).toEqual(Array.from({ length: 7 }, () => 'posix_memalign'))
  })
})

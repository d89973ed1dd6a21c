import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BlockEffect } from '../../lib/blocks/block-effect.js'
import { BlockSites, UNNAMED } from '../../lib/blocks/block-sites.js'
import { NONE } from '../../lib/blocks/bounded-keys.js'
import { LiveSet } from '../../lib/blocks/live-set.js'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { runs } from '../support/runs.js'
import { HEADER, inBatches } from '../transforms/events.js'

const address = fc.integer({ min: 0, max: 6 }).map((n) => BigInt(16 * n))
const call = fc.record({
  kind: fc.constantFrom('alloc', 'free', 'realloc', 'existing'),
  address,
  oldAddress: address,
  size: fc.constantFrom(0n, 8n),
  // The number of the site that the event names.
  named: fc.constantFrom(UNNAMED, UNNAMED, 2, 3, 4),
})

test('blocks are of the sites that a plain map says, whatever reallocs do', () => {
  fc.assert(
    fc.property(fc.array(call, { maxLength: 80 }), fc.integer({ min: 1, max: 20 }), (calls, batchSize) => {
      const [sites, liveSet, live] = [new BlockSites(), new LiveSet(0), new Map<bigint, number>()]
      let at = 0
      const events = calls.map(
        ({ named: _named, oldAddress, size, ...event }) =>
          ({
            ...event,
            ...(event.kind === 'realloc' && { oldAddress }),
            ...(event.kind !== 'free' && { size }),
          }) as TraceEvent,
      )
      for (const batch of inBatches(events, batchSize, HEADER)) {
        liveSet.follow(batch)
        for (let row = 0; row < batch.count; row++) {
          const { kind, address: to, oldAddress: from, size, named } = calls[at++]!
          const isRealloc = kind === 'realloc'
          // One that asked for bytes and got none failed.
          const isFailed = kind !== 'free' && to === 0n && !(isRealloc && size === 0n)
          const ends = kind === 'free' ? to : isRealloc && !isFailed ? from : 0n
          const before = live.get(ends)
          live.delete(ends)
          const begins = kind === 'free' || to === 0n ? undefined : named === UNNAMED ? (before ?? NONE) : named
          if (begins !== undefined) live.set(to, begins)
          const isBegun = (liveSet.effects[row]! & BlockEffect.began) !== 0
          expect(isBegun).toBe(begins !== undefined)
          if (isBegun) expect(sites.begin(named, liveSet, row)).toBe(begins)
        }
      }
      liveSet.dispose()
    }),
    { numRuns: runs(200) },
  )
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventBatch, TraceEvent } from '../../lib/event/batch.js'
import { Filter } from '../../lib/transforms/filter.js'
import { Partitioner } from '../../lib/transforms/split.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { Verifier } from '../../lib/transforms/verify.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { decodeAll, drive, encodeAll } from '../support/drive.js'
import { HEADER, inBatches, placedEvents } from '../transforms/events.js'
import { blocksByMap } from './blocks.js'

/** Leaks, and frees and reallocs of blocks that are not live, as the statistics count them. */
function counts(batches: Iterable<EventBatch>) {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  const { leaked, faults, reallocs } = collector.finish()
  return { leaked: leaked.blocks, unknown: faults.unknownFrees + faults.doubleFrees + reallocs.unknown }
}

/** The same by the oracle. */
function expected(events: readonly TraceEvent[]) {
  const { deeds, live } = blocksByMap(events)
  return { leaked: live.length, unknown: deeds.filter(({ did }) => did.includes('unknown')).length }
}

describe('One identity of blocks', () => {
  it('gives statistics and checks the same counts as the oracle', () => {
    fc.assert(
      fc.property(placedEvents, (events) => {
        const batches = inBatches(events, 7, HEADER)
        expect(counts(batches)).toEqual(expected(events))
        const verifier = new Verifier()
        for (const batch of batches) verifier.check(batch)
        const { counts: faults } = verifier
        expect((faults.get('unknown-free') ?? 0) + (faults.get('double-free') ?? 0)).toBe(expected(events).unknown)
      }),
    )
  })

  it('keeps all leaks, and makes none, when allocations are kept with their lifetimes', () => {
    fc.assert(
      fc.property(placedEvents, (events) => {
        const filter = new Filter({ kind: ['alloc', 'existing', 'realloc'], lifetimes: true })
        const { out } = drive(filter, inBatches(events, 7, HEADER))
        expect(counts(out).leaked).toBe(expected(events).leaked)
      }),
    )
  })

  it.each(['thread', 'size-class', 'process'] as const)(
    'neither makes nor hides leaks when parts are by %s',
    { tags: ['slow'] },
    (by) => {
      fc.assert(
        fc.property(placedEvents, (events) => {
          const partitioner = new Partitioner({ by, lifetimes: by !== 'process' })
          const parts = new Map<string, EventBatch[]>()
          for (const batch of inBatches(events, 7, HEADER)) {
            for (const { key, batch: part } of partitioner.partition(batch))
              parts.set(key, [...(parts.get(key) ?? []), part])
          }
          // A block that begins where another is live takes its place, which another part does not know of.
          fc.pre(blocksByMap(events).deeds.every(({ did }) => !did.includes('reused')))
          const leaked = [...parts.values()].reduce((sum, part) => sum + counts(part).leaked, 0)
          expect(leaked).toBe(expected(events).leaked)
        }),
      )
    },
  )

  it('comes back from MTRC, which has indices, though it has no processes', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(placedEvents, (events) => {
        // A block that begins where another is live ends that one; by index, it does not.
        fc.pre(blocksByMap(events).deeds.every(({ did }) => !did.includes('reused')))
        const bytes = encodeAll(mtrc.encoder(), inBatches(events, 7, HEADER))
        expect(counts(decodeAll(mtrc.decoder(), bytes).batches).leaked).toBe(expected(events).leaked)
      }),
    )
  })
})

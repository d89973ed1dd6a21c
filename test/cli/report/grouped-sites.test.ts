import fc from 'fast-check'
import { expect, test } from 'vitest'
import { groupedSites, type GroupedSite } from '../../../lib/cli/report/grouped-sites.js'
import { parseFrame } from '../../../lib/event/frame.js'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { OwnFrames } from '../../../lib/names/own-frames.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'
import { runs } from '../../support/runs.js'
import { HEADER, inBatches } from '../../transforms/events.js'

const FUNCTIONS = ['malloc', 'operator new(unsigned long)', 'f', 'g', 'h', 'main']
const MODULES = ['a', 'b', 'libz.so.1']

const frame = fc
  .tuple(fc.constantFrom(...FUNCTIONS), fc.option(fc.constantFrom(...MODULES)), fc.integer({ min: 1, max: 2 }))
  .map(([name, module, line]) => `${name} at x.c:${line}${module === null ? ' inlined' : ` in ${module}`}`)
const block = fc.record({
  stack: fc.array(frame, { minLength: 1, maxLength: 6 }),
  size: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  isFreed: fc.boolean(),
})

/** What a stack is counted for, by other means: its visible frames, of which the first one is its own. */
function visible(stack: readonly string[], by: 'function' | 'module'): string[] {
  let start = stack.findIndex((text) => !/^(?:malloc|operator new)/.test(text))
  if (start < 0) start = stack.length - 1
  return stack.slice(start).map((text, i, shown) => {
    if (by === 'function') return parseFrame(text).function as string
    const outer = shown.slice(i).find((one) => parseFrame(one).module !== undefined)
    return outer === undefined ? '' : (parseFrame(outer).module as string)
  })
}

test.each(['function', 'module'] as const)('own and inclusive figures by %s', (by) => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 30 }), (blocks) => {
      const events = blocks.flatMap(({ stack, size, isFreed }, i): TraceEvent[] => {
        const address = BigInt(0x1000 + i)
        const alloc: TraceEvent = { kind: 'alloc', address, size, stack }
        return isFreed ? [alloc, { kind: 'free', address }] : [alloc]
      })
      const collector = new StatisticsCollector()
      for (const batch of inBatches(events, 4096, HEADER)) collector.add(batch)
      const { sites, allocated } = collector.finish()
      const rows = groupedSites(sites, new OwnFrames(), by)
      const names = new Set(blocks.flatMap(({ stack }) => visible(stack, by)).filter((name) => name !== ''))
      const nameOf = (row: GroupedSite) => (row.stack === undefined ? row[by] : undefined)
      expect(new Set(rows.map(nameOf).filter((name) => name !== undefined))).toEqual(names)
      for (const row of rows) {
        const name = nameOf(row)
        if (name === undefined) continue
        const own = blocks.filter(({ stack }) => visible(stack, by)[0] === name)
        const all = blocks.filter(({ stack }) => visible(stack, by).includes(name))
        const amount = (some: typeof blocks) => ({
          blocks: some.length,
          bytes: some.reduce((sum, { size }) => sum + size, 0n),
        })
        expect([row.allocated, row.inclusive.allocated]).toEqual([amount(own), amount(all)])
        const live = (some: typeof blocks) => amount(some.filter(({ isFreed }) => !isFreed))
        expect([row.leaked, row.inclusive.leaked]).toEqual([live(own), live(all)])
      }
      // Own figures add up to those of the trace.
      expect(rows.reduce((sum, row) => sum + row.allocated.bytes, 0n)).toBe(allocated.bytes)
      expect(rows.reduce((sum, row) => sum + row.allocated.blocks, 0)).toBe(allocated.blocks)
    }),
    { numRuns: runs(300) },
  )
})

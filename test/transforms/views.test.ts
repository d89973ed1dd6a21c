import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/trace-event.js'
import { runs } from '../support/runs.js'
import { alloc, free, realloc } from './events.js'
import { anyTraces } from './statistics/random.js'
import { expectSame } from './views/same.js'
import { storyOf, type Amount, type Story } from './views/story.js'

/** A question, a trace that asks it, and a part of the answer. */
const QUESTIONS: readonly [question: string, events: TraceEvent[], answer: Partial<Story>][] = [
  [
    'is a realloc of an unknown block a birth?',
    [realloc(0x1000n, 0x2000n, 10n), free(0x2000n)],
    { unknownReallocs: 1, freed: { blocks: 1, bytes: 10n }, lifetimes: { count: 1, sum: 1 } },
  ],
  [
    'does a realloc that failed end the block?',
    [alloc(0x1000n, 8n), realloc(0x1000n, 0n, 99n), free(0x1000n)],
    { failed: 1, freed: { blocks: 1, bytes: 8n }, leaked: { blocks: 0, bytes: 0n } },
  ],
  [
    'does a realloc to no bytes end the block?',
    [alloc(0x1000n, 8n), realloc(0x1000n, 0n, 0n), free(0x1000n)],
    { freed: { blocks: 1, bytes: 8n }, doubleFrees: 1, temporary: both({ blocks: 1, bytes: 8n }) },
  ],
  [
    'is a realloc a call between an allocation and its free?',
    [alloc(0x1000n, 8n), realloc(0x1000n, 0x2000n, 9n), free(0x2000n)],
    { temporary: both({ blocks: 2, bytes: 17n }), lifetimes: { count: 1, sum: 2 } },
  ],
  [
    'do calls without effect come between?',
    [alloc(0x1000n, 8n), free(0n), realloc(0x5000n, 0n, 4n), alloc(0n, 5n), free(0x1000n)],
    { temporary: both({ blocks: 1, bytes: 8n }), nullFrees: 1, failed: 2 },
  ],
  [
    'does a free of an unknown block come between?',
    [alloc(0x1000n, 8n), free(0x9000n), free(0x1000n)],
    { temporary: { heaptrack: { blocks: 0, bytes: 0n }, memray: { blocks: 1, bytes: 8n } }, unknownFrees: 1 },
  ],
  [
    'does a call of another thread come between?',
    [alloc(0x1000n, 8n, { thread: 1n }), alloc(0x2000n, 1n, { thread: 2n }), free(0x1000n, { thread: 1n })],
    { temporary: { heaptrack: { blocks: 0, bytes: 0n }, memray: { blocks: 1, bytes: 8n } } },
  ],
  [
    'does a call of another process come between?',
    [
      alloc(0x1000n, 8n, { process: 1n, thread: 1n }),
      alloc(0x1000n, 1n, { process: 2n, thread: 1n }),
      free(0x1000n, { process: 1n, thread: 1n }),
    ],
    { temporary: both({ blocks: 1, bytes: 8n }) },
  ],
  [
    'is a block temporary that another thread frees?',
    [alloc(0x1000n, 8n, { thread: 1n }), free(0x1000n, { thread: 2n })],
    { foreign: 1, temporary: { heaptrack: { blocks: 1, bytes: 8n }, memray: { blocks: 0, bytes: 0n } } },
  ],
  [
    'who owns a block that another thread resized?',
    [alloc(0x1000n, 8n, { thread: 1n }), realloc(0x1000n, 0x1000n, 9n, { thread: 2n }), free(0x1000n, { thread: 2n })],
    { foreign: 1, temporary: { heaptrack: { blocks: 2, bytes: 17n }, memray: { blocks: 1, bytes: 9n } } },
  ],
  [
    'is the end of a process that of its blocks?',
    [
      alloc(0x1000n, 8n, { process: 1n }),
      alloc(0x1000n, 7n, { process: 2n }),
      { kind: 'process-end', process: 1n },
      free(0x1000n, { process: 1n }),
      free(0x1000n, { process: 2n }),
    ],
    { leaked: { blocks: 1, bytes: 8n }, freed: { blocks: 1, bytes: 7n }, unknownFrees: 1 },
  ],
  [
    'is the first call of a process with the number of one that ended between?',
    [
      { kind: 'existing', process: 1n, address: 0x3000n, size: 3n },
      alloc(0x1000n, 8n, { process: 1n }),
      { kind: 'process-end', process: 1n },
      { kind: 'existing', process: 1n, address: 0x1000n, size: 8n },
      free(0x1000n, { process: 1n }),
    ],
    { leaked: { blocks: 2, bytes: 11n }, temporary: both({ blocks: 0, bytes: 0n }), lifetimes: { count: 0, sum: 0 } },
  ],
  [
    'does a block end where another one begins?',
    [alloc(0x1000n, 8n), alloc(0x1000n, 9n), free(0x1000n)],
    {
      overlaps: { blocks: 1, bytes: 8n },
      freed: { blocks: 1, bytes: 9n },
      temporary: both({ blocks: 1, bytes: 9n }),
      peak: { event: 2, blocks: 1, bytes: 9n },
    },
  ],
  [
    'does a realloc end a block where it moves to?',
    [alloc(0x1000n, 8n), alloc(0x2000n, 9n), realloc(0x1000n, 0x2000n, 10n)],
    { overlaps: { blocks: 1, bytes: 9n }, freed: { blocks: 1, bytes: 8n }, leaked: { blocks: 1, bytes: 10n } },
  ],
  [
    'does a block that was there before count, and when is it temporary?',
    [{ kind: 'existing', address: 0x1000n, size: 8n }, free(0x1000n), { kind: 'existing', address: 0x2000n }],
    {
      allocated: { blocks: 2, bytes: 8n },
      freed: { blocks: 1, bytes: 8n },
      lifetimes: { count: 0, sum: 0 },
      temporary: both({ blocks: 0, bytes: 0n }),
    },
  ],
  [
    'is a block freed twice after its key was used again?',
    [alloc(0x1000n, 8n), free(0x1000n), alloc(0x1000n, 9n), free(0x1000n), free(0x1000n), realloc(0x1000n, 0n, 0n)],
    { doubleFrees: 1, again: 2, unknownReallocs: 1, unknownFrees: 0 },
  ],
  [
    'is a block with an index one with that address?',
    [
      { kind: 'alloc', index: 1n, address: 0x1000n, size: 8n },
      alloc(1n, 4n),
      { kind: 'free', index: 1n },
      free(0x1000n),
      free(1n),
    ],
    { freed: { blocks: 2, bytes: 12n }, unknownFrees: 1, doubleFrees: 0 },
  ],
  [
    'is the peak the first event with most bytes?',
    [alloc(0x1000n, 8n), free(0x1000n), alloc(0x2000n, 8n), alloc(0x3000n, 0n)],
    { peak: { event: 1, blocks: 1, bytes: 8n } },
  ],
]

function both(amount: Amount): Story['temporary'] {
  return { heaptrack: amount, memray: amount }
}

describe('all views of a trace agree', () => {
  test.each(QUESTIONS)('%s', (_, events, answer) => {
    expect(storyOf(events)).toMatchObject(answer)
    expectSame(events)
  })

  test('for random traces', () => {
    const anyTrace = fc
      .tuple(anyTraces, fc.array(fc.tuple(fc.nat(), fc.constantFrom(1n, 2n, undefined)), { maxLength: 4 }))
      .map(([traces, ends]) => {
        const events = traces.flatMap(({ events: own }) => own)
        for (const [at, process] of ends)
          events.splice(at % (events.length + 1), 0, {
            kind: 'process-end',
            ...(process !== undefined && { process }),
          })
        return events
      })
    fc.assert(
      fc.property(anyTrace, fc.integer({ min: 1, max: 60 }), (events, size) => {
        fc.pre(events.length > 0)
        expectSame(events, size)
      }),
      { numRuns: runs(300) },
    )
  })
})

import { describe, expect, test } from 'vitest'
import { advice } from '../../../lib/cli/report/advice.js'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { StatisticsCollector } from '../../../lib/transforms/statistics/collector.js'

const FRAMES = ['in /lib/libc.so.6+0x10', 'in /usr/bin/app+0x1f0']
const alloc = (more: object): TraceEvent => ({ kind: 'alloc', address: 16n, size: 8n, ...more })

describe('advice', () => {
  test.each<[string, TraceEvent[], string, RegExp[]]>([
    ['a trace without anything', [alloc({})], 'mtrc', [/no call site/, /no event has a thread/i]],
    ['a trace with threads', [alloc({ thread: 1n })], 'mtrc', [/no call site/]],
    ['stacks without names', [alloc({ thread: 1n, stack: FRAMES })], 'mtrc', [/without a name/]],
    ['stacks with names', [alloc({ thread: 1n, stack: ['malloc', 'main in /usr/bin/app'] })], 'mtrc', []],
    ['unnamed callers of the function', [alloc({ thread: 1n, stack: ['f in a+0x1', 'in a+0x2'] })], 'mtrc', []],
    [
      'a few sites without a name',
      [alloc({ thread: 1n, stack: FRAMES }), alloc({ thread: 1n, address: 64n, size: 9n, function: 'f' })],
      'mtrc',
      [],
    ],
    ['one process', [alloc({ thread: 1n, process: 7n, function: 'f' })], 'mtrc', []],
    [
      'a process and one that it started',
      [
        alloc({ thread: 1n, function: 'f' }),
        alloc({ thread: 1n, process: 2n, function: 'f' }),
        { kind: 'free', process: 2n, thread: 1n, address: 16n },
      ],
      'recorder',
      [/several processes, without their ends: /i],
    ],
    [
      'processes that end',
      [
        alloc({ thread: 1n, function: 'f' }),
        alloc({ thread: 1n, process: 2n, function: 'f' }),
        { kind: 'process-end', process: 2n },
      ],
      'recorder',
      [/those of several processes together: /],
    ],
    [
      'known leaks',
      [
        alloc({ thread: 1n, size: 90n, stack: ['f', 'main'] }),
        alloc({ thread: 1n, address: 64n, size: 10n, stack: ['calloc', 'allocate_dtv', '_dl_allocate_tls', 'main'] }),
      ],
      'recorder',
      [/^10 bytes of the leaks, .* --suppress-known\.$/],
    ],
    [
      'few known leaks',
      [
        alloc({ thread: 1n, size: 91n, stack: ['f', 'main'] }),
        alloc({ thread: 1n, address: 64n, size: 9n, stack: ['calloc', '_dl_allocate_tls', 'main'] }),
      ],
      'recorder',
      [],
    ],
    ['a dump of Android', [alloc({})], 'replay', []],
    ['a trace of the kernel', [alloc({})], 'tracepoints', []],
    ['no allocation', [{ kind: 'free', address: 16n }], 'mtrc', []],
  ])('%s', (_name, events, format, expected) => {
    const collector = new StatisticsCollector()
    for (const batch of batchesOf(events, { format })) collector.add(batch)
    const given = advice(collector.finish())
    expect(given).toHaveLength(expected.length)
    expected.forEach((pattern, i) => expect(given[i]).toMatch(pattern))
  })
})

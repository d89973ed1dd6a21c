import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { BlockEffect } from '../../../lib/blocks/block-effect.js'
import { LiveSet } from '../../../lib/blocks/live-set.js'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { MAX_LINE } from '../../../lib/formats/tracepoints/layout.js'
import { sniff } from '../../../lib/formats/tracepoints/sniff.js'
import { TracepointsDecoder, type TracepointsDecodeOptions } from '../../../lib/formats/tracepoints/decode.js'
import { decodeAll, drive, slices, type Decoded } from '../../support/drive.js'
import { stopwatch } from '../../support/stopwatch.js'

function decode(text: string, size?: number, options?: TracepointsDecodeOptions): Decoded & { warnings: string[] } {
  const decoder = new TracepointsDecoder(options)
  return { ...decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size), warnings: decoder.warnings }
}

const FREE = 'kfree: call_site=f+0x1/0x2 ptr=0000000000000010'
const event = (text: string): TraceEvent => decode(`${text}\n`).events[0] as TraceEvent

describe('the head of a line', () => {
  it.each<[string, object, string]>([
    [
      '              ls-12687   [001] .....  1787.778808: ',
      { thread: 12_687n, cpu: 1, time: 1_787_778_808_000n },
      'ls',
    ],
    [
      '              ls-12687   [001] dNh2.  1787.778808: ',
      { thread: 12_687n, cpu: 1, time: 1_787_778_808_000n },
      'ls',
    ],
    [
      '              ls-12687   [001] d.h2   1787.778808: ',
      { thread: 12_687n, cpu: 1, time: 1_787_778_808_000n },
      'ls',
    ],
    ['          <idle>-0       [123] .....     0.000001: ', { thread: 0n, cpu: 123, time: 1000n }, '<idle>'],
    [
      '              ls-1   (      2) [000]     1.500000: ',
      { thread: 1n, tgid: 2n, cpu: 0, time: 1_500_000_000n },
      'ls',
    ],
    ['              ls-1   (-------) [000]     1.500000: ', { thread: 1n, cpu: 0, time: 1_500_000_000n }, 'ls'],
    ['      ls-12723     1..... 22242us : ', { thread: 12_723n, cpu: 1, time: 22_242_000n }, 'ls'],
    ['      ls-12723    17d.h2. 22242us!: ', { thread: 12_723n, cpu: 17, time: 22_242_000n }, 'ls'],
    ['      ls-12560   0.....  1777.198763: ', { thread: 12_560n, cpu: 0, time: 1_777_198_763_000n }, 'ls'],
    ['              ls-12560 [000]  1777.198762782: ', { thread: 12_560n, cpu: 0, time: 1_777_198_762_782n }, 'ls'],
    ['a b 12841 [001]  1792.006993:   kmem:', { thread: 12_841n, cpu: 1, time: 1_792_006_993_000n }, 'a b'],
    ['   ls 12/13 [001]  1.000000001:   kmem:', { tgid: 12n, thread: 13n, cpu: 1, time: 1_000_000_001n }, 'ls'],
    ['   ls 12/13     0.000005:    kmem:', { tgid: 12n, thread: 13n, time: 5000n }, 'ls'],
    ['   ls 12     0.000005:    kmem:', { thread: 12n, time: 5000n }, 'ls'],
    ['  kworker/0:0-eve-12 [000] 1.000000: ', { thread: 12n, cpu: 0, time: 1_000_000_000n }, 'kworker/0:0-eve'],
    ['   ls-12 [001]-0x1   1.000000: ', { thread: 12n, cpu: 1, time: 1_000_000_000n }, 'ls'],
    ['      ls-12   1-0x1  1.000000: ', { thread: 12n, cpu: 1, time: 1_000_000_000n }, 'ls'],
    ['   ls-12 [001] ....1   1.000000: (+12)    ', { thread: 12n, cpu: 1, time: 1_000_000_000n }, 'ls'],
    ['  b.dat:               ls-12 [001] .....   1.000000: ', { thread: 12n, cpu: 1, time: 1_000_000_000n }, 'ls'],
    [':-1    -1 [001]  1.000000:   kmem:', { thread: 2n ** 64n - 1n, cpu: 1, time: 1_000_000_000n }, ':-1'],
    ['     :-1    -1/-1    [001]  1.000000:   kmem:', { thread: 2n ** 64n - 1n, cpu: 1, time: 1_000_000_000n }, ':-1'],
    // A command of 15 characters may be cut at a space.
    ['   My Application -12 [001] .... 1.000000: ', { thread: 12n, cpu: 1, time: 1_000_000_000n }, 'My Application'],
    ['   /usr/local/bin/-12 [001] .... 1.000000: ', { thread: 12n, cpu: 1, time: 1_000_000_000n }, '/usr/local/bin/'],
    ['  a] [7] b-12 [000] 1.000000: ', { thread: 12n, cpu: 0, time: 1_000_000_000n }, 'a] [7] b'],
  ])('%j', (head, wanted, comm) => {
    const { tgid, ...rest } = wanted as { tgid?: bigint }
    const fields = { comm, ...(tgid !== undefined && { tgid }), offset: '+0x1/0x2' }
    expect(event(head + FREE)).toEqual({ kind: 'free', api: 'kfree', address: 16n, function: 'f', fields, ...rest })
  })

  it('a command that the kernel had forgotten is missing', () => {
    expect(event(`  <...>-5 [000] 1.000000: ${FREE}`).fields).toEqual({ offset: '+0x1/0x2' })
  })

  /** What perf script writes with -F: commands in 16 columns, threads in 5 or more; newer versions: 7. */
  const columns = (comm: string | undefined, tid: number | undefined, cpu: string, width = 5) =>
    [comm?.padStart(16), tid === undefined ? undefined : String(tid).padStart(width), cpu || undefined]
      .filter((one) => one !== undefined)
      .join(' ')
  const COMMS = ['ls', 'my prog', 'kworker/0:1', 'swapper/0', '4channel', '1234', 'gdbus-12', 'exactly-fifteen']

  it.each([...COMMS, undefined])('the fields that perf script is asked for: comm %s', (comm) => {
    for (const tid of [7, 1234, 13_556, 1_234_567, undefined]) {
      for (const cpu of ['', '[001]']) {
        for (const width of [5, 7]) {
          const head = columns(comm, tid, cpu, width)
          expect([head, event(`${head} 49822.823369: kmem:${FREE}`)]).toEqual([
            head,
            {
              kind: 'free',
              api: 'kfree',
              address: 16n,
              function: 'f',
              time: 49_822_823_369_000n,
              fields: { offset: '+0x1/0x2', ...(comm !== undefined && { comm }) },
              ...(tid !== undefined && { thread: BigInt(tid) }),
              ...(cpu !== '' && { cpu: 1 }),
            },
          ])
        }
      }
    }
  })

  it('layouts that cannot be told apart are counted, and are not other lines', () => {
    const unread = [
      `${columns('my prog 12', undefined, '')} 1.000000: kmem:${FREE}`,
      `${columns('sh', 12, '').trimStart()} kmem:${FREE}`,
      `kmem:${FREE}`,
      `command 1.000000: kmem:${FREE}`,
      `${' '.repeat(8)}12 1.000000: kmem:${FREE}`,
    ]
    const others = [
      `ls-1 [000] 1.000000: kmem:kmalloc: ptr=1`,
      'some other line',
      'kmem:kmallocs: x',
      '# kmem:kfree: x',
    ]
    const text = ['some other line', ...unread, ...others, `ls-1 [000] 1.000000: ${FREE}`].join('\n')
    for (const step of [1, 100, 1_000_000]) {
      const { events, warnings } = decode(`${text}\n`, step)
      expect(events).toHaveLength(1)
      expect(warnings).toEqual([
        'tracepoints: skipped lines that are no events of the slab or page allocator: 4; the first is line 1',
        'tracepoints: skipped events in a layout that is not read (perf script: run it without -F, or with comm and tid): 5; ' +
          'the first is line 2',
      ])
    }
  })

  it('addresses that the kernel hid are counted', () => {
    const hidden = [
      'ls-1 [000] 1.000000: kmalloc: call_site=f ptr=(____ptrval____) bytes_req=8 bytes_alloc=8 gfp_flags=none',
      'ls-1 [000] 1.000001: kfree: call_site=f ptr=(____ptrval____)',
      'ls-1 [000] 1.000002: kfree: call_site=f ptr=(null)',
      'CPU:1 [LOST 17 EVENTS]',
    ]
    for (const step of [1, 100, 1_000_000]) {
      const { events, warnings } = decode(`${hidden.join('\n')}\n`, step)
      expect(events.map(({ address }) => address)).toEqual([undefined, undefined, 0n, undefined])
      expect(warnings).toEqual([
        'tracepoints: events whose address the kernel hid, which count as failed allocations and frees of null: 2',
      ])
    }
  })

  it('times of a counter have no unit, and a trace has times of one sort', () => {
    const ticks = decode(
      `# entries-in-buffer/entries-written: 1/3 #P:2\nls-1 [000] 77: ${FREE}\nls-1 [000] 7.000000: ${FREE}\n`,
      5,
    )
    expect(ticks.headers).toEqual([{ format: 'tracepoints' }])
    expect(ticks.events.map(({ time }) => time)).toEqual([undefined, 77n, undefined])
  })
})

describe('values', () => {
  const head = 'ls-1 [000] 1.000000: '

  it.each<[string, object]>([
    [
      'kmalloc: call_site=c10b963e ptr=f0 bytes_req=1 bytes_alloc=8 gfp_flags=GFP_KERNEL',
      { callSite: 0xc10b963en, address: 0xf0n },
    ],
    [
      'kmalloc: call_site=f+0x1 ptr=(nil) bytes_req=18446744073709551615 bytes_alloc=8 gfp_flags=none',
      { address: 0n, size: 2n ** 64n - 1n, gfpFlags: 0 },
    ],
    ['kmalloc: call_site=f+0x1 ptr=  (null) bytes_req=1 bytes_alloc=8', { address: 0n }],
    [
      'kmalloc: (getname_flags+0x4f) call_site=ffffffff8785c74f ptr=0x1 bytes_req=1 bytes_alloc=8',
      { callSite: 0xffffffff8785c74fn, function: 'getname_flags', fields: { comm: 'ls', offset: '+0x4f' } },
    ],
    ['kmalloc: (f+0x1) call_site=g+0x2 ptr=0x1 bytes_req=1', { function: 'g', fields: { comm: 'ls', offset: '+0x2' } }],
    ['kmalloc: call_site=f+0x1/0x2 [ext4] ptr=0x1 bytes_req=1 bytes_alloc=8', { function: 'f', module: 'ext4' }],
    ['kmalloc: bytes_alloc=8 bytes_req=1 new_key=7 ptr=0x1 node=-1', { size: 1n, usable: 8n, node: -1 }],
    [
      'kmem_cache_alloc: call_site=f ptr=0x1 name=a-0000064 bytes_req=1 bytes_alloc=8 node=1 accounted=true',
      { type: 'a-0000064', node: 1 },
    ],
    [
      'mm_page_alloc: page=ffffea00089472c0 pfn=0x2 order=3 migratetype=1 gfp_flags=0x14',
      { address: 8192n, size: 32_768n, count: 8n, gfpFlags: 20 },
    ],
    ['mm_page_alloc: page=  (null) pfn=0 order=0 migratetype=1', { address: 0n, size: 4096n, count: 1n }],
    ['mm_page_alloc: page=          (null) pfn=18446744071562067968 order=0', { address: 0n, size: 4096n, count: 1n }],
    ['mm_page_alloc: page=(nil) pfn=439804651110 order=0', { address: 0n, size: 4096n, count: 1n }],
    [
      'mm_page_free_direct: page=c1a2b3c0 pfn=2 order=1',
      { address: 8192n, size: 8192n, fields: { event: 'mm_page_free_direct' } },
    ],
    ['mm_page_free: page=0x12 pfn=18 order=1', { address: 18n * 4096n, size: 8192n }],
  ])('%s', (text, wanted) => {
    expect(event(head + text)).toMatchObject(wanted)
  })

  it.each(['call_site=f', 'bytes_req=8', 'bytes_alloc=8', 'gfp_flags=0', 'accounted=true', 'migratetype=1'])(
    'keys do not go on in the next line: %s',
    (value) => {
      for (let cut = 1; cut < value.indexOf('='); cut++) {
        const line = ` ls-5 [000] 1.000000: kmalloc: ptr=0000000000000010 bytes_req=16 ${value.slice(0, cut)}\n`
        const { events } = decode(line)
        expect(events).toMatchObject([{ address: 16n, size: 16n }])
        const text = `${line}${value.slice(cut + 1)} ptr=0000000000000020\n`
        expect(decode(text).events).toEqual(events)
        expect(decode(text, line.length).events).toEqual(events)
      }
    },
  )

  it.each<[string, object]>([
    ['CPU:1 [LOST 1705 EVENTS]', { kind: 'lost', cpu: 1, count: 1705n }],
    ['CPU:12 [LOST EVENTS]', { kind: 'lost', cpu: 12 }],
    ['CPU:1 [1705 EVENTS DROPPED]', { kind: 'lost', cpu: 1, count: 1705n }],
    ['   ls 12 [001]  1.000000: PERF_RECORD_LOST lost 1705', { kind: 'lost', count: 1705n }],
    ['CPU:1 [EVENTS DROPPED]', { kind: 'lost', cpu: 1 }],
  ])('%s', (text, wanted) => {
    const { events, warnings } = decode(`${text}\n`)
    expect(events).toEqual([wanted])
    expect(warnings).toEqual([])
  })

  it.each([
    'PERF_RECORD_LOST',
    'PERF_RECORD_LOST_SAMPLES lost 1',
    'PERF_RECORD_LOST lost ',
    'CPU:1 [LOST EVENT',
    'CPU:1 [LOST',
    'CPU:1 [LOST 5',
    'CPU:1 [',
    'CPU:1',
  ])('no loss: %s', (text) => {
    expect(decode(`${text}\nEVENTS]\n`).events).toEqual([])
  })

  it('pages have the size that the option says', () => {
    const { events } = decode(`${head}mm_page_free: page=0x12 pfn=2 order=1\n`, undefined, { pageSize: 65_536 })
    expect(events[0]).toMatchObject({ address: 131_072n, size: 131_072n })
    expect(() => new TracepointsDecoder({ pageSize: 5000 })).toThrow(
      'pageSize must be a power of two up to 2^30, not 5000',
    )
  })

  it.each([
    'kmalloc: call_site=f ptr=0x1',
    'kmalloc: call_site=f ptr=0x1 bytes_req=99999999999999999999 bytes_alloc=1',
    'kmalloc: call_site=f ptr=0x1 bytes_req=1x',
    'kfree: call_site=f',
    'kfree: call_site=f ptr=0x1ffffffffffffffff0',
    'mm_page_free: page=1 pfn=0x1 order=99',
    'mm_page_free: page=1 pfn=0xffffffffffffffff order=1',
    'mm_page_free_batched: page=1 pfn=0x1 order=0',
    'mm_page_alloc_zone_locked: page=1 pfn=0x1 order=0 migratetype=0 percpu_refill=1',
    'kmem_cache_free_bulk: ptr=0x1',
    'sched_switch: prev_comm=kmalloc',
  ])('of which something is wrong or missing, or another event: %s', (text) => {
    const { events, warnings } = decode(`${head}${text}\n${head}${FREE}\n`)
    expect(events).toHaveLength(text.includes('0x1ffff') ? 2 : 1)
    if (events.length === 1)
      expect(warnings).toEqual([
        'tracepoints: skipped lines that are no events of the slab or page allocator: 1; the first is line 1',
      ])
  })

  it('objects match whatever process frees them, and pages are no objects', () => {
    const text = [
      ' ls 1/1 [0] 1.0: kmem:kmalloc: call_site=f ptr=0x2000 bytes_req=8 bytes_alloc=8',
      ' ls 1/1 [0] 1.0: kmem:mm_page_alloc: page=0x2 pfn=0x2 order=0 migratetype=0',
      ' ls 2/2 [0] 1.0: kmem:kfree: call_site=f ptr=0x2000',
    ].join('\n')
    const { batches } = decode(`${text}\n`)
    const liveSet = new LiveSet(0)
    const effects = batches.flatMap((batch) => {
      liveSet.follow(batch)
      return [...liveSet.effects.subarray(0, batch.count)]
    })
    expect(effects).toEqual([BlockEffect.began, BlockEffect.began, BlockEffect.ended])
  })
})

describe('stacks', () => {
  const stacks = (text: string, size?: number) => {
    const { events, warnings } = decode(text, size)
    return { stacks: events.map(({ stack }) => stack), warnings }
  }
  const OF_PERF = [
    `      ls 7 [001]     1.000000: kmem:${FREE}`,
    '\tffffffff8162e91f kfree+0x20f ([kernel.kallsyms])',
    '\tffffffffc0123456 ext4_free+0x1f ([ext4])',
    '\t          55d0f0 ns::f(int) const+0x5 (/tmp/a b (deleted))',
    '\t          55d0f2 operator new(unsigned) (/bin/app)',
    '\t          55d0f2 g (inlined)',
    '\t    7f44fbef2ad7 [unknown] ([unknown])',
    '\t               0 [unknown] ([unknown])',
    '\tffffffff8157add8 do_mmap+0x1',
    '                ffffffff8157add8 mmap64 (/lib/libc.so.6)',
    '',
    `      ls 7 [001]     1.000001: kmem:${FREE}`,
    '      dd 7 [001]     1.000002: sched:sched_waking: comm=dd (x)',
  ]
  const OF_FTRACE = [
    `            true-12732   [001] .....     1.000000: ${FREE}`,
    '            true-12732   [001] .....     1.000001: <stack trace>',
    ' => trace_event_raw_event_kfree',
    ' => kfree+0x20f/0x3a0',
    ' => ext4_free+0x1/0x2 [ext4]',
    ' => __fput <ffffffff8157add8>',
    `            true-12732   [001] .....     1.000002: ${FREE}`,
    `           other-7       [000] .....     1.000002: ${FREE}`,
    '            true-12732   [001] .....     1.000003: <stack trace>',
    ' => kfree',
    '            true-12732   [001] .....     1.000004: <stack trace>',
    ' => kmalloc',
  ]
  const OF_TRACE_CMD = [
    `            true-12732 [001]     1.000000: ${FREE}`,
    '            true-12732 [001]     1.000001: kernel_stack:         <stack trace >',
    '=> kfree (ffffffff8162e91f)',
    '=> do_syscall_64 (ffffffff821ed511)',
    '=> ffffffff821ed512',
    '=> 0xffffffffc0000010',
  ]

  it.each([1, 7, 300, 65_536])('of perf script, in pieces of %i', (size) => {
    expect(stacks(OF_PERF.map((line) => `${line}\n`).join(''), size)).toEqual({
      stacks: [
        [
          'kfree [0xffffffff8162e91f]',
          'ext4_free in ext4 [0xffffffffc0123456]',
          'ns::f(int) const in /tmp/a b (deleted) [0x55d0f0]',
          'operator new(unsigned) in /bin/app [0x55d0f2]',
          'g [0x55d0f2] inlined',
          '[0x7f44fbef2ad7]',
          '[unknown]',
          'do_mmap [0xffffffff8157add8]',
          'mmap64 in /lib/libc.so.6 [0xffffffff8157add8]',
        ],
        undefined,
      ],
      warnings: [expect.stringMatching(/: 1; the first is line 13$/)],
    })
  })

  it.each([1, 7, 300, 65_536])('of ftrace, also between those of other CPUs, in pieces of %i', (size) => {
    expect(stacks(OF_FTRACE.map((line) => `${line}\r\n`).join(''), size)).toEqual({
      stacks: [
        ['trace_event_raw_event_kfree', 'kfree', 'ext4_free in ext4', '__fput [0xffffffff8157add8]'],
        ['kfree'],
        undefined,
      ],
      warnings: [],
    })
  })

  it('of trace-cmd', () => {
    expect(stacks(OF_TRACE_CMD.map((line) => `${line}\n`).join(''))).toEqual({
      stacks: [
        [
          'kfree [0xffffffff8162e91f]',
          'do_syscall_64 [0xffffffff821ed511]',
          '[0xffffffff821ed512]',
          '[0xffffffffc0000010]',
        ],
      ],
      warnings: [],
    })
  })

  it('of another event, which an interrupt reports between an event and its stack, are not its own', () => {
    const line = (text: string) => `            true-12732   [001] .....     1.000000: ${text}`
    const [head, other] = [line('<stack trace>'), line('hrtimer_expire_entry: now=1')]
    const lines = [line(FREE), head, ' => f', line(FREE), other, head, ' => timer', head, ' => g', other]
    expect(stacks(lines.map((one) => `${one}\n`).join('')).stacks).toEqual([['f'], ['g']])
  })

  it('are awaited for a limited number of events', () => {
    const line = (task: string, text: string) => `${task.padStart(16)}-7       [000] .....     1.000000: ${text}\n`
    const other = (n: number) => line('other', FREE).repeat(n)
    const first = `${line('first', FREE)}${line('first', '<stack trace>')} => f\n`
    const found = [15, 16].map((n) => {
      const text = `${first}${line('a', FREE)}${other(n)}${line('a', '<stack trace>')} => g\n${other(5000)}`
      return [100, 65_536].map((size) =>
        decode(text, size)
          .events.flatMap(({ stack = [] }) => stack)
          .join(' '),
      )
    })
    expect(found).toEqual([
      ['f g', 'f g'],
      ['f', 'f'],
    ])
  })

  it('have a limited length, and take time in proportion to it', () => {
    const frame = '\tffffffff8162e91f kfree+0x20f ([kernel.kallsyms])\n'
    const time = stopwatch()
    const found = stacks(`${OF_PERF[0]}\n${frame.repeat(20_000)}`, 64)
    expect(time()).toBeLessThan(5000)
    expect(found.stacks).toEqual([Array.from({ length: 512 }, () => 'kfree [0xffffffff8162e91f]')])
    expect(found.warnings).toEqual([expect.stringMatching(/: 19488; the first is line 514$/)])
  })
})

it.each(['\tffffffff81 NAME', ' => NAME'])('frames take time in proportion to their length: %j', (frame) => {
  const names = [' ('.repeat(3900), '+0x1 ('.repeat(1300), `${'+0x'.repeat(2600)} x`, `${' ['.repeat(3900)} x`]
  const lines = names.flatMap((name) => ['a', 'b'].map((unique) => `${frame.replace('NAME', `${unique}${name}`)}\n`))
  const text = `ls-1 [000] 1.000000: ${FREE}\n${lines.join('')}\n`.repeat(40)
  const time = stopwatch()
  expect(decode(text).events).toHaveLength(40)
  expect(time()).toBeLessThan(1000)
})

describe('stacks between lines of other CPUs', () => {
  let time = 0
  const line = (owner: string, text = FREE) =>
    `${owner.padEnd(30)} .....     1.${String(time++).padStart(6, '0')}: ${text}\n`
  const begin = (owner: string) => line(owner, '<stack trace>')
  const WARM = `${line('x-1 [000]')}${begin('x-1 [000]')} => warm\n`

  it.each([
    ['of idle processors', '<idle>-0     [000]', '<idle>-0     [001]'],
    ['of threads with long numbers', 'cc1-123456  [000]', 'cc1-123457  [000]'],
    [
      'of several files of trace-cmd',
      'a-long-name-of-a-file.dat:  ls-1 [000]',
      'a-long-name-of-a-file.dat:  ls-2 [001]',
    ],
    ['from the first on', 'ls-1 [000]', 'ls-2 [001]'],
  ])('are those of the event of their thread and CPU: %s', (what, a, b) => {
    const four = `${line(a)}${line(b)}${begin(a)} => a\n${begin(b)} => b\n`
    const text = what === 'from the first on' ? four.repeat(2) : WARM + four
    const found = decode(text).events.slice(what === 'from the first on' ? 2 : 1)
    expect(found.map(({ stack }) => stack)).toEqual([['a'], ['b']])
  })

  it('are the same in all pieces, where an event always waits, of which little is held', () => {
    let text = WARM + line('a-1 [000]')
    const other = (i: number) => line('c-3 [001]', i % 7 === 0 ? 'sched_switch: x' : FREE)
    for (let i = 0; i < 3000; i++)
      text += `${line('b-2 [001]')}${begin('a-1 [000]')} => a1\n => a2\n${line('a-1 [000]')}${begin('b-2 [001]')} => b\n${other(i)}`
    const bytes = new Uint8Array(Buffer.from(text))
    const all = decode(text)
    expect(all.events.map(({ stack = [] }) => stack.length).reduce((sum, n) => sum + n)).toBe(1 + 3 * 3000)
    for (const size of [1000, 4096, 65_536]) {
      const { events, warnings } = decode(text, size)
      expect(warnings).toEqual(all.warnings)
      expect(isDeepStrictEqual(events, all.events)).toBe(true)
    }
    const decoder = new TracepointsDecoder()
    let given = 0
    for (const piece of slices(bytes, 4096)) {
      decoder.feed(piece)
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) given += batch.count
    }
    expect(given).toBeGreaterThan(all.events.length - 200)
  })

  it('are of no event whose thread and CPU are far apart', () => {
    const far = `${line(`x-1${' '.repeat(4000)}[000]`)}${line('y-2 [000]', '<stack trace>')} => f\n`
    const { events } = decode(WARM + far)
    expect(events.map(({ stack }) => stack)).toEqual([['warm'], undefined])
  })

  it('leave names as they are', () => {
    const named = line('x-1 [000]', 'kmem_cache_free: call_site=f ptr=0x10 name=\tdead')
    const { events } = decode(WARM + named)
    expect(events.map(({ type }) => type)).toEqual([undefined, '\tdead'])
  })

  it('of a truncated input are given with their events, as far as both are there', () => {
    const text = WARM + [1, 2, 3].map(() => `${line('x-1 [000]')}${begin('x-1 [000]')} => f\n`).join('')
    const decoder = new TracepointsDecoder()
    decoder.feed(new Uint8Array(Buffer.from(text)))
    decoder.endTruncated()
    const events = [...(decoder.next() ?? [])]
    expect(decoder.next()).toBeNull()
    expect(events.map(({ stack }) => stack)).toEqual([['warm'], ['f'], ['f']])
  })
})

describe('stacks of a trace that is cut', () => {
  const sample = (n: number) =>
    `ls 7 [001] ${n}.000000: kmem:${FREE}\n\tffffffff81 a+0x1 (m)\n\tffffffff82 b+0x1 (m)\n\n`
  const OF_PERF = sample(1) + sample(2)
  const line = (comm: string, text: string) => `${comm.padStart(16)}-7       [001] .....     1.000000: ${text}\n`
  const OF_FTRACE = [1, 2]
    .map(() =>
      [line('ls', FREE), line('ls', '<stack trace>'), ' => a\n', ' => b\n', line('dd', 'sys_exit: NR 1')].join(''),
    )
    .join('')

  it.each([
    ['perf', OF_PERF],
    ['ftrace', OF_FTRACE],
  ])('are those of the whole, where that can be known: %s', (name, text) => {
    const all = decode(text).events
    for (let end = 1; end < text.length; end++) {
      const decoder = new TracepointsDecoder()
      const { events, error } = decodeAll(decoder, Buffer.from(text.slice(0, end)))
      const isBetweenLines = text[end - 1] === '\n'
      // perf script has events without a stack, too.
      const isEvent = name === 'perf' && text.slice(0, end).endsWith('ptr=0000000000000010\n')
      const isFirst = end < (name === 'perf' ? sample(1).length : text.indexOf(' => '))
      if (isBetweenLines && (name === 'ftrace' || isFirst || end === sample(1).length || isEvent)) continue
      expect(error?.message, text.slice(0, end)).toContain('truncated')
      if (!isFirst) expect(events, text.slice(0, end)).toEqual(all.slice(0, events.length))
    }
  })

  it('end with an empty line if perf wrote them, unless lastLine takes them as complete', () => {
    const cut = Buffer.from(OF_PERF.slice(0, -1))
    const { events, error } = decodeAll(new TracepointsDecoder(), cut)
    expect(events).toHaveLength(1)
    expect(error?.message).toMatch(
      /line 8, .*event 2: truncated: the last stack does not end with an empty line; lastLine/,
    )
    const taken = decodeAll(new TracepointsDecoder({ lastLine: true }), cut)
    expect([taken.events.length, taken.error]).toEqual([2, undefined])
    expect(decode(OF_PERF).events).toEqual(taken.events)
  })
})

it.each(['# tracer: nop\n', 'cpus=4\n', 'version = 7\nCPU 3 is empty\r\nCPU 12 is empty\ncpus=16\n'])(
  'a report is recognized by its first lines alone: %j',
  (lines) => {
    expect(sniff(Buffer.from(`${lines}ls-1 [000] 1.000000: sched_waking: comm=ls\n`))).toBe(true)
  },
)

describe('hostile input', () => {
  it('lines without end are skipped in bounded memory', () => {
    const decoder = new TracepointsDecoder()
    const chunk = new Uint8Array(65_536).fill(0x78)
    for (let i = 0; i < 1000; i++) {
      decoder.feed(chunk)
      expect(decoder.next()).toBeNull()
    }
    decoder.feed(new Uint8Array(Buffer.from(`\nls-1 [000] 1.000000: ${FREE}\n`)))
    // A stack may follow.
    expect(decoder.next()).toBeNull()
    decoder.end()
    expect(decoder.next()?.count).toBe(1)
    decoder.next()
    expect(decoder.warnings[0]).toContain(
      'skipped lines that are no events of the slab or page allocator: 1; the first is line 1',
    )
  })

  it.each([30, 1000, 1_000_000])(
    'what waits for the first time comes before a line without end, in pieces of %i',
    (size) => {
      const { events } = decode(`# entries-in-buffer/entries-written: 8/20   #P:2\n${'x'.repeat(100_000)}`, size)
      expect(events).toEqual([{ kind: 'lost', count: 12n }])
    },
  )

  it.each([1, 20, 1_000_000])('a header cut by a line feed says nothing of the next line, in pieces of %i', (size) => {
    const { events } = decode(`# entries-in-buffer/\nntries-written: 8/20   #P:2\nls-1 [000] 7.000000: ${FREE}\n`, size)
    expect(events.map(({ kind }) => kind)).toEqual(['free'])
  })

  it.each([MAX_LINE, 100_000, 400_000])('a line of %i bytes is skipped wherever the input is divided', (length) => {
    const text = `ls-1 [000] 1.000000: ${FREE}\n${'x'.repeat(length)}\nls-1 [000] 2.000000: ${FREE}\n`
    for (const step of [1000, 65_536, 1_000_000]) {
      const { events, warnings } = decode(text, step)
      expect(events).toHaveLength(2)
      expect(warnings[0]).toContain(': 1; the first is line 2')
    }
  })

  it.each(['# ', 'cpus=', 'version ', 'CPU 3 '])(
    'a long line that begins with "%s" is not counted in any piece',
    (start) => {
      const text = `${start}${'x'.repeat(100_000)}\nls-1 [000] 2.000000: ${FREE}\n`
      for (const step of [1, 1000, 65_536, 1_000_000])
        expect(decode(text, step)).toMatchObject({ events: { length: 1 }, warnings: [] })
    },
  )

  it.each([1000, 65_000, 66_000, 140_000])('times %i bytes behind the first event decide in all pieces', (far) => {
    const lost = '# entries-in-buffer/entries-written: 8/20   #P:2\n'
    const text = `${lost}${'\n'.repeat(far)}CPU:1 [LOST 5 EVENTS]\nls-1 [000] 12: ${FREE}\n`
    const units = [1, 1000, 65_536, 1_000_000].map((size) => {
      const { out } = drive(new TracepointsDecoder(), slices(new Uint8Array(Buffer.from(text)), size))
      return out.flatMap(({ count, header }) => Array<string>(count).fill(header.timeUnit ?? 'ticks')).join(' ')
    })
    const ticks = 'ticks ticks ticks'
    expect(units).toEqual(Array(4).fill(far < 65_536 ? ticks : 'ns ticks ticks'))
  })

  it('empty lines that come one by one after an event without a time take little time', () => {
    const time = stopwatch()
    const { events } = decode(`# entries-in-buffer/entries-written: 8/20   #P:2\n${'\n'.repeat(30_000)}`, 1)
    expect(events).toHaveLength(1)
    expect(time()).toBeLessThan(2000)
  })

  it('very many names close batches before memory is full', () => {
    const line = (i: number) =>
      `ls${i}-${i} [000] 1.000000: kfree: call_site=function_${'x'.repeat(i % 200)}${i}+0x1 ptr=0x1\n`
    const { events } = decode(Array.from({ length: 30_000 }, (_, i) => line(i)).join(''), 65_536)
    expect(events).toHaveLength(30_000)
    expect(
      events.every((one, i) => one.thread === BigInt(i) && (one.fields as { comm: string }).comm === `ls${i}`),
    ).toBe(true)
  })
})

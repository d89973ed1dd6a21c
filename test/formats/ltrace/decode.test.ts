import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { LtraceDecoder, type LtraceDecodeOptions } from '../../../lib/formats/ltrace/decode.js'
import { sniff } from '../../../lib/formats/ltrace/sniff.js'
import { decodeAll, type Decoded } from '../../support/drive.js'

function decode(text: string, size?: number, options?: LtraceDecodeOptions): Decoded & { warnings: string[] } {
  const decoder = new LtraceDecoder(options)
  return { ...decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size), warnings: decoder.warnings }
}

const events = (...lines: string[]): TraceEvent[] => decode(lines.map((line) => `${line}\n`).join('')).events

describe('what stands in front of a call', () => {
  it.each<[string, object]>([
    ['', {}],
    ['30281 ', { thread: 30_281n }],
    ['[pid 30281] ', { thread: 30_281n }],
    ['23:28:28 ', { time: 84_508_000_000_000n }],
    ['23:28:28.699114 ', { time: 84_508_699_114_000n }],
    ['1795303708.464982 ', { time: 1_795_303_708_464_982_000n }],
    [
      '30281 1795303708.464982 [0x5589eaa013b4]   ',
      { thread: 30_281n, time: 1_795_303_708_464_982_000n, callSite: 0x5589eaa013b4n },
    ],
    ['[0x10] ', { callSite: 16n }],
    ['  0.000309 ', { time: 309_000n }],
  ])('%j', (head, wanted) => {
    expect(events(`${head}mtv->free(0x40) = <void>`)).toEqual([
      { kind: 'free', api: 'free', address: 64n, module: 'mtv', ...wanted },
    ])
  })

  it('times of -r add up, over other lines too', () => {
    const times = events(
      '7   0.000000 free(0x1) = <void>',
      '7   0.000100 SYS_brk(0) = 0',
      '7   1.000020 free(0x1) = <void>',
    )
    expect(times.map(({ time }) => time)).toEqual([0n, 1_000_120_000n])
  })

  it('-T says when a call returned', () => {
    expect(events('10:00:00.000001 malloc(1) = 0x10 <0.000309>')[0]).toMatchObject({
      time: 36_000_000_001_000n,
      endTime: 36_000_000_310_000n,
    })
  })
})

describe('calls', () => {
  it.each<[string, object]>([
    [
      'malloc(5)                                        = 0x10',
      { kind: 'alloc', api: 'malloc', size: 5n, address: 16n },
    ],
    ['malloc@libc.so.6(5) = 0', { address: 0n }],
    ['malloc(5) = nil', { address: 0n }],
    // Of some builds, where the line reaches the column of results.
    ['app->operator new(unsigned long)(88, 0x7f, 0x55)= 0x10', { api: 'new', address: 16n, module: 'app' }],
    [
      '1.000000 malloc@libc.so.6(5, 0x7f)= 0x10 <0.000001>',
      { address: 16n, time: 1_000_000_000n, endTime: 1_000_001_000n },
    ],
    ['malloc(5 <unfinished ...>\n<... malloc resumed> )= 0x10', { address: 16n }],
    ['malloc(5) = NULL', { address: 0n }],
    ['calloc(3, 4) = 0x10', { api: 'calloc', size: 12n, count: 3n }],
    ['realloc(0x10, 4) = 0x20', { kind: 'realloc', oldAddress: 16n, address: 32n, size: 4n }],
    ['realloc(nil, 4) = 0x20', { oldAddress: 0n }],
    ['reallocarray(0, 7, 9, 2385) = 0x20', { kind: 'realloc', oldAddress: 0n, count: 7n, size: 63n }],
    ['memalign(4096, 5000, 0, 0) = 0x1000', { api: 'memalign', alignment: 4096n, size: 5000n }],
    ['aligned_alloc(64, 128, 1) = 0x40', { api: 'memalign', alignment: 64n, size: 128n }],
    ['aligned_alloc(64, -2, 0, 0) = 0', { api: 'memalign', size: 2n ** 64n - 2n, address: 0n }],
    ['7 1.000020 [(nil)] malloc(5) = 0x10', { thread: 7n, size: 5n, address: 16n }],
    ['valloc(100, 0x7f, 0x56, 8353) = 0x1000', { api: 'malloc', size: 100n, fields: { call: 'valloc' } }],
    ['strdup("a, b) = 0x3 ...") = 0x10', { api: 'malloc', address: 16n, fields: { call: 'strdup' } }],
    ['cxx->_Znwm(88, 0x7f, 0x55, 0x7f) = 0x10', { api: 'new', size: 88n, module: 'cxx' }],
    ['cxx->_ZnwmSt11align_val_t(88, 32, 0x55, 0x7f) = 0x20', { api: 'new', size: 88n, alignment: 32n }],
    [
      'cxx->operator new(unsigned long)(88, 0x7f) = 0x10',
      { api: 'new', size: 88n, fields: { call: 'operator new(unsigned long)' } },
    ],
    ['cxx->operator delete[](void*)(0x10) = <void>', { kind: 'free', api: 'delete', address: 16n }],
    ['libjq.so.1->free(0x10) = <void>', { module: 'libjq.so.1' }],
  ])('%s', (line, wanted) => {
    expect(events(line)).toMatchObject([wanted])
  })

  it.each([
    ['posix_memalign(0x7f2978100dd8, 64, 1258, 3) = 0', { kind: 'lost', count: 1n }],
    ['posix_memalign(0x7f2978100dd8, 64, 1258, 3) = 12', { kind: 'alloc' }],
    [
      'posix_memalign(0x7f, 64, 1258, 3 <unfinished ...>\n<... posix_memalign resumed> ) = 0',
      { kind: 'lost', count: 1n },
    ],
    ['posix_memalign(0x7f, 64, 1258, 3 <unfinished ...>\n<... posix_memalign resumed> ) = 12', { kind: 'alloc' }],
  ])('%s does not tell the address: its block is lost, unless the call failed', (lines, wanted) => {
    const fields = { call: 'posix_memalign' }
    expect(events(lines)).toEqual([{ api: 'memalign', alignment: 64n, size: 1258n, fields, ...wanted }])
  })

  it.each([
    'malloc(5)',
    'malloc(x) = 0x10',
    'malloc(5) = 0x10 x',
    'calloc(3) = 0x10',
    'open("malloc(5)", 0) = 3',
    'unexpected breakpoint at 0x10',
    'SYS_brk(malloc) = 0',
    '',
    'realloc(1,',
  ])('none in %j', (line) => {
    const { events: found, warnings } = decode(`${line}\nfree(0x1) = <void>\n`)
    expect(found).toHaveLength(1)
    expect(warnings).toEqual([
      "ltrace: skipped lines that are no whole calls of an allocator's functions: 1; the first is line 1",
    ])
  })
})

describe('calls that are cut', () => {
  const LINES = [
    '1 10:00:00 a->malloc(5 <unfinished ...>',
    '2 10:00:01 a->free(0x20 <unfinished ...>',
    '1 10:00:02 <... malloc resumed> ) = 0x20',
    '2 10:00:03 <... free resumed> ) = <void>',
    '1 10:00:04 a->realloc(0x20, 6 <unfinished ...>',
    '1 10:00:05 libc.so.6->malloc(6) = 0x30',
    '1 10:00:06 libc.so.6->free(0x20 <unfinished ...>',
    '1 10:00:07 <... free resumed> ) = <void>',
    '1 10:00:08 <... realloc resumed> ) = 0x30',
  ]

  it.each([1, 9, 1000])(
    'are put together in pieces of %i: a free when it is called, an allocation when it returns',
    (step) => {
      const { events: found } = decode(`${LINES.join('\n')}\n`, step)
      expect(found).toMatchObject([
        { kind: 'free', thread: 2n, address: 32n, time: 36_001_000_000_000n },
        { kind: 'alloc', thread: 1n, size: 5n, address: 32n, time: 36_000_000_000_000n, endTime: 36_002_000_000_000n },
        { kind: 'realloc', oldAddress: 32n, address: 48n, size: 6n },
      ])
      expect(found).toHaveLength(3)
    },
  )

  it('with those within others, if that is asked for', () => {
    const { events: found } = decode(`${LINES.join('\n')}\n`, undefined, { inner: true })
    expect(found.map(({ kind }) => kind)).toEqual(['free', 'alloc', 'alloc', 'free', 'realloc'])
  })

  it('end with their thread, and with its program', () => {
    for (const end of ['+++ exited (status 0) +++', '+++ killed by SIGTERM +++', '--- Called exec() ---'])
      expect(events('1 a->malloc(5 <no return ...>', `1 ${end}`, '1 a->malloc(6) = 0x10')).toMatchObject([{ size: 6n }])
    // A signal ends nothing: what comes then may still be within the call.
    expect(
      events('1 a->malloc(5 <unfinished ...>', '1 --- SIGCHLD (Child exited) ---', '1 a->malloc(6) = 0x10'),
    ).toEqual([])
  })

  it('return though they said that they would not, and may return without a beginning', () => {
    const found = events(
      '1 a->free(0x10 <no return ...>',
      '1 <... free resumed> ) = <void>',
      '1 <... free resumed> ) = <void>',
      '1 a->free(0x20) = <void>',
    )
    expect(found.map(({ address }) => address)).toEqual([16n, 32n])
  })

  it('nested more deeply than is kept are reported, and change nothing', () => {
    const calls = Array.from({ length: 10 }, (_, i) => `7 a->malloc(${i} <unfinished ...>\n`)
    const ends = Array.from({ length: 10 }, (_, i) => `7 <... malloc resumed> ) = 0x${i + 1}0\n`)
    const { events: found, warnings } = decode([...calls, ...ends].join(''))
    expect(found).toMatchObject([{ size: 0n, address: 0x100n }])
    expect(warnings).toEqual([expect.stringContaining(': 2; the first is line 11')])
  })

  it('that begin again, as free of glibc 2.43 does in each new thread, return once', () => {
    const found = events(
      '1 1.000001 free@libc.so.6(0x10 <unfinished ...>',
      '1 1.000002 free@libc.so.6(0x10) = <void>',
      '1 1.000003 malloc@libc.so.6(40 <unfinished ...>',
      '1 1.000004 malloc@libc.so.6(40) = 0x10',
      '1 1.000005 malloc@libc.so.6(40 <unfinished ...>',
      '2 1.000006 free@libc.so.6(0x30 <unfinished ...>',
      '2 1.000007 free@libc.so.6(0x30 <unfinished ...>',
      '1 1.000008 malloc@libc.so.6(40 <unfinished ...>',
      '1 1.000009 <... malloc resumed> ) = 0x20',
      '2 1.000010 <... free resumed> ) = <void>',
      '2 1.000011 malloc@libc.so.6(1) = 0x30',
      '1 1.000012 free@libc.so.6(0x20) = <void>',
    )
    expect(found).toMatchObject([
      { kind: 'free', thread: 1n, address: 0x10n },
      { kind: 'alloc', thread: 1n, size: 40n, address: 0x10n },
      { kind: 'free', thread: 2n, address: 0x30n },
      { kind: 'alloc', thread: 1n, size: 40n, address: 0x20n },
      { kind: 'alloc', thread: 2n, size: 1n, address: 0x30n },
      { kind: 'free', thread: 1n, address: 0x20n },
    ])
    expect(found).toHaveLength(6)
  })

  it('of a function that calls the one of another object are one', () => {
    const found = events(
      '1 malloc@libmine.so(40 <unfinished ...>',
      '1 malloc@libc.so.6(40) = 0x10',
      '1 <... malloc resumed> ) = 0x18',
      'a->malloc(40 <unfinished ...>',
      'libmine.so->malloc(40) = 0x20',
      '<... malloc resumed> ) = 0x28',
    )
    expect(found.map(({ address }) => address)).toEqual([0x18n, 0x28n])
  })

  it('of a function that never returns do not hide all that follow', () => {
    // operator new threw an exception.
    const lines = [
      '1 a->_Znwm(8 <unfinished ...>',
      ...Array.from({ length: 300 }, (_, i) => `1 a->malloc(1) = 0x${i}0`),
    ]
    const { events: found, warnings } = decode(`${lines.join('\n')}\n`)
    expect(found).toHaveLength(300 - 256)
    expect(warnings).toEqual([expect.stringContaining(': 256; the first is line 258')])
    const ended = decode(`${lines.slice(0, 3).join('\n')}\n1 +++ exited (status 0) +++\n`)
    expect(ended.warnings).toEqual([expect.stringContaining(': 2; the first is line 4')])
    const cut = decode(`${lines.slice(0, 3).join('\n')}\n`)
    expect(cut.warnings).toEqual([expect.stringContaining(': 2; the first is line 3')])
    expect(decode(`${lines.join('\n')}\n`, undefined, { inner: true }).events).toHaveLength(300)
  })

  it('in very many threads, and nested deeply, take no memory', () => {
    const begun = Array.from({ length: 20_000 }, (_, i) => `${i + 1} a->malloc(${i} <unfinished ...>`)
    const deep = Array.from({ length: 20_000 }, () => '7 a->malloc(5 <unfinished ...>')
    const { events: found } = decode(`${[...begun, ...deep].join('\n')}\n20000 <... malloc resumed> ) = 0x10\n`, 65_536)
    expect(found).toMatchObject([{ thread: 20_000n, size: 19_999n }])
  })
})

it('lines without end are skipped', () => {
  const text = `free(0x1) = <void>\n${'x'.repeat(500_000)}\nfree(0x2) = <void>\n`
  for (const step of [1000, 65_536, 1_000_000]) {
    const { events: found, warnings } = decode(text, step)
    expect(found).toHaveLength(2)
    expect(warnings[0]).toContain(': 1; the first is line 2')
  }
})

describe('processes', () => {
  /** The process of each event, 0 for none. */
  const processes = (...lines: string[]) => events(...lines).map(({ process = 0n }) => Number(process))

  it.each<[string, string[], number[]]>([
    [
      'a fork',
      ['7 malloc(1) = 0x10', '7 fork@libc.so.6() = 8', '8 malloc(1) = 0x10', '7 free(0x10) = <void>'],
      [0, 8, 0],
    ],
    [
      'a fork whose child returns first',
      [
        '7 fork( <unfinished ...>',
        '8 <... fork resumed> ) = 0',
        '8 malloc(1) = 0x10',
        '7 <... fork resumed> ) = 8',
        '7 malloc(1) = 0x10',
      ],
      [8, 0],
    ],
    [
      'a fork that the system calls show',
      [
        '7 malloc(1) = 0x10',
        '7 SYS_clone(0x1200011, 0, 0, 0x7f10) = 0x8',
        '8 malloc(1) = 0x10',
        '7 free(0x10) = <void>',
      ],
      [0, 8, 0],
    ],
    [
      'the same since 0.7.91, interrupted, and a thread',
      [
        '7 clone@SYS(0x1200011, nil, nil, 0x7f10 <unfinished ...>',
        '9 malloc(1) = 0x20',
        '7 <... clone resumed> ) = 8',
        '8 malloc(1) = 0x10',
        '8 clone@SYS(0x3d0f00, 0x7f, 0x7f, 0x7f) = 10',
        '10 malloc(1) = 0x30',
        '7 clone@SYS(0x1200011, nil, nil, 0x7f10) = -11',
        '11 malloc(1) = 0x40',
      ],
      [0, 8, 8, 8],
    ],
    ['a fork that failed', ['7 fork() = -1', '8 malloc(1) = 0x10', '7 malloc(1) = 0x10'], [0, 0]],
    [
      'another program',
      ['7 malloc(1) = 0x10', '8 --- Called exec() ---', '8 malloc(1) = 0x10', '7 malloc(1) = 0x20'],
      [0, 8, 0],
    ],
    [
      'threads that were there before a fork',
      ['7 malloc(1) = 0x10', '9 malloc(1) = 0x20', '7 app->fork() = 8', '9 malloc(1) = 0x30', '8 malloc(1) = 0x10'],
      [0, 0, 0, 8],
    ],
    [
      'threads of a process that was forked',
      ['7 fork() = 8', '8 malloc(1) = 0x10', '8 libc.so->pthread_create(0, 0) = 0', '9 malloc(1) = 0x20'],
      [8, 8],
    ],
    [
      'threads of the first process, after a fork',
      [
        '7 malloc(1) = 0x10',
        '7 fork() = 8',
        '7 pthread_create( <unfinished ...>',
        '9 malloc(1) = 0x20',
        '8 free(0x10) = <void>',
      ],
      [0, 0, 8],
    ],
    [
      'a number that is given again',
      [
        '7 free(0x1) = <void>',
        '7 fork() = 8',
        '8 +++ exited (status 0) +++',
        '7 pthread_create(0) = 0',
        '8 free(0x1) = <void>',
      ],
      [0, 0],
    ],
    ['no threads', ['malloc(1) = 0x10', 'fork() = 8', 'malloc(1) = 0x20'], [0, 0]],
    [
      'a call that another thread cut',
      ['7 fork() = 8', '8 malloc(1 <unfinished ...>', '7 malloc(1) = 0x10', '8 <... malloc resumed> ) = 0x10'],
      [0, 8],
    ],
  ])('%s', (_, lines, wanted) => {
    const { warnings } = decode(lines.map((line) => `${line}\n`).join(''))
    expect(warnings).toEqual([])
    expect(processes(...lines)).toEqual(wanted)
  })

  it('more threads than are kept in mind belong to the process that was newest', () => {
    const lines = ['1 fork() = 2', ...Array.from({ length: 3000 }, (_, i) => `${i + 10} malloc(1) = 0x10`)]
    expect(new Set(processes(...lines))).toEqual(new Set([2]))
  })
})

describe('names of modules', () => {
  const long = 'm'.repeat(300)
  const file = `lib${'x'.repeat(249)}.so`.slice(0, 255)

  it('have any length in whole lines, and that of a file in calls that return later', () => {
    expect(
      events(`1 ${long}->malloc(5) = 0x10`, `1 ${file}->malloc(6 <unfinished ...>`, '1 <... malloc resumed> ) = 0x20'),
    ).toMatchObject([
      { size: 5n, module: long },
      { size: 6n, module: file },
    ])
  })

  it('that are longer in calls that return later are an error', () => {
    const { events: found, error } = decode(`1 a->free(0x10) = <void>\n1 ${long}->malloc(6 <unfinished ...>\n`)
    expect(found).toHaveLength(1)
    expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT', line: 2, event: 2 })
  })
})

it('256 threads may be in calls; the return of a call that is not known is reported', () => {
  const run = (n: number) => {
    const threads = Array.from({ length: n }, (_, i) => i + 1)
    const begun = threads.map((thread) => `${thread} a->malloc(${thread} <unfinished ...>\n`)
    const ended = threads.map((thread) => `${thread} <... malloc resumed> ) = 0x${thread}0\n`)
    return decode([...begun, ...ended].join(''))
  }
  expect(run(256)).toMatchObject({ events: { length: 256 }, warnings: [] })
  expect(run(260)).toMatchObject({ events: { length: 256 }, warnings: [expect.stringContaining(': 4; ')] })
})

describe('a log that begins with calls of other functions', () => {
  it.each([
    'SYS_brk(0)                                       = 0x561da8c0d000',
    '[0x7fbae2b6fc47] SYS_brk(0)                      = 0x556909e14000 <0.000045>',
    '__libc_start_main(0x8048564, 1, 0xbffff794, 0x8048740 <unfinished ...>',
    'getenv("POSIXLY_CORRECT")                        = nil',
    '[pid 7] 21:04:13.832372 getenv("HOME")           = (nil)',
    'setlocale(LC_ALL, "")                            = "C.UTF-8"',
    '7 1.000000 srand(7)                              = <void>',
    'app->mpz_init_set_ui(0x7ffffb01f830, 41, 0x7ffffb01f988, 0x400c60)= 1',
    'bindtextdomain("coreutils", "/usr/share/locale")= "/usr/share/locale"',
    'operator new(unsigned long)(72, 0x7ffe)          = 0x55d0',
  ])('is recognized by the line %j', (line) => {
    expect(sniff(Buffer.from(`isatty(1)                                        = 0\n${line}\n`))).toBe(true)
  })

  it.each([
    'brk(NULL)                               = 0x55d02a094000',
    '[pid  7] openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3',
    'read(3, "malloc(5) = 0x10", 832)        = 832',
    '+++ exited with 0 +++',
  ])('and is told apart from a log of strace: %j', (line) => {
    expect(sniff(Buffer.from(`${line}\n`))).toBe(false)
  })
})

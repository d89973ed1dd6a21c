import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { ValgrindDecoder } from '../../../lib/formats/valgrind/decode.js'
import { decodeAll, type Decoded } from '../../support/drive.js'

function decode(text: string, size?: number): Decoded & { warnings: string[] } {
  const decoder = new ValgrindDecoder()
  return { ...decodeAll(decoder, new Uint8Array(Buffer.from(text, 'latin1')), size), warnings: decoder.warnings }
}

/** The events of a line, or of several with ` / ` between them. */
const events = (line: string): TraceEvent[] =>
  decode(
    `${line
      .split(' / ')
      .map((one) => `--7-- ${one}\n`)
      .join('')}`,
  ).events
const call = (name: string) => ({ fields: { call: name } })

describe('calls', () => {
  it.each<[string, object[]]>([
    ['malloc(0) = 0x4A42040', [{ kind: 'alloc', api: 'malloc', address: 0x4a42040n, size: 0n, process: 7n }]],
    ['malloc(18446744073709551615) = 0x0', [{ address: 0n, size: 2n ** 64n - 1n }]],
    ['calloc(3,4) = 0x10', [{ api: 'calloc', size: 12n, count: 3n }]],
    ['calloc(0,4) = 0x10', [{ api: 'calloc', size: 0n, count: 0n, elementSize: 4n }]],
    ['realloc(0x10,4) = 0x20', [{ kind: 'realloc', api: 'realloc', oldAddress: 16n, address: 32n, size: 4n }]],
    ['realloc(0x0,4)malloc(4) = 0x20', [{ kind: 'realloc', oldAddress: 0n, address: 32n, size: 4n }]],
    ['realloc(0x0,4)malloc(4) /  = 0x20', [{ kind: 'realloc', oldAddress: 0n, address: 32n, size: 4n }]],
    ['realloc(0x10,0)free(0x10) /  = 0', [{ kind: 'realloc', oldAddress: 16n, address: 0n, size: 0n }]],
    ['memalign(al 64, size 5) = 0x40', [{ api: 'memalign', alignment: 64n, size: 5n }]],
    ['memalign(64, 5) = 0x40', [{ api: 'memalign', alignment: 64n, size: 5n }]],
    ['posix_memalign(al 64, size 5) /  = 0x40', [{ alignment: 64n, size: 5n, ...call('posix_memalign') }]],
    ['posix_memalign(0x1FFE, 64, 5) = 0x40', [{ alignment: 64n, size: 5n, address: 64n }]],
    ['posix_memalign(0x1FFE, 3, 5) = 0', [{ alignment: 3n, size: 5n, address: 0n }]],
    ['aligned_alloc(al 64, size 5) = 0x40', [{ alignment: 64n, size: 5n, ...call('aligned_alloc') }]],
    ['memalign(alignment 64, size 5) = 0x40', [{ api: 'memalign', alignment: 64n, size: 5n, address: 64n }]],
    [
      'posix_memalign(al 64, size 5) / free(0x10)',
      [{ kind: 'lost', count: 1n, alignment: 64n, size: 5n, ...call('posix_memalign') }, { kind: 'free' }],
    ],
    ['posix_memalign(al 3, size 5) / free(0x10)', [{ kind: 'alloc', address: 0n }, { kind: 'free' }]],
    [
      'posix_memalign(al 64, size 5) / posix_memalign(al 32, size 6) / malloc(1) = 0x10',
      [{ kind: 'lost', size: 5n }, { kind: 'lost', size: 6n }, { address: 16n }],
    ],
    [
      'aligned_alloc(al 64, size 5)aligned_alloc(al 64, size 6)memalign(al 64, size 7) = 0x40',
      [
        { kind: 'lost', alignment: 64n, size: 5n, ...call('aligned_alloc') },
        { kind: 'lost', size: 6n },
        { address: 64n, size: 7n },
      ],
    ],
    [
      'aligned_alloc(al 64, size 5)free(0x10)',
      [
        { kind: 'lost', size: 5n },
        { kind: 'free', address: 16n },
      ],
    ],
    [
      'aligned_alloc(al 64, size 5)memalign(al 64, size 5) = 0x40',
      [{ address: 64n, alignment: 64n, size: 5n, ...call('aligned_alloc') }],
    ],
    ['_Znwm(8) = 0x40', [{ api: 'new', size: 8n, ...call('_Znwm') }]],
    ['_ZnamRKSt9nothrow_t(8) = 0x0', [{ api: 'new', size: 8n, address: 0n, ...call('_ZnamRKSt9nothrow_t') }]],
    ['_ZnwmSt11align_val_t(size 8, al 32) = 0x40', [{ api: 'new', size: 8n, alignment: 32n }]],
    ['_ZnwmSt11align_val_tRKSt9nothrow_t(8, 32) = 0x40', [{ api: 'new', size: 8n, alignment: 32n }]],
    [
      '_ZdlPvSt11align_val_t(0x40, 32)',
      [{ kind: 'free', api: 'delete', address: 64n, ...call('_ZdlPvSt11align_val_t') }],
    ],
    ['__builtin_vec_new(8) = 0x40', [{ api: 'new', ...call('__builtin_vec_new') }]],
    ['__builtin_delete(0x40)', [{ api: 'delete', ...call('__builtin_delete') }]],
    ['reallocarray(0x0,3,5) = 0x40 /  = 0x40', [{ kind: 'realloc', oldAddress: 0n, count: 3n, size: 15n }]],
    [
      'reallocf(0x20,5) = 0x40 /  = 0x40',
      [{ kind: 'realloc', oldAddress: 32n, address: 64n, size: 5n, ...call('reallocf') }],
    ],
    [
      'malloc_zone_malloc(0x1000, 9) = 0x20',
      [{ api: 'malloc', address: 32n, size: 9n, ...call('malloc_zone_malloc') }],
    ],
    ['zone_calloc(0x1000, 2,3) = 0x20', [{ api: 'calloc', size: 6n, count: 2n, ...call('zone_calloc') }]],
    ['zone_realloc(0x1000,0x20,9) = 0x40', [{ kind: 'realloc', oldAddress: 32n, size: 9n, ...call('zone_realloc') }]],
    ['zone_memalign(0x1000, al 64, size 9) = 0x40', [{ alignment: 64n, size: 9n, ...call('zone_memalign') }]],
    ['malloc_zone_free(0x1000, 0x40)', [{ kind: 'free', address: 64n, ...call('malloc_zone_free') }]],
    [
      ' = 0x40 / free(0x40) /  = 0x40',
      [{ kind: 'alloc', address: 64n }, { kind: 'free' }, { kind: 'alloc', address: 64n }],
    ],
    [' = 0x40', [{ kind: 'alloc', address: 64n, ...call('valloc') }]],
    ['free(0x0)', [{ kind: 'free', api: 'free', address: 0n }]],
    ['free_aligned_sized(0x10, 5, 8)', [{ kind: 'free', address: 16n, ...call('free_aligned_sized') }]],
    ['malloc_usable_size(0x0)malloc(4) = 0x20', [{ api: 'malloc', size: 4n }]],
    [
      'calloc(18446744073709551615,2)malloc(4) = 0x20',
      [
        { api: 'calloc', address: 0n },
        { api: 'malloc', address: 32n },
      ],
    ],
    ['malloc(4) / malloc(5) = 0x20', [{ size: 5n, address: 32n }]],
    [
      'malloc(4) / malloc(5) /  = 0x20',
      [
        { size: 4n, address: 0n },
        { size: 5n, address: 32n },
      ],
    ],
  ])('%s', (line, wanted) => {
    expect(events(line)).toMatchObject(wanted)
  })

  it.each([
    'malloc(5',
    'malloc(x) = 0x1',
    'malloc(5) = 5x',
    'realloc(0x10) = 0x20',
    'Reading syms from /x (0x1)',
    'mallinfo()',
    'malloc_usable_size(0x10) = 24',
  ])('none in %s', (line) => {
    expect(events(line)).toEqual([])
  })

  it('what a line does not say is missing', () => {
    expect(events(' = 0x40')[0]).not.toHaveProperty('size')
    expect(events('free(0x0)')[0]).not.toHaveProperty('fields')
  })

  it('a result belongs to the call of its own process', () => {
    const text = '--1-- malloc(5)\n--2-- malloc(6)\n==1== a warning\n--1--  = 0x10\n--2--  = 0x20\n'
    for (const step of [1, 7, 1000])
      expect(decode(text, step).events).toMatchObject([
        { process: 1n, size: 5n, address: 16n },
        { process: 2n, size: 6n, address: 32n },
      ])
  })

  it('times of --time-stamp are nanoseconds', () => {
    const { events: found, headers } = decode('--01:02:03:04.005 7-- malloc(1) = 0x1\n')
    expect(found[0]?.time).toBe(((26n * 60n + 3n) * 60n + 4n) * 1_000_000_000n + 5_000_000n)
    expect(headers).toEqual([{ format: 'valgrind', timeUnit: 'ns' }])
  })

  it('skips other lines, however long, and counts all that are not the messages of valgrind', () => {
    const text = `==7== Memcheck\nhello\n${'x'.repeat(500_000)}\n--7-- malloc(5) = 0x10\n**7** note\nbye\n`
    for (const step of [1000, 65_536, 1_000_000]) {
      const { events: found, warnings } = decode(text, step)
      expect(found).toHaveLength(1)
      expect(warnings).toEqual([
        "valgrind: skipped lines that are no calls of an allocator or valgrind's own messages: 3; the first is line 2",
      ])
    }
  })

  it('does not count what valgrind prints with -v', () => {
    const text = [
      'Valgrind options:',
      '   --trace-malloc=yes',
      '',
      'Reading syms from /usr/bin/ls',
      'REDIR: 0x4023aa0 (ld-linux-x86-64.so.2:strlen) redirected to 0x580bb0e2 (???)',
      `Considering ${'x'.repeat(5000)}`,
      'malloc(5) = 0x10',
    ]
    expect(decode(text.map((line) => `--7-- ${line}\n`).join(''), 100).warnings).toEqual([])
    const [warning] = decode('--7-- malloc(5) = 0x10\n--7-- free(oops)\n--7--  = x\n').warnings
    expect(warning).toMatch(/: 2; the first is line 2$/)
  })

  it('says how valgrind prints calls where a log has none', () => {
    const text = '==7== Memcheck, a memory error detector\n==7== HEAP SUMMARY:\n'
    expect(decode(text).warnings).toEqual(['valgrind: no calls: run valgrind with --trace-malloc=yes'])
    expect(decode(`${text}--7-- free(0x0)\n`).warnings).toEqual([])
    expect(decode('').warnings).toEqual([])
  })

  it('many in a line fit into a batch that is nearly full', () => {
    const calls = ['--7-- free(0x10)\n'.repeat(3600), `--7-- ${'_Znwm(1)'.repeat(511)}\n`, '--7-- malloc(2) = 0x10\n']
    expect(decode(calls.join(''), 1 << 20).events).toHaveLength(3600 + 510 + 1)
  })

  it('many processes without results take no memory', () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `--${i + 1}-- malloc(${i})\n`).join('')
    expect(decode(`${text}--20000--  = 0x10\n`, 65_536).events.at(-1)).toMatchObject({ size: 19_999n, address: 16n })
  })

  it('a line of many calls has as many events', () => {
    const line = `--7-- ${'calloc(1,2)'.repeat(300)}malloc(1) = 0x10\n`
    expect(decode(line.repeat(30), 65_536).events).toHaveLength(30 * 301)
  })
})

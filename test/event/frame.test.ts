import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  endWithoutAddress,
  formatFrame,
  functionOfFrame,
  parseFrame,
  shortFrame,
  type Frame,
} from '../../lib/event/frame.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc
    .array(
      fc.constantFrom(
        'main',
        ' at ',
        ' in ',
        ' [0x1]',
        ':12',
        '+0x1f',
        '"',
        '\\',
        ' inlined',
        '[unknown]',
        'at ',
        ' ',
        '\n',
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => parts.join('')),
)
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

const frame: fc.Arbitrary<Frame> = fc
  .record(
    {
      function: name,
      source: fc.record({ file: name, line: fc.nat(0xffff_ffff) }, { requiredKeys: ['file'] }),
      place: fc.record({ module: name, offset: u64 }, { requiredKeys: ['module'] }),
      address: u64,
      inlined: fc.constant(true as const),
    },
    { requiredKeys: [] },
  )
  .map(({ source, place, ...rest }) => ({ ...rest, ...source, ...place }))

describe('the text of a frame', () => {
  it.each<[string, Frame]>([
    [
      'main at a.c:12 in /usr/bin/x+0x1f0 [0x55d0]',
      { function: 'main', file: 'a.c', line: 12, module: '/usr/bin/x', offset: 0x1f0n, address: 0x55d0n },
    ],
    ['main', { function: 'main' }],
    ['in /lib/a b.so [0x10]', { module: '/lib/a b.so', address: 16n }],
    ['at a.c:0', { file: 'a.c', line: 0 }],
    ['at a b.c', { file: 'a b.c' }],
    ['f(int) at a.h:3 inlined', { function: 'f(int)', file: 'a.h', line: 3, inlined: true }],
    ['[0x10]', { address: 16n }],
    ['[unknown]', {}],
    ['"run in two" at a.c:1', { function: 'run in two', file: 'a.c', line: 1 }],
    ['f at "b:7"', { function: 'f', file: 'b:7' }],
    ['std::operator| <a, b>', { function: 'std::operator| <a, b>' }],
  ])('%s', (text, parts) => {
    expect(formatFrame(parts)).toBe(text)
    expect(parseFrame(text)).toEqual(parts)
  })

  it.each([
    ['main at a.c:12 in /usr/bin/x [0x55d0]', 'main at a.c:12'],
    ['next at a.h:7 inlined', 'next at a.h:7'],
    ['in /usr/bin/x+0x1f0 [0x55d0]', 'in /usr/bin/x+0x1f0'],
    ['at a.c:0 in /usr/bin/x [0x55d0]', 'at a.c:0 in /usr/bin/x [0x55d0]'],
    ['[0x55d0]', '[0x55d0]'],
    ['f(int)', 'f(int)'],
  ])('%s is short as %s', (text, short) => {
    expect(shortFrame(text)).toBe(short)
  })

  it('says all of a frame, whatever its names are', () => {
    fc.assert(
      fc.property(frame, (parts) => {
        expect(parseFrame(formatFrame(parts))).toEqual(parts)
      }),
      { numRuns: runs(2000) },
    )
  })

  it.each(['"', '"a" b', 'f at', 'f at x:99999999999', 'a\nb', '"\\x"'])(
    'of another form is a name or nothing else: %j',
    (text) => {
      expect(parseFrame(text).address).toBeUndefined()
      expect(functionOfFrame(text).length).toBeGreaterThan(0)
    },
  )

  it('is read in bounded time, however long it is', () => {
    const time = stopwatch()
    for (const part of [' at ', ' in ', '"', ' [0x1', ':1', ' inlined', '\\"'])
      expect(functionOfFrame(part.repeat(20_000))).toBeDefined()
    expect(time()).toBeLessThan(2000)
  })

  it('has no address at the end if it has an offset in a module', () => {
    const encoder = new TextEncoder()
    const without = (text: string): string => text.slice(0, endWithoutAddress(encoder.encode(text)))
    expect(without('f at a.c:1 in /usr/bin/x+0x1f0 [0x55d0]')).toBe('f at a.c:1 in /usr/bin/x+0x1f0')
    for (const text of [
      '',
      ']',
      '[0x1]',
      'in x [0x1]',
      'in x+0x [0x1]',
      'in x+0x1 [0x1] inlined',
      'f in x+0x1',
      '+0x1]',
    ])
      expect(without(text)).toBe(text)
    fc.assert(
      fc.property(frame, (one) => {
        const bytes = encoder.encode(formatFrame(one))
        const { address, ...rest } = one
        const end = endWithoutAddress(bytes)
        const isLeftOut = address !== undefined && one.offset !== undefined && one.inlined !== true
        if (isLeftOut) expect(new TextDecoder().decode(bytes.subarray(0, end))).toBe(formatFrame(rest))
        else if (one.module === undefined && one.file === undefined && one.function === undefined)
          expect(end).toBe(bytes.length)
      }),
      { numRuns: runs(500) },
    )
  })
})

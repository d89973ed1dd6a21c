import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isGlob, isTemplate } from '../../lib/names/patterns.js'
import { KNOWN_SUPPRESSIONS, parseSuppressions, SuppressibleFrames } from '../../lib/names/suppressions.js'
import { runs } from '../support/runs.js'
import { stopwatch } from '../support/stopwatch.js'

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

describe('patterns', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 })

  test('of LeakSanitizer are what a regular expression says', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
    fc.assert(
      fc.property(piece, fc.boolean(), fc.boolean(), text, (middle, begins, ends, is) => {
        const pattern = `${begins ? '^' : ''}${middle}${ends ? '$' : ''}`
        const model = new RegExp(`${begins ? '^' : ''}${middle.split('*').map(escaped).join('.*')}${ends ? '$' : ''}`)
        expect(isTemplate(pattern, is)).toBe(is !== '' && model.test(is))
      }),
      { numRuns: runs(20_000) },
    )
  })

  test('of valgrind are what a regular expression says', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 }), text, (pattern, is) => {
        const model = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`)
        expect(isGlob(pattern, is)).toBe(model.test(is))
      }),
      { numRuns: runs(20_000) },
    )
  })

  test('with many stars take no more than a product of lengths', () => {
    const long = 'a'.repeat(20_000)
    expect(isTemplate(`${'*a'.repeat(500)}b`, long)).toBe(false)
    expect(isGlob(`${'*a'.repeat(500)}b`, long)).toBe(false)
  })
})

const frames = (...texts: string[]) => new SuppressibleFrames().of({ stack: texts })
const matching = (text: string, ...stack: string[]) =>
  parseSuppressions(text)
    .filter((rule) => rule.matches(frames(...stack)))
    .map(({ name }) => name)

describe('rules', () => {
  const stack = ['malloc', 'grow at src/pool.cc:12 in /usr/lib/libpool.so.1+0x10', 'main in /usr/bin/app+0x20']

  test('of LeakSanitizer look at function, file and module of each frame', () => {
    const rules = ['grow', 'pool.cc', 'libpool', '^gr*w$', '^ow', 'main', 'other', '/usr/bin/app$']
    const text = `# known\n\n${rules.map((rule) => `leak:${rule}\r\n`).join('')}`
    expect(matching(text, ...stack)).toEqual(
      ['grow', 'pool.cc', 'libpool', '^gr*w$', 'main', '/usr/bin/app$'].map((rule) => `leak:${rule}`),
    )
    expect(new SuppressibleFrames().of({ function: 'f', module: '/lib/m.so' })).toEqual([
      { function: 'f', module: '/lib/m.so', comparable: 'f' },
    ])
  })

  const block = (name: string, ...lines: string[]) => `{\n  ${[name, ...lines].join('\n  ')}\n}\n`

  test('of valgrind look at the first frames', () => {
    const text = [
      block('one', 'Memcheck:Leak', 'match-leak-kinds: reachable', 'fun:malloc', 'fun:gr*', 'fun:main'),
      block('obj', 'Memcheck:Leak', 'fun:*alloc', 'obj:*/libpool.so.?'),
      block('dots', 'Memcheck:Leak', '...', 'fun:main'),
      block('src', 'Memcheck:Leak', 'fun:malloc', 'src:pool.cc:99'),
      block('later', 'Memcheck:Leak', 'fun:main'),
      block('tools', 'Drd,Memcheck:Leak', 'fun:malloc', 'fun:grow'),
      block('longer', 'Memcheck:Leak', 'fun:malloc', 'fun:grow', 'fun:main', 'fun:start'),
      block('no leak', 'Memcheck:Cond', 'fun:malloc'),
      block('other tool', 'Helgrind:Race', 'fun:malloc'),
    ].join('\n')
    expect(matching(text, ...stack)).toEqual(['one', 'obj', 'dots', 'src', 'tools'])
    // Most recorders leave the function of the allocator out.
    expect(matching(text, ...stack.slice(1))).toEqual(['one', 'obj', 'dots', 'src', 'tools'])
  })

  test('of valgrind that begin with an allocator are about what it allocated', () => {
    const text = [
      ['fun:_Znwm', '...'],
      ['fun:_Znw*', 'fun:f'],
      ['fun:_Znam', 'fun:f'],
      ['fun:malloc', '...'],
      ['fun:malloc', 'fun:_Znwm', 'fun:f'],
      ['fun:malloc', 'fun:f'],
      ['fun:calloc', '...'],
      ['fun:memalign', 'fun:posix_memalign', 'fun:f'],
      ['fun:*', 'fun:f'],
    ]
      .map((lines, i) => block(String(i + 1), 'Memcheck:Leak', ...lines))
      .join('')
    const held = (...stack: string[]) => matching(text, ...stack).join('')
    expect(held('operator new(unsigned long)', 'f', 'main')).toBe('12359')
    expect(held('malloc', 'operator new(unsigned long)', 'f')).toBe('23459')
    expect(held('operator new[](unsigned long)', 'f')).toBe('39')
    expect(held('operator new(unsigned long)', 'operator new[](unsigned long)', 'f')).toBe('139')
    expect(held('_Znwm', 'f', 'main')).toBe('12359')
    expect(held('malloc', 'f', 'main')).toBe('469')
    expect(held('__libc_malloc', 'f', 'main')).toBe('69')
    expect(held('calloc', 'f')).toBe('79')
    expect(held('posix_memalign', 'f')).toBe('89')
    // What has no such function was allocated with one of C.
    expect(held('f', 'main')).toBe('689')
    expect(held('main')).toBe('')
  })

  test('of valgrind may have the other name of a function, which is compared without spaces', () => {
    const text = block('other', 'Memcheck:Leak', 'fun:_ZN1aIS_IiEE1fEPi\ta<a<int> >::f(int*)', 'fun:main')
    expect(matching(text, 'a<a<int>>::f(int*)', 'main')).toEqual(['other'])
    expect(matching(text, 'a<a<int> >::f(int*) [clone .cold]', 'main')).toEqual(['other'])
    expect(matching(text, '_ZN1aIS_IiEE1fEPi', 'main')).toEqual(['other'])
    expect(matching(text, 'a<a<int>>::f(int, int)', 'main')).toEqual([])
    const [rule] = parseSuppressions(text)
    expect(matching(rule.text, 'a<a<int>>::f(int*)', 'main')).toEqual(['other'])
  })

  test('of valgrind take linear time on names with many brackets', () => {
    const [rule] = parseSuppressions('{\nx\nMemcheck:Leak\nfun:f\tg\n}')
    const time = stopwatch()
    expect(rule?.matches(new SuppressibleFrames().of({ stack: ['[clone '.repeat(140_000)] }))).toBe(false)
    expect(time()).toBeLessThan(1000)
  })

  test('that are none are refused with their line', () => {
    expect(() => parseSuppressions('leak:a\nrace:b')).toThrow('line 2: neither leak:PATTERN nor a block')
    expect(() => parseSuppressions('leak:')).toThrow('line 1')
    expect(() => parseSuppressions('\n{\nname\n')).toThrow('line 2: the brace is not closed')
    expect(() => parseSuppressions(block('a'))).toThrow('line 1: the block does not say')
    expect(() => parseSuppressions(block('a', 'Memcheck:Leak', 'function'))).toThrow('"function" is no frame')
    expect(() => parseSuppressions(block('a', 'Memcheck:Leak'))).toThrow('has no frames')
  })

  test('with many dots take bounded time on deep stacks', () => {
    const deep = Array.from({ length: 10_000 }, (_, i) => `f${i}`)
    const lines = Array.from({ length: 200 }, () => '...\n  fun:f*')
    expect(matching(block('dots', 'Memcheck:Leak', ...lines, 'fun:none'), ...deep)).toEqual([])
  })

  test('that are known are those of the C library, its loader and GLib', () => {
    const known = (name: string) => KNOWN_SUPPRESSIONS.some((rule) => rule.matches(frames('malloc', name, 'main')))
    expect(['tzset_internal', '_dl_open_worker_begin', 'main', 'g_thread_self'].map(known)).toEqual([
      true,
      true,
      false,
      true,
    ])
  })
})

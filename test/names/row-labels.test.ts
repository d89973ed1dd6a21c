import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OwnFrames } from '../../lib/names/own-frames.js'
import { rowLabels, type RowOptions } from '../../lib/names/row-labels.js'
import { shortPaths } from '../../lib/names/short-paths.js'
import { runs } from '../support/runs.js'

const stacksOf = (...stacks: string[][]) => stacks.map((stack) => ({ stack }))
const labels = (stacks: string[][], options: Partial<RowOptions> = {}) =>
  rowLabels(stacksOf(...stacks), { own: new OwnFrames(), width: 60, frames: 6, ...options })

describe('labels of rows', () => {
  test('begin with the program, and have as many callers as fit', () => {
    const stack = [
      'operator new(unsigned long)',
      'app::load(char const*) at /home/a/src/load.cpp:12',
      'main at /home/a/main.cpp:3',
    ]
    expect(labels([stack])).toEqual(['app::load at src/load.cpp:12 < main at main.cpp:3'])
    expect(labels([stack], { width: 38 })).toEqual(['app::load at src/load.cpp:12 < main'])
    expect(labels([stack], { width: 34 })).toEqual(['app::load at src/load.cpp:12 < ...'])
    expect(labels([stack], { width: 33 })).toEqual(['app::load at src/load.cpp:12'])
    expect(labels([stack], { width: 24 })).toEqual(['app::load at load.cpp:12'])
    expect(labels([stack], { width: 23 })).toEqual(['...:load at load.cpp:12'])
    expect(labels([stack], { full: true, width: Infinity })).toEqual([
      'app::load(char const*) at /home/a/src/load.cpp:12 < main at /home/a/main.cpp:3',
    ])
    expect(labels([['a', 'b', 'c', 'd']], { frames: 2 })).toEqual(['a < b < ...'])
  })

  test('show what distinguishes rows', () => {
    const own = 'load at a.cpp:1 in app [0x1]'
    // Another caller, beyond the frames that are shown.
    expect(
      labels(
        [
          ['f', 'g', 'h', 'a'],
          ['f', 'g', 'h', 'b'],
        ],
        { frames: 1 },
      ),
    ).toEqual(['f < ... < a', 'f < ... < b'])
    // Other wrappers.
    expect(
      labels([
        ['malloc', own],
        ['calloc', own],
      ]),
    ).toEqual(['load at a.cpp:1, via malloc', 'load at a.cpp:1, via calloc'])
    // Template arguments, parameters.
    expect(labels([['f<int>(A)'], ['f<char>(A)']])).toEqual(['f<int>(A)', 'f<char>(A)'])
    // Addresses, and what is equal.
    expect(labels([[own], ['load at a.cpp:1 in app [0x2]']])).toEqual([own, 'load at a.cpp:1 in app [0x2]'])
    expect(labels([['f'], ['f'], ['f']])).toEqual(['f', 'f (2)', 'f (3)'])
    // A stack that is the beginning of another.
    expect(labels([['f'], ['f', 'g']], { frames: 1 })).toEqual(['f', 'f < ...'])
  })

  test('of real stacks fit, and are not alike', () => {
    const all = JSON.parse(readFileSync(new URL('stacks.json', import.meta.url), 'utf8')) as Record<
      string,
      { stack: string[] }[]
    >
    const stacks = Object.values(all)
      .flat()
      .map(({ stack }) => stack)
    const long = labels(stacks).filter((label) => label.length > 60)
    expect(new Set(labels(stacks)).size).toBe(stacks.length)
    expect(long.length).toBeLessThan(stacks.length / 4)
  })

  test('are never alike', () => {
    const name = fc.constantFrom(
      'f',
      'f(int)',
      'f<int>()',
      'f<char>()',
      'malloc',
      'operator new(unsigned long)',
      'std::a()',
      'g',
      'ff\u0001',
      'ff\\x01',
    )
    const place = fc.constantFrom(
      '',
      ' at /a/b.c:1',
      ' at /a/c/b.c:1',
      ' at /usr/b.c:1',
      ' at b.c:1',
      ' in app+0x1',
      ' in /x/app+0x1',
      ' in app [0x2]',
      ' inlined',
    )
    const frame = fc.tuple(name, place).map((parts) => parts.join(''))
    const row = fc.oneof(
      { weight: 9, arbitrary: fc.array(frame, { maxLength: 5 }).map((stack) => ({ stack })) },
      { weight: 1, arbitrary: fc.constantFrom('f', 'f (2)', '(others)').map((text) => ({ text })) },
    )
    const escape = (text: string) => text.replaceAll('\u0001', '\\x01')
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 12 }),
        fc.integer({ min: 10, max: 60 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        (rows, width, frames, full) => {
          const texts = rowLabels(rows, { own: new OwnFrames(), width, frames, full, escape })
          expect(texts).toHaveLength(rows.length)
          expect(new Set(texts).size).toBe(rows.length)
          // A single row fits, whatever it is.
          for (const one of rows)
            expect(rowLabels([one], { own: new OwnFrames(), width, frames, escape })[0]?.length).toBeLessThanOrEqual(
              width,
            )
        },
      ),
      { numRuns: runs(1000) },
    )
  })
})

describe('paths', () => {
  const short = (...paths: string[]) => [...shortPaths(paths).values()]

  test('lose the folders that all have', () => {
    expect(short('/home/a/src/x.c', '/home/a/src/net/y.c', '/home/a/main.c')).toEqual([
      'src/x.c',
      'src/net/y.c',
      'main.c',
    ])
    expect(short('/home/a/x.c')).toEqual(['x.c'])
    expect(short('/home/a/./b/././x.c', '/home/a/y.c')).toEqual(['b/x.c', 'y.c'])
    expect(short('/home/a/./x.c', '/home/a/x.c', '/home/b')).toEqual(['./x.c', 'a/x.c', 'b'])
    expect(short('/home/a/x.c', '/usr/include/c++/12/bits/stl_map.h', './elf/rtld.c')).toEqual([
      'x.c',
      'stl_map.h',
      'rtld.c',
    ])
    expect(short('/home/a/main.go', '/home/a/b/x.go', '/tmp/go-build/cgo.c', '/root/go/pkg/mod/m@v1/y.go')).toEqual([
      'main.go',
      'b/x.go',
      'cgo.c',
      'y.go',
    ])
    expect(short('src/x.c', 'x.c')).toEqual(['src/x.c', 'x.c'])
  })

  test('stay different', () => {
    expect(short('/p/x.c', '/usr/x.c', 'x.c', '/usr/lib/x.c')).toEqual(['p/x.c', 'usr/x.c', 'x.c', 'lib/x.c'])
    const part = fc.constantFrom('a', 'b', 'usr', 'lib', '..', '.', '')
    const path = fc.array(part, { maxLength: 5 }).map((parts) => parts.join('/'))
    fc.assert(
      fc.property(fc.uniqueArray(path), (paths) => {
        expect(new Set(short(...paths)).size).toBe(paths.length)
      }),
      { numRuns: runs(1000) },
    )
  })
})

test('files and modules lose their own common folders: a program is often built elsewhere', () => {
  const frames = ['work at /src/app/a.cpp:12 in /tmp/build/app+0x10', 'main at /src/app/b.cpp:3 in /tmp/build/app+0x20']
  const unnamed = ['in /tmp/build/app+0x99', 'start at /src/app/b.cpp:9']
  expect(rowLabels([{ stack: frames }, { stack: unnamed }], { own: new OwnFrames(), width: 80, frames: 6 })).toEqual([
    'work at a.cpp:12 < main at b.cpp:3',
    'in app+0x99 < start at b.cpp:9',
  ])
})

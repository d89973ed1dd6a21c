import { expect, test } from 'vitest'
import type { ReportData } from '../../lib/transforms/report/result.js'
import { Model } from '../../page/model.js'
import { namedStacks, stackLabels } from '../../page/sites/rows.js'

const FRAMES = [
  { name: 'operator new(unsigned long)' },
  { name: 'std::vector<int>::reserve(unsigned long)', file: '/usr/include/c++/12/bits/vector.tcc', line: 70 },
  { name: 'app::load(char const*)', file: '/home/a/load.cpp', line: 12 },
  { name: 'main', file: '/home/a/main.cpp', line: 3 },
  { name: '/usr/lib/libz.so+0x1f0' },
  { name: 'std::map<int, int>::operator[](int const&)' },
]

test('rows of tables begin with the program, and are never alike', () => {
  const model = new Model({ frames: FRAMES, summary: {} } as unknown as ReportData)
  const rows = namedStacks(model, [[0, 1, 2, 3], [0, 5, 2, 3], [4, 3], [], [3, -1]], '(rest)')
  expect(rows.map(({ name, place, callers }) => [name, place, ...callers])).toEqual([
    ['app::load', 'load.cpp:12', 'main at main.cpp:3', 'via std::vector<...>::reserve at vector.tcc:70'],
    ['app::load', 'load.cpp:12', 'main at main.cpp:3', 'via std::map<...>::operator[]'],
    ['libz.so+0x1f0', undefined, 'main at main.cpp:3'],
    ['(rest)', undefined],
    ['main', 'main.cpp:3'],
  ])
  const stacks = [
    [0, 1, 2, 3],
    [0, 5, 2, 3],
    [4, 3],
  ]
  expect(stackLabels(model, stacks)).toEqual([
    'app::load at load.cpp:12 ← …, via std::vector<...>::reserve at vector.tcc:70',
    'app::load at load.cpp:12 ← main, via std::map<...>::operator[]',
    'libz.so+0x1f0 ← main at main.cpp:3',
  ])
  // The whole stack is in the title and in what a search looks at.
  expect(rows[0]?.stack[0]).toBe('operator new(unsigned long)')
  expect(rows[4]?.stack).toEqual(['main (/home/a/main.cpp:3)', '(outer frames left out)'])
})

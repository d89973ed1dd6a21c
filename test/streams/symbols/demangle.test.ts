import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { demangled, demangledNames } from '../../../lib/streams/symbols/demangle.js'

const { signal } = new AbortController()
const { status } = spawnSync('c++filt', ['--no-verbose', '--format=dlang', '_D3app4leakFiZv'], { stdio: 'ignore' })

test.skipIf(status !== 0)('names of C++, Rust and D are demangled, and others stay as they are', async () => {
  const names = ['_D3app4leakFiZv', '_ZN3app4leakEi', '_Dfoo', 'main', '_DYNAMIC', 'app::_D3app4leakFiZv', '_D2dd4gone']
  expect(await demangled(names, signal)).toEqual([
    'app.leak(int)',
    'app::leak(int)',
    '_Dfoo',
    'main',
    '_DYNAMIC',
    'app::_D3app4leakFiZv',
    '_D2dd4gone',
  ])
  const answer = [[{ function: '_D3app4leakFiZv', file: 'a.d', line: 3 }, { file: 'b.d' }], []]
  expect(await demangledNames(answer, signal)).toEqual([
    [{ function: 'app.leak(int)', file: 'a.d', line: 3 }, { file: 'b.d' }],
    [],
  ])
})

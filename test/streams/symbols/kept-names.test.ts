import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ElfFile } from '../../../lib/streams/symbols/elf-file.js'
import { keepNames, keptNames, namesPath } from '../../../lib/streams/symbols/kept-names.js'
import { shell } from '../../support/commands.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-names-'))
  vi.stubEnv('XDG_CACHE_HOME', folder)
})
afterEach(() => rmSync(join(folder, 'heapflow'), { recursive: true, force: true }))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const FILE: ElfFile = { path: '/usr/lib/x', buildId: 'abcd', hasLines: true, loaded: [], modified: 5 }
const NAMES = new Map([
  [0x10n, [{ function: 'f', file: 'a.c', line: 3 }, { function: 'main' }]],
  [2n ** 63n, []],
])

describe('the names of a module', () => {
  test('are those that were kept', () => {
    const path = namesPath(FILE, 'addr2line')!
    expect(keptNames(path).size).toBe(0)
    keepNames(path, NAMES)
    expect(keptNames(path)).toEqual(NAMES)
  })

  test('are kept for one build, one file and one tool', () => {
    const paths = [
      FILE,
      { ...FILE, buildId: 'abce' },
      { ...FILE, modified: 6 },
      { ...FILE, path: '/usr/lib/debug/x' },
    ].flatMap((file) => ['addr2line', 'llvm-symbolizer'].map((tool) => namesPath(file, tool)))
    expect(new Set(paths).size).toBe(8)
    const { buildId: _, ...other } = FILE
    expect(namesPath(other, 'addr2line')).toBeUndefined()
  })

  const damaged = [
    '',
    '{"0x10":',
    '{"x":[]}',
    '{"0x10":5}',
    '[]',
    'null',
    '{"0x10":[[5,null,null]]}',
    '{"0x1":[["f","a","3"]]}',
  ]
  test.each(damaged)('are none in a damaged file: %j', (text) => {
    const path = namesPath(FILE, 'addr2line')!
    keepNames(path, NAMES)
    writeFileSync(path, text)
    expect(keptNames(path).size).toBe(0)
  })

  test('are none where others could have written them', () => {
    const path = namesPath(FILE, 'addr2line')!
    keepNames(path, NAMES)
    chmodSync(path, 0o666)
    expect(keptNames(path).size).toBe(0)
  })

  test('are in at most 50 files, the newest ones', () => {
    const pathOf = (modified: number) => namesPath({ ...FILE, modified }, 'addr2line')!
    for (let i = 0; i < 52; i++) {
      keepNames(pathOf(i), NAMES)
      utimesSync(pathOf(i), 1e9 + i, 1e9 + i)
    }
    expect(readdirSync(join(folder, 'heapflow'))).toHaveLength(50)
    expect([0, 1, 2, 51].map((i) => keptNames(pathOf(i)).size)).toEqual([0, 0, 2, 2])
  })
})

const has = (tool: string): boolean => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined
const missing = ['cc', 'addr2line'].filter((tool) => !has(tool))

test.skipIf(missing.length > 0)('a slow tool is asked once for the same names', { tags: ['slow'] }, async () => {
  const [bin, app] = [join(folder, 'bin'), join(folder, 'app')]
  mkdirSync(bin)
  writeFileSync(`${app}.c`, 'int main(void) { return 0; }\n')
  execFileSync('cc', ['-g', '-Wl,--build-id', `${app}.c`, '-o', app])
  const calls = join(folder, 'calls')
  const script = `#!/bin/sh
case $1 in --version) exit;; esac
echo >> ${calls}
sleep 0.2
while read -r address; do printf '%s\\nplanted\\na.c:7\\n' "$address"; done
`
  writeFileSync(join(bin, 'addr2line'), script, { mode: 0o755 })
  const frame = `in ${app}+0x1010`
  const trace = `${JSON.stringify({ kind: 'alloc', address: '0x10', size: 1, stack: [frame] })}\n`
  for (let run = 0; run < 2; run++) {
    const { stdout, stderr } = await shell(`env PATH=${bin}:$PATH hf-symbolize --tool addr2line`, trace)
    expect(stderr).toBe('')
    expect(stdout.toString()).toContain(`planted at a.c:7 ${frame}`)
  }
  expect(readFileSync(calls, 'utf8')).toBe('\n')
})

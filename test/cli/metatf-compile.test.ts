import fs, { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { metatfCompile } from '../../lib/cli/commands/metatf-compile.js'
import { main } from '../../lib/cli/main.js'
import { compileDtd } from '../../lib/entry/metatf.js'
import { HATF10 } from '../metatf/binary/support.js'

let folder = ''
let said = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
  said = ''
  // Messages are written with writeSync, to file descriptor 2.
  vi.spyOn(fs, 'writeSync').mockImplementation((_, bytes, from) => {
    const rest = Buffer.from(bytes).subarray(Number(from))
    said += rest.toString()
    return rest.length
  })
  syncBuiltinESMExports()
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  process.exitCode = undefined
  rmSync(folder, { recursive: true })
})

const EXAMPLE = 'examples/hatf10.dtd'

test.each([
  ['x.ts', [], 'ts'],
  ['x.js', [], 'js'],
  ['x.mjs', [], 'js'],
  ['x.txt', ['--language', 'js'], 'js'],
  ['x.js', ['--language', 'ts'], 'ts'],
] as const)('into %s with %j', async (name, flags, language) => {
  const output = join(folder, name)
  await main(metatfCompile, [EXAMPLE, '-o', output, ...flags])
  expect(said).toBe('')
  expect(process.exitCode).toBeUndefined()
  expect(readFileSync(output, 'utf8')).toBe(compileDtd(HATF10, { language }))
})

test.each([
  [[], /^metatf-compile: name one file with a definition; see/],
  [['a.dtd', 'b.dtd'], /^metatf-compile: name one file with a definition; see/],
  [[EXAMPLE, '-o', EXAMPLE], /is the input too/],
  [[EXAMPLE, '-o', 'x.cjs'], /modules are called \.ts, \.mts, \.js or \.mjs, not \.cjs: give --language/],
  [[tmpdir()], /^metatf-compile: \S+ is a folder; see/],
  [['there-is-none.dtd'], /there is no there-is-none\.dtd in/],
] as const)('a command line that makes no sense: %j', async (argv, message) => {
  await main(metatfCompile, [...argv])
  expect(said).toMatch(message)
  expect(process.exitCode).toBe(2)
})

test('a definition that is wrong: its place, and nothing is written', async () => {
  const path = join(folder, 'wrong.dtd')
  writeFileSync(path, 'tag.width = 1;\nalloc : (tag, size) { tag.value = 4; }\n')
  await main(metatfCompile, [path, '-o', join(folder, 'x.ts')])
  expect(said).toMatch(/wrong\.dtd:2:15: /)
  expect(process.exitCode).toBe(1)
  expect(() => readFileSync(join(folder, 'x.ts'))).toThrow('ENOENT')
})

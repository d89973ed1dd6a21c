// @module-tag slow
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fileName, RECORDER_LIBRARY, RECORDER_MACHINES, RECORDER_READER } from '../../../lib/streams/record/compiled.js'
import { can, folder, rowsOf, run, sizesOf, usePrograms } from './programs.js'

usePrograms('leaks')

const root = fileURLToPath(new URL('../../../', import.meta.url))
const namesFor = (machine: string) => [RECORDER_LIBRARY, RECORDER_READER].map((native) => fileName(native, machine))
const made = (name: string) => join(root, 'dist/native', name)
/** The files that run here, and those of the package, for all machines. */
const NAMES = namesFor(process.arch)
const files = NAMES.map(made)
const ALL = RECORDER_MACHINES.flatMap(namesFor)
const isMade = ALL.map(made).every((file) => existsSync(file))

/** The versions of glibc that a file needs, and the libraries. */
function neededBy(file: string): { minors: number[]; libraries: string[] } {
  const text = readFileSync(file, 'latin1')
  return {
    minors: Array.from(text.matchAll(/\bGLIBC_2\.(\d+)/g), ([, minor]) => Number(minor)),
    libraries: Array.from(new Set(text.match(/\blib\w+\.so\.\d+/g))),
  }
}

describe.skipIf(!isMade || !can('recorder'))('the recorder of the package (needs npm run native)', () => {
  test('needs glibc 2.17, no other library, and says nothing of where it was made', () => {
    for (const file of ALL.map(made)) {
      const { minors, libraries } = neededBy(file)
      expect(minors.length).toBeGreaterThan(0)
      expect(Math.max(...minors)).toBe(17)
      // libdl is a part of glibc, and libzstd is loaded where it is there.
      expect(libraries.filter((name) => !/^lib(?:dl|zstd)\./.test(name))).toEqual(['libc.so.6'])
      // The root of a process, in /proc, is no folder of the machine.
      expect(readFileSync(file, 'latin1')).not.toMatch(/\/(?:home|(?<!%u\/)root|tmp|work|Users)\//)
    }
  })

  test('is as large as the documents say', () => {
    const bytes = ALL.reduce((sum, name) => sum + statSync(made(name)).size, 0)
    for (const name of ['README.md', 'docs/recording.md']) {
      const [, kilobytes] = /\((\d+) KB\)/.exec(readFileSync(join(root, name), 'utf8')) ?? []
      expect(Number(kilobytes) / (bytes / 1000)).toBeCloseTo(1, 1.5)
    }
  })

  test('is in the package', () => {
    const [pack] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
    ) as [{ files: { path: string; mode: number }[] }]
    const native = pack.files.filter(({ path }) => path.startsWith('dist/native/recorder-'))
    expect(native.map(({ path }) => path).toSorted()).toEqual(ALL.map((name) => `dist/native/${name}`).toSorted())
    expect(native.every(({ mode }) => (mode & 0o111) !== 0)).toBe(true)
  })

  test('records without a compiler; where CC names one, that compiles', async () => {
    const cache = join(folder, 'own-cache')
    const hfRecord = `XDG_CACHE_HOME=${cache} hf-record --with recorder -- ./leaks`
    // The folder of PATH has no compiler.
    const tools = 'mkdir tools; ln -s "$(command -v mkfifo)" tools'
    const { code, stdout } = await run(`unset CC; ${tools}; PATH=${folder}/tools; ${hfRecord}`)
    expect(code).toBe(3)
    expect(sizesOf(rowsOf(stdout))).toEqual(expect.arrayContaining([1000, 2000, 3000]))
    expect(existsSync(cache)).toBe(false)
    const shown = await run(`unset CC; XDG_CACHE_HOME=${cache} hf-record --print-preload -o a.hfrec`)
    for (const file of files) expect(shown.stdout.toString()).toContain(file)
    expect((await run(`CC=cc ${hfRecord}`)).code).toBe(3)
    expect(readdirSync(join(cache, 'heapflow')).toSorted()).toEqual([...NAMES].toSorted())
  })
})

// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { REPLAY_DRIVER } from '../../../lib/cli/drive/runs.js'
import { fileName } from '../../../lib/streams/record/compiled.js'
import { seeded } from '../../shapes/shape.js'
import { countCalls, countsIn, sorted } from '../../support/call-counts.js'
import { scratch, shell } from '../../support/commands.js'
import { canDrive, COUNTER, workFolder } from './programs.js'
import { calls, operationsOf } from './traces.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const NAMES = ['x64', 'arm64'].map((machine) => fileName(REPLAY_DRIVER, machine))
const [ours, ARM] = NAMES.map((name) => join(root, 'dist/native', name)) as [string, string]
const isMade = [ours, ARM].every((file) => existsSync(file))

const ARM_LIBRARIES = '/usr/aarch64-linux-gnu'
const canEmulate =
  existsSync(`${ARM_LIBRARIES}/lib/ld-linux-aarch64.so.1`) &&
  spawnSync('qemu-aarch64', ['--version']).error === undefined

const { at, write, library, driver, run } = workFolder()

describe.skipIf(!isMade || !canDrive || process.arch !== 'x64')(
  'the replay driver of the package (needs npm run native)',
  () => {
    beforeAll(() => {
      expect(driver('driver')).toBe(true)
      library('counter', COUNTER)
    })

    test('needs glibc 2.17, only its libraries, and says nothing of where it was made', () => {
      for (const file of [ours, ARM]) {
        const text = readFileSync(file, 'latin1')
        const minors = Array.from(text.matchAll(/\bGLIBC_2\.(\d+)/g), ([, minor]) => Number(minor))
        expect(Math.max(...minors)).toBe(17)
        expect([...new Set(text.match(/\blib\w+\.so\.\d+/g))].toSorted()).toEqual([
          'libc.so.6',
          'libdl.so.2',
          'libpthread.so.0',
        ])
        expect(text).not.toMatch(/\/(?:home|root|tmp|work|Users)\//)
      }
    })

    test('is in the package', () => {
      const [pack] = JSON.parse(
        execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
      ) as [{ files: { path: string; mode: number }[] }]
      const own = pack.files.filter(({ path }) => path.startsWith('dist/native/replay-driver-'))
      expect(own.map(({ path }) => path).toSorted()).toEqual(NAMES.map((name) => `dist/native/${name}`).toSorted())
      expect(own.every(({ mode }) => (mode & 0o111) !== 0)).toBe(true)
    })

    test('replays without a compiler; where CC names one, that compiles', async () => {
      const cache = scratch()
      const events = '{"kind":"alloc","address":"0x10","size":100}\n{"kind":"free","address":"0x10"}\n{"kind":"end"}\n'
      const replay = `XDG_CACHE_HOME=${cache} hf-replay --runs 1 --allocator glibc`
      const without = await shell(`unset CC; PATH=${scratch()}; ${replay}`, events)
      expect([without.code, without.stderr]).toEqual([0, ''])
      expect(without.stdout.toString()).toContain('2 calls of 1 thread')
      expect(readdirSync(cache)).toEqual([])
      expect((await shell(`export CC=cc; ${replay}`, events)).code).toBe(0)
      expect(readdirSync(join(cache, 'heapflow'))).toEqual([fileName(REPLAY_DRIVER)])
    })

    test.each([1, 9])('makes exactly the calls of a trace of %d threads', (threads) => {
      const events = [...calls(threads, 30_000, seeded(threads))]
      const env = { LD_PRELOAD: at('counter.so'), COUNTS: at('counts') }
      const { status, stderr } = spawnSync(ours, [write('t.ops', operationsOf(events))], { env, encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
      expect(sorted(countsIn(at('counts')))).toEqual(sorted(countCalls(events)))
    })

    test('blocks have the distances that the compiled one gives them', () => {
      const events = [...calls(1, 30_000, seeded(4))]
      const operations = write('t.ops', operationsOf(events))
      const sizes = events.flatMap((event) => (event.kind === 'alloc' || event.kind === 'realloc' ? event.size! : []))
      const addresses = (program: string) => {
        const { status, stdout } = spawnSync(program, [operations, `addresses=${at('addresses')}`], {
          encoding: 'utf8',
        })
        expect(status).toBe(0)
        const bytes = readFileSync(at('addresses'))
        expect((JSON.parse(stdout) as { failed: number }).failed).toBe(0)
        return sizes.map((_, i) => bytes.readBigUInt64LE(8 * i))
      }
      const [own, other] = [addresses(ours), addresses(at('driver'))]
      const distances = new Set(sizes.flatMap((size, i) => (size < 131_072n ? own[i]! - other[i]! : [])))
      expect(sizes.length).toBeGreaterThan(15_000)
      expect(distances.size).toBe(1)
    })

    test.skipIf(!canEmulate)('for arm64: keeps the contents of blocks (needs qemu-aarch64)', () => {
      for (const threads of [1, 5]) {
        const operations = write('t.ops', operationsOf([...calls(threads, 20_000, seeded(threads))]))
        const emulated = (...words: string[]) => {
          const all = ['-L', ARM_LIBRARIES, ARM, operations, ...words]
          const { status, stdout, stderr } = spawnSync('qemu-aarch64', all, { encoding: 'utf8', timeout: 120_000 })
          expect([status, stderr]).toEqual([0, ''])
          return JSON.parse(stdout) as Record<string, number>
        }
        const here = run('driver', [operations, 'verify=1']).run!
        const result = emulated('verify=1')
        expect(result).toMatchObject({ calls: here.calls, threads: here.threads, failed: 0, damaged: 0, misaligned: 0 })
        expect(emulated('watch=1')).toMatchObject({ calls: here.calls, failed: 0 })
        expect(emulated('empty=1', 'touch=none')).toMatchObject({ calls: here.calls, failed: 0 })
      }
    })
  },
)

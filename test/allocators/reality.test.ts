import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { replayFile, simulate } from '../support/simulate.js'

/** The pattern of sizes that has all kinds, and how many there are. */
const PATTERNS = 9
const CALLS = 20_000
const THREADS = [1, 1, 2, 5, 8]
/** Call sequences for each word size. */
const SEQUENCES = 60

const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The program for a word size, or why there is none. */
function build(bits: 32 | 64): { program: string } | { reason: string } {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { reason: 'needs Linux on x86-64' }
  const source = fileURLToPath(new URL('random-calls.c', import.meta.url))
  const program = join(folder, `random-calls-${bits}`)
  const { error, status } = spawnSync('gcc', [`-m${bits}`, '-O1', '-fno-builtin', source, '-o', program, '-lpthread'])
  if (error !== undefined) return { reason: 'needs gcc' }
  if (status !== 0) return { reason: bits === 32 ? 'needs gcc-multilib' : 'needs libc6-dev' }
  return { program }
}

/** The minor version of this machine's glibc, or why it is none that is known. */
function glibc(): { version: number } | { reason: string } {
  const { stdout } = spawnSync('getconf', ['GNU_LIBC_VERSION'], { encoding: 'utf8' })
  const version = Number(/^glibc 2\.(\d+)/.exec(stdout ?? '')?.[1])
  return version >= 23 && version <= 43 ? { version } : { reason: 'needs glibc 2.23 to 2.43' }
}

describe.each([64, 32] as const)('this machine, %i bit', { tags: ['slow'] }, (bits) => {
  test(`at least 99.98 %% of the addresses of ${SEQUENCES} random call sequences`, { timeout: 600_000 }, ({ skip }) => {
    const built = build(bits)
    const found = glibc()
    if ('reason' in built) return skip(built.reason)
    if ('reason' in found) return skip(found.reason)
    const cores = Number(execFileSync('nproc', { encoding: 'utf8' }))
    const total = { blocks: 0, wrong: 0 }
    for (let i = 0; i < SEQUENCES; i++) {
      const threads = THREADS[i % THREADS.length] as number
      const file = join(folder, 'calls.txt')
      execFileSync(built.program, [`${1000 + i}`, `${i % PATTERNS}`, `${threads}`, `${CALLS}`, file])
      const { blocks, wrong } = simulate(replayFile(file), {
        allocator: 'ptmalloc',
        version: found.version,
        bits,
        cores,
      })
      expect({ i, isGood: wrong <= 0.002 * blocks }).toEqual({ i, isGood: true })
      total.blocks += blocks
      total.wrong += wrong
    }
    expect(total.blocks).toBeGreaterThan(500_000)
    expect(total.wrong / total.blocks).toBeLessThanOrEqual(0.0002)
  })
})

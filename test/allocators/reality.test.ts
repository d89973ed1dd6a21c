import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { AllocatorSettings } from '../../lib/allocators/index.js'
import { replayFile, simulate } from '../support/simulate.js'

const CALLS = 20_000
const THREADS = [1, 1, 2, 5, 8]
/** Call sequences for each word size, and for a first look. */
const SEQUENCES = 100
const FEW = 2

const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The program for a word size, or why there is none. @param flags more of them for the compiler */
function build(bits: 32 | 64, ...flags: string[]): { program: string } | { reason: string } {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { reason: 'needs Linux on x86-64' }
  const source = fileURLToPath(new URL('random-calls.c', import.meta.url))
  const program = join(folder, `random-calls-${bits}${flags.join('')}`)
  const options = [`-m${bits}`, '-O1', '-fno-builtin', ...flags, source, '-o', program, '-lpthread', '-ldl']
  const { error, status } = spawnSync('gcc', options)
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

const coreCount = () => Number(execFileSync('nproc', { encoding: 'utf8' }))

/** What to run: a program, how often, with which patterns of sizes, and what it is loaded with. */
interface Sequences {
  program: string
  count: number
  patterns: readonly number[]
  preload?: string
}

/** Replays random call sequences. @returns how many blocks began, how many elsewhere, and the largest share of these */
function replaySequences({ program, count, patterns, preload = '' }: Sequences, settings: AllocatorSettings) {
  const total = { blocks: 0, wrong: 0, worst: 0 }
  for (let i = 0; i < count; i++) {
    const threads = THREADS[i % THREADS.length]
    const file = join(folder, 'calls.txt')
    const pattern = patterns[i % patterns.length]
    execFileSync(program, [`${1000 + i}`, `${pattern}`, `${threads}`, `${CALLS}`, file], {
      env: { ...process.env, LD_PRELOAD: preload },
    })
    const { blocks, wrong } = simulate(replayFile(file), settings)
    total.blocks += blocks
    total.wrong += wrong
    total.worst = Math.max(total.worst, wrong / blocks)
  }
  return total
}

/**
 * The largest share of blocks elsewhere, in all call sequences together and in one. In 32 bits, where the kernel puts
 * the libraries decides whether arenas and mapped blocks fill the same gaps: a sequence with eight threads has up to
 * 116 of 10,888 blocks elsewhere, in about one of 40 runs.
 */
const LIMITS = { 64: { all: 0.0002, one: 0.002 }, 32: { all: 0.0005, one: 0.02 } }

/** All patterns of sizes but the one that mixes the others. */
const PATTERNS = [0, 1, 2, 3, 4, 5, 6, 7, 8]

describe.each([64, 32] as const)('glibc of this machine, %i bit', (bits) => {
  function check(count: number, skip: (reason: string) => void): void {
    const built = build(bits)
    const found = glibc()
    if ('reason' in built) return skip(built.reason)
    if ('reason' in found) return skip(found.reason)
    const settings = { allocator: 'ptmalloc', version: found.version, bits, cores: coreCount() } as const
    const { blocks, wrong, worst } = replaySequences({ program: built.program, count, patterns: PATTERNS }, settings)
    expect(worst).toBeLessThanOrEqual(LIMITS[bits].one)
    expect(blocks).toBeGreaterThan(8000 * count)
    expect(wrong / blocks).toBeLessThanOrEqual(LIMITS[bits].all)
  }

  test('most addresses of a few random call sequences', { timeout: 60_000 }, ({ skip }) => {
    check(FEW, skip)
  })

  const title = `most addresses of ${SEQUENCES} random call sequences`
  test(title, { tags: ['large'], timeout: 900_000 }, ({ skip }) => check(SEQUENCES, skip))
})

describe('jemalloc of this machine', { tags: ['slow'] }, () => {
  const LIBRARIES = ['/usr/lib/x86_64-linux-gnu/libjemalloc.so.2', '/usr/lib64/libjemalloc.so.2']

  // The place of a large block in its first page is random, so 63 of 64 new ones are elsewhere.
  test.each<[string, number[], number]>([
    ['small blocks', [0, 5], 0.99],
    ['few large blocks', [1, 4], 0.98],
    ['all sizes', PATTERNS, 0.6],
  ])('%s of 30 random call sequences', { timeout: 600_000 }, (_, patterns, share) => {
    const built = build(64, '-DPRELOADED')
    const preload = process.env['HEAPFLOW_JEMALLOC'] ?? LIBRARIES.find(existsSync)
    if ('reason' in built || preload === undefined) return
    const settings = { allocator: 'jemalloc', version: 5, bits: 64, cores: coreCount() } as const
    const { blocks, wrong } = replaySequences({ program: built.program, count: 30, patterns, preload }, settings)
    expect(1 - wrong / blocks).toBeGreaterThanOrEqual(share)
  })
})

// @module-tag slow
import { execFileSync } from 'node:child_process'
import { createReadStream, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { EventBatch } from '../../../lib/event/batch.js'
import { TAIL_BYTES, ORDERS } from '../../../lib/transforms/drive/layout.js'
import { checksum, NO_SUM } from '../../../lib/transforms/drive/tables.js'
import { decodeAny } from '../../../lib/streams/decode.js'
import { decompress } from '../../../lib/streams/decompress.js'
import { countCalls, countsIn, sorted } from '../../support/call-counts.js'
import { corpusPath } from '../../support/corpus.js'
import { seeded } from '../../shapes/shape.js'
import { readOperations } from '../../support/operations.js'
import { runs } from '../../support/runs.js'
import { ALLOCATORS, BROKEN, canDrive, COUNTER, SOURCE, workFolder } from './programs.js'
import { calls, operationsOf } from './traces.js'

/** Traces of eight recorders and versions, in which every call can be replayed. */
const CORPUS = [
  'memory-replay/git.txt.gz',
  'memory-replay/python.txt.gz',
  'memory-replay/twolf-map9v3.txt.gz',
  'memory-replay/mstress.txt.gz',
  'memory-replay/systemui.txt.gz',
  'mtrc/espresso-tiny64pie.mtrc.gz',
  'heaptrack/python-large.raw.zst',
  'ltrace/gawk-large.ltrace.gz',
  'mtrace/gawk.mtrace.gz',
]
/** Those of one thread, recorded with the version of glibc that Debian 12 has. */
const SAME_GLIBC = ['git', 'python', 'twolf-map9v3'].map((name) => `memory-replay/${name}.txt.gz`)

const { at, write, driver, library, run } = workFolder()

async function batchesOfFile(path: string): Promise<EventBatch[]> {
  const batches: EventBatch[] = []
  for await (const batch of createReadStream(path).pipe(decompress()).pipe(decodeAny({ path })))
    batches.push(batch as EventBatch)
  return batches
}

/** What the preloaded library counts while the driver runs. */
function countRun(operations: string): Map<string, number> {
  const { status, stderr } = run('driver', [operations], { LD_PRELOAD: at('counter.so'), COUNTS: at('counts') })
  expect([status, stderr]).toEqual([0, ''])
  return countsIn(at('counts'))
}

describe.skipIf(!canDrive)('the driver of replays (needs Linux and cc)', () => {
  beforeAll(() => {
    expect(driver('driver')).toBe(true)
    library('counter', COUNTER)
    library('broken', BROKEN)
  })

  test('its sources have no warning', () => {
    for (const compiler of ['gcc', 'clang']) {
      const words = [
        '-std=c11',
        '-O1',
        '-Wall',
        '-Wextra',
        '-Wconversion',
        '-Wshadow',
        '-Werror',
        '-pthread',
        '-fsyntax-only',
      ]
      try {
        execFileSync(compiler, [...words, SOURCE], { stdio: 'pipe' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
  })

  test.each([1, 2, 9, 120])('makes exactly the calls of a trace of %d threads', (threads) => {
    const events = [...calls(threads, 30_000, seeded(threads))]
    for (const order of ORDERS)
      expect(sorted(countRun(write('t.ops', operationsOf(events, { order }))))).toEqual(sorted(countCalls(events)))
  })

  test('makes the calls of a damaged trace that can be made', () => {
    const random = seeded(3)
    // Some events are missing, others come twice.
    const events = [...calls(3, 30_000, random)].flatMap((event) => {
      const choice = random(40)
      return choice === 0 ? [] : choice === 1 ? [event, event] : [event]
    })
    expect(sorted(countRun(write('t.ops', operationsOf(events))))).toEqual(sorted(countCalls(events)))
  })

  test.each(CORPUS)('makes exactly the calls of %s', { tags: ['corpus'] }, async (name) => {
    const batches = await batchesOfFile(corpusPath(name))
    const operations = write('t.ops', operationsOf(batches))
    const events = batches.filter(({ header }) => header === batches[0]!.header).values()
    const all = (function* () {
      for (const batch of events) yield* batch
    })()
    expect(sorted(countRun(operations))).toEqual(sorted(countCalls(all)))
    for (const { name: allocator, library: path } of ALLOCATORS) {
      const { run: result, signal } = run('driver', [operations, 'verify=1'], path === null ? {} : { LD_PRELOAD: path })
      expect([allocator, signal, result?.damaged]).toEqual([allocator, null, 0])
    }
  })

  test('writes an address for each call, also for one that gives no block', () => {
    const events = [
      { kind: 'alloc', address: 16n, size: 100n },
      { kind: 'realloc', oldAddress: 16n, address: 32n, size: 0n },
      { kind: 'alloc', address: 48n, size: 10n },
    ] as const
    const { run: result } = run('driver', [write('t.ops', operationsOf(events)), `addresses=${at('addresses')}`])
    if (result?.object.includes('libc.so') !== true) return
    const bytes = readFileSync(at('addresses'))
    expect([0, 1, 2].map((n) => bytes.readBigUInt64LE(8 * n) > 0n)).toEqual([true, false, true])
  })

  test.each(SAME_GLIBC)('has the distances of %s under the same glibc', { tags: ['corpus'] }, async (name) => {
    const batches = await batchesOfFile(corpusPath(name))
    const { run: result } = run('driver', [write('t.ops', operationsOf(batches)), `addresses=${at('addresses')}`])
    if (result?.object.includes('libc.so') !== true || glibcVersion() !== '2.36') return
    const bytes = readFileSync(at('addresses'))
    const distances = new Set<bigint>()
    let n = 0
    for (const batch of batches)
      for (const { kind, address = 0n, size = 0n } of batch) {
        if ((kind !== 'alloc' && kind !== 'realloc') || address === 0n) continue
        if (size < 131_072n) distances.add(bytes.readBigUInt64LE(8 * n) - address)
        n++
      }
    expect(n).toBeGreaterThan(100_000)
    expect(distances.size).toBe(1)
  })

  test.each(ORDERS)('keeps the contents of the blocks of 120 threads, with the order of %s', (order) => {
    const operations = write('t.ops', operationsOf(calls(120, 60_000, seeded(5)), { order }))
    for (const { library: path } of ALLOCATORS) {
      const { status, run: result } = run('driver', [operations, 'verify=1'], path === null ? {} : { LD_PRELOAD: path })
      expect(status).toBe(0)
      expect(result).toMatchObject({ threads: expect.any(Number) as number, damaged: 0, failed: 0 })
      expect(result!.threads).toBeGreaterThan(120)
    }
  })

  test.each(ORDERS)('has no race that ThreadSanitizer finds, with the order of %s', (order) => {
    if (!driver('tsan', '-g', '-fsanitize=thread')) return
    const operations = write('t.ops', operationsOf(calls(20, 8000, seeded(6)), { order }))
    for (const words of [[], ['verify=1'], ['watch=1']]) {
      const { status, stderr } = run('tsan', [operations, ...words])
      // Older versions of it do not run where addresses are more random than they expect.
      if (stderr.includes('unexpected memory mapping')) return
      expect([status, stderr]).toEqual([0, ''])
    }
  })

  test('finds damaged and misaligned blocks', () => {
    const operations = write('t.ops', operationsOf(calls(1, 5000, seeded(8))))
    const { run: result } = run('driver', [operations, 'verify=1'], { LD_PRELOAD: at('broken.so') })
    expect(result!.damaged).toBeGreaterThan(100)
    expect(result!.misaligned).toBeGreaterThan(1000)
    expect(result!.object).toBe(at('broken.so'))
  })

  test('a run that would never end is ended', () => {
    // Two threads, each of which frees a block of the other.
    const bytes = operationsOf(
      [
        { kind: 'alloc', thread: 1n, address: 1n, size: 1n },
        { kind: 'alloc', thread: 2n, address: 2n, size: 1n },
        { kind: 'free', thread: 1n, address: 2n },
        { kind: 'alloc', thread: 1n, address: 3n, size: 1n },
        { kind: 'free', thread: 2n, address: 3n },
      ],
      { order: 'lifetimes' },
    )
    expect(run('driver', [write('t.ops', bytes)]).status).toBe(0)
    // Now each waits for the end of the other.
    const { threads } = readOperations(bytes)
    let waits = 0
    for (let place = 16; place < bytes.length - TAIL_BYTES; place += 8) {
      const word = bytes.readUInt32LE(place)
      if ((word & 15) !== 8) continue
      bytes.writeUInt32LE(threads[word >>> 4]!.at(-1)!.position, place + 4)
      if (++waits === 2) break
    }
    expect(waits).toBe(2)
    write('t.ops', sealed(bytes))
    const started = Date.now()
    const { status, signal } = run('driver', [at('t.ops'), 'limit=1'])
    expect([status, signal]).toEqual([null, 'SIGALRM'])
    expect(Date.now() - started).toBeLessThan(20_000)
  })

  test('reads no damaged file', () => {
    const bytes = operationsOf(calls(3, 300, seeded(9)))
    expect(run('driver', [write('t.ops', bytes)]).status).toBe(0)
    const random = seeded(10)
    for (let i = 0; i < Math.max(20, runs(80)); i++) {
      const damaged = Buffer.from(bytes)
      damaged[random(damaged.length)]! ^= 1 << random(8)
      const { status, signal } = run('driver', [write('t.ops', damaged), 'limit=10'])
      expect([status, signal]).toEqual([2, null])
    }
    for (const length of [0, 1, 8, 16, 80, 95, 96, 97, bytes.length - 80, bytes.length - 8, bytes.length - 1])
      expect(run('driver', [write('t.ops', bytes.subarray(0, length))]).status).toBe(2)
    expect(run('driver', [at('missing')]).status).toBe(2)
    expect(run('driver', [at('t.ops'), 'touch=some']).stderr).toBe('touch is none, first, page or all\n')
  })

  test('a crafted file does no harm that sanitizers find', { timeout: 600_000 }, () => {
    if (!driver('asan', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all')) return
    const env = { ASAN_OPTIONS: 'detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4' }
    const random = seeded(11)
    const endings = new Map<string, number>()
    const cases = Math.max(60, runs(200))
    for (let i = 0; i < cases; i++) {
      const threads = i % 2 === 0 ? 1 : 3
      const bytes = operationsOf(calls(threads, 1 + random(60), seeded(i)), { order: ORDERS[i % 3]! })
      for (let n = 1 + random(4); n > 0; n--) mutate(bytes, random)
      const words = [write('t.ops', sealed(bytes)), 'limit=2', threads > 1 || i % 4 === 0 ? 'verify=1' : 'touch=first']
      const { status, signal, stderr } = run('asan', words, env)
      const isFine = status === 0 || signal === 'SIGALRM' || (status === 2 && !/Sanitizer|runtime error/.test(stderr))
      if (!isFine) throw new Error(`case ${i}: ${stderr}`)
      const ending = signal ?? String(status)
      endings.set(ending, (endings.get(ending) ?? 0) + 1)
    }
    // Files that are refused, and such that run nevertheless.
    expect(endings.get('0')).toBeGreaterThan(cases / 20)
    expect(endings.get('2')).toBeGreaterThan(cases / 4)
  })
})

/** Changes a number of the file, or a bit. */
function mutate(bytes: Buffer, random: (n: number) => number): void {
  const words = bytes.length / 4
  // Often in the tail and the tables.
  const word = random(3) === 0 ? words - 1 - random(Math.min(words, 40)) : random(words)
  const choices = [
    0,
    1,
    0xffff_ffff,
    0x8000_0000,
    random(200),
    bytes.length,
    bytes.readUInt32LE(4 * word) ^ (1 << random(32)),
  ]
  bytes.writeUInt32LE(choices[random(choices.length)]! >>> 0, 4 * word)
}

/** The file with its right checksum. */
function sealed(bytes: Buffer): Buffer {
  const at = bytes.length - TAIL_BYTES + 68
  const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + at))
  bytes.writeUInt32LE(checksum(NO_SUM, words), at)
  return bytes
}

function glibcVersion(): string | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime
}

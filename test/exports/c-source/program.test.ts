// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { EventBatch, TraceEvent } from '../../../lib/event/batch.js'
import { decodeAny } from '../../../lib/streams/decode.js'
import { decompress } from '../../../lib/streams/decompress.js'
import { ORDERS } from '../../../lib/transforms/drive/layout.js'
import { ALLOCATORS, canDrive, COUNTER, workFolder } from '../../cli/drive/programs.js'
import { calls } from '../../cli/drive/traces.js'
import { seeded } from '../../shapes/shape.js'
import { countCalls, countsIn, sorted } from '../../support/call-counts.js'
import { corpusPath } from '../../support/corpus.js'
import { sourceOf } from './source.js'
import { usualTime } from '../../support/stopwatch.js'

const COMPILERS = ['gcc', 'clang'].filter((name) => spawnSync(name, ['--version']).error === undefined)
const STRICT = ['-std=c11', '-Wall', '-Wextra', '-Wshadow', '-Wundef', '-Werror', '-pedantic', '-pthread']

const { at, write, library } = workFolder()

/** Compiles without a warning; by only one compiler, if options are given. */
function compile(source: string, ...options: string[]): string {
  write('t.c', source)
  for (const compiler of options.length > 0 ? ['cc'] : COMPILERS)
    execFileSync(compiler, [...STRICT, '-O1', ...options, '-o', at('t'), at('t.c')], { stdio: 'pipe' })
  return at('t')
}

/** Runs a program. */
function runs(program: string, env: NodeJS.ProcessEnv = {}): readonly [number | null, string] {
  const { LD_PRELOAD: _, ...rest } = process.env
  const { status, stderr } = spawnSync(program, { encoding: 'utf8', env: { ...rest, ...env }, timeout: 120_000 })
  return [status, stderr]
}

/** The calls that a program makes, by kind and size. */
function callsOf(program: string): [string, number][] {
  expect(runs(program, { LD_PRELOAD: at('counter.so'), COUNTS: at('counts') })).toEqual([0, ''])
  return sorted(countsIn(at('counts')))
}

/** Calls, of which 10,000 blocks live at once. */
function* manyCalls(count: number): Generator<TraceEvent> {
  const random = seeded(9)
  for (let i = 0; i < count / 2; i++) {
    if (i >= 10_000) yield { kind: 'free', address: BigInt(16 * (i - 10_000 + 1)) }
    yield { kind: 'alloc', address: BigInt(16 * (i + 1)), size: BigInt(random(500)) }
  }
}

async function batchesOfFile(path: string): Promise<EventBatch[]> {
  const batches: EventBatch[] = []
  for await (const batch of createReadStream(path).pipe(decompress()).pipe(decodeAny({ path })))
    batches.push(batch as EventBatch)
  return batches
}

describe.skipIf(!canDrive)('C source as a program (needs Linux and cc)', () => {
  beforeAll(() => {
    library('counter', COUNTER)
  })

  test.each([1, 2, 100])('makes exactly the calls of a trace of %d threads', (threads) => {
    const events = [...calls(threads, 20_000, seeded(threads))]
    for (const order of ORDERS)
      expect(callsOf(compile(sourceOf(events, { order })))).toEqual(sorted(countCalls(events)))
  })

  test('compiles without a warning at every level of optimization', () => {
    write('levels.c', sourceOf([...calls(2, 500, seeded(5))]))
    for (const compiler of COMPILERS)
      for (const level of ['-O0', '-O2', '-O3', '-Os'])
        execFileSync(compiler, [...STRICT, level, '-o', at('levels'), at('levels.c')], { stdio: 'pipe' })
  })

  test('makes the calls of a damaged trace that can be made', () => {
    const random = seeded(3)
    const events = [...calls(3, 20_000, random)].flatMap((event) => {
      const choice = random(40)
      return choice === 0 ? [] : choice === 1 ? [event, event] : [event]
    })
    expect(callsOf(compile(sourceOf(events)))).toEqual(sorted(countCalls(events)))
  })

  test('makes the calls of an empty trace: none', () => {
    expect(callsOf(compile(sourceOf([])))).toEqual([])
  })

  test.each(['twolf-map9v3', 'mstress', 'systemui'])(
    'makes exactly the calls of %s',
    { tags: ['corpus'] },
    async (name) => {
      const batches = await batchesOfFile(corpusPath(`memory-replay/${name}.txt.gz`))
      const all = (function* () {
        for (const batch of batches) yield* batch
      })()
      const program = compile(sourceOf(batches))
      expect(callsOf(program)).toEqual(sorted(countCalls(all)))
      for (const { library: path } of ALLOCATORS)
        expect(runs(program, path === null ? {} : { LD_PRELOAD: path })).toEqual([0, ''])
    },
  )

  test.each(ORDERS)('has no race that ThreadSanitizer finds in 100 threads, with the order of %s', (order) => {
    const program = compile(sourceOf(calls(100, 8000, seeded(6)), { order }), '-g', '-fsanitize=thread')
    const [status, stderr] = runs(program)
    // Older versions of it do not run where addresses are more random than they expect.
    if (!stderr.includes('unexpected memory mapping')) expect([status, stderr]).toEqual([0, ''])
  })

  test('has no fault that the other sanitizers find, also where blocks are not written to', () => {
    const source = sourceOf(calls(20, 8000, seeded(7)))
    for (const touch of ['-DTOUCH=0', '-DTOUCH=1']) {
      const program = compile(source, touch, '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover')
      expect(runs(program, { ASAN_OPTIONS: 'detect_leaks=0' })).toEqual([0, ''])
    }
  })

  test('a failed realloc leaves the block, and one to nothing ends it', () => {
    const events: TraceEvent[] = [
      { kind: 'alloc', address: 16n, size: 8n },
      { kind: 'realloc', oldAddress: 16n, address: 32n, size: 2n ** 46n },
      { kind: 'realloc', oldAddress: 32n, address: 48n, size: 0n },
      { kind: 'free', address: 48n },
      { kind: 'alloc', address: 64n, size: 2n ** 46n },
      { kind: 'free', address: 64n },
    ]
    expect(runs(compile(sourceOf(events), '-DTOUCH=0'))).toEqual([1, '2 calls failed\n'])
  })

  test('a million events compile in seconds', () => {
    write('t.c', sourceOf(manyCalls(1_000_000)))
    for (const compiler of COMPILERS) {
      const start = performance.now()
      execFileSync(compiler, ['-std=c11', '-O1', '-pthread', '-o', at('t'), at('t.c')], { stdio: 'pipe' })
      expect(usualTime(performance.now() - start)).toBeLessThan(60_000)
    }
  })
})

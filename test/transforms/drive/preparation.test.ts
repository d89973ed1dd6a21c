import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { Preparation, type PrepareOptions } from '../../../lib/transforms/drive/preparation.js'
import { drive } from '../../support/drive.js'
import { readOperations } from '../../support/operations.js'

function prepare(events: readonly TraceEvent[], options: PrepareOptions = {}, header?: TraceHeader) {
  const preparation = new Preparation(options)
  const { out, error } = drive(preparation, batchesOf(events, header))
  if (error !== undefined) throw error
  return { ...readOperations(Buffer.concat(out)), result: preparation.result() }
}

const alloc = (address: bigint, more: Partial<TraceEvent> = {}): TraceEvent =>
  ({ kind: 'alloc', address, size: 10n, ...more }) as TraceEvent

describe('Preparation', () => {
  test('an empty trace has one thread without operations', () => {
    const { threads, result } = prepare([])
    expect(threads).toEqual([[]])
    expect(result).toMatchObject({ events: 0, threads: 1, slots: 0, peak: { blocks: 0, bytes: 0 }, duration: null })
  })

  test('sizes above 2^28 and alignments take an operation more', () => {
    const { threads } = prepare([
      alloc(1n, { size: 2n ** 28n - 1n }),
      alloc(2n, { size: 2n ** 46n }),
      alloc(3n, { size: 2n ** 46n + 1n }),
      alloc(4n, { api: 'memalign', alignment: 4097n }),
      alloc(5n, { api: 'new', alignment: 64n }),
      alloc(6n, { api: 'memalign', alignment: 1n }),
    ])
    expect(threads[0]!.map(({ op, size, power, position }) => [op, size, power, position])).toEqual([
      ['malloc', 2 ** 28 - 1, undefined, 1],
      ['malloc', 2 ** 46, undefined, 3],
      ['memalign', 10, 13, 5],
      ['memalign', 10, 6, 7],
      ['memalign', 10, 3, 9],
    ])
  })

  test('alignments that no address has are changed and counted', () => {
    const alignments = [3n, 64n, 2n ** 30n, 2n ** 31n, 2n ** 62n, 48n]
    const { threads, result } = prepare(
      alignments.map((alignment, i) => alloc(BigInt(i + 1), { api: 'memalign', alignment })),
    )
    expect(threads[0]!.map(({ power }) => power)).toEqual([3, 6, 30, 30, 30, 6])
    expect(result.skipped).toMatchObject({ unaligned: 4, absurd: 0 })
  })

  test('events without a process are of one of their own', () => {
    expect(prepare([alloc(1n), alloc(2n)]).result.processes).toBe(1)
    expect(prepare([alloc(1n), alloc(1n, { process: 2n })]).result.processes).toBe(2)
    expect(prepare([alloc(1n, { process: 1n }), alloc(1n, { process: 2n })]).result.processes).toBe(2)
  })

  test('a process without calls is not counted, whatever ends in it', () => {
    const ends: TraceEvent[] = [
      { kind: 'thread-destroy', process: 2n, thread: 5n },
      { kind: 'process-end', process: 3n },
    ]
    expect(prepare([alloc(1n, { process: 1n }), ...ends]).result).toMatchObject({ processes: 1, threads: 1 })
  })

  test('the threads of a process end with it', () => {
    const events = Array.from({ length: 1000 }, (_, i): TraceEvent[] => [
      alloc(1n, { process: BigInt(i), thread: 1n }),
      alloc(2n, { process: BigInt(i), thread: 2n }),
      { kind: 'process-end', process: BigInt(i) },
    ]).flat()
    const { threads, result } = prepare([...events, { kind: 'process-end', process: 5000n }])
    expect(result).toMatchObject({ threads: 2000, processes: 1000, skipped: { left: 2000 } })
    expect(threads.map((list) => list.at(-1)!.op)).toEqual([threads[0]!.at(-1)!.op, ...Array(1999).fill('exit')])
    expect(threads[0]!.at(-1)!.op).not.toBe('exit')
  })

  test('a realloc of nothing, to nothing, of an unknown block, and one that failed', () => {
    const { threads, result } = prepare([
      { kind: 'realloc', oldAddress: 0n, address: 1n, size: 5n },
      { kind: 'realloc', oldAddress: 1n, address: 0n, size: 9n },
      { kind: 'realloc', oldAddress: 7n, address: 8n, size: 6n },
      { kind: 'realloc', oldAddress: 1n, address: 0n, size: 0n },
    ])
    expect(threads[0]!.map(({ op, size, old }) => [op, size, old])).toEqual([
      ['realloc', 5, 0xffff_ffff],
      ['realloc', 6, 0xffff_ffff],
      ['free', 0, undefined],
    ])
    expect(result.skipped).toMatchObject({ failed: 1, unknown: 1 })
  })

  test('times are kept on demand, in ns, 200 us apart', () => {
    const events = [0n, 100n, 250n, 300n, 5_000_000n].map((time, i) => alloc(BigInt(i + 1), { time: 1000n + time }))
    const header: TraceHeader = { format: 'x', timeUnit: 'us' }
    const { threads, result } = prepare(events, { times: true }, header)
    const times = threads[0]!.filter(({ op }) => op === 'time')
    expect(times.map(({ size, slot }) => size * 2 ** 32 + slot)).toEqual([250_000, 5_000_000_000])
    expect(result.duration).toBe(5_000_000_000)
    expect(prepare(events, {}, header).threads[0]!.every(({ op }) => op === 'malloc')).toBe(true)
    expect(prepare(events).result.duration).toBeNull()
  })

  test('one thread has neither epochs nor waits', () => {
    const events = Array.from({ length: 5000 }, (_, i) => alloc(BigInt(i + 1)))
    for (const order of ['epochs', 'lifetimes', 'total'] as const) {
      const { threads, epochs } = prepare(events, { order })
      expect(epochs).toBe(0)
      expect(threads[0]!.every(({ op }) => op === 'malloc')).toBe(true)
    }
  })

  test('slots are used again, also those that another thread frees', () => {
    const events = Array.from({ length: 20_000 }, (_, i): TraceEvent[] => [
      alloc(BigInt(i + 1), { thread: 1n }),
      { kind: 'free', thread: 2n, address: BigInt(i + 1) },
    ]).flat()
    for (const order of ['epochs', 'lifetimes', 'total'] as const)
      expect(prepare(events, { order }).slots).toBeLessThan(300)
  })

  test('what follows a second header is left out', () => {
    const preparation = new Preparation()
    const { out } = drive(preparation, [
      ...batchesOf([alloc(1n)], { format: 'a' }),
      ...batchesOf([alloc(1n), alloc(2n)], { format: 'b' }),
    ])
    expect(readOperations(Buffer.concat(out)).calls).toBe(1)
    expect(preparation.result().skipped).toMatchObject({ later: 2, reused: 0 })
  })

  test('a truncated trace gives a whole file', () => {
    const preparation = new Preparation()
    for (const batch of batchesOf([alloc(1n)])) preparation.feed(batch)
    const out = []
    for (let chunk = preparation.next(); chunk !== null; chunk = preparation.next()) out.push(chunk)
    preparation.endTruncated()
    for (let chunk = preparation.next(); chunk !== null; chunk = preparation.next()) out.push(chunk)
    expect(readOperations(Buffer.concat(out)).calls).toBe(1)
  })

  test('refuses what it cannot do', () => {
    expect(() => new Preparation({ order: 'none' as 'total' })).toThrow(
      new RangeError('prepareReplay(): order must be epochs, lifetimes or total, not "none"'),
    )
    expect(() => new Preparation({ epoch: 0 })).toThrow(
      /: epoch must be a whole number from 1 to 9007199254740991, not 0$/,
    )
    expect(() => new Preparation({ order: 'total', epoch: 5 })).toThrow(
      new RangeError("prepareReplay(): epoch needs order: 'epochs'"),
    )
    expect(() => new Preparation({ epochs: 2 } as object)).toThrow(/unknown option "epochs"/)
    const interpreted = batchesOf([alloc(1n)], { format: 'heaptrack' })
    expect(drive(new Preparation(), interpreted).error?.message).toMatch(/^an interpreted heaptrack file /)
  })
})

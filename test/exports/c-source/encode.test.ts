import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { cSource } from '../../../lib/exports/c-source/index.js'
import { PROGRAM } from '../../../lib/exports/c-source/program.js'
import { ORDERS } from '../../../lib/transforms/drive/layout.js'
import { calls, operationsOf } from '../../cli/drive/traces.js'
import { seeded } from '../../shapes/shape.js'
import { drive } from '../../support/drive.js'
import { readOperations } from '../../support/operations.js'
import { sourceOf } from './source.js'

const NUMBERS: Readonly<Record<string, number>> = { M: 2, C: 2, A: 3, R: 3, F: 1, H: 1, W: 2, E: 1, S: 1, X: 0, P: 0 }
const NAMES: Readonly<Record<string, string>> = {
  M: 'malloc',
  C: 'calloc',
  A: 'memalign',
  R: 'realloc',
  F: 'free',
  W: 'wait',
  E: 'epoch',
  S: 'spawn',
  X: 'exit',
  P: 'publish',
}

/** An operation: its name, its numbers with the higher bits, and, except of a realloc, the steps that are made then. */
type Read = readonly [name: string, ...numbers: number[]]

/** The operations of each thread, read from the text as plainly as can be. */
function readSource(source: string): Read[][] {
  const tables = new Map([...source.matchAll(/ (ops_\d+)\[\] = \{([^}]*)\};/g)].map(([, name, text]) => [name, text]))
  return [...source.matchAll(/ tables_\d+\[\] = \{([^}]*)\};/g)].map(([, list]) => {
    const words = [...list!.matchAll(/ops_\d+/g)].flatMap(([name]) => tables.get(name)!.match(/\w+/g)!)
    const read: Read[] = []
    let high = 0
    let steps = 0
    for (let i = 0; i < words.length;) {
      const letter = words[i++]!
      if (letter === 'END') continue
      const n = NUMBERS[letter]!
      const values = words.slice(i, i + n).map((word) => (word === 'NONE' ? 0xffff_ffff : Number(word)))
      i += n
      steps += letter === 'R' ? 2 : 1
      if (letter === 'H') {
        high = values[0]! * 2 ** 32
        continue
      }
      const wide = letter === 'A' || letter === 'W' ? 1 : 0
      if (high > 0) values[wide] = values[wide]! + high
      high = 0
      read.push([NAMES[letter]!, ...values, ...(letter === 'R' ? [] : [steps])])
    }
    return read
  })
}

/** The same of the file of operations. */
function expected(events: Iterable<TraceEvent>, order: (typeof ORDERS)[number]): Read[][] {
  return readOperations(operationsOf(events, { order })).threads.map((operations) =>
    operations.map(({ op, size, slot, old, power, position }): Read => {
      switch (op) {
        case 'malloc':
        case 'calloc':
          return [op, size, slot, position]
        case 'memalign':
          return [op, power!, size, slot, position]
        case 'realloc':
          return [op, size, old!, slot]
        case 'wait':
          return [op, size % 2 ** 28, slot, position]
        case 'exit':
        case 'publish':
          return [op, position]
        default:
          return [op, slot, position]
      }
    }),
  )
}

const alloc = (address: bigint, more: Partial<TraceEvent> = {}): TraceEvent =>
  ({ kind: 'alloc', address, size: 10n, ...more }) as TraceEvent

describe('C source', () => {
  function hasOperations(count: number): void {
    for (const threads of [1, 2, 50])
      for (const order of ORDERS) {
        const events = [...calls(threads, count, seeded(count + threads))]
        expect(readSource(sourceOf(events, { order }))).toEqual(expected(events, order))
      }
  }

  test.each([0, 1, 2, 100, 3000])('has the operations of %d events, in each order', hasOperations)

  test('has the operations of 40,000 events, in each order', { tags: ['slow'] }, () => hasOperations(40_000))

  test('sizes may have more than 28 and more than 32 bits', () => {
    const sizes = [2n ** 28n - 1n, 2n ** 28n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 5n, 2n ** 46n]
    const events = sizes.flatMap((size, i): TraceEvent[] => [
      alloc(BigInt(3 * i + 1), { size }),
      alloc(BigInt(3 * i + 2), { size, api: 'memalign', alignment: 4096n }),
      { kind: 'realloc', oldAddress: BigInt(3 * i + 1), address: BigInt(3 * i + 3), size: size - 1n },
    ])
    expect(readSource(sourceOf(events))).toEqual(expected(events, 'epochs'))
  })

  test('is what the program and the numbers of the trace say, and no text of the trace', () => {
    const evil = '*/ ??/\n"x" system("rm");'
    const text: Partial<TraceEvent> = { file: evil, function: evil, type: evil, line: 3, stack: [evil], module: evil }
    const events = [alloc(1n, text), { kind: 'comment', text: evil } as TraceEvent, alloc(2n)]
    const { out, error } = drive(cSource.encoder(), batchesOf(events, { format: evil }))
    expect(error).toBeUndefined()
    const source = Buffer.concat(out).toString('latin1')
    expect(source).toBe(sourceOf([alloc(1n), alloc(2n)]))
    expect(source.startsWith(PROGRAM)).toBe(true)
    expect(source.slice(PROGRAM.length)).toMatch(/^[\w\s[\]{}=*/,;:.()]+$/)
    expect(PROGRAM).toMatch(/^[\x20-\x7e\n]+$/)
    expect(PROGRAM).not.toContain('??')
  })

  test('counts what it cannot represent', () => {
    const encoder = cSource.encoder()
    drive(
      encoder,
      batchesOf([
        { kind: 'reserve', address: 1n, size: 4096n },
        { kind: 'existing', address: 64n, size: 1n },
        { kind: 'free', address: 64n },
        { kind: 'free', address: 80n },
        alloc(96n, { line: 4 }),
        { kind: 'free', address: 96n },
        { kind: 'free', address: 96n },
        alloc(112n),
        alloc(112n),
      ]),
    )
    expect(Object.fromEntries(encoder.losses.counts)).toEqual({
      'reserve events': 1,
      line: 1,
      'frees and reallocs of unknown blocks': 1,
      'frees of blocks that were freed before': 1,
      'blocks from before the recording and calls that end them': 2,
      'allocations at the address of a live block, which is freed before': 1,
    })
  })

  test('the end of a process is in the program: the frees of its blocks', () => {
    const end: TraceEvent = { kind: 'process-end', process: 7n, thread: 1n }
    const counts = (...events: TraceEvent[]) => {
      const encoder = cSource.encoder()
      const { out, error } = drive(encoder, batchesOf([...events, end]))
      expect(error).toBeUndefined()
      return { counts: Object.fromEntries(encoder.losses.counts), source: Buffer.concat(out).toString('latin1') }
    }
    const [begins, ends] = [alloc(16n, { process: 7n }), { kind: 'free', process: 7n, address: 16n } as const]
    expect(counts(begins, ends).counts).toEqual({})
    const left = counts(begins)
    expect(left.counts).toEqual({ 'blocks that were live when their process ended, which are freed then': 1 })
    expect(left.source).toContain('Calls: malloc 1, calloc 0, posix_memalign 0, realloc 0, free 1.')
    expect(drive(cSource.encoder({ strict: true }), batchesOf([begins, ends, end])).error).toBeUndefined()
  })

  test('the end of the program has the number of calls, and of those that were left out', () => {
    const source = sourceOf([alloc(1n), { kind: 'free', address: 1n }, { kind: 'free', address: 9n }])
    expect(source).toContain('Calls: malloc 1, calloc 0, posix_memalign 0, realloc 0, free 1.')
    expect(source).toContain('that could not be made as they are: 1.')
  })

  test('with strict, the first loss is an error: of a field, and of a call', () => {
    const events = (last: TraceEvent) => [alloc(1n), { kind: 'free', address: 1n } as TraceEvent, last]
    const losing: [TraceEvent, string][] = [
      [alloc(2n, { line: 3 }), 'line of alloc events'],
      [{ kind: 'free', address: 5n }, 'frees and reallocs of unknown blocks'],
    ]
    for (const [last, why] of losing) {
      const { out, error } = drive(cSource.encoder({ strict: true }), batchesOf(events(last)))
      expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', format: 'c', event: 3 })
      expect(error!.message).toContain(why)
      expect(out.length).toBeGreaterThan(0)
    }
  })

  test('a truncated trace gives a complete program', () => {
    const encoder = cSource.encoder()
    encoder.feed([...batchesOf([alloc(1n)])][0]!)
    const out: Uint8Array[] = []
    const drain = () => {
      for (let chunk = encoder.next(); chunk !== null; chunk = encoder.next()) out.push(chunk)
    }
    drain()
    encoder.endTruncated()
    drain()
    expect(Buffer.concat(out).toString('latin1')).toBe(sourceOf([alloc(1n)]))
  })

  test('an order and options that do not exist are refused', () => {
    expect(() => cSource.encoder({ order: 'alphabetic' } as object)).toThrow(
      ': order must be epochs, lifetimes or total',
    )
    expect(() => cSource.encoder({ slots: 3 } as object)).toThrow('slots')
  })
})

// @module-tag slow
import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import { KWayMerger } from '../../lib/order/k-way-merge.js'
import { NaturalMergeSort } from '../../lib/order/natural-merge-sort.js'
import { NumberKeys } from '../../lib/order/number-keys.js'
import { OrderChecker } from '../../lib/order/order-check.js'
import { ReorderBuffer } from '../../lib/order/reorder-buffer.js'
import { SortBuffer } from '../../lib/order/sort-buffer.js'
import { SortKeys } from '../../lib/order/sort-keys.js'
import { randomOf } from '../support/model.js'
import { runs } from '../support/runs.js'
import { eventsOf, HEADER, inBatches } from '../transforms/events.js'

type Random = (n: number) => number

/** Keys in the orders in which events come. */
const ORDERS: Readonly<Record<string, (i: number, n: number, random: Random) => bigint>> = {
  ascending: (i) => BigInt(i) << 31n,
  descending: (i, n) => BigInt(n - i) << 31n,
  equal: () => 7n,
  random: (_, __, random) => (BigInt(random(2 ** 32)) << 32n) | BigInt(random(2 ** 32)),
  'few different ones': (_, __, random) => BigInt(random(4)) << 62n,
  'runs of different lengths': (i) => BigInt((i * i) % 1013),
  'nearly in order': (i, _, random) => BigInt(i + random(9)) + 0xffff_fff0n,
  'rising and falling': (i, n) => BigInt(Math.min(i, n - i)),
}

const wordsOf = (keys: readonly bigint[]) =>
  Uint32Array.from(keys.flatMap((key) => [Number(key & 0xffff_ffffn), Number(key >> 32n)]))

/** The numbers of keys from the smallest to the greatest, equal ones in their order. */
const sorted = (keys: readonly bigint[]): number[] =>
  keys.map((_, i) => i).toSorted((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b))

/** The order in which a lane with a window gives out events, as a sorted list does it. */
function released(keys: readonly bigint[], window: number): number[] {
  const out: number[] = []
  const held: number[] = []
  keys.forEach((key, i) => {
    let place = held.length
    while (place > 0 && keys[held[place - 1]!]! > key) place--
    held.splice(place, 0, i)
    if (held.length > window) out.push(held.shift()!)
  })
  return [...out, ...held]
}

describe.each(Object.entries(ORDERS))('keys that are %s', (_, keyOf) => {
  const keysOf = (n: number, seed = n + 1) => {
    const random = randomOf(seed)
    return Array.from({ length: n }, (__, i) => keyOf(i, n, random))
  }

  it('are sorted as an array is, one after another in the same memory', () => {
    const sort = new NaturalMergeSort()
    for (const n of [0, 1, 2, 3, 5, 1000, 17, 4096, 1001, 0])
      expect([...sort.of(wordsOf(keysOf(n)), n)]).toEqual(sorted(keysOf(n)))
  })

  it('are sorted as an array is, a million of them', { tags: ['slow', 'large'] }, () => {
    const keys = keysOf(1 << 20)
    const order = new NaturalMergeSort().of(wordsOf(keys), keys.length)
    expect(Buffer.from(Int32Array.from(sorted(keys)).buffer).equals(Buffer.from(order.slice().buffer))).toBe(true)
  })

  it('leave a window in the order of a sorted list', () => {
    for (const window of [0, 1, 7, 64]) {
      for (let seed = 1; seed <= runs(40); seed++) {
        const random = randomOf(seed)
        const keys = keysOf(random(400), seed)
        const lane = new ReorderBuffer(window)
        const out: number[] = []
        const starts: number[] = []
        const deliver = (n: number) => {
          for (; n > 0; n--, lane.at++) {
            const i = starts[lane.source[lane.at]!] + lane.row[lane.at]!
            expect((BigInt(lane.hi[lane.at]!) << 32n) | BigInt(lane.lo[lane.at]!)).toBe(keys[i])
            out.push(i)
          }
        }
        for (let from = 0; from < keys.length;) {
          const count = Math.min(keys.length - from, random(3) === 0 ? 1 : random(60))
          lane.append(starts.push(from) - 1, wordsOf(keys.slice(from, from + count)), count)
          from += count
          deliver(random(1 + lane.released - lane.at))
        }
        lane.close()
        deliver(lane.end - lane.at)
        expect(out).toEqual(released(keys, window))
      }
    }
  })

  it('are merged in the order of the first events of sorted lists', () => {
    for (let seed = 1; seed <= runs(60); seed++) {
      const random = randomOf(seed)
      const window = [0, 3, 50][random(3)] as number
      const inputs = Array.from({ length: 1 + random(6) }, (__, i) =>
        keysOf(random(3) === 0 ? 0 : random(500), seed + i),
      )
      const lanes = inputs.map((keys) => released(keys, window))
      // A plain merge: of the first events of all lanes, the one with the smallest key, of the first lane that has it.
      const expected: string[] = []
      const heads = lanes.map(() => 0)
      for (;;) {
        let best = -1
        lanes.forEach((lane, l) => {
          const event = lane[heads[l]!]
          if (event === undefined) return
          if (best < 0 || inputs[l]![event]! < inputs[best]![lanes[best]![heads[best]!]!]!) best = l
        })
        if (best < 0) break
        expected.push(`${best} ${lanes[best]![heads[best]!++]}`)
      }
      const merger = new KWayMerger(inputs.length, window)
      const fed = inputs.map(() => 0)
      const out: string[] = []
      const take = () => {
        for (let batch = merger.next(HEADER); batch !== null; batch = merger.next(HEADER))
          for (const { thread, index } of eventsOf([batch])) out.push(`${thread} ${index}`)
      }
      for (let input = merger.wants(); input >= 0; input = merger.wants()) {
        const keys = inputs[input]
        const from = fed[input]
        if (from === keys.length) {
          merger.end(input)
        } else {
          const part = keys.slice(from, from + 1 + random(100))
          fed[input] = from + part.length
          const events = part.map((__, i): TraceEvent => ({
            kind: 'free',
            thread: BigInt(input),
            index: BigInt(from + i),
          }))
          merger.feed(input, inBatches(events, part.length, HEADER)[0]!, wordsOf(part))
        }
        take()
      }
      take()
      expect(out).toEqual(expected)
    }
  })

  it('of a buffer come in order, and the buffer is used again', () => {
    const buffer = new SortBuffer()
    for (const [turn, n] of [1, 0, 50, 5000, 300].entries()) {
      const random = randomOf(n)
      const keys = keysOf(n)
      for (let from = 0; from < n;) {
        const part = keys.slice(from, from + 1 + random(999))
        const events = part.map((__, i): TraceEvent => ({
          kind: 'free',
          index: BigInt(from + i),
          stack: [`f${i % 40}`],
        }))
        buffer.add(inBatches(events, part.length, HEADER)[0]!, wordsOf(part))
        from += part.length
      }
      expect(buffer.count).toBe(n)
      const out: number[] = []
      for (const { batch, keys: words } of buffer.inOrder(HEADER, 700)) {
        expect(batch.count).toBeLessThanOrEqual(700)
        expect([...words]).toEqual([...wordsOf(eventsOf([batch]).map(({ index }) => keys[Number(index)]!))])
        out.push(...eventsOf([batch]).map(({ index }) => Number(index)))
      }
      expect(out).toEqual(sorted(keys))
      if (turn % 2 === 0) buffer.clear()
      else buffer.release()
      expect(buffer.count).toBe(0)
    }
  })
})

describe('sequence numbers that wrap', () => {
  /** The numbers of events in a whole trace, by steps of less than 2^31; undefined where an event lost its number. */
  function numbersOf(random: Random, first: number): (number | undefined)[] {
    let number = first
    return Array.from({ length: 300 }, () => {
      const isLost = random(5) === 0
      number += isLost ? 1 : ([1, 1, 1, 2, 0, -1, 2 ** 31 - 1000, random(1000)][random(8)] as number)
      return isLost ? undefined : number
    })
  }
  const batchesOf = (numbers: readonly (number | undefined)[], size: number, header = HEADER) =>
    inBatches(
      numbers.map((n): TraceEvent => ({ kind: 'free', ...(n !== undefined && { sequence: n | 0 }) })),
      size,
      header,
    )

  it('are keys in the order of the whole numbers', () => {
    for (let seed = 1; seed <= runs(60); seed++) {
      const random = randomOf(seed)
      const numbers = numbersOf(random, 2 ** 32 - 5)
      const sort = new SortKeys('sequence')
      const part = new NumberKeys()
      const header = { ...HEADER, part: { id: 'x', first: 2 ** 32 - 4 } }
      const bySort: bigint[] = []
      const byNumber: bigint[] = []
      const bigints = (words: Uint32Array, n: number) =>
        Array.from({ length: n }, (_, i) => (BigInt(words[2 * i + 1]!) << 32n) | BigInt(words[2 * i]!))
      for (const batch of batchesOf(numbers, 1 + random(50), header as never)) {
        bySort.push(...bigints(sort.of(batch), batch.count))
        byNumber.push(...bigints(part.of(batch), batch.count))
      }
      let before = 2 ** 32 - 4
      const whole = numbers.map((n) => BigInt((before = n ?? before)))
      expect(byNumber).toEqual(whole)
      // The keys for sorting differ from the numbers by the same amount, after the first event that has one.
      const start = numbers.findIndex((n) => n !== undefined)
      const shift = bySort[start]! - whole[start]!
      expect(bySort.slice(start)).toEqual(whole.slice(start).map((n) => n + shift))
      expect(bySort.slice(0, start)).toEqual(whole.slice(0, start).map(() => 0n))
      expect(sort.keyed).toBe(numbers.filter((n) => n !== undefined).length)
    }
  })

  it('are checked as plain numbers are', () => {
    for (let seed = 1; seed <= runs(60); seed++) {
      const random = randomOf(seed)
      const numbers = numbersOf(random, 2 ** 32 - 5)
      const checker = new OrderChecker('sequence')
      for (const batch of batchesOf(numbers, 1 + random(50))) checker.take(batch)
      let greatest: number | undefined
      const [counts, firsts] = [{ events: 300, late: 0, duplicates: 0, gaps: 0, missing: 0 }, new Map<string, number>()]
      numbers.forEach((n, i) => {
        if (n === undefined) return
        const step = greatest === undefined ? 1 : n - greatest
        if (step < 0) counts.late++
        if (step === 0) counts.duplicates++
        if (step > 1) counts.gaps++
        if (step > 1) counts.missing += step - 1
        const name = step < 0 ? 'late' : step === 0 ? 'duplicate' : step > 1 ? 'gap' : ''
        if (!firsts.has(name)) firsts.set(name, i + 1)
        if (greatest === undefined || n > greatest) greatest = n
      })
      expect(checker.statistics).toMatchObject(counts)
      const { firstLate, firstDuplicate, firstGap } = checker.statistics
      expect([firstLate, firstDuplicate, firstGap?.event]).toEqual(
        ['late', 'duplicate', 'gap'].map((name) => firsts.get(name)),
      )
    }
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { OUTCOMES, type KindName } from '../../../lib/event/fields.js'
import { HatfDecoder } from '../../../lib/formats/hatf/index.js'
import { decodeAll } from '../../support/drive.js'
import { runs } from '../../support/runs.js'
import { alloc, comment, hex, join, V1 } from './bytes.js'

const CHUNKS = [1, 7, 64, undefined]
/** Threads in one byte. */
const THREADS = hex('0b020300 0b010301')

function fold(...parts: Uint8Array[]): TraceEvent[] {
  const results = CHUNKS.map((size) => decodeAll(new HatfDecoder(), join(...parts), size))
  for (const { error, events } of results) {
    expect(error).toBeUndefined()
    expect(events).toEqual(results[0]?.events)
  }
  return (results[0] as { events: TraceEvent[] }).events
}

const kinds = (...parts: Uint8Array[]) => fold(...parts).map(({ kind }) => kind)

const free = (address: number) => join(Uint8Array.of(1, 0, 0, address >> 8, address & 255))
const realloc = (tag: number, old: number, to: number) =>
  Uint8Array.of(tag, 0, 0, 0, 8, 0, 0, old >> 8, old & 255, 0, 0, to >> 8, to & 255)
/** A record with its thread, */
const on = (thread: number, record: Uint8Array) => join(record, Uint8Array.of(thread))
/** with attributes, */
const withAttributes = (record: Uint8Array, text: string) => join(record, Uint8Array.of(text.length), Buffer.from(text))

describe('the records of a realloc', () => {
  it('that moved are its alloc and its free, in either order', () => {
    const moved = { kind: 'realloc', outcome: 'moved', size: 8n, oldAddress: 1n, address: 2n }
    expect(fold(alloc(8, 2), free(1), realloc(3, 1, 2))).toEqual([moved])
    expect(fold(free(1), alloc(8, 2), realloc(3, 1, 2))).toEqual([moved])
    expect(kinds(free(7), alloc(8, 2), free(1), realloc(3, 1, 2), free(2))).toEqual(['free', 'realloc', 'free'])
  })

  it('of the null pointer are its alloc, to size 0 its free', () => {
    expect(kinds(alloc(8, 2), alloc(8, 2), realloc(4, 0, 2))).toEqual(['alloc', 'realloc'])
    expect(kinds(free(1), free(1), realloc(5, 1, 0))).toEqual(['free', 'realloc'])
  })

  it('are left where they do not fit', () => {
    expect(kinds(alloc(8, 2), free(1), realloc(2, 1, 2))).toEqual(['alloc', 'free', 'realloc'])
    expect(kinds(alloc(8, 3), free(1), realloc(3, 1, 2))).toEqual(['alloc', 'free', 'realloc'])
    expect(kinds(alloc(8, 2), free(3), realloc(3, 1, 2))).toEqual(['alloc', 'free', 'realloc'])
    expect(kinds(free(1), realloc(3, 1, 2))).toEqual(['free', 'realloc'])
    expect(kinds(alloc(8, 2), alloc(8, 2), realloc(3, 1, 2))).toEqual(['alloc', 'alloc', 'realloc'])
    expect(kinds(free(1), alloc(8, 9), realloc(5, 1, 0))).toEqual(['free', 'alloc', 'realloc'])
    expect(kinds(alloc(8, 2), hex('06'), realloc(4, 0, 2))).toEqual(['alloc', 'heap-create', 'realloc'])
  })

  it('are found across comments, not across another trace', () => {
    expect(kinds(alloc(8, 2), comment('x'), realloc(4, 0, 2))).toEqual(['comment', 'realloc'])
    expect(kinds(alloc(8, 2), comment('heapflow:{"kind":"header","format":"x"}'), realloc(4, 0, 2))).toEqual([
      'alloc',
      'realloc',
    ])
  })

  it('stay when asked for', () => {
    expect(decodeAll(new HatfDecoder({ fold: false }), join(alloc(8, 2), realloc(4, 0, 2))).events).toHaveLength(2)
  })

  it('leave their attributes to a realloc that has none', () => {
    const attributes = (a: string, f: string, m: string) => {
      const parts = [withAttributes(alloc(8, 2), a), withAttributes(free(1), f), withAttributes(realloc(3, 1, 2), m)]
      return fold(V1, ...parts).map((event) => Buffer.from(event.attributes ?? '').toString())
    }
    expect(attributes('a', 'f', 'm')).toEqual(['m'])
    expect(attributes('a', 'f', '')).toEqual(['a'])
    expect(attributes('', 'f', '')).toEqual(['f'])
    expect(attributes('', '', '')).toEqual([''])
  })

  it('are held back no longer than they may be wanted', () => {
    const decoder = new HatfDecoder()
    const feed = (bytes: Uint8Array) => {
      decoder.feed(bytes)
      const events: TraceEvent[] = []
      for (let batch = decoder.next(); batch !== null; batch = decoder.next()) events.push(...batch)
      return events.map(({ address }) => address)
    }
    expect(feed(join(alloc(8, 1), alloc(8, 2)))).toEqual([1n])
    expect(feed(free(3))).toEqual([])
    expect(feed(free(4))).toEqual([2n, 3n])
    expect(feed(realloc(2, 9, 9))).toEqual([4n, 9n])
  })

  it('of other threads do not matter, within the last 64', () => {
    const others = (n: number) => Array.from({ length: n }, (_, i) => on(2, alloc(8, 100 + i)))
    const count = (n: number) => {
      const parts = [on(1, alloc(8, 2)), ...others(n), on(1, free(1)), ...others(1), on(1, realloc(3, 1, 2))]
      return fold(THREADS, ...parts).length
    }
    expect(count(10)).toBe(12)
    expect(count(61)).toBe(63)
    expect(count(62)).toBe(66)
  })
})

interface Step {
  kind: KindName
  thread: number
  address: number
  old: number
  outcome: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('alloc', 'free', 'alloc', 'free', 'realloc', 'heap-create', 'comment'),
  thread: fc.constantFrom(1, 1, 1, 2),
  address: fc.nat(1),
  old: fc.nat(1),
  outcome: fc.nat(3),
})

function bytesOf({ kind, thread, address, old, outcome }: Step): Uint8Array {
  if (kind === 'comment') return comment('c')
  if (kind === 'alloc') return on(thread, alloc(8, address))
  if (kind === 'free') return on(thread, free(address))
  return on(thread, kind === 'realloc' ? realloc(2 + outcome, old, address) : hex('06'))
}

/** The rule once more, on plain objects and with everything at hand. */
function model(steps: Step[]): string[] {
  const kept: Step[] = []
  for (const next of steps) {
    kept.push(next)
    if (next.kind !== 'realloc') continue
    const wanted = [[], ['alloc', 'free'], ['alloc'], ['free']][next.outcome] as string[]
    const before = kept
      .slice(0, -1)
      .slice(-64)
      .filter(({ kind, thread }) => kind !== 'comment' && thread === next.thread)
    const last = wanted.length === 0 ? [] : before.slice(-wanted.length)
    const isThere = wanted.every((kind) =>
      last.some((other) => other.kind === kind && other.address === (kind === 'alloc' ? next.address : next.old)),
    )
    if (isThere) for (const component of last) kept.splice(kept.lastIndexOf(component), 1)
  }
  return kept.map(describeStep)
}

function describeStep({ kind, thread, address, old, outcome }: Step): string {
  if (kind === 'comment') return kind
  if (kind === 'heap-create') return `${kind} ${thread}`
  return kind === 'realloc'
    ? `${kind} ${thread} ${address} ${old} ${OUTCOMES[outcome]}`
    : `${kind} ${thread} ${address}`
}

function describeEvent({ kind, thread, address, oldAddress, outcome }: TraceEvent): string {
  return [kind, thread, address, oldAddress, outcome].filter((value) => value !== undefined).join(' ')
}

it('folding follows the rule whatever the chunks and batches', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), fc.constantFrom(...CHUNKS), (steps, size) => {
      const { events, error } = decodeAll(new HatfDecoder(), join(THREADS, ...steps.map(bytesOf)), size)
      expect(error).toBeUndefined()
      expect(events.map(describeEvent)).toEqual(model(steps))
    }),
    { numRuns: runs(300) },
  )
  const parts = Array.from({ length: 6000 }, (_, i) =>
    join(alloc(8, i & 255), free(1), realloc(3, 1, i & 255), alloc(1, 1)),
  )
  expect(decodeAll(new HatfDecoder(), join(...parts)).events).toHaveLength(12_000)
})

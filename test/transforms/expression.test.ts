import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BATCH_EVENTS, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { TraceError } from '../../lib/event/error.js'
import { Evaluator, compileExpression, type EventFunction } from '../../lib/transforms/expression.js'
import { drive } from '../support/drive.js'
import { HEADER, anyEvent, eventsOf, inBatches } from './events.js'

const ALLOC: TraceEvent = { kind: 'alloc', address: 0x10n, size: 8n, thread: 1n }
const FREE: TraceEvent = { kind: 'free', address: 0x10n }

function evaluated(code: string | EventFunction, events: readonly TraceEvent[] = [ALLOC, FREE]) {
  const evaluator = new Evaluator(typeof code === 'string' ? compileExpression(code) : code)
  const { out, error } = drive(evaluator, inBatches(events, 3, HEADER))
  return { events: eventsOf(out), error }
}

describe('an expression', () => {
  it.each<[string, TraceEvent[]]>([
    ['true', [ALLOC, FREE]],
    ['undefined', [ALLOC, FREE]],
    ['0', [ALLOC, FREE]],
    ['""', [ALLOC, FREE]],
    ['false', []],
    ['null', []],
    ['event', [ALLOC, FREE]],
    ['event.kind === "free"', [FREE]],
    [
      'event.address *= 2n',
      [
        { ...ALLOC, address: 0x20n },
        { ...FREE, address: 0x20n },
      ],
    ],
    [
      'event.thread = 0n',
      [
        { ...ALLOC, thread: 0n },
        { ...FREE, thread: 0n },
      ],
    ],
    [
      'event.thread = n',
      [
        { ...ALLOC, thread: 1n },
        { ...FREE, thread: 2n },
      ],
    ],
    ['delete event.address', [{ kind: 'alloc', size: 8n, thread: 1n }, { kind: 'free' }]],
    ['({ kind: event.kind }) // a comment', [{ kind: 'alloc' }, { kind: 'free' }]],
    ['{ kind: "lost" }', [{ kind: 'lost' }, { kind: 'lost' }]],
    ['[event, { kind: "lost", cpu: n }]', [ALLOC, { kind: 'lost', cpu: 1 }, FREE, { kind: 'lost', cpu: 2 }]],
    ['[]', []],
    ['if (n === 2) return false', [ALLOC]],
    ['event.size = undefined', [{ kind: 'alloc', address: 0x10n, thread: 1n }, FREE]],
    [
      'event.heap = "0x7f"; event.node = 1',
      [{ ...ALLOC, heap: 0x7fn, node: 1 }, { ...FREE, heap: 0x7fn, node: 1 } as object as TraceEvent],
    ],
    // The value of an assignment is not the result, whatever its type.
    ['event.stack = []', [{ ...ALLOC, stack: [] }, { ...FREE, stack: [] } as object as TraceEvent]],
    ['event.stack = ["f", "g"]', [ALLOC, FREE].map((event) => ({ ...event, stack: ['f', 'g'] }) as TraceEvent)],
    [
      'event.fields = { a: [n, "x"] }',
      [1n, 2n].map((n, i) => ({ ...[ALLOC, FREE][i], fields: { a: [n, 'x'] } }) as TraceEvent),
    ],
    [
      'event.fields = { kind: "lost" }',
      [ALLOC, FREE].map((event) => ({ ...event, fields: { kind: 'lost' } }) as TraceEvent),
    ],
    [
      'event.attributes = Uint8Array.of(7)',
      [ALLOC, FREE].map((event) => ({ ...event, attributes: Uint8Array.of(7) }) as TraceEvent),
    ],
  ])('%s', (code, expected) => {
    const { events, error } = evaluated(code)
    expect(error).toBeUndefined()
    expect(events).toEqual(expected)
  })

  it('that does not compile is refused', () => {
    expect(() => compileExpression('event.size *=')).toThrow(TraceError)
    expect(() => compileExpression('event.size *=')).toThrow(/^expression: /)
  })

  it.each([
    ['event.none.such', /^expression: event 1: Cannot read properties of undefined/],
    ['n < 2 || event.stack.length', /^expression: event 2: Cannot read properties of undefined/],
    ['event.sise = 3n', /^expression: event 1: unknown field "sise" \(did you mean "size"\?\)/],
    ['event.kind = "allocs"', /^expression: event 1: unknown kind of event: "allocs" \(did you mean "alloc"\?\)/],
    ['event.size = -1n', /^expression: event 1: size is not a 64-bit unsigned integer/],
    ['event.size = 1.5', /^expression: event 1: .*1\.5/],
    ['event.cpu = 2 ** 40', /^expression: event 1: cpu is not a 32-bit integer/],
    ['[1]', /^expression: event 1: not an event: 1$/],
    ['[null]', /^expression: event 1: not an event: null$/],
    ['({})', /^expression: event 1: not an event: an object of type Object without a kind$/],
    ['[[]]', /^expression: event 1: not an event: an array without a kind$/],
    ['Promise.resolve(true)', /^expression: event 1: the function returned a promise, but it must not be async$/],
    ['event => event.size > 4n', /^expression: event 1: the result is a function, which is never called$/],
    ['event.size = "x".repeat(1e6)', /^expression: event 1: size must be a bigint, not "x{80}\.\.\."$/],
    ['event.size = 10n ** 1000n', /^expression: event 1: size is not a .*: an integer of more than 80 digits$/],
    ['event.attributes = "x"', /^expression: event 1: attributes must be a Uint8Array, not "x"$/],
    ['event.attributes = [1, 2]', /^expression: event 1: attributes must be a Uint8Array, not an array$/],
    ['event.function = 3', /^expression: event 1: function must be a string, not 3$/],
    ['event.function = Symbol("f")', /^expression: event 1: function must be a string, not Symbol\(f\)$/],
    ['event.stack = ["f", 3]', /^expression: event 1: stack must be an array of strings, not an array$/],
    ['event.line = "3"', /^expression: event 1: line must be a number, not "3"$/],
    ['event.fields = 3', /^expression: event 1: fields must be an object, not 3$/],
    ['event.fields = [1n]', /^expression: event 1: fields must be an object, not an array$/],
    ['event.fields = new Map()', /^expression: event 1: the values .* not an object of type Map$/],
    ['event.fields = { a: 1.5 }', /^expression: event 1: the values .* not 1\.5$/],
    ['event.fields = { a: [null] }', /^expression: event 1: the values .* not null$/],
    ['event.fields = { a: { b: true } }', /^expression: event 1: the values .* not true$/],
    ['const a = {}; a.a = a; event.fields = a', /^expression: event 1: .* more than 128 deep$/],
    ['throw "a string"', /^expression: event 1: a string/],
    ['undeclared = 1', /^expression: event 1: undeclared is not defined/],
  ])('that fails, %s, says at which event', (code, message) => {
    const { error } = evaluated(code)
    expect(error).toMatchObject({ name: 'TraceError', code: 'ERR_TRACE_EXPRESSION', format: 'expression' })
    expect(error?.message).toMatch(message)
  })

  it('that fails does so after the events before it', () => {
    const events = Array.from({ length: 10 }, (_, i): TraceEvent => ({ kind: 'alloc', size: BigInt(i) }))
    const result = evaluated((_, n) => {
      if (n === 9) throw new Error('enough')
    }, events)
    expect(result.events).toEqual(events.slice(0, 8))
    expect(result.error).toMatchObject({ message: 'expression: event 9: enough', event: 9 })
  })
})

describe('Evaluator', () => {
  it('keeps every event as it was when nothing is changed', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
        expect(evaluated(() => true, events)).toEqual({ events })
      }),
    )
  })

  it('spreads what one event gives over as many batches as it takes', () => {
    const many = Array.from({ length: BATCH_EVENTS * 2 + 10 }, (_, i): TraceEvent => ({
      kind: 'alloc',
      size: BigInt(i),
    }))
    const { out } = drive(new Evaluator((event) => [event, ...many]), inBatches([ALLOC, FREE], 2, HEADER))
    expect(eventsOf(out)).toEqual([ALLOC, ...many, FREE, ...many])
    expect(out.every(({ count }) => count <= BATCH_EVENTS)).toBe(true)
  })

  it('closes a batch when its strings are many bytes', () => {
    const events = Array.from({ length: 20 }, (_, i): TraceEvent => ({ kind: 'comment', text: `${i}`.repeat(40_000) }))
    const { out } = drive(new Evaluator(() => true), inBatches(events, 20, HEADER))
    expect(out.length).toBeGreaterThan(2)
    expect(eventsOf(out)).toEqual(events)
  })

  it('passes headers on when no event is left, and does not change what it is given', () => {
    const input = [new EventBatch(0, 0, { format: 'first' }), ...inBatches([ALLOC], 1, HEADER)]
    const { out } = drive(new Evaluator((event) => ((event.size = 0n), null)), input)
    expect(out.map(({ header, count }) => [header.format, count])).toEqual([
      ['first', 0],
      ['test', 0],
    ])
    expect(eventsOf(input)).toEqual([ALLOC])
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { EVERY_FIELD, GROUP_FIELDS, type FieldName } from '../../lib/event/fields.js'
import { Mapper, type MapOptions } from '../../lib/transforms/map.js'
import { drive } from '../support/drive.js'
import { runs } from '../support/runs.js'
import { HEADER, anyEvent, eventsOf, inBatches } from './events.js'

function mapped(options: MapOptions, events: readonly TraceEvent[], size = 7): TraceEvent[] {
  const input = inBatches(events, size, HEADER)
  const { out, error } = drive(new Mapper(options), input)
  expect(error).toBeUndefined()
  expect(out).toHaveLength(input.length)
  expect(eventsOf(input)).toEqual(events)
  return eventsOf(out)
}

const events = fc.array(anyEvent, { maxLength: 25 })
const fields = fc.subarray(EVERY_FIELD.map(({ name }) => name))
/** An event's fields, those whose name passes a test. */
const only = (event: TraceEvent, test: (name: FieldName | 'kind') => boolean) =>
  Object.fromEntries(Object.entries(event).filter(([name]) => test(name as FieldName))) as Omit<TraceEvent, 'kind'>
const constants = fc
  .tuple(anyEvent, fields)
  .map(([event, names]) => only(event, (name) => name !== 'kind' && names.includes(name)))

describe('Mapper', () => {
  it('passes batches on as they are when there is nothing to change', () => {
    const input = inBatches([{ kind: 'alloc', size: 1n }], 1, HEADER)
    for (const options of [{}, { drop: ['text'] }, { rebase: { from: 5n, to: 5n } }] satisfies MapOptions[]) {
      expect(drive(new Mapper(options), input).out[0]).toBe(input[0])
    }
  })

  it('keeps headers and batches without events', () => {
    const empty = new EventBatch(0, 0, { format: 'empty' })
    const { out } = drive(new Mapper({ numberThreads: true, set: { size: 1n }, anonymize: { key: 'k' } }), [empty])
    expect(out.map(({ header, count }) => [header, count])).toEqual([[empty.header, 0]])
  })

  it('drops, then sets, as an assignment to each event does', () => {
    fc.assert(
      fc.property(events, fields, constants, (list, drop, set) => {
        const stays = (name: FieldName | 'kind') => name === 'kind' || !drop.includes(name)
        const expected = list.map((event) => ({ ...only(event, stays), ...set }))
        expect(mapped({ drop, set }, list)).toEqual(expected)
      }),
      { numRuns: runs(300) },
    )
  })

  it('refuses constants that do not fit', () => {
    expect(() => new Mapper({ set: { size: -1n } })).toThrow('size is not a 64-bit unsigned integer: -1')
    expect(() => new Mapper({ set: { api: 'xmalloc' as 'malloc' } })).toThrow(RangeError)
  })

  it('rebases addresses, but not null, callers and heaps', () => {
    const place = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
    fc.assert(
      fc.property(events, place, place, (list, from, to) => {
        const move = (address: bigint) => (address === 0n ? 0n : BigInt.asUintN(64, address - from + to))
        const expected = list.map((event) => ({
          ...event,
          ...(event.address !== undefined && { address: move(event.address) }),
          ...(event.oldAddress !== undefined && { oldAddress: move(event.oldAddress) }),
        }))
        expect(mapped({ rebase: { from, to } }, list)).toEqual(expected)
      }),
    )
  })

  it('numbers threads in the order in which they appear, afresh in another trace', () => {
    const of = (...threads: (bigint | undefined)[]) =>
      threads.map((thread): TraceEvent => ({ kind: 'alloc', ...(thread !== undefined && { thread }) }))
    const numbered = mapped({ numberThreads: true }, of(2n ** 63n, 0n, undefined, 2n ** 63n, 1n, 0n, 2n), 2)
    expect(numbered).toEqual(of(1n, 2n, undefined, 1n, 3n, 2n, 4n))
    const traces = [...inBatches(of(7n, 8n), 2, { format: 'a' }), ...inBatches(of(8n, 7n), 2, { format: 'b' })]
    expect(eventsOf(drive(new Mapper({ numberThreads: true }), traces).out)).toEqual(of(1n, 2n, 1n, 2n))
  })

  describe('anonymizing', () => {
    it('replaces addresses one to one and leaves the rest', () => {
      fc.assert(
        fc.property(events, (list) => {
          const out = mapped({ anonymize: { key: 'secret', names: false } }, list)
          const there = new Map<bigint, bigint>()
          const back = new Map<bigint, bigint>()
          const names = ['address', 'oldAddress', 'heap', 'callSite'] as const
          list.forEach((event, i) => {
            const to = out[i]
            for (const name of names) {
              const [a, b] = [event[name], to[name]]
              if (a === undefined || b === undefined) return expect(b).toBe(a)
              expect(there.get(a) ?? b).toBe(b)
              expect(back.get(b) ?? a).toBe(a)
              there.set(a, b)
              back.set(b, a)
              if (a === 0n) expect(b).toBe(0n)
            }
            const rest = (all: TraceEvent) => ({ ...all, address: 0n, oldAddress: 0n, heap: 0n, callSite: 0n })
            expect(rest(to)).toEqual(rest(event))
          })
        }),
      )
    })

    it('replaces names one to one, leaves attributes out and the rest alone', () => {
      const prefix = { function: 'f_', file: 'file_', module: 'module_', type: 't_', text: 'text_' } as const
      const groups = GROUP_FIELDS.filter(({ type }) => type === 'string').map(({ name }) => name)
      fc.assert(
        fc.property(events, fc.integer({ min: 1, max: 9 }), (list, size) => {
          const out = mapped({ anonymize: { key: 'secret', addresses: false } }, list, size)
          const seen = new Map<string, string>()
          const check = (from: string | undefined, to: string | undefined, begins: string) => {
            if (from === undefined || from === '' || (begins === 't_' && from === 'internal'))
              return expect(to).toBe(from)
            expect(to).toMatch(new RegExp(`^${begins}[0-9a-f]{12}$`))
            expect(seen.get(begins + from) ?? to).toBe(to)
            seen.set(begins + from, to as string)
          }
          list.forEach((event, i) => {
            const to = out[i]
            for (const name of ['function', 'file', 'module', 'type', 'text'] as const)
              check(event[name], to[name], name === 'text' && event.kind === 'comment' ? '# text_' : prefix[name])
            for (const name of groups) check(event[name] as string, to[name] as string, `${name}_`)
            expect(to.stack?.length).toBe(event.stack?.length)
            event.stack?.forEach((frame, f) => check(frame, to.stack?.[f], 'f_'))
            expect(to.attributes).toBeUndefined()
            expect(to.fields).toBeUndefined()
            const names = ['function', 'file', 'module', 'type', 'text', 'stack', 'attributes', 'fields', ...groups]
            const rest = (all: TraceEvent) => only(all, (name) => !names.includes(name))
            expect(rest(to)).toEqual(rest(event))
          })
          expect(new Set(seen.values()).size).toBe(seen.size)
        }),
        { numRuns: runs(200) },
      )
    })

    it('gives the same under the same key, whatever came before', () => {
      const one: TraceEvent = { kind: 'alloc', address: 0x7fff_1234_5678n, function: 'main', stack: ['main', 'start'] }
      const options: MapOptions = { anonymize: { key: 'secret' } }
      const other: TraceEvent = { kind: 'alloc', address: 0x1234_5678n, function: 'other' }
      expect(mapped(options, [other, one], 1)[1]).toEqual(mapped(options, [one])[0])
      expect(mapped({ anonymize: { key: 'other' } }, [one])).not.toEqual(mapped(options, [one]))
    })

    it('works on names that are dropped or set at the same time', () => {
      fc.assert(
        fc.property(events, fields, constants, (list, drop, set) => {
          const anonymize = { key: 'secret' }
          const expected = mapped({ drop, set }, mapped({ anonymize }, list))
          expect(mapped({ anonymize, drop, set }, list)).toEqual(expected)
        }),
      )
    })

    it('replaces the names in the header, also of a trace without events', () => {
      const layout = {
        executable: '/usr/bin/secret',
        command: 'secret',
        version: '1.4.0',
        raw: true,
        pages: 5,
        about: 'a b',
      }
      const [batch] = drive(
        new Mapper({ anonymize: { key: 'k', addresses: false } }),
        batchesOf([], { format: 'x', layout }),
      ).out
      expect(batch?.header).toEqual({
        format: 'x',
        layout: {
          ...layout,
          executable: expect.stringMatching(/^file_[0-9a-f]{12}$/) as string,
          command: expect.stringMatching(/^text_[0-9a-f]{12}$/) as string,
          about: expect.stringMatching(/^text_[0-9a-f]{12}$/) as string,
        },
      })
    })

    it('refuses an empty key', () => {
      expect(() => new Mapper({ anonymize: { key: '' } })).toThrow('the key to anonymize with is empty')
    })
  })

  it('evaluates expressions first, on what the trace says', () => {
    const options: MapOptions = { expression: 'event.function === "main"', anonymize: { key: 'k' }, set: { size: 1n } }
    const out = mapped(options, [
      { kind: 'alloc', function: 'main' },
      { kind: 'alloc', function: 'other' },
    ])
    expect(out).toEqual([{ kind: 'alloc', size: 1n, function: expect.stringMatching(/^f_/) }])
  })
})

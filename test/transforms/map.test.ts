import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
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
    expect(() => new Mapper({ set: { kind: 'free' } as never })).toThrow('set cannot change the kind of events')
  })

  describe('rebasing', () => {
    const MOST = 2n ** 64n - 1n
    const NEAR = [0n, 1n, 0xffff_ffffn, 0x1_0000_0000n, 0x1000n, MOST - 1n, MOST]
    const place = fc.oneof(fc.constantFrom(...NEAR), fc.bigInt({ min: 0n, max: MOST }))

    it('moves addresses, but not null, callers and heaps, up to one that would become null or leave 64 bits', () => {
      const addresses = fc.record({ address: place, oldAddress: place })
      const some = fc.array(
        fc
          .tuple(anyEvent, fc.option(addresses, { nil: undefined }))
          .map(([event, own]) => ({ ...event, ...own }) as TraceEvent),
        { maxLength: 25 },
      )
      fc.assert(
        fc.property(some, place, place, fc.integer({ min: 1, max: 9 }), (list, from, to, size) => {
          const move = (address: bigint) => (address === 0n ? 0n : address - from + to)
          const isWrong = (address = 0n) => address !== 0n && (move(address) <= 0n || move(address) > MOST)
          const at = list.findIndex((event) => from !== to && (isWrong(event.address) || isWrong(event.oldAddress)))
          const expected = (at < 0 ? list : list.slice(0, at)).map((event) => ({
            ...event,
            ...(event.address !== undefined && { address: move(event.address) }),
            ...(event.oldAddress !== undefined && { oldAddress: move(event.oldAddress) }),
          }))
          const { out, error } = drive(new Mapper({ rebase: { from, to } }), inBatches(list, size, HEADER))
          expect(eventsOf(out)).toEqual(expected)
          if (at < 0) expect(error).toBeUndefined()
          else expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: at + 1, format: HEADER.format })
        }),
        { numRuns: runs(1000) },
      )
    })

    it('says which address cannot be moved', () => {
      const list: TraceEvent[] = [
        { kind: 'alloc', address: 0x2000n },
        { kind: 'realloc', address: 0x3000n, oldAddress: 0x1000n, size: 1n },
      ]
      const { out, error } = drive(new Mapper({ rebase: { from: 0x1000n, to: 0n } }), inBatches(list, 2, HEADER))
      expect(eventsOf(out)).toEqual([{ kind: 'alloc', address: 0x1000n }])
      expect(error?.message).toBe(
        'test: event 2: oldAddress 0x1000 would be moved to 0, or beyond 64 bits: rebase to other addresses',
      )
    })

    it('does not matter for fields that are dropped or set', () => {
      const rebase = { from: 0x1000n, to: 0n }
      const list: TraceEvent[] = [{ kind: 'alloc', address: 0x1000n }]
      expect(mapped({ rebase, set: { address: 5n } }, list)).toEqual([{ kind: 'alloc', address: 5n }])
      expect(mapped({ rebase, drop: ['address'] }, list)).toEqual([{ kind: 'alloc' }])
    })

    it('needs addresses of 64 bits', () => {
      for (const rebase of [
        { from: -1n, to: 1n },
        { from: 1n, to: MOST + 1n },
      ])
        expect(() => new Mapper({ rebase })).toThrow('map: rebase needs addresses from 0 to 2^64 - 1')
    })
  })

  describe('with a function that drops events', () => {
    const list = (n: number) => Array.from({ length: n }, (_, i): TraceEvent => ({ kind: 'alloc', size: BigInt(i) }))
    const run = (at: readonly number[], n: number, size: number, header: TraceHeader = HEADER) => {
      const mapper = new Mapper({ expression: (_, number) => !at.includes(number) })
      const { out, error } = drive(mapper, inBatches(list(n), size, header))
      expect(error).toBeUndefined()
      expect(eventsOf(out)).toEqual(list(n).filter((_, i) => !at.includes(i + 1)))
      return { headers: [...new Set(out.map((batch) => batch.header))], warnings: mapper.warnings }
    }

    it.each([1, 7, 100, 5000])('the header says so, in batches of %i', (size) => {
      for (const at of [1, 2, 4096]) {
        const { headers, warnings } = run([at], 5000, size)
        expect([headers, warnings]).toEqual([[{ ...HEADER, filtered: true }], []])
      }
      expect(run([], 5000, size)).toEqual({ headers: [HEADER], warnings: [] })
    })

    it.each([1, 100, 9000])('a warning says so if the header cannot any more, in batches of %i', (size) => {
      const { headers, warnings } = run([4097, 6000], 9000, size)
      expect(headers[0]).toBe(HEADER)
      expect(headers).toHaveLength(1)
      expect(warnings).toEqual([
        '2 events were dropped after the first 4096 of the trace, whose header does not say so: ' +
          'blocks that seem to be live may have been freed',
      ])
      // The header of a filtered trace says it already.
      expect(run([4097], 5000, size, { ...HEADER, filtered: true }).warnings).toEqual([])
      expect(run([1, 4097], 5000, size).warnings).toEqual([])
    })

    it('each trace has its own', () => {
      const headers: TraceHeader[] = [{ format: 'a' }, { format: 'b' }, { format: 'c' }]
      const input = headers.flatMap((header) => inBatches(list(3), 2, header))
      const { out } = drive(new Mapper({ expression: (_, n) => n !== 5 }), input)
      expect([...new Set(out.map(({ header }) => header))]).toEqual([
        { format: 'a' },
        { format: 'b', filtered: true },
        { format: 'c' },
      ])
      expect(eventsOf(out)).toHaveLength(8)
    })

    it('events before a fault are marked, too', () => {
      const mapper = new Mapper({
        expression: (_, n) => {
          if (n === 3) throw new Error('enough')
          return n !== 1
        },
      })
      const { out, error } = drive(mapper, inBatches(list(5), 2, HEADER))
      expect(out.map(({ header, count }) => [header.filtered, count])).toEqual([
        [true, 1],
        [true, 0],
      ])
      expect(error?.message).toBe('expression: event 3: enough')
    })
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

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, EventBatch, reviseBatch, type TraceEvent } from '../../lib/event/batch.js'
import {
  anyFieldSet,
  EVERY_FIELD,
  fieldNames,
  FIELDS,
  GROUP_FIELDS,
  groupFieldNames,
  groupFieldSet,
  GROUPS,
  type FieldName,
  type GroupFieldName,
} from '../../lib/event/fields.js'
import { GroupColumns, wholeGroups } from '../../lib/event/groups.js'
import { StringTable } from '../../lib/event/strings.js'
import { selectRows } from '../../lib/kernel/select.js'
import { anyEvent } from '../support/random-event.js'
import { runs } from '../support/runs.js'

const HEADER = { format: 'test' }
const NAMES = GROUP_FIELDS.map(({ name }) => name)
const events = fc.array(anyEvent, { minLength: 1, maxLength: 20 })
const batchOf = (list: readonly TraceEvent[]) => batchesOf(list, HEADER)[0] as EventBatch
const without = (event: TraceEvent, names: readonly string[]) =>
  Object.fromEntries(Object.entries(event).filter(([name]) => !names.includes(name)))

describe('sets of fields', () => {
  it('have the core in one word, and the fields of groups in another', () => {
    fc.assert(
      fc.property(fc.subarray(EVERY_FIELD.map(({ name }) => name)), (names) => {
        const { core, groups } = anyFieldSet(names)
        expect([...fieldNames(core), ...groupFieldNames(groups)]).toEqual(names)
        expect(core >>> FIELDS.length).toBe(0)
        expect(groups >>> GROUP_FIELDS.length).toBe(0)
      }),
    )
  })

  it('grow to whole groups', () => {
    const inGroups = Object.values(GROUPS).flat() as FieldName[]
    for (const name of NAMES) expect(inGroups).toContain(name)
    expect(wholeGroups(0)).toBe(0)
    expect(groupFieldNames(wholeGroups(groupFieldSet('stream')))).toEqual(['device', 'stream'])
    expect(groupFieldNames(wholeGroups(groupFieldSet('weight', 'arena')))).toEqual(['weight', 'arena'])
  })
})

describe('fields of groups', () => {
  it('take nothing in a batch without any', () => {
    expect(batchOf([{ kind: 'alloc', size: 1n }]).groups).toBeUndefined()
    expect(selectRows(batchOf([{ kind: 'alloc', weight: 1n }, { kind: 'free' }]), Int32Array.of(1), 1).groups).toBe(
      undefined,
    )
  })

  it('are refused if they do not fit, and leave nothing behind', () => {
    const batch = new EventBatch(2, 0, HEADER)
    expect(() => batch.push({ kind: 'alloc', weight: -1n })).toThrow('weight is not a 64-bit unsigned integer: -1')
    expect(() => batch.push({ kind: 'alloc', weight: 1n, device: 2 ** 31 })).toThrow('device is not a 32-bit integer')
    expect(() => batch.push({ kind: 'alloc', arena: 7 as unknown as string })).toThrow('arena must be a string')
    batch.push({ kind: 'alloc', device: -1 })
    expect([...batch]).toEqual([{ kind: 'alloc', device: -1 }])
  })

  it('are shown with the others', () => {
    const event = batchOf([{ kind: 'alloc', size: 1n, weight: 2n ** 64n - 1n, device: -1, arena: 'a"' }]).event(0)
    expect(JSON.stringify(event)).toBe(
      '{"kind":"alloc","size":1,"weight":"18446744073709551615","device":-1,"arena":"a\\""}',
    )
  })

  it('are selected with events, all of them or those of a set', () => {
    fc.assert(
      fc.property(events, fc.array(fc.nat(), { maxLength: 30 }), fc.subarray(NAMES), (list, picks, kept) => {
        const batch = batchOf(list)
        const rows = Int32Array.from(picks, (pick) => pick % list.length)
        expect([...selectRows(batch, rows, rows.length)]).toEqual([...rows].map((i) => list[i]))
        const dropped = NAMES.filter((name) => !kept.includes(name))
        const some = batch.groups?.select(rows, rows.length, groupFieldSet(...kept))
        const target = selectRows(batch, rows, rows.length, batch.columns, HEADER, 0)
        target.groups = some
        expect([...target]).toEqual([...rows].map((i) => without(list[i] as TraceEvent, dropped)))
      }),
      { numRuns: runs(300) },
    )
  })

  it('are removed, and filled with one value', () => {
    fc.assert(
      fc.property(events, fc.subarray(NAMES), anyEvent, (list, dropped, constant) => {
        const batch = batchOf(list)
        const one = batchOf([constant])
        const target = reviseBatch(
          batch,
          0,
          batch.strings,
          HEADER,
          batch.groups?.without(groupFieldSet(...dropped), list.length) ?? null,
        )
        expect([...target]).toEqual(list.map((event) => without(event, dropped)))
        const groups = new GroupColumns(list.length)
        const given = NAMES.filter((name) => constant[name] !== undefined)
        for (const name of given)
          groups.fill(NAMES.indexOf(name), one.groups as GroupColumns, one.strings, batch.strings, list.length)
        target.groups = groups
        const filled = Object.fromEntries(given.map((name) => [name, constant[name]]))
        expect([...target]).toEqual(list.map((event) => ({ ...without(event, NAMES), ...filled })))
      }),
      { numRuns: runs(300) },
    )
  })

  it('keep their strings in a batch with another string table', () => {
    const list: TraceEvent[] = [
      { kind: 'alloc', arena: 'one', weight: 2n },
      { kind: 'alloc', size: 1n },
      { kind: 'free', arena: 'two' },
    ]
    const strings = new StringTable()
    strings.internText('other')
    expect([...reviseBatch(batchOf(list), 0, strings)]).toEqual(list)
    const marked = batchOf(list).groups?.translated(batchOf(list).strings, strings, 3, (_, from, id, to) =>
      to.internText(`${from.text(id)}!`),
    )
    const target = reviseBatch(batchOf(list), 0, strings, HEADER, marked)
    expect([...target].map(({ arena }) => arena)).toEqual(['one!', undefined, 'two!'])
  })

  it('have their columns by name', () => {
    const { groups } = batchOf([{ kind: 'alloc', weight: 5n }])
    expect(groups?.wide('weight')?.values[0]).toBe(5n)
    expect(['stream', 'device'].map((name) => groups?.wide(name as GroupFieldName))).toEqual([undefined, undefined])
    expect(groupFieldNames(groups?.used() ?? 0)).toEqual(['weight'])
  })
})

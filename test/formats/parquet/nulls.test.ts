import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readEvents } from './support.js'

const FOLDER = new URL('nulls/', import.meta.url)
const names = readdirSync(FOLDER).filter((name) => name.endsWith('.parquet'))
const read = (name: string) => readEvents(fileURLToPath(new URL(name, FOLDER)))

const EVENTS = [
  { kind: 'alloc', address: 16n },
  { kind: 'free', address: 16n },
  { kind: 'alloc', address: 32n },
]

describe('row groups without rows', () => {
  test('are passed over', async () => {
    const { events, error } = await read('empty-group.parquet')
    expect({ events, error }).toEqual({ events: EVENTS, error: undefined })
  })

  test.each(['no-rows.parquet', 'no-groups.parquet'])('may be all: %s', async (name) => {
    const { events, headers, error } = await read(name)
    expect({ events, error }).toEqual({ events: [], error: undefined })
    expect(headers).toHaveLength(1)
  })
})

describe('columns without values', () => {
  test.each(names.filter((name) => /null|int32|float|string/.test(name)))(
    'are absent, whatever type they have: %s',
    async (name) => {
      const { events, error, warnings } = await read(name)
      expect({ events, error, warnings }).toEqual({ events: EVENTS, error: undefined, warnings: [] })
    },
  )

  test.each(names.filter((name) => name.startsWith('lists')))('lists without items are stacks: %s', async (name) => {
    const { events, error } = await read(name)
    expect({ events, error }).toEqual({ events: EVENTS.map((event) => ({ ...event, stack: [] })), error: undefined })
  })

  test.each([
    ['function', 'strings'],
    ['size', 'integers'],
    ['stack', 'lists of strings'],
    ['attributes', 'bytes'],
  ])(
    'a value of a type that the field cannot have is an error, after the events before it: %s',
    async (field, what) => {
      const { events, error } = await read(`wrong-${field}.parquet`)
      expect(events).toHaveLength(2)
      expect(error).toMatchObject({ code: 'ERR_TRACE_MALFORMED', event: 3 })
      expect(error?.message).toContain(`column ${field}: it must have ${what}`)
    },
  )
})

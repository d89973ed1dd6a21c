import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { NdjsonDecoder } from '../../../lib/formats/ndjson/decode.js'
import { scratch } from '../../support/commands.js'
import { decodeAll } from '../../support/drive.js'
import { someOf } from '../../support/runs.js'
import { readEvents } from './support.js'

const FOLDER = new URL('foreign/', import.meta.url)
const golden = readFileSync(new URL('../arrow/foreign/events.ndjson', import.meta.url))
const { events, headers } = decodeAll(new NdjsonDecoder(), new Uint8Array(golden))

describe('files that pyarrow, polars and DuckDB wrote', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.parquet'))

  test('there are some', () => {
    expect(files.length).toBeGreaterThan(20)
  })

  test.each(files)('%s has the events', async (name) => {
    const found = await readEvents(fileURLToPath(new URL(name, FOLDER)))
    expect(found.error).toBeUndefined()
    expect(found.events).toEqual(events)
    // Others do not keep the metadata of a schema.
    expect(found.headers).toEqual(name.startsWith('pyarrow') ? headers : [{ format: 'unknown' }])
    expect(found.warnings).toEqual([])
  })

  test.each(files)('%s with a changed byte: events and at most an error', async (name) => {
    const bytes = readFileSync(new URL(name, FOLDER))
    const path = join(scratch(), 't.parquet')
    for (const at of someOf(bytes.length)) {
      if (at % 11 !== 0) continue
      const changed = Buffer.from(bytes)
      changed[at] = changed[at] ^ (1 + (at % 255))
      writeFileSync(path, changed)
      const { error, events: found } = await readEvents(path)
      if (error === undefined) continue
      expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_TRACE_/) as string })
      if (error.event !== undefined) expect(error.event).toBe(found.length + 1)
    }
  })
})

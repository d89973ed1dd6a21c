import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchesOf, type TraceEvent } from '../../../lib/event/batch.js'
import { eventForJson } from '../../../lib/event/event-json.js'
import { parseJson } from '../../../lib/event/json.js'
import { NdjsonDecoder } from '../../../lib/formats/ndjson/decode.js'
import { scratch } from '../../support/commands.js'
import { decodeAll } from '../../support/drive.js'
import { anyEvent } from '../../support/random-event.js'
import { decode, encodeBatches, rowOf } from './support.js'

/** A Python with pyarrow, polars and duckdb. */
const PYTHON = process.env['HEAPFLOW_PYTHON']
const script = (name: string) => fileURLToPath(new URL(`foreign/${name}`, import.meta.url))
const run = (...args: string[]) => execFileSync(PYTHON as string, args, { encoding: 'utf8', maxBuffer: 1 << 28 })

const HEADER = { format: 'mtrc', timeUnit: 'ns' } as const
const golden = readFileSync(new URL('foreign/events.ndjson', import.meta.url))
const { events } = decodeAll(new NdjsonDecoder(), new Uint8Array(golden))

/** Names that are UTF-8: others are escaped, which only heapflow takes back. */
const isPlain = (event: TraceEvent) => !/\\ud[89a-f]/.test(JSON.stringify(eventForJson(event)))
/** Different names, times and fields in several batches, the last of which repeat the names of the first. */
const random = fc.sample(anyEvent.filter(isPlain), { numRuns: 400, seed: 7 })
const BATCHES = [events, random, random.slice(0, 20), events, [...random, ...events]]

describe.skipIf(PYTHON === undefined)('with HEAPFLOW_PYTHON', { tags: ['slow'], timeout: 120_000 }, () => {
  const written = BATCHES.flat()
  const fileIn = (folder: string) => {
    const file = join(folder, 'events.arrows')
    const batches = BATCHES.flatMap((batch) => batchesOf(batch, HEADER))
    // Other programs than heapflow read one schema in a stream.
    writeFileSync(file, encodeBatches(batches, { groups: true }))
    return file
  }

  test.each(['pyarrow', 'polars', 'duckdb'])('%s reads what is written, with equal values', (program) => {
    const lines = run(script('read.py'), program, fileIn(scratch())).trim().split('\n')
    expect(lines.map((line) => parseJson(line))).toEqual(written.map((event) => rowOf(event)))
  })

  test('what pyarrow and polars write of events of all sorts is read', () => {
    const target = scratch()
    run(script('write.py'), fileIn(scratch()), target)
    const names = readdirSync(target)
    expect(names.length).toBeGreaterThan(10)
    for (const name of names) {
      const { error, events: found } = decode(new Uint8Array(readFileSync(join(target, name))))
      expect({ name, error }).toEqual({ name, error: undefined })
      expect(found).toEqual(written)
    }
  })
})

// @module-tag slow
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { jsonText } from '../../lib/cli/report/json.js'
import { StatisticsReport } from '../../lib/cli/report/statistics-report.js'
import type { EventBatch } from '../../lib/event/batch.js'
import { isWritable, type WritableFormat } from '../../lib/event/format.js'
import type { Stage } from '../../lib/event/stage.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { FORMATS, formatNamed } from '../support/formats.js'
import { Filter, type FilterOptions } from '../../lib/transforms/filter.js'
import { parseRange } from '../../lib/transforms/predicates/ranges.js'
import { decodeAll } from '../support/drive.js'
import { spoil } from '../support/spoil.js'

const TRACE = gunzipSync(readFileSync(new URL('../fixtures/mtrc/git.mtrc.gz', import.meta.url))).subarray(0, 400_000)

/** Batches of their own, for they are spoilt. */
const traceBatches = () => decodeAll(mtrc.decoder(), TRACE, 65_536).batches

/** Runs a stage over batches, each of which is spoilt as soon as the stage says that it is done with it. */
function run<Out>(
  stage: Stage<EventBatch, Out>,
  batches: EventBatch[],
  spoils: boolean,
  show: (out: Out) => unknown,
): unknown[] {
  const shown: unknown[] = []
  const drain = (batch?: EventBatch) => {
    let passedOn = false
    for (let out = stage.next(); out !== null; out = stage.next()) {
      shown.push(show(out))
      passedOn ||= (out as unknown) === batch
    }
    if (spoils && batch !== undefined && !passedOn) spoil(batch)
  }
  for (const batch of batches) {
    stage.feed(batch)
    drain(batch)
  }
  stage.end()
  drain()
  return shown
}

describe('a stage that consumes batches is done with each when it wants another one', () => {
  const consuming = FORMATS.filter(isWritable).filter((format) => format.encoder().consumes === true)
  const cases = consuming.map(({ name }): [string, object] => [name, {}])

  it.each([...cases, ['hatf', { preset: 'naive' }], ['hatf', { attributes: true }]])(
    'the encoder of %s %o',
    (name, options) => {
      const encoder = () =>
        (formatNamed(name as string) as WritableFormat).encoder(options as object) as Stage<EventBatch, Uint8Array>
      const bytes = (out: Uint8Array) => Buffer.from(out)
      const expected = Buffer.concat(run(encoder(), traceBatches(), false, bytes) as Buffer[])
      expect(expected.length).toBeGreaterThan(10_000)
      expect(Buffer.concat(run(encoder(), traceBatches(), true, bytes) as Buffer[]).equals(expected)).toBe(true)
    },
  )

  const size = parseRange('64..512')
  const filters: FilterOptions[] = [{ size }, { size, lifetimes: true }, {}, { invert: true }]
  it.each(filters)('a filter %o', (options) => {
    const events = (batch: EventBatch) => [...batch]
    const expected = run(new Filter(options), traceBatches(), false, events)
    expect(run(new Filter(options), traceBatches(), true, events)).toEqual(expected)
  })

  it('the statistics', () => {
    const report = () => new StatisticsReport({ print: jsonText })
    const text = (out: Uint8Array) => Buffer.from(out).toString()
    const expected = run(report(), traceBatches(), false, text)
    expect(JSON.parse(expected.join('')).events).toBeGreaterThan(10_000)
    expect(report().consumes).toBe(true)
    expect(run(report(), traceBatches(), true, text)).toEqual(expected)
  })

  it('they are the usual formats', () => {
    expect(cases.map(([name]) => name)).toEqual(
      expect.arrayContaining(['mtrc', 'ndjson', 'kmemtrace', 'replay', 'hatf']),
    )
  })
})

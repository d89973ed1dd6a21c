import { describe, expect, it } from 'vitest'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import type { WritableFormat } from '../../lib/event/format.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { hatf } from '../../lib/formats/hatf/index.js'
import { heapmon } from '../../lib/formats/heapmon/index.js'
import { heaptrack } from '../../lib/formats/heaptrack/index.js'
import { kmemtrace } from '../../lib/formats/kmemtrace/index.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { replay } from '../../lib/formats/replay/index.js'
import { hatfAscii } from '../../lib/metatf/hatf-ascii/index.js'
import type { Encoder } from '../../lib/event/stage.js'
import { drive } from '../support/drive.js'

const LOST = 'the unit of times'
const [AS_NS, AS_US] = ['nanoseconds', 'microseconds'].map((unit) => `times without a unit, taken for ${unit}`)
const US: TraceHeader = { format: 'x', timeUnit: 'us' }
const NS: TraceHeader = { format: 'x', timeUnit: 'ns' }
const NONE: TraceHeader = { format: 'x' }

const alloc = (address: bigint, time?: bigint): TraceEvent => ({
  kind: 'alloc',
  api: 'malloc',
  thread: 1n,
  address,
  size: 8n,
  ...(time !== undefined && { time }),
})

/** One event without a time, and two with one. */
const EVENTS = [alloc(16n), alloc(32n, 1000n), alloc(48n, 2000n)]

/** What an encoder counts that is about units, of these traces, and where it stops in strict mode. */
function unitLosses(make: (strict: boolean) => Encoder, ...traces: [TraceHeader, TraceEvent[]][]) {
  const batches = () => traces.flatMap(([header, events]) => [...batchesOf(events, header)])
  const encoder = make(false)
  expect(drive(encoder, batches()).error).toBeUndefined()
  return [...encoder.losses.counts].filter(([reason]) => reason.includes('unit'))
}

const format =
  (of: WritableFormat, options: object = {}) =>
  (strict: boolean) =>
    of.encoder({ ...options, strict })

describe('the unit of times', () => {
  it.each<[string, WritableFormat, object]>([
    ['hatf', hatf, {}],
    ['hatf, live', hatf, { latency: true }],
    ['hatf, split', hatf, { splitAddr: true }],
  ])('is a loss of each trace that has one, in a format that cannot state it: %s', (_, of, options) => {
    const make = format(of, options)
    expect(unitLosses(make, [US, EVENTS])).toEqual([[LOST, 1]])
    expect(unitLosses(make, [NS, EVENTS], [{ ...US }, EVENTS])).toEqual([[LOST, 2]])
    expect(unitLosses(make, [NONE, EVENTS])).toEqual([])
    expect(unitLosses(make, [US, [alloc(16n)]])).toEqual([])
    // Times that are not written have no unit to lose.
    expect(unitLosses(make, [US, [{ kind: 'reserve', address: 16n, time: 5n }, alloc(32n)]])).toEqual([])
  })

  it('is an error in strict mode, at the first event that has a time', () => {
    const encoder = hatf.encoder({ strict: true })
    const frees: TraceEvent[] = [undefined, 5n].map((time) => ({ kind: 'free', address: 16n, ...(time && { time }) }))
    const { error } = drive(encoder, batchesOf(frees, US))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: 2 })
    expect(error?.message).toBe(`hatf: event 2: cannot represent ${LOST}`)
  })

  it.each<[string, WritableFormat, object]>([
    ['hatf with attributes', hatf, { attributes: true }],
    ['hatf-ascii', hatfAscii, {}],
    ['ndjson', ndjson, {}],
    ['mtrc, without times', mtrc, {}],
  ])('is kept: %s', (_, of, options) => {
    const make = format(of, options)
    for (const header of [US, NS, NONE]) expect(unitLosses(make, [header, EVENTS])).toEqual([])
  })

  it.each<[string, WritableFormat, object, string | undefined]>([
    ['replay', replay, {}, AS_NS],
    ['kmemtrace', kmemtrace, { layout: 'ftrace' }, AS_NS],
    ['heapmon', heapmon, {}, AS_US],
    ['heaptrack', heaptrack, {}, AS_US],
  ])('is taken for that of the format where there is none, which is counted: %s', (_, of, options, reason) => {
    const make = format(of, options)
    expect(unitLosses(make, [NONE, EVENTS])).toEqual([[reason, 2]])
    for (const header of [US, NS]) expect(unitLosses(make, [header, EVENTS])).toEqual([])
    const { error } = drive(make(true), batchesOf(EVENTS.slice(1), NONE))
    expect(error).toMatchObject({ code: 'ERR_TRACE_UNENCODABLE', event: 1 })
  })
})

// Transforms that examine every event of a trace: statistics, checks, and merging eight traces into one.
import { readFileSync } from 'node:fs'
import * as mtrc from '../../dist/lib/entry/mtrc.js'
import {
  FieldBit,
  HI,
  LO,
  Merger,
  reviseBatch,
  selectRows,
  StatisticsCollector,
  Verifier,
} from '../../dist/lib/entry/stages.js'
import { batchesOf, eventsIn } from '../drive.mjs'

/** How many traces are merged. */
const INPUTS = 8

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const bytes = readFileSync(files.mtrc)
  const batches = batchesOf(mtrc.format.decoder(), bytes)
  const events = eventsIn(batches)
  const lanes = dealt(batches)
  const task = (name, run) => ({ name, events, bytes: bytes.length, run })
  return [
    task('statistics', () => statistics(batches)),
    task('checks', () => checks(batches)),
    task(`merging ${INPUTS} traces by time`, () => merge(lanes)),
  ]
}

function statistics(batches) {
  const collector = new StatisticsCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish().events
}

function checks(batches) {
  const verifier = new Verifier()
  for (const batch of batches) verifier.check(batch)
  return verifier.events
}

/** The events distributed to several traces in turn, with their positions as times. */
function dealt(batches) {
  /** @type {import('../../dist/lib/entry/index.js').EventBatch[][]} */
  const lanes = Array.from({ length: INPUTS }, () => [])
  let first = 0
  for (const batch of batches) {
    const timed = reviseBatch(batch, FieldBit.time)
    for (let i = 0; i < batch.count; i++) {
      timed.mask[i] |= FieldBit.time
      timed.time.words[2 * i + LO] = first + i
      timed.time.words[2 * i + HI] = 0
    }
    timed.count = batch.count
    lanes.forEach((lane, l) => {
      const rows = Int32Array.from(
        { length: Math.ceil(Math.max(0, batch.count - l) / INPUTS) },
        (_, j) => l + j * INPUTS,
      )
      lane.push(selectRows(timed, rows, rows.length))
    })
    first += batch.count
  }
  return lanes
}

function merge(lanes) {
  const merger = new Merger(
    lanes.map((_, l) => `trace ${l}`),
    { by: 'time' },
  )
  const next = lanes.map(() => 0)
  let events = 0
  for (;;) {
    for (let batch = merger.next(); batch !== null; batch = merger.next()) events += batch.count
    const wanted = merger.wants()
    if (wanted < 0) return events
    const batch = lanes[wanted][next[wanted]++]
    if (batch === undefined) merger.end(wanted)
    else merger.feed(wanted, batch)
  }
}

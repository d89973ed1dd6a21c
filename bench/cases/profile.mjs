// Columns to profiles and reports, and profiles to files for other tools.
import { readFileSync } from 'node:fs'
import * as mtrc from '../../dist/lib/entry/mtrc.js'
import { exportProfile } from '../../dist/lib/entry/index.js'
import { FieldBit, ProfileCollector, ReportCollector, reviseBatch } from '../../dist/lib/entry/stages.js'
import { batchesOf, eventsIn } from '../drive.mjs'

/** Each function of the trace is called through some of these functions, in this number of ways. */
const [DEPTH, WAYS] = [20, 32]

/** @param {import('../inputs.mjs').Input} input */
export async function tasks({ files }) {
  const bytes = readFileSync(files.mtrc)
  const batches = batchesOf(mtrc.format.decoder(), bytes)
  const events = eventsIn(batches)
  const deep = batches.map(withStacks)
  const task = (name, run) => ({ name, events, bytes: bytes.length, run })
  const profile = collect(batches)
  const stacks = collect(deep)
  const write = (name, from, to) => task(name, async () => length(await exportProfile(from, to)))
  return [
    task('profile', () => collect(batches).statistics.events),
    task('profile, threads at the root', () => collect(batches, { threadRoot: true }).statistics.events),
    task(`profile of stacks of ${DEPTH} frames`, () => collect(deep).statistics.events),
    task('report', () => reportOn(batches).data().summary.events),
    task(`report on stacks of ${DEPTH} frames`, () => reportOn(deep).data().summary.events),
    write('profile to pprof', profile, 'pprof'),
    write('stacks to pprof', stacks, 'pprof'),
    write('stacks to collapsed', stacks, 'collapsed'),
  ]
}

function collect(batches, options = {}) {
  const collector = new ProfileCollector(options)
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

function reportOn(batches) {
  const collector = new ReportCollector()
  for (const batch of batches) collector.add(batch)
  return collector.finish()
}

function length(pieces) {
  let sum = 0
  for (const piece of pieces) sum += piece.length
  return sum
}

/** The events with stacks: the frames of one way, and then the function of the event. */
function withStacks(batch) {
  const strings = batch.strings.copy()
  const frames = Array.from({ length: DEPTH }, (_, i) => strings.internText(`caller_${i}`))
  const lists = new Map()
  const deep = reviseBatch(batch, FieldBit.stack, strings)
  for (let i = 0; i < batch.count; i++) {
    if ((batch.mask[i] & FieldBit.function) === 0) continue
    const way = batch.line[i] % WAYS
    const key = batch.function[i] * WAYS + way
    let list = lists.get(key)
    if (list === undefined) {
      list = strings.addList([batch.function[i], ...frames.map((_, f) => frames[(f * (way + 1)) % DEPTH])])
      lists.set(key, list)
    }
    deep.mask[i] |= FieldBit.stack
    deep.stack[i] = list
  }
  return deep
}

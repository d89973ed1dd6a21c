// Filtering columns by thread.
import { readFileSync } from 'node:fs'
import * as mtrc from '../../dist/lib/entry/mtrc.js'
import { parseRange } from '../../dist/lib/entry/index.js'
import { Filter, recycle } from '../../dist/lib/entry/stages.js'
import { batchesOf, drive, eventsIn } from '../drive.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const bytes = readFileSync(files.mtrc)
  const batches = batchesOf(mtrc.format.decoder(), bytes)
  const events = eventsIn(batches)
  const thread = busiestThread(batches)
  const given = new Set(batches)
  const count = (batch) => {
    const n = batch.count
    if (!given.has(batch)) recycle(batch)
    return n
  }
  const task = (name, options) => ({ name, events, bytes: bytes.length, run: () => drive(new Filter(options), batches, count) })
  return [
    task('by thread', { thread }),
    task('by thread, with lifetimes', { thread, lifetimes: true }),
    task('by size', { size: parseRange('16..64') }),
    task('by kind', { kind: 'free' }),
    task('keeping all', { events: { from: 1n } }),
  ]
}

/** The thread with the most events, 0 if no event has one. */
function busiestThread(batches) {
  const counts = new Map()
  for (const batch of batches) {
    for (const { thread } of batch) if (thread !== undefined) counts.set(thread, (counts.get(thread) ?? 0) + 1)
  }
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most), [0n, 0])[0]
}

// Filtering columns by thread.
import { readFileSync } from 'node:fs'
import { Filter, mtrc } from '../../dist/lib/index.js'
import { batchesOf, countOf, drive, eventsIn } from '../drive.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const bytes = readFileSync(files.mtrc)
  const batches = batchesOf(mtrc.format.decoder(), bytes)
  const events = eventsIn(batches)
  const thread = busiestThread(batches)
  const task = (name, options) => ({ name, events, bytes: bytes.length, run: () => drive(new Filter(options), batches, countOf) })
  return [
    task('by thread', { thread }),
    task('by thread, with lifetimes', { thread, lifetimes: true }),
    task('keeping all', { events: { from: 1n } }),
  ]
}

/** The thread with the most events, 0 where no event has one. */
function busiestThread(batches) {
  const counts = new Map()
  for (const batch of batches) {
    for (const { thread } of batch) if (thread !== undefined) counts.set(thread, (counts.get(thread) ?? 0) + 1)
  }
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most), [0n, 0])[0]
}

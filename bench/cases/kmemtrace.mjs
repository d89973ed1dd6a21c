// kmemtrace's records. Their fields have fixed places, so it does not matter that the trace has no call sites.
import { readFileSync } from 'node:fs'
import { kmemtrace, mtrc } from '../../dist/lib/index.js'
import { batchesOf, bytesOf } from '../drive.mjs'
import { codecTasks } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const batches = batchesOf(mtrc.format.decoder(), readFileSync(files.mtrc))
  return codecTasks(kmemtrace.format, bytesOf(kmemtrace.format.encoder(), batches))
}

// The wire between processes: canonical lines, lines that somebody rewrote, and the usual way to read either.
import { readFileSync } from 'node:fs'
import { ndjson } from '../../dist/lib/index.js'
import { countOf, drive, driveStream, slicesOf } from '../drive.mjs'
import { split2Parse } from '../yardsticks.mjs'
import { codecTasks } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const bytes = readFileSync(files.ndjson)
  const slices = slicesOf(bytes)
  const general = readFileSync(files.general)
  const generalSlices = slicesOf(general)
  const [decode, encode] = codecTasks(ndjson.format, bytes)
  const rewritten = { ...decode, bytes: general.length }
  return [
    decode,
    { ...decode, name: 'decode, as a stream', run: () => driveStream(slices, ndjson.decode(), countOf) },
    encode,
    { ...decode, name: 'split2 and JSON.parse', run: () => split2Parse(slices) },
    { ...rewritten, name: 'decode, general path', run: () => drive(ndjson.format.decoder(), generalSlices, countOf) },
    { ...rewritten, name: 'split2 and JSON.parse, of the general lines', run: () => split2Parse(generalSlices) },
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['decode', 'split2 and JSON.parse'],
  ['decode, as a stream', 'split2 and JSON.parse'],
  ['decode, general path', 'split2 and JSON.parse, of the general lines'],
]

// HATF 1.0: the fields that it can represent, in the fewest bytes and unchanged (preset naive), and with attributes for
// all other fields.
import { readFileSync } from 'node:fs'
import * as hatf from '../../dist/lib/entry/hatf.js'
import { batchesOf } from '../drive.mjs'
import { nativeDecode } from '../native/tasks.mjs'
import { codecTasks, nativeCodecTasks, nativeRatios } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files, native }) {
  const bytes = readFileSync(files.hatf)
  const [decode, encode] = codecTasks(hatf.format, bytes)
  const named = (task) => ({ ...task, name: `${task.name}, with attributes` })
  const batches = batchesOf(hatf.format.decoder(), bytes)
  return [
    decode,
    ...nativeDecode(native?.yardstick, { format: 'hatf', path: files.hatf, like: decode }, batches),
    encode,
    ...nativeCodecTasks(hatf.format, files.naive, native, { encode: { preset: 'naive' }, of: 'naive' }),
    ...codecTasks(hatf.format, readFileSync(files.attributes), { attributes: true }).map(named),
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = nativeRatios('decode', 'decode, naive', 'encode, naive')

// mpatrol MTRC, also against gunzip: decoding should never be what a pipeline waits for.
import { readFileSync } from 'node:fs'
import { mtrc } from '../../dist/lib/index.js'
import { countOf, drive, slicesOf } from '../drive.mjs'
import { gunzipProcess, hasGunzip } from '../yardsticks.mjs'
import { codecTasks } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const bytes = readFileSync(files.mtrc)
  const slices = slicesOf(bytes)
  const [decode, encode] = codecTasks(mtrc.format, bytes)
  const unresolved = () => drive(new mtrc.MtrcDecoder({ resolve: false }), slices, countOf)
  return [
    decode,
    { ...decode, name: 'decode, indices not resolved', run: unresolved },
    encode,
    ...(hasGunzip() ? [{ ...decode, name: 'gunzip -c', run: () => gunzipProcess(files.gzip) }] : []),
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [['decode', 'gunzip -c']]

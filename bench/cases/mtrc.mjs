// mpatrol MTRC, also compared with gunzip: a pipeline should never wait for decoding.
import { readFileSync } from 'node:fs'
import * as mtrc from '../../dist/lib/entry/mtrc.js'
import { batchesOf, countOf, drive, slicesOf, thenRecycle } from '../drive.mjs'
import { nativeDecode } from '../native/tasks.mjs'
import { gunzipProcess, hasGunzip } from '../yardsticks.mjs'
import { nativeCodecTasks, nativeRatios } from './codec.mjs'

/** The bytes of the header that 64-bit programs write. */
const HEADER_BYTES = 20
const UNRESOLVED = 'decode, indices not resolved'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files, native }) {
  const bytes = readFileSync(files.mtrc)
  const slices = slicesOf(bytes)
  const both = nativeCodecTasks(mtrc.format, files.mtrc, native, { headerLength: () => HEADER_BYTES })
  const like = { ...both[0], name: UNRESOLVED }
  const decoder = () => new mtrc.MtrcDecoder({ resolve: false })
  return [
    ...both,
    { ...like, run: () => drive(decoder(), slices, thenRecycle(countOf)) },
    ...nativeDecode(native?.yardstick, { format: 'mtrc-unresolved', path: files.mtrc, like }, batchesOf(decoder(), bytes)),
    ...(hasGunzip() ? [{ ...like, name: 'gunzip -c', run: () => gunzipProcess(files.gzip) }] : []),
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [...nativeRatios('decode', UNRESOLVED, 'encode'), ['decode', 'gunzip -c']]

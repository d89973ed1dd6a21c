// mpatrol MTRC, also compared with gunzip: a pipeline should never wait for decoding.
import { readFileSync } from 'node:fs'
import * as mtrc from '../../dist/lib/entry/mtrc.js'
import { batchesOf, countOf, drive, lengthOf, slicesOf, thenRecycle } from '../drive.mjs'
import { nativeDecode, nativeEncode } from '../native/tasks.mjs'
import { gunzipProcess, hasGunzip } from '../yardsticks.mjs'
import { nativeCodecTasks, nativeRatios } from './codec.mjs'

/** The bytes of the header that 64-bit programs write. */
const HEADER_BYTES = 20
const UNRESOLVED = 'decode, indices not resolved'
/** Its yardstick does not follow live blocks; the encoder does, here as well. */
const ENCODE_UNRESOLVED = 'encode, indices not resolved'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files, native }) {
  const bytes = readFileSync(files.mtrc)
  const slices = slicesOf(bytes)
  const both = nativeCodecTasks(mtrc.format, files.mtrc, native, { headerLength: () => HEADER_BYTES })
  const decoder = () => new mtrc.MtrcDecoder({ resolve: false })
  const batches = batchesOf(decoder(), bytes)
  const encoder = () => mtrc.format.encoder()
  const decoding = { ...both[0], name: UNRESOLVED, run: () => drive(decoder(), slices, thenRecycle(countOf)) }
  const encoding = { ...both[0], name: ENCODE_UNRESOLVED, run: () => drive(encoder(), batches, thenRecycle(lengthOf)) }
  const loop = { format: 'mtrc-unresolved', path: files.mtrc }
  return [
    ...both,
    decoding,
    ...nativeDecode(native?.yardstick, { ...loop, like: decoding }, batches),
    encoding,
    ...nativeEncode(native?.yardstick, { ...loop, like: encoding }, encoder(), batches, () => HEADER_BYTES),
    ...(hasGunzip() ? [{ ...both[0], name: 'gunzip -c', run: () => gunzipProcess(files.gzip) }] : []),
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [...nativeRatios('decode', UNRESOLVED, 'encode', ENCODE_UNRESOLVED), ['decode', 'gunzip -c']]

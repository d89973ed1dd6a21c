// The wire format between processes: canonical lines, lines rewritten by another program, and the usual way to read
// either.
import { readFileSync, writeFileSync } from 'node:fs'
import * as kmemtrace from '../../dist/lib/entry/kmemtrace.js'
import * as ndjson from '../../dist/lib/entry/ndjson.js'
import * as replay from '../../dist/lib/entry/replay.js'
import { batchesOf, bytesOf, countOf, drive, driveStream, slicesOf } from '../drive.mjs'
import { split2Parse } from '../yardsticks.mjs'
import { nativeCodecTasks, nativeRatios } from './codec.mjs'

/** Other formats, whose events have fields that those of MTRC lack. */
const OTHERS = { replay: replay.format, kmemtrace: kmemtrace.format }
const LINE_FEED = 0x0a
const PARSE = 'split2 and JSON.parse'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files, native }) {
  const slices = slicesOf(readFileSync(files.ndjson))
  const general = readFileSync(files.general)
  const generalSlices = slicesOf(general)
  const headerLength = (bytes) => bytes.indexOf(LINE_FEED) + 1
  const both = nativeCodecTasks(ndjson.format, files.ndjson, native, { headerLength })
  const others = Object.entries(OTHERS).flatMap(([form, format]) => {
    const path = `${files[form]}.ndjson`
    writeFileSync(path, bytesOf(ndjson.format.encoder(), batchesOf(format.decoder(), readFileSync(files[form]))))
    return nativeCodecTasks(ndjson.format, path, native, { of: form, headerLength })
  })
  const [decode] = both
  const rewritten = { ...decode, bytes: general.length }
  return [
    ...both,
    { ...decode, name: 'decode, as a stream', run: () => driveStream(slices, ndjson.decode(), countOf) },
    { ...decode, name: PARSE, run: () => split2Parse(slices) },
    ...others,
    { ...rewritten, name: 'decode, general path', run: () => drive(ndjson.format.decoder(), generalSlices, countOf) },
    { ...rewritten, name: `${PARSE}, of the general lines`, run: () => split2Parse(generalSlices) },
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ...nativeRatios('decode', 'encode', ...Object.keys(OTHERS).flatMap((form) => [`decode, ${form}`, `encode, ${form}`])),
  ['decode', PARSE],
  ['encode', PARSE],
  ['decode, as a stream', PARSE],
  ['decode, general path', `${PARSE}, of the general lines`],
]

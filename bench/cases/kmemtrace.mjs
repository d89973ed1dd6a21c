// kmemtrace's records. Their fields have fixed positions, so the missing call sites of the trace do not matter.
import * as kmemtrace from '../../dist/lib/entry/kmemtrace.js'
import { nativeCodecTasks, nativeRatios } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files, native }) {
  return nativeCodecTasks(kmemtrace.format, files.kmemtrace, native)
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = nativeRatios('decode', 'encode')

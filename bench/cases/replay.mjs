// memory_replay text, compared with the usual loop for such text.
import { readFileSync } from 'node:fs'
import * as replay from '../../dist/lib/entry/replay.js'
import { countOf, driveStream, slicesOf } from '../drive.mjs'
import { readlineLoop } from '../yardsticks.mjs'
import { nativeCodecTasks, nativeRatios } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files, native }) {
  const slices = slicesOf(readFileSync(files.replay))
  const both = nativeCodecTasks(replay.format, files.replay, native)
  const [decode] = both
  return [
    ...both,
    { ...decode, name: 'decode, as a stream', run: () => driveStream(slices, replay.decode(), countOf) },
    { ...decode, name: 'readline and split', run: () => readlineLoop(slices) },
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ...nativeRatios('decode', 'encode'),
  ['decode', 'readline and split'],
  ['decode, as a stream', 'readline and split'],
]

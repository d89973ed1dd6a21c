// memory_replay text, against the loop that people write for such text.
import { readFileSync } from 'node:fs'
import { replay } from '../../dist/lib/index.js'
import { countOf, driveStream, slicesOf } from '../drive.mjs'
import { readlineLoop } from '../yardsticks.mjs'
import { codecTasks } from './codec.mjs'

/** @param {import('../inputs.mjs').Input} input */
export function tasks({ files }) {
  const bytes = readFileSync(files.replay)
  const slices = slicesOf(bytes)
  const [decode, encode] = codecTasks(replay.format, bytes)
  return [
    decode,
    { ...decode, name: 'decode, as a stream', run: () => driveStream(slices, replay.decode(), countOf) },
    encode,
    { ...decode, name: 'readline and split', run: () => readlineLoop(slices) },
  ]
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['decode', 'readline and split'],
  ['decode, as a stream', 'readline and split'],
]

// One format's codec compared with a plain loop, for `check.mjs`.
import { readFileSync } from 'node:fs'
import { formatNamed } from '../formats.mjs'
import { codecTasks } from './codec.mjs'

const LOOP = 'plain loop'
/** Too large for the nearest caches, like the columns of a trace. */
const LOOP_BYTES = 4 << 20

/** @param {{ format: string, path: string }} input */
export function tasks({ format, path }) {
  const found = formatNamed(format)
  if (found === undefined) throw new Error(`no format ${format}`)
  const bytes = new Uint8Array(LOOP_BYTES).map((_, i) => Math.imul(i, 0x9e37_79b1) >>> 24)
  const words = new Uint32Array(LOOP_BYTES)
  return [
    { name: LOOP, events: 0, bytes: bytes.length, run: () => mixAll(bytes, words) },
    ...codecTasks(found, readFileSync(path)),
  ]
}

/**
 * The minimal work of any codec: reads bytes and writes words, with some integer arithmetic and a branch that depends
 * on the data.
 */
function mixAll(bytes, words) {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    sum = byte < 0x80 ? Math.imul(sum ^ byte, 0x0100_0193) : (sum << 7) | (byte & 0x7f)
    words[i] = sum
  }
  return sum
}

/** Pairs of tasks, the second one the yardstick. */
export const ratios = [
  ['decode', LOOP],
  ['encode', LOOP],
]

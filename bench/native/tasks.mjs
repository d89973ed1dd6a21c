// The native loops as tasks that take turns with those of the codecs, after a check that their results are equal.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { bytesOf } from '../drive.mjs'
import { repeatsFor } from '../measure.mjs'
import { checksumOf } from './checksum.mjs'

/** The end of these tasks' names. */
export const TUNED = 'tuned C'


/**
 * @typedef {object} Loop
 * @property {string} format its name in main.c
 * @property {string} path a trace in this format
 * @property {import('../measure.mjs').Task} like the task of the codec, whose events, bytes and name it has
 */

/**
 * Runs a loop.
 * @param {string} program
 * @param {string[]} args
 * @returns {{ events: number, checksum?: number, bytes?: number, seconds: number[] } | undefined} undefined when the
 *   trace contains data that the native loops do not handle, which is reported
 */
export function runLoop(program, args) {
  try {
    return JSON.parse(execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }))
  } catch (error) {
    console.error(`... no native yardstick: ${/** @type {{ stderr?: string }} */ (error).stderr?.trim() || error}`)
    return undefined
  }
}

/**
 * The native decoding loop, if there is one, which must give the same columns.
 * @param {string | undefined} program
 * @param {Loop} loop
 * @param {readonly import('../../dist/lib/entry/index.js').EventBatch[]} batches what the codec gives
 * @returns {import('../measure.mjs').Task[]} one or none
 */
export function nativeDecode(program, { format, path, like }, batches) {
  const made = program === undefined ? undefined : runLoop(program, [format, 'decode', path, '2'])
  if (program === undefined || made === undefined) return []
  const checksum = checksumOf(batches)
  if (made.events !== like.events || made.checksum !== checksum) {
    throw new Error(`${path}: the native loop decodes ${made.events} events (${made.checksum}), the codec ${like.events} (${checksum})`)
  }
  return [timed(program, [format, 'decode', path], like, made.seconds[1])]
}

/**
 * The native encoding loop, if there is one, which must write the same bytes, except the header of the trace.
 * @param {string | undefined} program
 * @param {Loop} loop its trace decodes to the batches
 * @param {import('../../dist/lib/entry/stages.js').Encoder} encoder a new one
 * @param {readonly import('../../dist/lib/entry/index.js').EventBatch[]} batches
 * @param {(bytes: Buffer) => number} headerLength of what the codec writes
 * @returns {import('../measure.mjs').Task[]} one or none
 */
export function nativeEncode(program, { format, path, like }, encoder, batches, headerLength = () => 0) {
  const output = `${path}.native`
  const made = program === undefined ? undefined : runLoop(program, [format, 'encode', path, '2', output])
  if (program === undefined || made === undefined) return []
  const written = readFileSync(output)
  rmSync(output)
  const expected = bytesOf(encoder, batches)
  if (!expected.subarray(headerLength(expected)).equals(written)) throw new Error(`${path}: the native loop does not write what the codec writes`)
  return [timed(program, [format, 'encode', path], like, made.seconds[1])]
}

/** A task that measures its own time: the mean of the usual number of runs, without start-up and reading the file. */
function timed(program, args, { name, events, bytes }, expected) {
  // The first run warms up.
  const runs = 1 + repeatsFor(expected)
  const seconds = () => {
    const made = runLoop(program, [...args, `${runs}`])
    if (made === undefined) throw new Error(`${name}: the native loop failed`)
    const [, ...times] = made.seconds
    return times.reduce((sum, time) => sum + time, 0) / times.length
  }
  return { name: `${name}, ${TUNED}`, events, bytes, run: () => 0, seconds }
}

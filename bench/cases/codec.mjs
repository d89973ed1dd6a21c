// The two tasks that every format has, and the native loops that do the same.
import { readFileSync } from 'node:fs'
import { batchesOf, countOf, drive, eventsIn, lengthOf, slicesOf, thenRecycle } from '../drive.mjs'
import { nativeDecode, nativeEncode, TUNED } from '../native/tasks.mjs'

/**
 * Bytes to columns and columns to bytes, without Node streams.
 * @param {import('../../dist/lib/entry/stages.js').Format} format
 * @param {Uint8Array} bytes a trace in this format
 * @param {object} [encodeOptions]
 * @returns {[import('../measure.mjs').Task, import('../measure.mjs').Task]}
 */
export function codecTasks(format, bytes, encodeOptions) {
  const slices = slicesOf(bytes)
  const batches = batchesOf(format.decoder(), bytes)
  const events = eventsIn(batches)
  return [
    { name: 'decode', events, bytes: bytes.length, run: () => drive(format.decoder(), slices, thenRecycle(countOf)) },
    { name: 'encode', events, bytes: bytes.length, run: () => drive(format.encoder(encodeOptions), batches, thenRecycle(lengthOf)) },
  ]
}

/**
 * The same two tasks, each followed by the equivalent native loop, if there is one.
 * @param {import('../../dist/lib/entry/stages.js').Format} format
 * @param {string} path a trace in this format
 * @param {import('../native/build.mjs').Native | undefined} native
 * @param {object} [options]
 * @param {object} [options.encode] of the encoder
 * @param {string} [options.of] the end of the tasks' names
 * @param {(bytes: Buffer) => number} [options.headerLength] of what the encoder writes, which the native loop does not
 * @returns {import('../measure.mjs').Task[]}
 */
export function nativeCodecTasks(format, path, native, { encode, of, headerLength } = {}) {
  const bytes = readFileSync(path)
  const batches = batchesOf(format.decoder(), bytes)
  const [decoding, encoding] = codecTasks(format, bytes, encode).map((task) => (of === undefined ? task : { ...task, name: `${task.name}, ${of}` }))
  const loop = { format: format.name, path }
  return [
    decoding,
    ...nativeDecode(native?.yardstick, { ...loop, like: decoding }, batches),
    encoding,
    ...nativeEncode(native?.yardstick, { ...loop, like: encoding }, format.encoder(encode), batches, headerLength),
  ]
}

/**
 * Each of these tasks with its native yardstick.
 * @param {...string} names
 * @returns {[string, string][]}
 */
export function nativeRatios(...names) {
  return names.map((name) => [name, `${name}, ${TUNED}`])
}

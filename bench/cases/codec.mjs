// The two tasks that every format has.
import { batchesOf, countOf, drive, eventsIn, lengthOf, slicesOf } from '../drive.mjs'

/**
 * Bytes to columns and columns to bytes, without Node streams.
 * @param {import('../../dist/lib/index.js').Format} format
 * @param {Uint8Array} bytes a trace in this format
 * @param {object} [encodeOptions]
 * @returns {[import('../measure.mjs').Task, import('../measure.mjs').Task]}
 */
export function codecTasks(format, bytes, encodeOptions) {
  const slices = slicesOf(bytes)
  const batches = batchesOf(format.decoder(), bytes)
  const events = eventsIn(batches)
  return [
    { name: 'decode', events, bytes: bytes.length, run: () => drive(format.decoder(), slices, countOf) },
    { name: 'encode', events, bytes: bytes.length, run: () => drive(format.encoder(encodeOptions), batches, lengthOf) },
  ]
}

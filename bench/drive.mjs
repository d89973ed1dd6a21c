// Runs stages and streams over bytes and batches in memory, and counts their results.
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { recycle } from '../dist/lib/entry/stages.js'

/** The maximum size of a chunk from a pipe. */
const SLICE_BYTES = 65_536

/** @typedef {import('../dist/lib/entry/index.js').EventBatch} EventBatch */

/**
 * Bytes in pieces of the size that pipes have.
 * @param {Uint8Array} bytes
 */
export function slicesOf(bytes) {
  const count = Math.ceil(bytes.length / SLICE_BYTES)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * SLICE_BYTES, (i + 1) * SLICE_BYTES))
}

/**
 * Runs a stage over all of its inputs.
 * @template In, Out
 * @param {import('../dist/lib/entry/stages.js').Stage<In, Out>} stage
 * @param {Iterable<In>} inputs
 * @param {(out: Out) => number} weigh the weight of a result, such as its events
 * @returns {number} the weights of all results together
 */
export function drive(stage, inputs, weigh) {
  let sum = 0
  const drain = () => {
    for (let out = stage.next(); out !== null; out = stage.next()) sum += weigh(out)
  }
  for (const input of inputs) {
    stage.feed(input)
    drain()
  }
  stage.end()
  drain()
  return sum
}

/**
 * Runs a stage over all of its inputs and keeps all results.
 * @template In, Out
 * @param {import('../dist/lib/entry/stages.js').Stage<In, Out>} stage
 * @param {Iterable<In>} inputs
 */
export function driven(stage, inputs) {
  /** @type {Out[]} */
  const results = []
  drive(stage, inputs, (result) => results.push(result))
  return results
}

/**
 * Decodes bytes and keeps all batches.
 * @param {import('../dist/lib/entry/stages.js').Decoder} decoder
 * @param {Uint8Array} bytes
 */
export function batchesOf(decoder, bytes) {
  return driven(decoder, slicesOf(bytes))
}

/**
 * Encodes batches into one piece.
 * @param {import('../dist/lib/entry/stages.js').Encoder} encoder
 * @param {Iterable<EventBatch>} batches
 */
export function bytesOf(encoder, batches) {
  return Buffer.concat(driven(encoder, batches))
}

/** @param {EventBatch} batch */
export const countOf = (batch) => batch.count

/** @param {Uint8Array} bytes */
export const lengthOf = (bytes) => bytes.length

/**
 * Weighs a result as its last consumer, which recycles it, as the commands do.
 * @template {EventBatch | Uint8Array} Out
 * @param {(out: Out) => number} weigh
 * @returns {(out: Out) => number}
 */
export function thenRecycle(weigh) {
  return (out) => {
    const weight = weigh(out)
    recycle(out)
    return weight
  }
}

/** @param {readonly EventBatch[]} batches */
export const eventsIn = (batches) => batches.reduce((sum, batch) => sum + batch.count, 0)

/**
 * Bytes as a stream of pieces of the size that pipes have.
 * @param {readonly Uint8Array[]} slices
 */
export function readableOf(slices) {
  return Readable.from(slices, { objectMode: false, highWaterMark: SLICE_BYTES })
}

/**
 * Pipes bytes through a stream.
 * @template Out
 * @param {readonly Uint8Array[]} slices
 * @param {import('node:stream').Transform} stream
 * @param {(out: Out) => number} weigh
 * @returns {Promise<number>} the weights of all results together
 */
export async function driveStream(slices, stream, weigh) {
  let sum = 0
  const sink = new Writable({
    objectMode: true,
    write(out, _encoding, done) {
      sum += weigh(out)
      done()
    },
  })
  await pipeline(readableOf(slices), stream, sink)
  return sum
}

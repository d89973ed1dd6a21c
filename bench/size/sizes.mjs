// The size of a trace in an encoding. Each measurement takes a pass over the trace, writes the streams to files, and
// removes them after counting: memory does not grow with the trace, and the disk holds one encoding at a time.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { gzipBytes, otherBytes } from './compress.mjs'
import { dataBatches } from './records.mjs'

/**
 * @typedef {object} Size bytes of all streams of an encoding together
 * @property {string} name of the encoding
 * @property {number} raw
 * @property {number} gzip by node:zlib, each stream by itself
 * @property {Record<string, number>} others by compressor, likewise
 */

/**
 * @param {string} path the trace
 * @param {import('./encodings.mjs').Encoding} encoding
 * @param {object} options
 * @param {import('./survey.mjs').Widths} options.widths
 * @param {string} options.folder for the streams
 * @param {readonly string[]} [options.compressors] besides node:zlib
 * @param {boolean} [options.threads] keep thread ids
 * @returns {Promise<Size>}
 */
export async function sizeOf(path, encoding, options) {
  let smallest = await sizeOfOne(path, encoding, options)
  for (const variant of encoding.variants ?? []) {
    const size = await sizeOfOne(path, variant, options)
    if (size.gzip < smallest.gzip) smallest = size
  }
  return smallest
}

async function sizeOfOne(path, encoding, { widths, folder, compressors = [], threads = false }) {
  const { name, streams, packed } = encoding
  const files = Array.from({ length: streams }, (_, stream) => join(folder, `stream-${stream}`))
  const events = () => dataBatches(path, threads)
  try {
    const raw = await write(events(), encoding.writer(widths), files)
    if (packed !== undefined) return { name, raw, gzip: await write(events(), packed(widths), files), others: {} }
    const others = {}
    for (const compressor of compressors) others[compressor] = await sumOf(files, (file) => otherBytes(compressor, file))
    return { name, raw, gzip: await sumOf(files, gzipBytes), others }
  } finally {
    for (const file of files) rmSync(file, { force: true })
  }
}

/** @returns {Promise<number>} how many bytes were written to all files together */
async function write(batches, writer, files) {
  const descriptors = files.map((file) => openSync(file, 'w'))
  let sum = 0
  const give = (stream, bytes) => {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptors[stream], bytes, at)
    sum += bytes.length
  }
  try {
    for await (const batch of batches) writer.feed(batch, give)
    writer.end(give)
    return sum
  } finally {
    descriptors.forEach((descriptor) => closeSync(descriptor))
  }
}

async function sumOf(files, bytesOf) {
  let sum = 0
  for (const file of files) sum += await bytesOf(file)
  return sum
}

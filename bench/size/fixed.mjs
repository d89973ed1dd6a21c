// Records of constant length: Simple Binary, and Split Stream, which has a separate stream for each field. Integers are
// little-endian, as a program that writes out its structs has them on most machines.
import { EventBatch } from '../../dist/lib/entry/index.js'
import { BATCH_EVENTS, fieldSet, HI, LO } from '../../dist/lib/entry/stages.js'
import { FIELDS_OF_TAG, KIND_OF_TAG, OUTCOME_OF_TAG } from './tags.mjs'
import { RecordMaker } from './records.mjs'

/**
 * @typedef {object} Place where a field of record r is: at `offset + r * stride` of a stream
 * @property {number} stream
 * @property {number} offset
 * @property {number} stride
 * @property {number} bytes
 */

/**
 * @typedef {{ strides: number[], tag: Place, size: Place, address: Place, oldAddress: Place }} Layout strides: by
 * stream
 */

/**
 * Four consecutive fields: tag, size, address, old address. The tag has four bytes.
 * @param {import('./survey.mjs').Widths} widths
 * @returns {Layout}
 */
export function simpleBinary({ size, address }) {
  const stride = 4 + size + 2 * address
  const place = (offset, bytes) => ({ stream: 0, offset, stride, bytes })
  return {
    strides: [stride],
    tag: place(0, 4),
    size: place(4, size),
    address: place(4 + size, address),
    oldAddress: place(4 + size + address, address),
  }
}

/**
 * The same four fields, each in a separate stream. The tag has one byte.
 * @param {import('./survey.mjs').Widths} widths
 * @returns {Layout}
 */
export function splitStream({ size, address }) {
  const place = (stream, bytes) => ({ stream, offset: 0, stride: bytes, bytes })
  return {
    strides: [1, size, address, address],
    tag: place(0, 1),
    size: place(1, size),
    address: place(2, address),
    oldAddress: place(3, address),
  }
}

/**
 * @param {Layout} layout
 * @returns {import('./encodings.mjs').Writer}
 */
export function fixedWriter(layout) {
  const maker = new RecordMaker()
  return {
    feed(batch, give) {
      const { count, tag, size, address, oldAddress } = maker.of(batch)
      const streams = layout.strides.map((stride) => new Uint8Array(stride * count))
      const views = streams.map(({ buffer }) => new DataView(buffer))
      writeTags(views[layout.tag.stream], layout.tag, tag, count)
      writeWords(views[layout.size.stream], layout.size, size, count)
      writeWords(views[layout.address.stream], layout.address, address, count)
      writeWords(views[layout.oldAddress.stream], layout.oldAddress, oldAddress, count)
      streams.forEach((bytes, stream) => give(stream, bytes))
    },
    end() {},
  }
}

function writeTags(view, { offset, stride, bytes }, tags, count) {
  for (let r = 0, at = offset; r < count; r++, at += stride) {
    if (bytes === 1) view.setUint8(at, tags[r])
    else view.setUint32(at, tags[r], true)
  }
}

function writeWords(view, { offset, stride, bytes }, words, count) {
  for (let r = 0, at = offset; r < count; r++, at += stride) {
    view.setUint32(at, words[2 * r + LO], true)
    if (bytes === 8) view.setUint32(at + 4, words[2 * r + HI], true)
  }
}

const HEADER = { format: 'fixed' }
const COLUMNS = fieldSet('size', 'address', 'oldAddress', 'outcome')

/**
 * Reads whole streams into batches, an event for each record.
 * @param {Layout} layout
 * @param {readonly Uint8Array[]} streams
 * @param {(batch: EventBatch) => void} take
 */
export function readFixed(layout, streams, take) {
  const views = streams.map(({ buffer, byteOffset, byteLength }) => new DataView(buffer, byteOffset, byteLength))
  const total = streams[layout.tag.stream].length / layout.tag.stride
  for (let first = 0; first < total; first += BATCH_EVENTS) {
    const count = Math.min(BATCH_EVENTS, total - first)
    const batch = new EventBatch(count, COLUMNS, HEADER)
    readTags(views[layout.tag.stream], layout.tag, first, batch, count)
    readWords(views[layout.size.stream], layout.size, first, batch.size.words, count)
    readWords(views[layout.address.stream], layout.address, first, batch.address.words, count)
    readWords(views[layout.oldAddress.stream], layout.oldAddress, first, batch.oldAddress.words, count)
    batch.count = count
    take(batch)
  }
}

function readTags(view, { offset, stride, bytes }, first, batch, count) {
  const { kind, mask, outcome } = batch
  for (let r = 0, at = offset + first * stride; r < count; r++, at += stride) {
    const tag = bytes === 1 ? view.getUint8(at) : view.getUint32(at, true)
    kind[r] = KIND_OF_TAG[tag]
    mask[r] = FIELDS_OF_TAG[tag]
    outcome[r] = OUTCOME_OF_TAG[tag]
  }
}

function readWords(view, { offset, stride, bytes }, first, words, count) {
  for (let r = 0, at = offset + first * stride; r < count; r++, at += stride) {
    words[2 * r + LO] = view.getUint32(at, true)
    if (bytes === 8) words[2 * r + HI] = view.getUint32(at + 4, true)
  }
}

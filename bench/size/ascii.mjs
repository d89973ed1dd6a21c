// The ASCII encoding: a line for each record, with the tag, the size in decimal if the record has one, and its
// addresses in hex without 0x, the old block's first, separated by spaces.
import * as Code from '../../dist/lib/kernel/layouts/hatf.js'
import { EventBatch } from '../../dist/lib/entry/index.js'
import { BATCH_EVENTS, fieldSet, HI, LO } from '../../dist/lib/entry/stages.js'
import { LF, SPACE, ZERO } from '../../dist/lib/text/ascii.js'
import { decimal, hex } from '../../dist/lib/text/numbers.js'
import { Sink } from '../../dist/lib/bytes/sink.js'
import { MAX_DECIMAL, writeDecimal, writeHex } from '../../dist/lib/bytes/u64.js'
import { RecordMaker } from './records.mjs'
import { FIELDS_OF_TAG, KIND_OF_TAG, OUTCOME_OF_TAG } from './tags.mjs'

/** Tag, size and two addresses, each followed by a space or line feed. */
const MAX_LINE = 2 + (MAX_DECIMAL + 1) + 2 * 17

/** @returns {import('./encodings.mjs').Writer} */
export function asciiWriter() {
  const maker = new RecordMaker()
  const sink = new Sink()
  return {
    feed(batch, give) {
      const { count, tag: tags, size, address, oldAddress } = maker.of(batch)
      sink.reserve(MAX_LINE * count)
      const { bytes } = sink
      let p = sink.pos
      for (let r = 0; r < count; r++) {
        const tag = tags[r]
        bytes[p++] = ZERO + tag
        bytes[p++] = SPACE
        if (tag !== Code.TAG_FREE) {
          p = writeDecimal(bytes, p, size[2 * r + LO], size[2 * r + HI])
          bytes[p++] = SPACE
        }
        if (tag > Code.TAG_FREE) {
          p = writeHex(bytes, p, oldAddress[2 * r + LO], oldAddress[2 * r + HI])
          bytes[p++] = SPACE
        }
        p = writeHex(bytes, p, address[2 * r + LO], address[2 * r + HI])
        bytes[p++] = LF
      }
      sink.pos = p
      give(0, sink.take())
    },
    end() {},
  }
}

const HEADER = { format: 'ascii' }
const COLUMNS = fieldSet('size', 'address', 'oldAddress', 'outcome')

/**
 * Reads whole lines into batches, one event for each line.
 * @param {Uint8Array} bytes
 * @param {(batch: EventBatch) => void} take
 */
export function readAscii(bytes, take) {
  for (let p = 0; p < bytes.length; ) {
    const batch = new EventBatch(BATCH_EVENTS, COLUMNS, HEADER)
    const { kind, mask, outcome } = batch
    const [size, address, oldAddress] = [batch.size.words, batch.address.words, batch.oldAddress.words]
    let i = 0
    while (i < BATCH_EVENTS && p < bytes.length) {
      const tag = bytes[p] - ZERO
      p += 2
      if (tag !== Code.TAG_FREE) p = decimal(bytes, p, size, 2 * i) + 1
      if (tag > Code.TAG_FREE) p = hex(bytes, p, oldAddress, 2 * i) + 1
      p = hex(bytes, p, address, 2 * i) + 1
      kind[i] = KIND_OF_TAG[tag]
      mask[i] = FIELDS_OF_TAG[tag]
      outcome[i++] = OUTCOME_OF_TAG[tag]
    }
    batch.count = i
    take(batch)
  }
}

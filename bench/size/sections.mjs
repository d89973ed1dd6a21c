// HATF by a Meta-TF definition with addresses in separate sections (examples/hatf10-sections.dtd), each compressed
// separately. The definition offers three sections for each address, among which this module chooses.
import * as Code from '../../dist/lib/kernel/layouts/hatf.js'
import { readFileSync } from 'node:fs'
import { EventBatch } from '../../dist/lib/entry/index.js'
import { fieldSet, HI, LO, selectRows } from '../../dist/lib/entry/stages.js'
import { binaryDecoder, binaryEncoder, parseDtd, parseFileHeader } from '../../dist/lib/entry/metatf.js'
import { FIELDS_OF_TAG, KIND_OF_TAG, OUTCOME_OF_TAG } from './tags.mjs'
import { RecordMaker } from './records.mjs'

const DTD = new URL('../../examples/hatf10-sections.dtd', import.meta.url)
/** The constant that the definition leaves open: the middle of the heap. */
const HEAP = /0x80000000/g

/** How many streams it has: the header of the trace file, the sections of addresses, and the records. */
export const STREAMS = 5
const RECORDS = 4

/** The maximum distance of near addresses in bytes. */
const NEAR = 2048
const SMALL_SIZE = 2 ** 16
const REACH = 2 ** 31
const WORD = 2 ** 32

/** The numbers added to a record's tag in HATF, for addresses of the heap, and for addresses near the previous one. */
const HEAP_RECORDS = 10
const NEAR_RECORDS = 16

const HEADER = { format: 'sections' }
const FIELDS = fieldSet('size', 'address', 'oldAddress', 'outcome')
const HAS_CODE = fieldSet('code')

/**
 * @param {import('./survey.mjs').Widths} widths
 * @param {number} patience after how many records in a row whose addresses are not near the last one of the section of
 * near ones, one goes there all the same, and those after it are compared with it
 * @returns {import('./encodings.mjs').Writer}
 */
export function sectionsWriter({ heap }, patience) {
  const maker = new RecordMaker()
  const encoder = binaryEncoder(definition(heap))
  const choose = chooser(heap, patience)
  return {
    // Contiguous sections are held until the end.
    feed: (batch) => encoder.feed(eventsOf(maker.of(batch), choose)),
    end(give) {
      encoder.end()
      const parts = []
      for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) parts.push(bytes)
      if (encoder.losses.counts.size > 0) throw new Error(`the definition lost ${[...encoder.losses.counts.keys()].join(', ')}`)
      const file = Buffer.concat(parts)
      const { length, sections } = parseFileHeader(file, 0, file.length, HEADER.format)
      give(0, file.subarray(0, length))
      for (const { id, start, size } of sections) give(streamOf(id), file.subarray(start, start + size))
    },
  }
}

/**
 * Reads the output of such a writer.
 * @param {readonly Uint8Array[]} streams
 * @param {import('./survey.mjs').Widths} widths
 * @param {(batch: EventBatch) => void} take
 */
export function readSections(streams, { heap }, take) {
  const [header] = streams
  const { sections } = parseFileHeader(header, 0, header.length, HEADER.format)
  const decoder = binaryDecoder(definition(heap), { buffer: Infinity })
  const drain = () => {
    for (let batch = decoder.next(); batch !== null; batch = decoder.next()) take(withoutCodes(batch))
  }
  for (const bytes of [header, ...sections.map(({ id }) => streams[streamOf(id)])]) {
    decoder.feed(bytes)
    drain()
  }
  decoder.end()
  drain()
}

/** The stream of a section: the addresses are in sections 2 to 4, and all others are of records. */
function streamOf(section) {
  return section < 2 ? RECORDS : section - 1
}

/** @param {number} heap */
function definition(heap) {
  return parseDtd(readFileSync(DTD, 'utf8').replaceAll(HEAP, `0x${heap.toString(16)}`), 'hatf10-sections.dtd')
}

/** Chooses the tag of each record, or 0 for the general one. */
function chooser(heap, patience) {
  const [middleHigh, middleLow] = [Math.floor(heap / WORD), heap % WORD]
  // Differences are exact where they matter; far addresses are far in any case.
  const fromMiddle = (words, i) => (words[i + HI] - middleHigh) * WORD + (words[i + LO] - middleLow)
  const isHeap = (distance) => distance >= -REACH && distance < REACH
  let last = 0
  let misses = 0
  return ({ tag, size, address, oldAddress }, r) => {
    const what = tag[r]
    const distance = fromMiddle(address, 2 * r)
    if (!isHeap(distance)) return 0
    if (what !== Code.TAG_FREE && (size[2 * r + HI] !== 0 || size[2 * r + LO] >= SMALL_SIZE)) return 0
    if (what > Code.TAG_FREE) return isHeap(fromMiddle(oldAddress, 2 * r)) ? HEAP_RECORDS + what : 0
    const away = distance - last
    if (Math.abs(away) >= NEAR && (++misses <= patience || !isHeap(away))) return HEAP_RECORDS + what
    misses = 0
    last = distance
    return NEAR_RECORDS + what
  }
}

/**
 * Records as events; the code says which record of the definition is meant, where that is not the first of its sort.
 */
function eventsOf(records, choose) {
  const { count, tag: tags } = records
  const batch = new EventBatch(Math.max(1, count), FIELDS | HAS_CODE, HEADER)
  const { kind, mask, outcome, code } = batch
  const words = 2 * count
  batch.size.words.set(records.size.subarray(0, words))
  batch.address.words.set(records.address.subarray(0, words))
  batch.oldAddress.words.set(records.oldAddress.subarray(0, words))
  for (let r = 0; r < count; r++) {
    const tag = tags[r]
    const chosen = choose(records, r)
    kind[r] = KIND_OF_TAG[tag]
    outcome[r] = OUTCOME_OF_TAG[tag]
    mask[r] = FIELDS_OF_TAG[tag] | (chosen === 0 ? 0 : HAS_CODE)
    code[r] = chosen
  }
  batch.count = count
  return batch
}

/** The events without what says which record they were. */
function withoutCodes(batch) {
  return selectRows(batch, Int32Array.from({ length: batch.count }, (_, i) => i), batch.count, FIELDS)
}

// The encodings that the study compares: how each writes data events and reads its streams.
import * as compact from '../../dist/lib/entry/compact.js'
import * as hatf from '../../dist/lib/entry/hatf.js'
import { asciiWriter, readAscii } from './ascii.mjs'
import { fixedWriter, readFixed, simpleBinary, splitStream } from './fixed.mjs'
import { readSections, sectionsWriter, STREAMS } from './sections.mjs'

/** @typedef {import('./survey.mjs').Widths} Widths */
/** @typedef {import('../../dist/lib/entry/index.js').EventBatch} EventBatch */
/** @typedef {(stream: number, bytes: Uint8Array) => void} Give takes the next bytes of one of an encoding's streams */

/**
 * @typedef {object} Writer
 * @property {(batch: EventBatch, give: Give) => void} feed
 * @property {(give: Give) => void} end
 */

/**
 * @typedef {object} Encoding
 * @property {string} name
 * @property {number} streams how many streams it has, each compressed by itself
 * @property {(widths: Widths) => Writer} writer
 * @property {Encoding[]} [variants] the same with other settings: the smallest counts
 * @property {(widths: Widths) => Writer} [packed] it compresses by itself: this is how, and `writer` does not compress
 * @property {(streams: readonly Uint8Array[], widths: Widths, take: (batch: EventBatch) => void) => void} [read]
 */

/** @returns {Encoding} */
function fixed(name, streams, layout) {
  return {
    name,
    streams,
    writer: (widths) => fixedWriter(layout(widths)),
    read: (bytes, widths, take) => readFixed(layout(widths), bytes, take),
  }
}

/**
 * HATF with a preset, or other strategies for some fields.
 * @param {string} name
 * @param {import('../../dist/lib/entry/hatf.js').StrategyOptions} options
 * @returns {Encoding}
 */
function inHatf(name, options) {
  return {
    name,
    streams: 1,
    writer: () => encoderWriter(new hatf.HatfEncoder(options)),
    read: ([bytes], _widths, take) => decode(new hatf.HatfDecoder({ fold: false }), [bytes], take),
  }
}

/**
 * HATF with the preset best, and its addresses in a separate stream.
 * @param {string} name
 * @param {import('../../dist/lib/entry/hatf.js').SplitOptions} options
 * @returns {Encoding}
 */
function splitAddr(name, options) {
  return {
    name,
    streams: 2,
    writer: () => separatedWriter(options),
    read: (streams, _widths, take) => decode(new hatf.HatfDecoder({ fold: false }), joined(streams, options), take),
  }
}

/**
 * HATF by a definition in Meta-TF with sections of addresses.
 * @param {string} name
 * @param {readonly number[]} patiences of the writer, see there: the first is the one whose times are measured
 * @returns {Encoding}
 */
function bySections(name, [patience, ...patiences]) {
  return {
    name,
    streams: STREAMS,
    writer: (widths) => sectionsWriter(widths, patience),
    read: readSections,
    variants: patiences.map((other) => bySections(name, [other])),
  }
}

/** @returns {Encoding} */
function singleFile(name) {
  const writer = (splitLevel) => () => encoderWriter(hatf.format.encoder({ splitAddr: true, splitLevel }))
  return { name, streams: 1, writer: writer(0), packed: writer(6) }
}

/** @returns {Encoding} */
function inCompact(name, options) {
  const writer = () => encoderWriter(compact.format.encoder(options))
  // Nothing compresses it further.
  return { name, streams: 1, writer, packed: writer }
}

export const SIMPLE = 'Simple Binary'
const NAIVE = inHatf('HATF (naive)', { preset: 'naive' })
const BEST = inHatf('HATF (best)', { preset: 'best' })
const ALL_ADDRESSES = splitAddr('SplitAddr, all addresses', { encoded: true })
const SINGLE_FILE = singleFile('single file')
const BY_SECTIONS = bySections('SplitAddr by sections', [32, 4, Infinity])
const COMPACT = inCompact('compact', { fast: true })
const COMPACT_BEST = inCompact('compact, best', { best: true })

/** The columns of Table 4. The last five are not in the paper. */
export const ENCODINGS = [
  fixed(SIMPLE, 1, simpleBinary),
  { name: 'ASCII', streams: 1, writer: asciiWriter, read: ([bytes], _widths, take) => readAscii(bytes, take) },
  NAIVE,
  BEST,
  fixed('Split Stream', 4, splitStream),
  splitAddr('HATF SplitAddr', {}),
  ALL_ADDRESSES,
  SINGLE_FILE,
  BY_SECTIONS,
  COMPACT,
  COMPACT_BEST,
]

/** The columns of Table 7: unchanged addresses. */
export const SIZE_ENCODINGS = [
  ['Naive', 'naive'], ['Small Size', 'small'], ['Same Size', 'same'], ['Combined Size', 'combined'],
].map(([name, sizeEncoding]) => inHatf(name, { preset: 'naive', sizeEncoding }))

/** The columns of Table 8: unchanged sizes, except in the paper's last one. The two after that are not in the paper. */
export const ADDRESS_ENCODINGS = [
  ...[
    ['BaseOffset 1 byte', 'base1'], ['BaseOffset 2 bytes', 'base2'], ['Best BaseOffset', 'base'], ['Stride', 'stride'],
  ].map(([name, addressEncoding]) => inHatf(name, { preset: 'naive', addressEncoding })),
  BEST,
  ...[['Delta', 'delta'], ['Best for addresses', 'best']].map(([name, addressEncoding]) => inHatf(name, { preset: 'naive', addressEncoding })),
]

/** The encodings in which traces of several threads are also written with their thread ids. */
export const THREAD_ENCODINGS = [NAIVE, BEST, ALL_ADDRESSES, SINGLE_FILE, COMPACT]

/** @returns {Writer} */
function encoderWriter(encoder) {
  const drain = (give) => {
    for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) give(0, bytes)
  }
  return {
    feed(batch, give) {
      encoder.feed(batch)
      drain(give)
    },
    end(give) {
      encoder.end()
      drain(give)
    },
  }
}

/** @returns {Writer} */
function separatedWriter(options) {
  const inner = encoderWriter(new hatf.HatfEncoder({ preset: 'best' }))
  const separator = new hatf.Separator(options)
  const drain = (give) => {
    for (let piece = separator.next(); piece !== null; piece = separator.next()) piece.tracks.forEach((bytes, t) => give(t, bytes))
  }
  const separate = (give) => (_stream, bytes) => {
    separator.feed(bytes)
    drain(give)
  }
  return {
    feed: (batch, give) => inner.feed(batch, separate(give)),
    end(give) {
      inner.end(separate(give))
      separator.end()
      drain(give)
    },
  }
}

/** Joins separated streams again, in pieces. */
function* joined(streams, options) {
  const joiner = new hatf.Joiner(options)
  const fed = new Set()
  for (;;) {
    for (let bytes = joiner.next(); bytes !== null; bytes = joiner.next()) yield bytes
    const { wanted } = joiner
    if (wanted < 0) return
    if (fed.has(wanted)) joiner.end(wanted)
    else joiner.feed(wanted, streams[wanted])
    fed.add(wanted)
  }
}

function decode(decoder, pieces, take) {
  const drain = () => {
    for (let batch = decoder.next(); batch !== null; batch = decoder.next()) take(batch)
  }
  for (const bytes of pieces) {
    decoder.feed(bytes)
    drain()
  }
  decoder.end()
  drain()
}

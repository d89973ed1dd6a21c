import { HI, LO } from '../../bytes/u64.js'
import type { Strings } from '../arrow/escape.js'
import { DeltaReader } from './delta.js'
import { ParquetFault, ParquetLimit } from './fault.js'
import { Growing } from './growing.js'
import { Encoding, MAX_HELD } from './layout.js'

/** Numbers of texts whose lengths are read at once. */
const STEP = 1024

/** The texts of a page before its fault, if it has one. */
interface PageTexts {
  readonly strings: Strings
  readonly fault?: ParquetFault | undefined
}

/**
 * The texts of a page, or of a dictionary.
 * @param most the most texts that there may be
 * @returns the texts that there are
 * @throws ParquetFault, ParquetLimit when it has none
 */
export function readTexts(bytes: Uint8Array, encoding: number, count: number): PageTexts {
  // Lengths may be the same for any number of texts, and take no bytes.
  if (4 * count > MAX_HELD) throw new ParquetLimit(`a page of more than ${MAX_HELD} bytes`)
  switch (encoding) {
    case Encoding.plain:
      return plain(bytes, count)
    case Encoding.deltaLengths:
      return deltaLengths(bytes, count)
    case Encoding.deltaTexts:
      return deltaTexts(bytes, count)
    default:
      throw new ParquetFault(`a page with the unknown encoding ${encoding}`)
  }
}

function plain(bytes: Uint8Array, count: number): PageTexts {
  const most = Math.min(count, bytes.length >>> 2)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const starts = new Uint32Array(most + 1)
  // Texts move over the lengths before them.
  const out = new Uint8Array(bytes.length)
  let at = 0
  let end = 0
  let i = 0
  for (; i < most && at < bytes.length; i++) {
    const length = at + 4 <= bytes.length ? view.getUint32(at, true) : Infinity
    at += 4
    if (length > bytes.length - at) return cut({ bytes: out, starts }, i, LONG)
    if (length < 32) for (let j = 0; j < length; j++) out[end + j] = bytes[at + j]
    else out.set(bytes.subarray(at, at + length), end)
    at += length
    starts[i + 1] = end += length
  }
  return { strings: { bytes: out, starts: starts.subarray(0, i + 1) } }
}

function deltaLengths(bytes: Uint8Array, count: number): PageTexts {
  const reader = new DeltaReader(bytes)
  count = Math.min(count, reader.count)
  const begin = reader.end()
  const starts = new Uint32Array(count + 1)
  const strings = { bytes: bytes.slice(begin), starts }
  return lengths(bytes, count, strings, (i, length) => {
    const end = starts[i] + length
    if (end > strings.bytes.length) return false
    starts[i + 1] = end
    return true
  })
}

/** Each text begins with a part of the one before. */
function deltaTexts(bytes: Uint8Array, count: number): PageTexts {
  const suffixes = deltaLengths(bytes.subarray(new DeltaReader(bytes).end()), count)
  const { bytes: rest, starts: restStarts } = suffixes.strings
  const out = new Growing(new Uint8Array(0))
  const starts = new Uint32Array(count + 1)
  const found = lengths(bytes, restStarts.length - 1, { bytes: out.items, starts }, (i, shared) => {
    const before = starts[Math.max(0, i - 1)]
    const from = starts[i]
    if (shared > from - before) return false
    const suffix = rest.subarray(restStarts[i], restStarts[i + 1])
    const end = from + shared + suffix.length
    if (end > MAX_HELD) throw new ParquetLimit(`a page of more than ${MAX_HELD} bytes`)
    out.extend(shared + suffix.length)
    out.items.copyWithin(from, before, before + shared)
    out.items.set(suffix, from + shared)
    starts[i + 1] = end
    return true
  })
  return {
    strings: { bytes: out.used, starts: found.strings.starts.subarray(0, restStarts.length) },
    fault: found.fault ?? suffixes.fault,
  }
}

/** Reads lengths. @param take gets the position of each one, and the length, and returns whether it is possible */
function lengths(
  bytes: Uint8Array,
  count: number,
  strings: Strings,
  take: (i: number, length: number) => boolean,
): PageTexts {
  const reader = new DeltaReader(bytes)
  if (reader.count < count) return cut(strings, 0, 'a page has fewer values than it says')
  const words = new Uint32Array(2 * STEP)
  for (let i = 0; i < count;) {
    const n = Math.min(STEP, count - i)
    reader.read(words, 0, n)
    // Negative lengths are large ones.
    for (let j = 0; j < n; j++, i++)
      if (words[2 * j + HI] !== 0 || !take(i, words[2 * j + LO])) return cut(strings, i, LONG)
  }
  return { strings }
}

const LONG = 'a text is longer than its page'

/** The texts before a fault. */
function cut({ bytes, starts }: Strings, good: number, fault: string): PageTexts {
  return { strings: { bytes, starts: starts.subarray(0, good + 1) }, fault: new ParquetFault(fault) }
}

import { crc32, inflateRawSync } from 'node:zlib'
import { InputReader } from '../../../bytes/input.js'
import { WORD } from '../../../bytes/u64.js'
import { limit, malformed, truncated, type TraceError } from '../../../event/error.js'
import { FIELD_NAMES, word } from '../layout.js'
import * as Layout from './layout.js'
import { slide } from './pack.js'
import type { Piece } from './separate.js'
import type { SplitOptions } from './tracks.js'

/** A part of the single-file form. */
export type Part =
  | { readonly kind: 'header'; readonly options: Required<SplitOptions> }
  | ({ readonly kind: 'block' } & Piece)
  | { readonly kind: 'end'; readonly records: number; readonly bytes: number }

const NOTHING: Uint8Array = new Uint8Array(0)
const ALL_FIELDS = (1 << FIELD_NAMES.length) - 1

/**
 * Reads the single-file form, one file or several concatenated ones. No header, block or end is delivered, inflated or
 * given memory before its CRC-32 has been verified.
 */
export class Unpacker extends InputReader {
  /** The offset of the last part read, or of the faulty one. */
  offset = 0
  /** The error after `next` has returned null, completed by the number of the event that follows it. */
  fault: ((event: number) => TraceError) | undefined
  /** The number of tracks; 0 where a header is expected. */
  private tracks = 0
  /** The window of each track's next block. */
  private windows: Uint8Array[] = []
  /** The CRC-32 of all heads of this file so far. */
  private crc = 0
  private hasBegun = false
  private isCut = false

  /** Notes that the input was truncated by an error elsewhere. */
  endTruncated(): void {
    this.input.pos = this.input.end
    this.input.ended = true
    this.isCut = true
  }

  /** The next part; null when more input is needed, or at a fault: the input is truncated or was changed. */
  next(): Part | null {
    const { input } = this
    this.offset = input.offset
    const part = this.tracks === 0 ? this.header() : this.frame()
    if (part !== null || this.fault !== undefined || !input.ended || this.isCut) return part
    if (input.left > 0)
      return this.refuse(truncated, `the file ends inside ${this.tracks === 0 ? 'its header' : 'a block'}`)
    return this.tracks > 0 ? this.refuse(truncated, 'the end of the file is missing') : null
  }

  private header(): Part | null {
    const { input } = this
    const { bytes, pos } = input
    const n = Math.min(input.left, Layout.MAGIC.length)
    for (let i = 0; i < n; i++) {
      if (bytes[pos + i] === Layout.MAGIC[i]) continue
      return this.refuse(
        malformed,
        this.hasBegun ? 'what comes after the end is no split HATF' : 'the first bytes are wrong',
      )
    }
    if (input.left < Layout.HEADER_BYTES) return null
    this.crc = 0
    const crc = this.crcOf(Layout.HEADER_BYTES)
    if (crc === undefined) return this.refuse(malformed, 'the CRC-32 of the header is wrong')
    const [version = 0, set = 0, flags = 0, zero = 0] = bytes.subarray(
      pos + Layout.MAGIC.length,
      pos + Layout.MAGIC.length + 4,
    )
    if (version !== Layout.VERSION) return this.refuse(malformed, `version ${version} of split HATF is not known`)
    if (set > ALL_FIELDS || flags > Layout.ENCODED || zero !== 0)
      return this.refuse(malformed, 'the header uses values that version 1 does not define')
    const fields = FIELD_NAMES.filter((_, field) => (set >> field) & 1)
    this.crc = crc
    this.tracks = 1 + fields.length
    this.windows = Array.from({ length: this.tracks }, () => NOTHING)
    this.hasBegun = true
    input.pos += Layout.HEADER_BYTES
    return { kind: 'header', options: { fields, encoded: flags === Layout.ENCODED } }
  }

  private frame(): Part | null {
    const { input } = this
    if (input.left === 0) return null
    const type = input.bytes[input.pos]
    if (type === Layout.Frame.end) return this.trailer()
    return type === Layout.Frame.block ? this.block() : this.refuse(malformed, `a block of the unknown type ${type}`)
  }

  private block(): Part | null {
    const { input } = this
    const headBytes = Layout.BLOCK_FIXED_BYTES + Layout.BLOCK_TRACK_BYTES * this.tracks
    if (input.left < headBytes) return null
    const { bytes, pos } = input
    // Checked whenever more data has arrived. The head is short, so this costs nothing.
    const crc = this.crcOf(headBytes)
    if (crc === undefined) return this.refuse(malformed, 'the CRC-32 of the head of a block is wrong')
    const lengths = Array.from({ length: this.tracks }, (_, t) => {
      const at = pos + 5 + Layout.BLOCK_TRACK_BYTES * t
      return { length: word(bytes, at) >>> 0, stored: word(bytes, at + 4) >>> 0 }
    })
    for (const { length, stored } of lengths) {
      if (length > Layout.MAX_TRACK_BYTES)
        return this.refuse(
          limit,
          `a block with ${length} bytes in one stream: at most ${Layout.MAX_TRACK_BYTES} are allowed`,
        )
      if (stored > length) return this.refuse(malformed, 'a block is longer than what it holds')
    }
    const end = pos + lengths.reduce((sum, { stored }) => sum + stored, headBytes)
    if (end > input.end) return null
    if (crc32(bytes.subarray(pos + headBytes, end)) !== word(bytes, pos + headBytes - 8) >>> 0) {
      return this.refuse(malformed, 'the CRC-32 of a block is wrong')
    }
    const tracks: Uint8Array[] = []
    let at = pos + headBytes
    for (const { length, stored } of lengths) {
      const track = this.inflate(tracks.length, bytes.subarray(at, at + stored), length)
      if (track === undefined) return this.refuse(malformed, 'the deflated data of a block are corrupt')
      tracks.push(track)
      at += stored
    }
    this.crc = crc
    input.pos = end
    return { kind: 'block', tracks, records: word(bytes, pos + 1) >>> 0 }
  }

  private trailer(): Part | null {
    const { input } = this
    if (input.left < Layout.END_BYTES) return null
    if (this.crcOf(Layout.END_BYTES) === undefined) return this.refuse(malformed, 'the CRC-32 of the end is wrong')
    const records = pair(input.bytes, input.pos + 1)
    const bytes = pair(input.bytes, input.pos + 9)
    input.pos += Layout.END_BYTES
    this.tracks = 0
    return { kind: 'end', records, bytes }
  }

  /** Inflates a track's bytes into a copy; undefined if they are corrupt. */
  private inflate(t: number, stored: Uint8Array, length: number): Uint8Array | undefined {
    const window = this.windows[t]
    const dictionary = window.length > 0 && { dictionary: window }
    let track: Uint8Array
    try {
      track =
        stored.length === length
          ? new Uint8Array(stored)
          : inflateRawSync(stored, { maxOutputLength: length, ...dictionary })
    } catch {
      return undefined
    }
    if (track.length !== length) return undefined
    this.windows[t] = slide(window, track)
    return track
  }

  /**
   * The running CRC-32 after the head at the input's position; undefined if it differs from the one at the head's end.
   */
  private crcOf(headBytes: number): number | undefined {
    const { bytes, pos } = this.input
    const crc = crc32(bytes.subarray(pos, pos + headBytes - 4), this.crc)
    return crc === word(bytes, pos + headBytes - 4) >>> 0 ? crc : undefined
  }

  private refuse(make: typeof malformed, reason: string): null {
    const { offset } = this
    this.fault = (event) => make(reason, { format: 'hatf', offset, event })
    return null
  }
}

/** A 64-bit integer as a double: exact for any realistic count. */
function pair(bytes: Uint8Array, at: number): number {
  return (word(bytes, at) >>> 0) * WORD + (word(bytes, at + 4) >>> 0)
}

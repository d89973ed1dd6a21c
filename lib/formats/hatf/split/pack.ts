import { crc32, deflateRawSync } from 'node:zlib'
import { Sink } from '../../../bytes/sink.js'
import { WORD } from '../../../bytes/u64.js'
import { checkOptions, type OptionNames } from '../../../event/options.js'
import type { Stage } from '../../../event/stage.js'
import { writeWord } from '../layout.js'
import * as Layout from './layout.js'
import type { Piece } from './separate.js'
import { Tracks, type SplitOptions } from './tracks.js'

/** Options of the single-file form. */
export interface PackOptions extends SplitOptions {
  /** The deflate level, from 1 to 9; 0 stores the tracks uncompressed. Default 6. */
  level?: number
  /**
   * Write a block when its tracks together have this many bytes, at most 512 KiB. Input is never divided within a
   * piece. Default 256 KiB.
   */
  blockBytes?: number
}

const OPTIONS: OptionNames<PackOptions> = { fields: true, encoded: 'boolean', level: 'number', blockBytes: 'number' }

/** The window of a track's first block. */
const NOTHING: Uint8Array = new Uint8Array(0)

/** Writes the output of `Separator` as the single-file form. README.md specifies its bytes. */
export class Packer implements Stage<Piece, Uint8Array> {
  private readonly level: number
  private readonly blockBytes: number
  private readonly tracks: Tracks
  /** The block being collected, by track. */
  private readonly sinks: Sink[]
  private readonly windows: Uint8Array[]
  private records = 0
  private totalRecords = 0
  private totalBytes = 0
  /** The CRC-32 of all heads so far. */
  private crc = 0
  private hasHeader = false
  /** Whether the input is over, so that the rest is written as a last block. */
  private isOver = false
  private owesEnd = false

  /** @throws RangeError on an invalid level or block size */
  constructor(options: PackOptions = {}) {
    checkOptions(options, OPTIONS, 'options of split fields')
    this.level = options.level ?? 6
    if (!(this.level >= 0 && this.level <= 9)) throw new RangeError(`the level must be from 0 to 9, not ${this.level}`)
    this.blockBytes = options.blockBytes ?? Layout.BLOCK_BYTES
    if (!(this.blockBytes >= 1 && this.blockBytes <= Layout.MAX_BLOCK_BYTES)) {
      throw new RangeError(`a block must have from 1 to ${Layout.MAX_BLOCK_BYTES} bytes, not ${this.blockBytes}`)
    }
    this.tracks = new Tracks(splitOptions(options))
    this.sinks = Array.from({ length: this.tracks.count }, () => new Sink())
    this.windows = this.sinks.map(() => NOTHING)
  }

  feed(piece: Piece): void {
    piece.tracks.forEach((bytes, t) => this.sinks[t].append(bytes))
    this.records += piece.records
  }

  next(): Uint8Array | null {
    const bytes = this.sinks.reduce((sum, sink) => sum + sink.pos, 0)
    const isBlockDue = bytes >= (this.isOver ? 1 : this.blockBytes)
    if (!isBlockDue && !this.owesEnd) return null
    if (!this.hasHeader) return this.header()
    if (isBlockDue) return this.block(bytes)
    this.owesEnd = false
    return this.trailer()
  }

  end(): void {
    this.isOver = true
    this.owesEnd = true
  }

  endTruncated(): void {
    this.isOver = true
  }

  private header(): Uint8Array {
    this.hasHeader = true
    const out = new Uint8Array(Layout.HEADER_BYTES)
    out.set(Layout.MAGIC)
    out[Layout.MAGIC.length] = Layout.VERSION
    out[Layout.MAGIC.length + 1] = this.tracks.set
    out[Layout.MAGIC.length + 2] = this.tracks.encoded ? Layout.ENCODED : 0
    return this.seal(out, Layout.HEADER_BYTES)
  }

  private block(bytes: number): Uint8Array {
    const stored = this.sinks.map((_, t) => this.deflate(t))
    const headBytes = Layout.BLOCK_FIXED_BYTES + Layout.BLOCK_TRACK_BYTES * stored.length
    const out = new Uint8Array(stored.reduce((sum, { length }) => sum + length, headBytes))
    out[0] = Layout.Frame.block
    writeWord(out, 1, this.records)
    let at = headBytes
    stored.forEach((data, t) => {
      writeWord(out, 5 + Layout.BLOCK_TRACK_BYTES * t, this.sinks[t].pos)
      writeWord(out, 9 + Layout.BLOCK_TRACK_BYTES * t, data.length)
      out.set(data, at)
      at += data.length
    })
    writeWord(out, headBytes - 8, crc32(out.subarray(headBytes)))
    this.totalRecords += this.records
    this.totalBytes += bytes
    this.records = 0
    for (const sink of this.sinks) sink.pos = 0
    return this.seal(out, headBytes)
  }

  /** A track's bytes as stored: deflated if that makes them shorter. */
  private deflate(t: number): Uint8Array {
    const sink = this.sinks[t]
    const raw = sink.bytes.subarray(0, sink.pos)
    if (this.level === 0) return raw
    const window = this.windows[t]
    this.windows[t] = slide(window, raw)
    const deflated = deflateRawSync(raw, { level: this.level, ...(window.length > 0 && { dictionary: window }) })
    return deflated.length < raw.length ? deflated : raw
  }

  private trailer(): Uint8Array {
    const out = new Uint8Array(Layout.END_BYTES)
    out[0] = Layout.Frame.end
    writePair(out, 1, this.totalRecords)
    writePair(out, 9, this.totalBytes)
    return this.seal(out, Layout.END_BYTES)
  }

  /** Writes the running CRC-32 into the last four bytes of a head. */
  private seal(out: Uint8Array, headBytes: number): Uint8Array {
    this.crc = crc32(out.subarray(0, headBytes - 4), this.crc)
    writeWord(out, headBytes - 4, this.crc)
    return out
  }
}

function writePair(out: Uint8Array, at: number, value: number): void {
  writeWord(out, at, Math.floor(value / WORD))
  writeWord(out, at + 4, value % WORD)
}

/** The window after `bytes`: a copy of the last bytes. */
export function slide(window: Uint8Array, bytes: Uint8Array): Uint8Array {
  // The `slice` of a Buffer would not copy.
  if (bytes.length >= Layout.WINDOW_BYTES) return new Uint8Array(bytes.subarray(-Layout.WINDOW_BYTES))
  const kept = window.subarray(-(Layout.WINDOW_BYTES - bytes.length))
  const slid = new Uint8Array(kept.length + bytes.length)
  slid.set(kept)
  slid.set(bytes, kept.length)
  return slid
}

/** The options that select the fields to split off. */
export function splitOptions({ fields, encoded }: SplitOptions): SplitOptions {
  return { ...(fields !== undefined && { fields }), ...(encoded !== undefined && { encoded }) }
}

import * as Code from '../../../kernel/layouts/hatf.js'
import { InputReader } from '../../../bytes/input.js'
import { malformed, truncated, type TraceError } from '../../../event/error.js'
import type { Stage } from '../../../event/stage.js'
import { MAX_RECORD_BYTES } from '../layout.js'
import { copy, MAIN, MAX_RUNS, PIECE_BYTES, Tracks, type SplitOptions } from './tracks.js'

const LAST_DATA = Code.TAG_DESTROY_THREAD
const COMMENT = Code.TAG_COMMENT

/** Some whole records, with the bytes of each track in a separate array. */
export interface Piece {
  /** The bytes by track: first the main track, then the fields in the order of their codes. */
  readonly tracks: readonly Uint8Array[]
  /** The number of records, without metadata. */
  readonly records: number
}

/**
 * Moves the stored bytes of some fields out of the records of a HATF stream, each field into its own track. Tags,
 * metadata, comments, lengths of attributes and all other fields stay in the main track. `Joiner` reverses this.
 */
export class Separator extends InputReader implements Stage<Uint8Array, Piece> {
  private readonly tracks: Tracks
  /** The tracks of the next piece; reused for every piece. */
  private readonly buffers: Uint8Array[]
  private readonly ends: Int32Array
  /** The number of records before the current piece, and in it. */
  private before = 0
  private records = 0
  private fault: TraceError | undefined

  constructor(options?: SplitOptions) {
    super()
    this.tracks = new Tracks(options)
    this.buffers = Array.from({ length: this.tracks.count }, () => new Uint8Array(0))
    this.ends = new Int32Array(this.tracks.count)
  }

  /** @throws TraceError when a record is malformed, or the stream ends inside one */
  next(): Piece | null {
    const { input } = this
    if (this.fault === undefined && input.left > 0) this.separate()
    if (this.ends[MAIN] !== 0) return this.take()
    if (this.fault === undefined && input.ended && input.left > 0)
      this.fail(truncated, 'the stream ends inside a record')
    if (this.fault !== undefined) throw this.fault
    return null
  }

  endTruncated(): void {
    this.input.pos = this.input.end
    this.input.ended = true
  }

  private take(): Piece {
    const piece = { tracks: this.buffers.map((bytes, t) => bytes.slice(0, this.ends[t])), records: this.records }
    this.before += this.records
    this.records = 0
    this.ends.fill(0)
    return piece
  }

  private separate(): void {
    const { input, buffers, ends } = this
    const { runs, runTrack, runBytes } = this.tracks
    const { lengths } = this.tracks.states
    const { bytes, end } = input
    this.makeRoom(Math.min(input.left, PIECE_BYTES + MAX_RECORD_BYTES))
    const main = buffers[MAIN]
    let { lengthBytes } = this.tracks.states
    let pos = input.pos
    let records = 0
    const stop = Math.min(end, pos + PIECE_BYTES)
    while (pos < stop) {
      const tag = bytes[pos]
      if (tag > LAST_DATA) {
        input.pos = pos
        this.records = records
        const length = this.tracks.other(input)
        if (typeof length === 'string') this.fail(malformed, length)
        if (typeof length === 'string' || length === 0) break
        const to = ends[MAIN]
        main.set(bytes.subarray(pos, pos + length), to)
        ends[MAIN] = to + length
        pos += length
        if (tag === COMMENT) records++
        lengthBytes = this.tracks.states.lengthBytes
        continue
      }
      let after = pos + lengths[tag]
      if (after > end) break
      let data = 0
      if (lengthBytes !== 0) {
        data = bytes[after - 1]
        if (lengthBytes === 2) data |= bytes[after - 2] << 8
        if (after + data > end) break
      }
      const first = MAX_RUNS * tag
      const afterLast = first + runs[tag]
      for (let r = first; r < afterLast; r++) {
        const track = runTrack[r]
        const out = buffers[track]
        let to = ends[track]
        for (const until = pos + runBytes[r]; pos < until; pos++) out[to++] = bytes[pos]
        ends[track] = to
      }
      if (data !== 0) {
        const track = this.tracks.attributes
        copy(bytes, pos, buffers[track], ends[track], data)
        ends[track] = ends[track] + data
        pos += data
      }
      records++
    }
    input.pos = pos
    this.records = records
  }

  private fail(make: typeof malformed, reason: string): void {
    this.fault = make(reason, { format: 'hatf', offset: this.input.offset, event: this.before + this.records + 1 })
  }

  /** Makes room for `n` bytes in every track. */
  private makeRoom(n: number): void {
    for (let t = 0; t < this.buffers.length; t++) {
      if (this.buffers[t].length < n) this.buffers[t] = new Uint8Array(n)
    }
  }
}

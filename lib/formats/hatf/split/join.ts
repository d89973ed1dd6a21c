import * as Code from '../../../kernel/layouts/hatf.js'
import { chunkOf } from '../../../bytes/chunks.js'
import { Input } from '../../../bytes/input.js'
import { malformed, truncated, type TraceError } from '../../../event/error.js'
import { MAX_RECORD_BYTES } from '../layout.js'
import { copy, MAIN, MAX_RUNS, MAX_TRACKS, PIECE_BYTES, Tracks, type SplitOptions } from './tracks.js'

const LAST_DATA = Code.TAG_DESTROY_THREAD
const COMMENT = Code.TAG_COMMENT

/**
 * Reverses `Separator`: restores the same HATF, byte for byte. It has several inputs, so it is not a stage: whenever
 * `next` returns null, `wanted` names the track to feed or end; -1 means that everything is done.
 */
export class Joiner {
  /** The track that `next` needs to continue; -1 when all tracks have ended. */
  wanted: number = MAIN
  /** The number of records delivered, without metadata. */
  records = 0
  private readonly tracks: Tracks
  private readonly inputs: readonly Input[]
  private readonly out = new Uint8Array(PIECE_BYTES + MAX_RECORD_BYTES)
  /** The read position in each track while records are joined. */
  private readonly at: Int32Array
  private fault: TraceError | undefined

  constructor(options?: SplitOptions) {
    this.tracks = new Tracks(options)
    this.inputs = Array.from({ length: this.tracks.count }, () => new Input())
    this.at = new Int32Array(this.tracks.count)
  }

  /** Adds a chunk to a track. */
  feed(track: number, chunk: Uint8Array): void {
    this.input(track).feed(chunk)
  }

  /** Marks a track as complete. */
  end(track: number): void {
    this.input(track).ended = true
  }

  /** Whether every byte fed has been delivered. */
  get isDrained(): boolean {
    return this.inputs.every((input) => input.left === 0)
  }

  /**
   * The next bytes: whole records.
   * @throws TraceError when a record is malformed, or the tracks do not end at the same record. The offset counts in
   *   the faulty track: the main one unless the message names another
   */
  next(): Uint8Array | null {
    if (this.fault === undefined) {
      const length = this.join()
      if (length > 0) return chunkOf(this.out.subarray(0, length))
    }
    if (this.fault !== undefined) throw this.fault
    return null
  }

  private input(track: number): Input {
    return this.inputs[track]
  }

  /** Joins records until a track is used up or `out` is full. @returns the number of bytes */
  private join(): number {
    const { inputs, out } = this
    const { runs, runTrack, runBytes, share, count, states } = this.tracks
    const { at } = this
    const main = inputs[MAIN]
    for (let t = 0; t < count; t++) at[t] = this.input(t).pos
    let { lengthBytes } = states
    let records = this.records
    let to = 0
    let lacking = MAIN
    while (to < PIECE_BYTES && at[MAIN] < main.end) {
      const { bytes } = main
      const start = at[MAIN]
      const tag = bytes[start]
      if (tag > LAST_DATA) {
        main.pos = start
        this.records = records
        const length = this.tracks.other(main)
        if (typeof length === 'string') this.fail(malformed, length, main.offset)
        if (typeof length === 'string' || length === 0) break
        out.set(bytes.subarray(start, start + length), to)
        to += length
        at[MAIN] = start + length
        if (tag === COMMENT) records++
        lengthBytes = states.lengthBytes
        continue
      }
      // A record is joined only when all of it is available, because the tracks are read one after the other.
      lacking = MAIN
      const after = start + share[MAX_TRACKS * tag]
      if (after > main.end) break
      let data = 0
      if (lengthBytes !== 0) {
        data = bytes[after - 1]
        if (lengthBytes === 2) data |= bytes[after - 2] << 8
        if (this.tracks.attributes === MAIN && after + data > main.end) break
      }
      for (lacking = 1; lacking < count; lacking++) {
        let needed = at[lacking] + share[MAX_TRACKS * tag + lacking]
        if (lacking === this.tracks.attributes) needed += data
        if (needed > inputs[lacking].end) break
      }
      if (lacking < count) break
      const first = MAX_RUNS * tag
      const afterLast = first + runs[tag]
      for (let r = first; r < afterLast; r++) {
        const track = runTrack[r]
        const from = inputs[track].bytes
        let pos = at[track]
        for (const until = pos + runBytes[r]; pos < until; pos++) out[to++] = from[pos]
        at[track] = pos
      }
      if (data !== 0) {
        const track = this.tracks.attributes
        copy(inputs[track].bytes, at[track], out, to, data)
        at[track] = at[track] + data
        to += data
      }
      records++
      lacking = MAIN
    }
    for (let t = 0; t < count; t++) this.input(t).pos = at[t]
    this.records = records
    this.wanted = lacking
    if (to === 0 && this.fault === undefined) this.checkEnds()
    return to
  }

  /** Nothing could be joined: checks whether the missing bytes can still arrive. */
  private checkEnds(): void {
    const lacking = this.wanted
    const input = this.input(lacking)
    if (!input.ended) return
    if (lacking !== MAIN) {
      this.fail(truncated, `the ${this.tracks.names[lacking - 1]} stream ends before the trace does`, input.offset)
    } else if (input.left > 0) {
      this.fail(truncated, 'the stream ends inside a record', input.offset)
    } else {
      const surplus = this.inputs.findIndex(({ left }) => left > 0)
      if (surplus > 0) {
        this.fail(
          malformed,
          `the ${this.tracks.names[surplus - 1]} stream goes on where the trace ends`,
          this.input(surplus).offset,
        )
      }
      // A track may still have surplus bytes; only its end shows that it has none.
      this.wanted = this.inputs.findIndex(({ ended }) => !ended)
    }
  }

  private fail(make: typeof malformed, reason: string, offset: number): void {
    this.fault = make(reason, { format: 'hatf', offset, event: this.records + 1 })
  }
}

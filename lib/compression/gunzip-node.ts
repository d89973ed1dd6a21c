import { crc32, createInflateRaw } from 'node:zlib'
import { FIRST_SLICE, nextSlice, type Compressed } from './compressed.js'
import { checkTrailer, CRC_BYTES, TRAILER_BYTES, trailerOf, wrongTrailer, type MemberInflater } from './gunzip.js'
import { skipHeader } from './gzip-header.js'
import { wholeMembers } from './whole-members.js'

/**
 * The maximum input for one step. The output may be about 1000 times as large, so a bomb remains bounded. This is also
 * the maximum loss before a corrupt place, because zlib-sync keeps the output of the failing step, and node:zlib a part
 * of it.
 */
const SLICE_BYTES = 4096

/** The initial memory for the output of a slice, which grows in steps of this size. */
const OUTPUT_BYTES = 65_536

/**
 * The maximum number of zlib-sync inflaters in a process. zlib-sync never frees an inflater's state, some 40 KB, and
 * cannot reuse it, so a process that reads many traces would lose more than it gains.
 */
const MAX_SYNC = 64
let syncLeft = MAX_SYNC

/** The part of zlib-sync that is used here; its own types leave out that `result` is null after an error. */
interface SyncInflate {
  push(bytes: Buffer, flush: number): void
  readonly result: Buffer | string | null
  readonly err: number
}

export interface ZlibSync {
  Inflate: new (options: { windowBits: number; chunkSize: number }) => SyncInflate
  Z_SYNC_FLUSH: number
  Z_STREAM_END: number
  Z_BUF_ERROR: number
}

/** The inflated bytes of one slice. */
interface Step {
  readonly output: readonly Buffer[]
  /** The member's data end in this slice. */
  readonly isEnd: boolean
  /** The least and the greatest number of bytes of the slice that the member's data may have, if they end. */
  readonly used: readonly [from: number, to: number]
}

/** Inflates the data of one member, slice by slice. */
interface Inflate {
  /**
   * Inflates a slice, all of it or up to the end of the data.
   * @param isCounted where the data end must be known exactly
   * @returns undefined if the data are corrupt
   */
  step(slice: Buffer, isCounted: boolean): Step | undefined | Promise<Step | undefined>
  close(): void
}

/**
 * Inflates members with zlib.
 * @param zlibSync inflates the first member that is large or in several chunks, without a hop to the thread pool; later
 *   ones, and all of them where this is undefined, go through node:zlib
 * @param isLimited no more than `MAX_SYNC` members of the process are inflated with zlib-sync
 */
export function nodeMembers(zlibSync?: ZlibSync, isLimited = true): MemberInflater {
  let first = zlibSync
  return async function* (input) {
    const { offset } = input
    yield* wholeMembers(input)
    if (input.offset > offset) return
    await skipHeader(input)
    const inflate = first === undefined || (isLimited && syncLeft === 0) ? new NodeInflate() : new InStepInflate(first)
    if (isLimited && inflate instanceof InStepInflate) syncLeft--
    first = undefined
    try {
      yield* inflateMember(input, inflate, offset)
    } finally {
      inflate.close()
    }
  }
}

/**
 * Inflates one member. The input is after its header. Both inflaters get the same slices, and a corrupt slice gives
 * nothing, so that they deliver the same before a fault.
 * @param start the offset of the member
 */
async function* inflateMember(input: Compressed, inflate: Inflate, start: number): AsyncGenerator<Uint8Array> {
  let crc = 0
  let length = 0
  let sliceBytes = FIRST_SLICE
  for (;;) {
    if (!(await input.more())) throw input.truncated()
    const chunk = Buffer.from(input.rest.buffer, input.rest.byteOffset, input.rest.length)
    // Where the data end in the last bytes of a chunk, the trailer may not be in it, or not be there at all.
    const most = chunk.length - TRAILER_BYTES
    const slice = chunk.subarray(0, most > 0 ? Math.min(most, sliceBytes) : chunk.length)
    const step = await inflate.step(slice, most <= 0)
    if (step === undefined) throw input.corrupt('the gzip data are corrupt')
    let got = 0
    for (const part of step.output) {
      crc = crc32(part, crc)
      got += part.length
      yield part
    }
    length += got
    if (step.isEnd) {
      const content = { crc, length }
      const [from, to] = step.used
      if (from < to) {
        const place = chunk.subarray(from, to + TRAILER_BYTES)
        const trailer = trailerOf(content)
        const at = place.indexOf(trailer)
        if (at < 0) throw wrongTrailer(input, place.includes(trailer.subarray(0, CRC_BYTES)), start)
        input.use(from + at)
      } else {
        input.use(to)
      }
      return checkTrailer(input, content, start)
    }
    sliceBytes = nextSlice(sliceBytes, got, SLICE_BYTES)
    input.use(slice.length)
  }
}

/** With zlib-sync, which does not report how much of its input it used. */
class InStepInflate implements Inflate {
  private readonly inflate: SyncInflate

  constructor(private readonly zlib: ZlibSync) {
    // Negative: without a wrapper, with the largest window.
    this.inflate = new zlib.Inflate({ windowBits: -15, chunkSize: OUTPUT_BYTES })
  }

  step(slice: Buffer, isCounted: boolean): Step | undefined {
    const output: Buffer[] = []
    for (let at = 0; at < slice.length;) {
      const to = isCounted ? at + 1 : pieceEnd(slice, at)
      const isEnd = this.push(slice.subarray(at, to), output)
      if (isEnd === undefined) return undefined
      if (isEnd) return { output, isEnd, used: [isCounted ? to : at, to] }
      at = to
    }
    return { output, isEnd: false, used: [slice.length, slice.length] }
  }

  /** @returns whether the data end, or undefined if they are corrupt */
  private push(piece: Buffer, output: Buffer[]): boolean | undefined {
    const { inflate, zlib } = this
    for (let input = piece; ; input = NOTHING) {
      // Without the flush a second push corrupts memory; and an argument that is no Buffer aborts the process.
      inflate.push(input, zlib.Z_SYNC_FLUSH)
      const { err } = inflate
      if (err < 0 && err !== zlib.Z_BUF_ERROR) return undefined
      const out = inflate.result as Buffer | null
      if (out !== null && out.length > 0) output.push(out)
      if (err === zlib.Z_STREAM_END) return true
      // If its memory was filled, it holds the rest back until it is called again.
      if (out === null || out.length === 0 || out.length % OUTPUT_BYTES !== 0) return false
    }
  }

  close(): void {}
}

const NOTHING = Buffer.alloc(0)

/** The first bytes of a member (RFC 1952, section 2.3.1). */
const MEMBER = Buffer.from([0x1f, 0x8b, 8])

/**
 * The end of a piece of a slice. If the data end in it, then so does the trailer in the bytes after it, before the next
 * member, whose trailer may be the same.
 */
function pieceEnd(slice: Buffer, from: number): number {
  const next = slice.indexOf(MEMBER, from + TRAILER_BYTES + 1)
  return next < 0 ? slice.length : next - TRAILER_BYTES
}

/** With node:zlib, without the gzip wrapper so that its input can be counted. */
class NodeInflate implements Inflate {
  private readonly inflate = createInflateRaw({ chunkSize: 4 * OUTPUT_BYTES })
  private wake: () => void = () => {}
  private ended = false
  private failed = false

  constructor() {
    this.inflate.on('readable', () => this.wake())
    this.inflate.on('end', () => ((this.ended = true), this.wake()))
    this.inflate.on('error', () => ((this.failed = true), this.wake()))
  }

  async step(slice: Buffer): Promise<Step | undefined> {
    const { inflate } = this
    const output: Buffer[] = []
    const before = inflate.bytesWritten
    let written = false
    inflate.write(slice, () => ((written = true), this.wake()))
    // A member's end is visible only when more input is offered than it takes; the rest belongs to the trailer.
    while (
      !this.ended &&
      !(written && inflate.bytesWritten - before === slice.length && inflate.readableLength === 0)
    ) {
      const out = inflate.read() as Buffer | null
      if (out !== null) output.push(out)
      else if (this.failed) return undefined
      else if (!this.ended) await new Promise<void>((resolve) => (this.wake = resolve))
    }
    const used = inflate.bytesWritten - before
    return { output, isEnd: this.ended, used: [used, used] }
  }

  close(): void {
    this.inflate.destroy()
  }
}

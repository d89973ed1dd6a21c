import { crc32, createInflateRaw } from 'node:zlib'
import { FIRST_SLICE, nextSlice, type Compressed } from './compressed.js'
import { checkTrailer, TRAILER_BYTES, type MemberInflater } from './gunzip.js'
import { skipHeader } from './gzip-header.js'
import { wholeMembers } from './whole-members.js'

/**
 * The maximum input for one step of zlib-sync. The output may be about 1000 times as large, so a bomb remains bounded.
 * This is also the maximum loss before a corrupt place, because inflaters keep the output of the failing step.
 */
const SYNC_SLICE_BYTES = 4096

/** The initial memory for the output of a slice, which grows in steps of this size. */
const SYNC_CHUNK_BYTES = 65_536

/**
 * The input for one step of node:zlib, which has its own backpressure but needs a turn of the event loop for each
 * slice.
 */
const SLICE_BYTES = 16_384

/** The part of zlib-sync that is used here; its own types leave out that `result` is null after an error. */
interface SyncInflate {
  push(bytes: Buffer, flush: number): void
  readonly result: Buffer | string | null
  readonly err: number
}

/** The module zlib-sync. */
export interface ZlibSync {
  Inflate: new (options: { windowBits: number; chunkSize: number }) => SyncInflate
  Z_SYNC_FLUSH: number
  Z_STREAM_END: number
  Z_BUF_ERROR: number
}

/**
 * Inflates members with zlib.
 * @param zlibSync inflates the first member that is large or in several chunks, without a hop to the thread pool; later
 *   ones, and all of them where this is undefined, go through node:zlib. (zlib-sync frees an inflater's state only when
 *   the garbage collector finds it. The collector does not know its size, so there must not be many inflaters.)
 */
export function nodeMembers(zlibSync?: ZlibSync): MemberInflater {
  let first = zlibSync
  return async function* (input) {
    const { offset } = input
    yield* wholeMembers(input)
    if (input.offset > offset) return
    await skipHeader(input)
    if (first === undefined) yield* inflateMember(input)
    else yield* inflateSync(input, first)
    first = undefined
  }
}

/** The header passed to zlib-sync instead of a member's own: no name, no time, from Unix. */
const PLAIN_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])

/** Inflates one member with zlib-sync. The input is after its header. */
async function* inflateSync(input: Compressed, zlib: ZlibSync): AsyncGenerator<Uint8Array> {
  // 16 + 15: gzip, with the largest window. With the wrapper, the member ends where its trailer is found.
  const inflate = new zlib.Inflate({ windowBits: 31, chunkSize: SYNC_CHUNK_BYTES })
  inflate.push(PLAIN_HEADER, zlib.Z_SYNC_FLUSH)
  let crc = 0
  let length = 0
  let tail: Uint8Array = new Uint8Array(0)
  let sliceBytes = FIRST_SLICE
  for (;;) {
    const more = await input.more()
    const slice = input.rest.subarray(0, sliceBytes)
    // Without the flush a second push corrupts memory; and an argument that is no Buffer aborts the process. At the
    // end of the input an empty push fetches what did not fit into the inflater's buffer before.
    inflate.push(Buffer.from(slice.buffer, slice.byteOffset, slice.length), zlib.Z_SYNC_FLUSH)
    if (inflate.err < 0 && inflate.err !== zlib.Z_BUF_ERROR) throw input.corrupt('the gzip data are corrupt')
    const out = inflate.result as Buffer | null
    const got = out?.length ?? 0
    sliceBytes = nextSlice(sliceBytes, got, SYNC_SLICE_BYTES)
    if (got > 0) {
      crc = crc32(out as Buffer, crc)
      length += got
      yield out as Buffer
    }
    if (inflate.err === zlib.Z_STREAM_END) {
      input.use(memberEnd(tail, slice, crc, length))
      return
    }
    if (!more && got === 0) throw input.truncated()
    tail = Buffer.concat([tail, slice.subarray(-TRAILER_BYTES)]).subarray(-TRAILER_BYTES)
    input.use(slice.length)
  }
}

/**
 * The end of a member in the last slice. zlib-sync does not report how much of its input it used, but it has checked
 * the member's last eight bytes, which are known: CRC-32 and length of the content. Their first copy is the end.
 * @param tail up to eight bytes before the slice
 */
function memberEnd(tail: Uint8Array, slice: Uint8Array, crc: number, length: number): number {
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(length % 0x1_0000_0000, 4)
  return Buffer.concat([tail, slice]).indexOf(trailer) + TRAILER_BYTES - tail.length
}

/**
 * Inflates one member with node:zlib, without the gzip wrapper so that its input can be counted. The input is after the
 * header.
 */
async function* inflateMember(input: Compressed): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: 65_536 })
  let wake: () => void = () => {}
  let ended = false
  let failed = false
  inflate.on('readable', () => wake())
  inflate.on('end', () => ((ended = true), wake()))
  inflate.on('error', () => ((failed = true), wake()))
  let crc = 0
  let length = 0
  try {
    while (!ended) {
      if (!(await input.more())) throw input.truncated()
      const slice = input.rest.subarray(0, SLICE_BYTES)
      const before = inflate.bytesWritten
      let written = false
      inflate.write(slice, () => ((written = true), wake()))
      // A member's end is visible only when more input is offered than it takes; the rest belongs to the trailer.
      while (!ended && !(written && inflate.bytesWritten - before === slice.length && inflate.readableLength === 0)) {
        const out = inflate.read() as Buffer | null
        if (out !== null) {
          crc = crc32(out, crc)
          length += out.length
          yield out
        } else if (failed) {
          throw input.corrupt('the gzip data are corrupt')
        } else if (!ended) {
          await new Promise<void>((resolve) => (wake = resolve))
        }
      }
      input.use(inflate.bytesWritten - before)
    }
  } finally {
    inflate.destroy()
  }
  await checkTrailer(input, crc, length)
}

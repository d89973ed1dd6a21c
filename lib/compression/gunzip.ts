import { crc32, createInflateRaw } from 'node:zlib'
import { malformed, truncated, type TraceError } from '../event/error.js'
import { isGzip } from './magic.js'

/**
 * How much input zlib-sync is given at a time; it can make about 1000 times as much of it at once, so a bomb stays
 * bounded. It is also what is lost at most before a corrupt place, for inflaters keep back what they made in the
 * failing step.
 */
const SYNC_SLICE_BYTES = 4096

/** The same for node:zlib, which holds back by itself, but needs a turn of the event loop for each slice. */
const SLICE_BYTES = 16_384

const TRAILER_BYTES = 8

/** The part of zlib-sync that is used here; its own types leave out that `result` is null after an error. */
export interface SyncInflate {
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
 * Inflates a gzip stream: concatenated members, and zero bytes after the last one as tape padding leaves them.
 * What a member holds is given out before its fault is thrown.
 *
 * @param source the compressed bytes, from the first byte of the first member
 * @param zlibSync inflates the first member without a hop to the thread pool; every later member, and all of them
 *   where this is undefined, go through node:zlib. (zlib-sync never frees an inflater's state, so a file of a million
 *   members must not make a million of them.)
 * @throws TraceError with the offset in the compressed stream: a member that is cut or corrupt, or bytes after the
 *   last member that are no gzip
 */
export async function* gunzip(
  source: AsyncIterable<Uint8Array>,
  zlibSync?: ZlibSync,
): AsyncGenerator<Uint8Array, void, void> {
  const input = new Compressed(source)
  try {
    if (zlibSync !== undefined) {
      yield* inflateSync(input, zlibSync)
      if (!(await atNextMember(input))) return
    }
    do yield* inflateMember(input)
    while (await atNextMember(input))
  } finally {
    await input.close()
  }
}

/** The compressed bytes, pulled as they are needed, with their offset. */
class Compressed {
  /** Bytes that were read and not yet used. */
  rest: Uint8Array = new Uint8Array(0)
  /** The offset of `rest[0]`. */
  offset = 0
  private readonly chunks: AsyncIterator<Uint8Array>

  constructor(source: AsyncIterable<Uint8Array>) {
    this.chunks = source[Symbol.asyncIterator]()
  }

  /** Makes `rest` non-empty; false at the end of the input. */
  async more(): Promise<boolean> {
    while (this.rest.length === 0) {
      const chunk = await this.chunks.next()
      if (chunk.done === true) return false
      this.rest = chunk.value
    }
    return true
  }

  /** Nothing more is wanted of the source. */
  async close(): Promise<void> {
    await this.chunks.return?.()
  }

  use(n: number): void {
    this.rest = this.rest.subarray(n)
    this.offset += n
  }

  /** The next `n` bytes, used up. */
  async take(n: number): Promise<Uint8Array> {
    const taken = new Uint8Array(n)
    for (let have = 0; have < n;) {
      if (!(await this.more())) throw this.cut()
      const part = this.rest.subarray(0, n - have)
      taken.set(part, have)
      have += part.length
      this.use(part.length)
    }
    return taken
  }

  cut(): TraceError {
    return truncated('the gzip stream ends inside a member', { format: 'gzip', offset: this.offset })
  }

  corrupt(reason: string, offset = this.offset): TraceError {
    return malformed(reason, { format: 'gzip', offset })
  }
}

/** Whether another member follows; passes over zero bytes. */
async function atNextMember(input: Compressed): Promise<boolean> {
  while (await input.more()) {
    if (input.rest[0] === 0x1f) return true
    if (input.rest[0] !== 0) throw input.corrupt('the bytes after the last gzip member are not gzip')
    let zeros = 0
    while (input.rest[zeros] === 0) zeros++
    input.use(zeros)
  }
  return false
}

/** The first member through zlib-sync. */
async function* inflateSync(input: Compressed, zlib: ZlibSync): AsyncGenerator<Uint8Array> {
  // 16 + 15: gzip, with the largest window.
  const inflate = new zlib.Inflate({ windowBits: 31, chunkSize: 262_144 })
  let crc = 0
  let length = 0
  let tail: Uint8Array = new Uint8Array(0)
  for (;;) {
    const more = await input.more()
    const slice = input.rest.subarray(0, SYNC_SLICE_BYTES)
    // Without the flush a second push corrupts memory; and an argument that is no Buffer aborts the process. At the
    // end of the input an empty push fetches what did not fit into the inflater's buffer before.
    inflate.push(Buffer.from(slice.buffer, slice.byteOffset, slice.length), zlib.Z_SYNC_FLUSH)
    if (inflate.err < 0 && inflate.err !== zlib.Z_BUF_ERROR) throw input.corrupt('the gzip data are corrupt')
    const out = inflate.result as Buffer | null
    const got = out?.length ?? 0
    if (got > 0) {
      crc = crc32(out as Buffer, crc)
      length += got
      yield out as Buffer
    }
    if (inflate.err === zlib.Z_STREAM_END) {
      input.use(memberEnd(tail, slice, crc, length))
      return
    }
    if (!more && got === 0) throw input.cut()
    tail =
      slice.length >= TRAILER_BYTES
        ? slice.slice(-TRAILER_BYTES)
        : Buffer.concat([tail, slice]).subarray(-TRAILER_BYTES)
    input.use(slice.length)
  }
}

/**
 * Where in the last slice a member ended: zlib-sync does not say how much of its input it used. But it has checked the
 * member's last eight bytes, and they are known: CRC-32 and length of what came out.
 * @param tail the bytes before the slice
 */
function memberEnd(tail: Uint8Array, slice: Uint8Array, crc: number, length: number): number {
  const trailer = Buffer.alloc(TRAILER_BYTES)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(length % 0x1_0000_0000, 4)
  const window = Buffer.concat([tail, slice])
  let end = -1
  for (let at = window.indexOf(trailer); at >= 0; at = window.indexOf(trailer, at + 1)) {
    const next = at + TRAILER_BYTES
    if (end < 0) end = next
    // The same eight bytes can stand inside the member by chance; behind its end another one begins, or nothing.
    if (next === window.length || (window[next] === 0x1f && window[next + 1] === 0x8b)) {
      end = next
      break
    }
  }
  return end - tail.length
}

/** One member through node:zlib, which inflates without the gzip wrapper so that its input can be counted. */
async function* inflateMember(input: Compressed): AsyncGenerator<Uint8Array> {
  await skipHeader(input)
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
      if (!(await input.more())) throw input.cut()
      const slice = input.rest.subarray(0, SLICE_BYTES)
      const before = inflate.bytesWritten
      let written = false
      inflate.write(slice, () => ((written = true), wake()))
      // A member's end shows only when more input is offered than it takes; what it leaves belongs to the trailer.
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
  const at = input.offset
  const trailer = Buffer.from((await input.take(TRAILER_BYTES)).buffer)
  if (trailer.readUInt32LE(0) !== crc >>> 0) throw input.corrupt('the CRC-32 of a gzip member is wrong', at)
  if (trailer.readUInt32LE(4) !== length % 0x1_0000_0000)
    throw input.corrupt('the length of a gzip member is wrong', at)
}

const FLAG_CRC = 2
const FLAG_EXTRA = 4
const FLAG_NAME = 8
const FLAG_COMMENT = 16
const RESERVED_FLAGS = 0xe0
const DEFLATE = 8

/** Passes over a member's header (RFC 1952, section 2.3). */
async function skipHeader(input: Compressed): Promise<void> {
  const at = input.offset
  const fixed = await input.take(10)
  if (!isGzip(fixed)) throw input.corrupt('the bytes after the last gzip member are not gzip', at)
  const flags = fixed[3] as number
  if (fixed[2] !== DEFLATE || (flags & RESERVED_FLAGS) !== 0)
    throw input.corrupt('a gzip member is of an unknown kind', at)
  if (flags & FLAG_EXTRA) {
    const length = await input.take(2)
    await input.take((length[0] as number) + (length[1] as number) * 256)
  }
  if (flags & FLAG_NAME) await skipString(input)
  if (flags & FLAG_COMMENT) await skipString(input)
  if (flags & FLAG_CRC) await input.take(2)
}

async function skipString(input: Compressed): Promise<void> {
  for (;;) {
    if (!(await input.more())) throw input.cut()
    const end = input.rest.indexOf(0)
    input.use(end < 0 ? input.rest.length : end + 1)
    if (end >= 0) return
  }
}

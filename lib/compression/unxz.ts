import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Compressed } from './compressed.js'
import { Lzma2 } from './lzma2.js'
import { XZ_MAGIC } from './magic.js'
import * as XzFields from './xz-fields.js'

/** Types of checks that are verified; the content of a block with any other passes unchecked, as the format allows. */
const [CRC32, CRC64, SHA256] = [1, 4, 10]

/**
 * Inflates xz: any number of streams, each of any number of blocks, and zero bytes between and after them. The chunks
 * of a block before a corrupt one are delivered before its fault is thrown.
 *
 * @param source the compressed bytes, from the first byte of the first stream
 * @throws TraceError with the offset in the compressed stream: a stream that is truncated or corrupt, needs too large a
 *   dictionary or a filter for executables, or bytes after the last stream that are not xz
 */
export async function* unxz(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const input = new Compressed(source, 'xz', 'block')
  // One for all streams, because a new dictionary for each of very many small ones would take most of the time.
  const lzma2 = new Lzma2()
  try {
    while (await atNextStream(input)) yield* inflateStream(input, lzma2)
  } finally {
    lzma2.dispose()
    await input.close()
  }
}

/** Whether another stream follows; skips zero bytes, which must be a multiple of four. */
async function atNextStream(input: Compressed): Promise<boolean> {
  const from = input.offset
  while (await input.more()) {
    if (input.rest[0] !== 0) {
      if ((input.offset - from) % 4 !== 0 || input.rest[0] !== XZ_MAGIC[0]) break
      return true
    }
    let zeros = 0
    while (input.rest[zeros] === 0) zeros++
    input.use(zeros)
  }
  if (input.rest.length > 0 || (input.offset - from) % 4 !== 0)
    throw XzFields.fault('the bytes after the last xz stream are not xz', input.offset)
  return false
}

async function* inflateStream(input: Compressed, lzma2: Lzma2): AsyncGenerator<Uint8Array> {
  const { offset } = input
  const header = await input.take(XzFields.HEADER_BYTES)
  if (!XZ_MAGIC.every((byte, i) => byte === header[i]))
    throw XzFields.fault('the bytes after the last xz stream are not xz', offset)
  XzFields.checkCrc(header.subarray(XZ_MAGIC.length), 'the header of an xz stream', offset)
  const flags = XzFields.streamFlags(header.subarray(XZ_MAGIC.length), offset)
  const index = new Index()
  for (;;) {
    const start = input.offset
    const first = (await input.take(1))[0]
    if (first === 0) break
    const unpadded = yield* inflateBlock(input, await XzFields.blockHeader(input, first), flags, lzma2, start)
    index.add(unpadded, lzma2.length)
  }
  await index.check(input, flags)
}

/** The content of a block. @returns the length of the block without its padding */
async function* inflateBlock(
  input: Compressed,
  block: XzFields.BlockHeader,
  flags: XzFields.StreamFlags,
  lzma2: Lzma2,
  start: number,
): AsyncGenerator<Uint8Array, number> {
  const check = new ContentCheck(flags.check)
  const from = input.offset
  for await (const piece of lzma2.block(input, block.dictionary, flags.check === CRC64)) {
    check.update(piece)
    yield piece
  }
  const compressed = input.offset - from
  if (compressed !== (block.compressed ?? compressed) || lzma2.length !== (block.uncompressed ?? lzma2.length))
    throw XzFields.fault('an xz block is not as long as its header says', start)
  await takeZeros(input, start)
  const at = input.offset
  const stored = await input.take(flags.checkBytes)
  if (!check.matches(stored, lzma2)) throw XzFields.fault('the check of an xz block is wrong', at)
  return from - start + compressed + flags.checkBytes
}

/** Skips the zeros that make a part a multiple of four bytes long. */
async function takeZeros(input: Compressed, start: number): Promise<void> {
  const { offset } = input
  const padding = await input.take((start - offset) & 3)
  if (padding.some((byte) => byte !== 0)) throw XzFields.fault('the padding in an xz stream is not zero', offset)
}

/** Compares the content of a block with its check. */
class ContentCheck {
  private crc = 0
  private readonly hash: Hash | undefined

  constructor(private readonly type: number) {
    this.hash = type === SHA256 ? createHash('sha256') : undefined
  }

  update(bytes: Uint8Array): void {
    if (this.type === CRC32) this.crc = crc32(bytes, this.crc)
    this.hash?.update(bytes)
  }

  /** @param lzma2 knows the CRC-64 */
  matches(stored: Uint8Array, lzma2: Lzma2): boolean {
    const bytes = Buffer.from(stored)
    if (this.type === CRC32) return bytes.readUInt32LE() === this.crc >>> 0
    if (this.type === CRC64) return bytes.readBigUInt64LE() === lzma2.crc64
    return this.hash === undefined || this.hash.digest().equals(bytes)
  }
}

/** The lengths of the blocks, which the index after them repeats (section 4). */
class Index {
  private count = 0
  private readonly seen = createHash('sha256')

  add(unpadded: number, uncompressed: number): void {
    this.count++
    this.seen.update(XzFields.multibyte(unpadded)).update(XzFields.multibyte(uncompressed))
  }

  /** Reads the index, whose first byte was read, and the footer. @throws TraceError when they do not fit the blocks */
  async check(input: Compressed, flags: XzFields.StreamFlags): Promise<void> {
    const start = input.offset - 1
    const read = createHash('sha256')
    let crc = crc32(Buffer.from([0]))
    const take = async (n: number): Promise<Uint8Array> => {
      const bytes = await input.take(n)
      crc = crc32(bytes, crc)
      return bytes
    }
    const count = XzFields.multibyte(this.count)
    let isSame = (await take(count.length)).every((byte, i) => byte === count[i])
    for (let left = 2 * this.count; isSame && left > 0;) {
      const byte = await take(1)
      read.update(byte)
      if (byte[0] < 128) left--
    }
    isSame &&= read.digest().equals(this.seen.digest())
    if (!isSame) throw XzFields.fault('the index of an xz stream does not fit its blocks', start)
    const padding = await take((start - input.offset) & 3)
    if (padding.some((byte) => byte !== 0)) throw XzFields.fault('the padding in an xz stream is not zero', start)
    if (XzFields.wordAt(await input.take(4), 0) !== crc >>> 0)
      throw XzFields.fault('the CRC-32 of the index is wrong', start)
    const length = input.offset - start
    const at = input.offset
    const footer = await input.take(XzFields.FOOTER_BYTES)
    // The CRC-32 comes first here.
    const covered = footer.subarray(4, 10)
    const isRight =
      XzFields.wordAt(footer, 0) === crc32(covered) >>> 0 &&
      4 * (XzFields.wordAt(covered, 0) + 1) === length &&
      flags.bytes.every((byte, i) => byte === covered[4 + i]) &&
      footer[10] === 0x59 &&
      footer[11] === 0x5a
    if (!isRight) throw XzFields.fault('the footer of an xz stream is wrong', at)
  }
}

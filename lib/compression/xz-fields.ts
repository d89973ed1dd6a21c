import { crc32 } from 'node:zlib'
import { limit, malformed, type TraceError } from '../event/error.js'
import type { Compressed } from './compressed.js'

// Names and section numbers are from "The .xz File Format", version 1.2.1.

/** The largest dictionary in bytes that is accepted: the size of `xz -9`. */
export const MAX_DICTIONARY = 67_108_864

const LZMA2 = 0x21
const DELTA = 3
const FLAGS_BYTES = 2
const CRC_BYTES = 4
/** The size in bytes of the check of each type (section 2.1.1.2). */
const CHECK_BYTES = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64]

/** Bytes of the header of a stream, and of its footer. */
export const [HEADER_BYTES, FOOTER_BYTES] = [12, 12]

/** The type of the check of a stream's blocks, by the flags in its header or footer. */
export interface StreamFlags {
  readonly bytes: Uint8Array
  readonly check: number
  readonly checkBytes: number
}

/** A block, as its header describes it. */
export interface BlockHeader {
  readonly dictionary: number
  readonly compressed: number | undefined
  readonly uncompressed: number | undefined
}

export function fault(reason: string, offset: number): TraceError {
  return malformed(reason, { format: 'xz', offset })
}

/** The flags of a stream (section 2.1.1.2). @throws TraceError for reserved ones */
export function streamFlags(bytes: Uint8Array, offset: number): StreamFlags {
  const check = bytes[1]
  if (bytes[0] !== 0 || check > 15) throw fault('the flags of an xz stream are reserved', offset)
  return { bytes: bytes.slice(0, FLAGS_BYTES), check, checkBytes: CHECK_BYTES[check] }
}

/** @throws TraceError when the four bytes after the covered ones are not their CRC-32 */
export function checkCrc(bytes: Uint8Array, what: string, offset: number): void {
  const end = bytes.length - CRC_BYTES
  if (wordAt(bytes, end) !== crc32(bytes.subarray(0, end)) >>> 0) throw fault(`the CRC-32 of ${what} is wrong`, offset)
}

export function wordAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true)
}

/** The header of a block whose first byte, not 0, was read (section 3.1). */
export async function blockHeader(input: Compressed, first: number): Promise<BlockHeader> {
  const offset = input.offset - 1
  const bytes = Buffer.concat([Buffer.from([first]), await input.take(4 * first + 3)])
  checkCrc(bytes, 'the header of an xz block', offset)
  const reader = new Fields(bytes.subarray(0, -CRC_BYTES), 2, offset)
  const flags = bytes[1]
  if ((flags & 0x3c) !== 0) throw fault('the flags of an xz block are reserved', offset)
  const compressed = (flags & 0x40) !== 0 ? reader.number() : undefined
  const uncompressed = (flags & 0x80) !== 0 ? reader.number() : undefined
  const filter = reader.number()
  if ((flags & 3) !== 0 || filter !== LZMA2)
    throw fault(`the xz block uses ${filterName(filter)}, which is not read: decompress it first (xz -dc)`, offset)
  const size = reader.number() === 1 ? reader.byte() : 64
  if (!reader.restIsZero()) throw fault('the header of an xz block has more than its flags say', offset)
  return { dictionary: dictionaryBytes(size, offset), compressed, uncompressed }
}

/** What a filter before LZMA2 is for: sections 5.3.2 and 5.3.3. */
function filterName(id: number): string {
  if (id === DELTA) return 'the delta filter'
  return id > DELTA && id < LZMA2 ? 'a filter for programs' : 'filters besides LZMA2'
}

/** Section 5.3.1. */
function dictionaryBytes(code: number, offset: number): number {
  if (code > 40) throw fault('the dictionary of an xz block has no known size', offset)
  const bytes = code === 40 ? 2 ** 32 - 1 : (2 | (code & 1)) * 2 ** (11 + (code >> 1))
  if (bytes > MAX_DICTIONARY)
    throw limit(
      `the xz block needs a dictionary of ${Math.ceil(bytes / 1048576)} MiB; at most ${MAX_DICTIONARY / 1048576} are ` +
        'read: decompress it first (xz -dc FILE | ...)',
      { format: 'xz', offset },
    )
  return bytes
}

/** A number of one to nine bytes in the file's encoding (section 1.2). */
export function multibyte(value: number): Uint8Array {
  const bytes = []
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128)
  return Uint8Array.from([...bytes, value])
}

/** Reads such numbers. */
class Fields {
  constructor(
    private readonly bytes: Uint8Array,
    private at: number,
    private readonly offset: number,
  ) {}

  byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw fault('the header of an xz block has less than its flags say', this.offset)
    return byte
  }

  number(): number {
    let value = 0
    for (let factor = 1; factor < 2 ** 53; factor *= 128) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw fault('a number in an xz header is too large', this.offset)
  }

  restIsZero(): boolean {
    return this.bytes.subarray(this.at).every((byte) => byte === 0)
  }
}

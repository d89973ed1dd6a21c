import { WORD } from '../bytes/u64.js'
import { decodeText } from '../event/strings.js'

/** The records of a zip archive (PKWARE's APPNOTE.TXT, section 4.3), as far as a front-to-back reader needs them. */

export const LOCAL_HEADER = 0x0403_4b50
export const END = 0x0605_4b50
const DESCRIPTOR = 0x0807_4b50
const CENTRAL_HEADER = 0x0201_4b50
const DIGITAL_SIGNATURE = 0x0505_4b50
const END_64 = 0x0606_4b50
const END_LOCATOR_64 = 0x0706_4b50

/** The supported compression methods. */
export const STORED = 0
export const DEFLATED = 8

/** Flags: data encrypted, strongly encrypted, headers encrypted. */
const ENCRYPTED = 0x0001 | 0x0040 | 0x2000
const SIZES_IN_DESCRIPTOR = 0x0008
const ZIP64_EXTRA = 1
const SIZE_IN_EXTRA = 0xffff_ffff

/** The size of a descriptor with signature and 64-bit sizes, plus the signature of the record after it. */
export const MAX_DESCRIPTOR_BYTES = 28

/** The archive's figures for a member's data. */
export interface Sizes {
  crc: number
  /** Bytes before and after inflating. */
  compressed: number
  size: number
}

/** The header before a member's data. */
export interface LocalHeader {
  /** The header's own bytes. */
  length: number
  name: string
  method: number
  encrypted: boolean
  /** Undefined if a descriptor after the data has them. */
  sizes: Sizes | undefined
}

/** The 32-bit little-endian word at `p`, unsigned. */
export function u32(bytes: Uint8Array, p: number): number {
  return (u16(bytes, p) | (u16(bytes, p + 2) << 16)) >>> 0
}

function u16(bytes: Uint8Array, p: number): number {
  return bytes[p] | (bytes[p + 1] << 8)
}

function u64(bytes: Uint8Array, p: number): number {
  return u32(bytes, p + 4) * WORD + u32(bytes, p)
}

/** The local header at `p`, or null if it is incomplete before `end`. */
export function readLocalHeader(bytes: Uint8Array, p: number, end: number): LocalHeader | null {
  if (end - p < 30) return null
  const nameEnd = p + 30 + u16(bytes, p + 26)
  const headerEnd = nameEnd + u16(bytes, p + 28)
  if (end < headerEnd) return null
  const flags = u16(bytes, p + 6)
  const sizes = { crc: u32(bytes, p + 14), compressed: u32(bytes, p + 18), size: u32(bytes, p + 22) }
  for (let extra = nameEnd; extra + 4 <= headerEnd; extra += 4 + u16(bytes, extra + 2)) {
    if (u16(bytes, extra) !== ZIP64_EXTRA || u16(bytes, extra + 2) < 16 || extra + 20 > headerEnd) continue
    if (sizes.size === SIZE_IN_EXTRA) sizes.size = u64(bytes, extra + 4)
    if (sizes.compressed === SIZE_IN_EXTRA) sizes.compressed = u64(bytes, extra + 12)
  }
  return {
    length: headerEnd - p,
    name: decodeText(bytes.subarray(p + 30, nameEnd)),
    method: u16(bytes, p + 8),
    encrypted: (flags & ENCRYPTED) !== 0,
    sizes: (flags & SIZES_IN_DESCRIPTOR) === 0 ? sizes : undefined,
  }
}

/**
 * The length of the record at `p`, which is not a local header: 0 if more bytes are needed, undefined if there is no
 * valid record. Needs `end - p >= 4`.
 */
export function recordLength(bytes: Uint8Array, p: number, end: number): number | undefined {
  const has = end - p
  const signature = u32(bytes, p)
  if (signature === CENTRAL_HEADER)
    return has < 46 ? 0 : 46 + u16(bytes, p + 28) + u16(bytes, p + 30) + u16(bytes, p + 32)
  if (signature === DIGITAL_SIGNATURE) return has < 6 ? 0 : 6 + u16(bytes, p + 4)
  if (signature === END_64) return has < 12 ? 0 : 12 + u64(bytes, p + 4)
  if (signature === END_LOCATOR_64) return 20
  if (signature === END) return has < 22 ? 0 : 22 + u16(bytes, p + 20)
  return undefined
}

/**
 * The descriptor at `p`, or null. Needs `MAX_DESCRIPTOR_BYTES` there. Its signature is optional and its sizes have 32
 * or 64 bits without any indication, so it is recognized by the compressed size and by the record that follows.
 * @param used the number of data bytes before it
 */
export function readDescriptor(bytes: Uint8Array, p: number, used: number): (Sizes & { length: number }) | null {
  const low = used % WORD
  if (u32(bytes, p + 4) !== low && u32(bytes, p + 8) !== low) return null
  const start = u32(bytes, p) === DESCRIPTOR ? p + 4 : p
  for (const at of start === p ? [p] : [start, p]) {
    if (u32(bytes, at + 4) !== low) continue
    const crc = u32(bytes, at)
    if (used < WORD && startsRecord(u32(bytes, at + 12))) {
      return { crc, compressed: used, size: u32(bytes, at + 8), length: at + 12 - p }
    }
    if (u64(bytes, at + 4) === used && startsRecord(u32(bytes, at + 20))) {
      return { crc, compressed: used, size: u64(bytes, at + 12), length: at + 20 - p }
    }
  }
  return null
}

function startsRecord(signature: number): boolean {
  return signature === CENTRAL_HEADER || signature === LOCAL_HEADER
}

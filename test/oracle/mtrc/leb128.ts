import { HI, LO } from '../../../lib/bytes/u64.js'
import { Fault } from './fault.js'
import { MAX_LEB } from '../../../lib/formats/mtrc/layout.js'
import { MAX_CANONICAL_LEB } from './constants.js'

/**
 * Reads an unsigned LEB128 number as two words into `into[at + LO]` and `into[at + HI]`. `bytes` must hold `MAX_LEB`
 * bytes from `pos` on.
 * @returns the position after it, or one of `Fault`
 */
export function readLeb(bytes: Uint8Array, pos: number, into: Uint32Array, at: number): number {
  let byte = bytes[pos]
  if (byte < 0x80) {
    into[at + LO] = byte
    into[at + HI] = 0
    return pos + 1
  }
  let lo = byte & 0x7f
  byte = bytes[pos + 1]
  lo |= (byte & 0x7f) << 7
  if (byte < 0x80) {
    into[at + LO] = lo
    into[at + HI] = 0
    return pos + 2
  }
  byte = bytes[pos + 2]
  lo |= (byte & 0x7f) << 14
  if (byte < 0x80) {
    into[at + LO] = lo
    into[at + HI] = 0
    return pos + 3
  }
  byte = bytes[pos + 3]
  lo |= (byte & 0x7f) << 21
  if (byte < 0x80) {
    into[at + LO] = lo
    into[at + HI] = 0
    return pos + 4
  }
  byte = bytes[pos + 4]
  into[at + LO] = lo | (byte << 28)
  into[at + HI] = (byte >>> 4) & 7
  return byte < 0x80 ? pos + 5 : readHigh(bytes, pos + 5, into, at)
}

/** The rest of a number from its sixth byte on: bits 35 to 63, then padding. */
function readHigh(bytes: Uint8Array, pos: number, into: Uint32Array, at: number): number {
  let hi = into[at + HI]
  for (let shift = 3; shift <= 24; shift += 7) {
    const byte = bytes[pos++]
    hi |= (byte & 0x7f) << shift
    if (byte < 0x80) {
      into[at + HI] = hi
      return pos
    }
  }
  const last = bytes[pos++]
  if ((last & 0x7f) > 1) return Fault.numberTooWide
  into[at + HI] = hi | (last << 31)
  if (last < 0x80) return pos
  for (let n = MAX_CANONICAL_LEB; n < MAX_LEB; n++) {
    const byte = bytes[pos++]
    if ((byte & 0x7f) !== 0) return Fault.numberTooWide
    if (byte === 0) return pos
  }
  return Fault.numberTooLong
}

/**
 * Writes a 64-bit unsigned number as canonical (shortest) LEB128 at `pos`; needs up to `MAX_CANONICAL_LEB` bytes.
 * @returns the position after it
 */
export function writeLeb(out: Uint8Array, pos: number, lo: number, hi: number): number {
  while (hi !== 0) {
    out[pos++] = (lo & 0x7f) | 0x80
    lo = (lo >>> 7) | (hi << 25)
    hi >>>= 7
  }
  lo >>>= 0
  while (lo > 0x7f) {
    out[pos++] = (lo & 0x7f) | 0x80
    lo >>>= 7
  }
  out[pos++] = lo
  return pos
}

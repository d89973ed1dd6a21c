/** CRC-32C (Castagnoli), of bytes and of words of eight bytes. */

/** Eight tables of 256 remainders. */
const TABLES: usize = memory.data(8192)
const POLYNOMIAL: u32 = 0x82f6_3b78

export function initChecksum(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte
    for (let i = 0; i < 8; i++) crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0)
    store<u32>(TABLES + ((<usize>byte) << 2), crc)
  }
  for (let n: u32 = 256; n < 2048; n++) {
    const before = load<u32>(TABLES + ((<usize>(n - 256)) << 2))
    store<u32>(TABLES + ((<usize>n) << 2), (before >> 8) ^ load<u32>(TABLES + ((<usize>(before & 255)) << 2)))
  }
}

function table(n: u32, byte: u32): u32 {
  return load<u32>(TABLES + ((<usize>((n << 8) | byte)) << 2))
}

/** The state of a checksum after another eight bytes, the lowest first. It begins with all ones. */
// @ts-ignore: decorator
@inline
export function crcWord(state: u32, word: u64): u32 {
  const a = (<u32>word) ^ state
  const b = <u32>(word >> 32)
  return (
    table(7, a & 255) ^
    table(6, (a >> 8) & 255) ^
    table(5, (a >> 16) & 255) ^
    table(4, a >> 24) ^
    table(3, b & 255) ^
    table(2, (b >> 8) & 255) ^
    table(1, (b >> 16) & 255) ^
    table(0, b >> 24)
  )
}

/** The state of a checksum after bytes. */
export function crcBytes(state: u32, from: usize, length: u32): u32 {
  const end = from + length
  for (; from + 8 <= end; from += 8) state = crcWord(state, load<u64>(from))
  for (; from < end; from++) state = (state >> 8) ^ table(0, (state ^ load<u8>(from)) & 255)
  return state
}

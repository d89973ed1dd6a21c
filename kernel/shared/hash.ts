/**
 * The keyed hashes of all tables of keys and of strings. Without the secrets, which are random in each instance, no one
 * can choose what collides.
 */

/** The secret that was given out last. */
let secrets: u64 = secretFrom(0, 0)
/** The key of `hashBytes`. */
let key0: u64 = 0
let key1: u64 = 0

/** Sets the random seed, before anything is in a table of strings. Other tables have a secret of their own. */
export function seedHashes(low: u32, high: u32): void {
  secrets = secretFrom(low, high)
  key0 = newSecret()
  key1 = newSecret()
}

/** A secret, which is not 0. */
export function newSecret(): u64 {
  secrets = secretFrom(<u32>secrets, <u32>(secrets >> 32)) | 1
  return secrets
}

/** Makes the secret of a process from random bits. It is 0 only by chance. */
export function secretFrom(low: u32, high: u32): u64 {
  const random = ((<u64>high) << 32) | (<u64>low)
  const h = (random + 0x9e37_79b9_7f4a_7c15) * 0xbf58_476d_1ce4_e5b9
  return (h ^ (h >> 31)) * 0x94d0_49bb_1331_11eb
}

/**
 * A hash of 64 bits under a secret, in the upper bits. The factors are secret as well: with known ones, the author of a
 * trace could choose keys whose differences cancel under each secret.
 */
// @ts-ignore: decorator
@inline
export function mix(key: u64, secret: u64): u64 {
  const h = (key ^ secret) * (rotr<u64>(secret, 32) | 1)
  return (h ^ (h >> 32)) * (secret | 1)
}

/** SipHash-1-3 of bytes (Aumasson and Bernstein, 2012). Reads nothing after them. */
export function hashBytes(from: usize, length: u32): u64 {
  let v0 = key0 ^ 0x736f_6d65_7073_6575
  let v1 = key1 ^ 0x646f_7261_6e64_6f6d
  let v2 = key0 ^ 0x6c79_6765_6e65_7261
  let v3 = key1 ^ 0x7465_6462_7974_6573
  const words = length >> 3
  // The words, the last bytes with the length, and three rounds without a word.
  for (let n: u32 = 0; n < words + 4; n++) {
    let word: u64 = 0
    if (n < words) word = load<u64>(from + ((<usize>n) << 3))
    else if (n == words) word = lastWord(from, length)
    else if (n == words + 1) v2 ^= 0xff
    v3 ^= word
    v0 += v1
    v2 += v3
    v1 = rotl<u64>(v1, 13) ^ v0
    v3 = rotl<u64>(v3, 16) ^ v2
    v0 = rotl<u64>(v0, 32)
    v2 += v1
    v0 += v3
    v1 = rotl<u64>(v1, 17) ^ v2
    v3 = rotl<u64>(v3, 21) ^ v0
    v2 = rotl<u64>(v2, 32)
    v0 ^= word
  }
  return v0 ^ v1 ^ v2 ^ v3
}

/** The bytes after the last whole word, and the length in the highest byte. */
// @ts-ignore: decorator
@inline
function lastWord(from: usize, length: u32): u64 {
  const left = length & 7
  const end = from + length
  const top = (<u64>length) << 56
  if (left == 0) return top
  if (length >= 8) return top | (load<u64>(end - 8) >> (64 - ((<u64>left) << 3)))
  if (left >= 4) return top | (<u64>load<u32>(from)) | ((<u64>load<u32>(end - 4)) << ((<u64>left - 4) << 3))
  const middle = <usize>(left >> 1)
  return (
    top |
    (<u64>load<u8>(from)) |
    ((<u64>load<u8>(from + middle)) << ((<u64>middle) << 3)) |
    ((<u64>load<u8>(end - 1)) << ((<u64>left - 1) << 3))
  )
}

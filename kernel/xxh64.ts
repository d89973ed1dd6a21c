/** XXH64 with seed 0, of contents that arrive in pieces. See lib/compression/zstd-inflaters.ts. */

const PRIME_1: u64 = 0x9e3779b185ebca87
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f
const PRIME_3: u64 = 0x165667b19e3779f9
const PRIME_4: u64 = 0x85ebca77c2b2ae63
const PRIME_5: u64 = 0x27d4eb2f165667c5

const STRIPE: u32 = 32

/** The maximum size of a piece in bytes. */
export const CAPACITY: u32 = 65536
/** The start of a piece; the rest of the previous piece is copied to the bytes before it. */
const REST: usize = memory.data(32 + 65536, 16)
export const INPUT: usize = REST + 32

let a: u64
let b: u64
let c: u64
let d: u64
let length: u64 = 0
/** The number of bytes left over before the input, fewer than a stripe. */
let left: u32 = 0

/** Begins another content. */
export function reset(): void {
  a = PRIME_1 + PRIME_2
  b = PRIME_2
  c = 0
  d = 0 - PRIME_1
  length = 0
  left = 0
}

/** Hashes the first `bytes` bytes of the input. */
export function update(bytes: u32): void {
  length += bytes
  let at = INPUT - left
  const end = INPUT + bytes
  for (; at + STRIPE <= end; at += STRIPE) {
    a = round(a, load<u64>(at))
    b = round(b, load<u64>(at + 8))
    c = round(c, load<u64>(at + 16))
    d = round(d, load<u64>(at + 24))
  }
  left = <u32>(end - at)
  memory.copy(INPUT - left, at, left)
}

/** The low word of the hash of all input so far. */
export function digest(): u32 {
  let hash: u64
  if (length >= STRIPE) {
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18)
    hash = merge(merge(merge(merge(hash, a), b), c), d)
  } else hash = PRIME_5
  hash += length
  let at = INPUT - left
  for (; at + 8 <= INPUT; at += 8) hash = rotl<u64>(hash ^ round(0, load<u64>(at)), 27) * PRIME_1 + PRIME_4
  for (; at + 4 <= INPUT; at += 4) hash = rotl<u64>(hash ^ (<u64>load<u32>(at) * PRIME_1), 23) * PRIME_2 + PRIME_3
  for (; at < INPUT; at++) hash = rotl<u64>(hash ^ (<u64>load<u8>(at) * PRIME_5), 11) * PRIME_1
  hash = (hash ^ (hash >> 33)) * PRIME_2
  hash = (hash ^ (hash >> 29)) * PRIME_3
  return <u32>(hash ^ (hash >> 32))
}

function round(lane: u64, word: u64): u64 {
  return rotl<u64>(lane + word * PRIME_2, 31) * PRIME_1
}

function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * PRIME_1 + PRIME_4
}

/** The secret of a process from random bits. It may be 0 only by chance. */
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

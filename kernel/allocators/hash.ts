/** The hash of the tables by address and by thread, which no one can choose keys for: it is keyed. */
import { mix, newSecret, seedHashes } from '../shared/hash'

let secret: u64 = newSecret()

/** Sets the random seed, before there is anything in a table. */
export function seed(low: u32, high: u32): void {
  seedHashes(low, high)
  secret = newSecret()
}

// @ts-ignore: decorator
@inline
export function hashOf(key: u64): u32 {
  return <u32>(mix(key, secret) >> 32)
}

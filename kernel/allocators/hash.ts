/** The hash of the tables by address and by thread. It is keyed, so no trace can choose keys that collide. */
import { mix, newSecret, seedHashes } from '../shared/hash'

let secret: u64 = newSecret()

/** Sets the random seed. Call this while all tables are empty. */
export function seed(low: u32, high: u32): void {
  seedHashes(low, high)
  secret = newSecret()
}

export function hashOf(key: u64): u32 {
  return <u32>(mix(key, secret) >> 32)
}

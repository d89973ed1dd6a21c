/** The hash of the tables by address and by thread, which no one can choose keys for: it is keyed. */
import { mix, secretFrom } from '../shared/mix'

let secret: u64 = secretFrom(0, 0)

/** Sets the random seed, before there is anything in a table. */
export function seed(low: u32, high: u32): void {
  secret = secretFrom(low, high)
}

// @ts-ignore: decorator
@inline
export function hashOf(key: u64): u32 {
  return <u32>(mix(key, secret) >> 32)
}

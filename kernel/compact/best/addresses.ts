/** Codes whether the simulated allocator is right about an address, for the best level. */

import { bit, freshen, mixed } from '../coder'
import { Thread } from '../thread'
import { ask, context, mix } from './mixer'
import { SURPRISED } from './selectors'

/** Whether it was wrong about the last addresses, as bits. */
let surprises: u32 = 0
/** The counter that is used when it has been right for long. */
const CALM: usize = memory.data(8)

export function resetAddresses(): void {
  surprises = 0
  freshen(CALM, 2)
}

/** Codes whether an address is not the expected one. */
export function codeSurprise(y: u32, t: Thread, symbol: u32, size: u64): u32 {
  if (surprises == 0) y = bit(y, CALM)
  else {
    ask()
    context(mixed(120, surprises & 0xff))
    context(mixed(121, surprises & 0xffff))
    context(mixed(mixed(122, <u32>min<u64>(size, 4096)), surprises & 1))
    context(mixed(mixed(123, t.s1), symbol))
    y = mix(y, SURPRISED)
  }
  surprises = (surprises << 1) | y
  return y
}

/** The simulated allocator: the address that it would give, if one is simulated. */

import { Descriptor, described } from './descriptors'

/** Whether an allocator is simulated. */
export let isOn: bool = false

/** Chooses the allocator. 0 is none. */
export function chooseAllocator(kind: u32): bool {
  isOn = false
  return kind == 0
}

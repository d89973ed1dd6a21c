import type { Statistics } from '../../transforms/statistics/result.js'
import { MAX_SIZE } from '../../transforms/verify.js'
import { bytes } from './columns.js'

/** A warning that sums of bytes are false, because an allocation is larger than any address space. */
export function sizeWarning({ sizes: { largest } }: Statistics): string | undefined {
  if (largest <= MAX_SIZE) return undefined
  return (
    `an allocation has ${bytes(largest)}, more than any address space, so sums of bytes may be false; ` +
    'hf-verify finds such allocations, and its --repair drops them'
  )
}

import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** Vitest takes no longer for what is shorter. */
const LONG = 32

// Vitest compares a million bytes in a second, Node in a millisecond; for events it takes three times as long. What is
// equal for Node is equal for Vitest. About the rest Vitest decides, and shows the difference.
expect.addEqualityTesters([
  (one: unknown, other: unknown) => (isLong(one) && isLong(other) && isDeepStrictEqual(one, other) ? true : undefined),
])

function isLong(value: unknown): boolean {
  return Array.isArray(value) ? value.length >= LONG : ArrayBuffer.isView(value) && value.byteLength >= LONG
}

import { sha256 } from '@noble/hashes/sha2.js'
import { Buffer } from 'buffer/index.js'

// What the bundler puts in place of node:crypto: the one hash that xz may have.

/** A hash that is fed piece by piece. */
export interface Hash {
  update(bytes: Uint8Array): Hash
  digest(): Buffer
}

/** @throws Error for any algorithm but SHA-256 */
export function createHash(algorithm: string): Hash {
  if (algorithm !== 'sha256') throw new Error(`${algorithm} is not supported in browsers`)
  const hash = sha256.create()
  return {
    update(bytes) {
      hash.update(bytes)
      return this
    },
    digest: () => Buffer.from(hash.digest()),
  }
}

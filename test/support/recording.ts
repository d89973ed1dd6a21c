import { readFileSync } from 'node:fs'
import { ZSTD_MAGIC } from '../../lib/compression/magic.js'
import { unzstdWhole } from '../../lib/compression/zstd-whole.js'

/** Recordings of tests have at most this many bytes. */
const MOST = 1 << 28

/** The bytes of a file of heapflow's own recorder, which compresses it where the machine has libzstd. */
export function recordingBytes(path: string): Uint8Array {
  const bytes = new Uint8Array(readFileSync(path))
  return ZSTD_MAGIC.every((byte, i) => byte === bytes[i]) ? unzstdWhole(bytes, MOST) : bytes
}

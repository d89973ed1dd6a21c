import { createRequire } from 'node:module'
import type { Transform } from 'node:stream'
import { gunzip, isGzip, type ZlibSync } from '../compression/gunzip.js'
import { isZip, Unzip } from '../compression/unzip.js'
import { generatorStream, peek, runStage } from './generator.js'

/** How many bytes tell gzip and zip from all else. */
const MAGIC_BYTES = 4

/** How gzip is inflated: `zlib-sync` in step with the decoder, or `node:zlib` in the thread pool. */
export type Inflater = 'zlib-sync' | 'node:zlib'

let zlibSync: ZlibSync | null | undefined

/** zlib-sync is optional: it is built from source at installation, and a machine may lack the means. */
function loadZlibSync(): ZlibSync | undefined {
  if (zlibSync === undefined) {
    try {
      zlibSync = createRequire(import.meta.url)('zlib-sync') as ZlibSync
    } catch {
      zlibSync = null
    }
  }
  return zlibSync ?? undefined
}

/** Which inflater `decompress()` uses on this machine. */
export function defaultInflater(): Inflater {
  return loadZlibSync() === undefined ? 'node:zlib' : 'zlib-sync'
}

/**
 * Inflates gzip (any number of members) and zip (the first file in the archive); all other bytes pass unchanged.
 * A cut or corrupt archive is a `TraceError` whose offset is that in the compressed bytes, after all that could be
 * inflated was read.
 */
export function decompress(options: { inflater?: Inflater } = {}): Transform {
  return generatorStream(async function* (source, stream) {
    const { head, whole } = await peek(source, MAGIC_BYTES)
    if (isGzip(head)) yield* gunzip(whole, (options.inflater ?? defaultInflater()) === 'zlib-sync' ? loadZlibSync() : undefined)
    else if (isZip(head)) yield* runStage(new Unzip(), whole, stream)
    else yield* whole
  })
}

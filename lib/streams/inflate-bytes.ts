import type { EventEmitter } from 'node:events'
import type { ZlibSync } from '../compression/gunzip-node.js'
import type { NewFrameInflater } from '../compression/zstd-inflaters.js'
import type { TraceError } from '../event/error.js'
import { inflate, type Inflaters } from '../reading/inflate.js'
import { warningsOn } from './warnings-on.js'

/** The ways to inflate gzip: `zlib-sync` in step with the decoder, or `node:zlib` in the thread pool. */
export type Inflater = 'zlib-sync' | 'node:zlib'

let zlibSync: ZlibSync | null | undefined

/**
 * zlib-sync is optional: it is built from source at installation, and a machine may lack the means. With an import of
 * `createRequire`, webpack would try to bundle its machine code.
 */
function loadZlibSync(): ZlibSync | undefined {
  if (zlibSync === undefined) {
    try {
      zlibSync = process.getBuiltinModule('node:module').createRequire(import.meta.url)('zlib-sync') as ZlibSync
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

/** Options of `decompress`. */
export interface DecompressOptions {
  /**
   * Default: `zlib-sync` where it is installed, for the first 64 inputs of a process that are not small. It never frees
   * the state of an inflater, some 40 KB, so do not ask for it in a service.
   */
  inflater?: Inflater
  /** Called if the archive is truncated. The stream then ends where the archive does, without an error. */
  onTruncated?: (error: TraceError) => void
}

/** `decompress` without a stream around it; warnings are emitted on `stream`. */
export function inflateOnNode(
  source: AsyncIterable<Uint8Array>,
  { inflater, onTruncated }: DecompressOptions,
  stream: EventEmitter,
): AsyncGenerator<Uint8Array> {
  const inflaters: Inflaters = {
    gzip: async () =>
      (await import('../compression/gunzip-node.js')).nodeMembers(
        (inflater ?? defaultInflater()) === 'zlib-sync' ? loadZlibSync() : undefined,
        inflater === undefined,
      ),
    zstd: zstdInflater,
  }
  return inflate(source, inflaters, warningsOn(stream), onTruncated)
}

/** The inflater of zstd: Node's from 22.15 on, otherwise a kernel. */
async function zstdInflater(): Promise<NewFrameInflater> {
  const { kernelInflater, nodeInflater } = await import('../compression/zstd-inflaters.js')
  return nodeInflater ?? kernelInflater()
}

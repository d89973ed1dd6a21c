import type { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { ZlibSync } from '../compression/gunzip.js'
import type { NewFrameInflater } from '../compression/zstd-inflaters.js'
import { foreignCompression, isGzip, isXz, isZip, isZstd, MAGIC_BYTES } from '../compression/magic.js'
import { TraceError } from '../event/error.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import { tolerateTruncation } from './truncation.js'
import { byteStream, peek, runStage } from './generator.js'
import type { ByteStream } from './types.js'

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

/** Options of `decompress`. */
export interface DecompressOptions {
  /** Default: `zlib-sync` where it is installed. */
  inflater?: Inflater
  /** Called if the archive is truncated. The stream then ends where the archive does, without an error. */
  onTruncated?: (error: TraceError) => void
}

const OPTIONS: OptionNames<DecompressOptions> = { inflater: true, onTruncated: true }

/**
 * Inflates gzip (any number of members), zstd (any number of frames), xz (any number of streams) and zip (the first
 * file in the archive); all other bytes pass unchanged. A cut or corrupt archive is a `TraceError` whose offset is that
 * in the compressed bytes, after all that could be inflated was read. Other compression (bzip2, lz4) is a `TraceError`
 * that names it; so is zstd if neither Node nor the optional package fzstd reads it.
 */
export function decompress(options: DecompressOptions = {}): ByteStream<'bytes'> {
  checkOptions(options, OPTIONS, 'decompress')
  return byteStream('decompress()', (source, stream) => inflate(source, options, stream))
}

/** `decompress` without a stream around it; warnings are emitted on `stream`. */
export async function* inflate(
  source: AsyncIterable<Uint8Array>,
  options: DecompressOptions,
  stream: EventEmitter,
): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(source, MAGIC_BYTES)
  if (isGzip(head)) {
    const { gunzip } = await import('../compression/gunzip.js')
    const inflater = options.inflater ?? defaultInflater()
    yield* tolerateTruncation(gunzip(whole, inflater === 'zlib-sync' ? loadZlibSync() : undefined), options.onTruncated)
  } else if (isZip(head)) {
    const { Unzip } = await import('../compression/unzip.js')
    yield* tolerateTruncation(runStage(new Unzip(), whole, stream), options.onTruncated)
  } else if (isZstd(head)) {
    const { unzstd } = await import('../compression/unzstd.js')
    yield* tolerateTruncation(unzstd(whole, await zstdInflater()), options.onTruncated)
  } else if (isXz(head)) {
    const { unxz } = await import('../compression/unxz.js')
    yield* tolerateTruncation(unxz(whole), options.onTruncated)
  } else {
    const foreign = foreignCompression(head)
    if (foreign !== undefined) {
      throw unread(foreign.name, 'which heapflow does not read', foreign.command)
    }
    yield* whole
  }
}

/** What inflates zstd: Node from 22.15 on, otherwise fzstd. @throws TraceError when that is not installed */
async function zstdInflater(): Promise<NewFrameInflater> {
  const { fzstdInflater, nodeInflater } = await import('../compression/zstd-inflaters.js')
  if (nodeInflater !== undefined) return nodeInflater
  try {
    return fzstdInflater(await import('fzstd'))
  } catch {
    const reason = `which Node ${process.version} does not read by itself: run \`npm install fzstd\`, use Node 22.15 or newer`
    throw unread('zstd', reason, 'zstd -dc', ', or ')
  }
}

function unread(name: string, why: string, command: string, before = ': '): TraceError {
  const reason = `compressed with ${name}, ${why}${before}decompress it first (${command} FILE | ...)`
  return new TraceError('ERR_TRACE_UNKNOWN_FORMAT', reason, { format: name, offset: 0 })
}

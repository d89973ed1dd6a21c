import { checkOptions, type OptionNames } from '../event/options.js'
import { byteStream } from './generator.js'
import { defaultInflater, inflateOnNode, type DecompressOptions, type Inflater } from './inflate-bytes.js'
import type { ByteStream } from './types.js'

export { defaultInflater, type DecompressOptions, type Inflater }

const OPTIONS: OptionNames<DecompressOptions> = { inflater: ['zlib-sync', 'node:zlib'], onTruncated: 'function' }

/**
 * Inflates gzip (any number of members), zstd (any number of frames), xz (any number of streams) and zip (the first
 * file in the archive); all other bytes pass unchanged. A truncated or corrupt archive is a `TraceError` with the
 * offset in the compressed bytes, after everything that could be inflated was read. Other compression (bzip2, lz4) is a
 * `TraceError` that names it.
 */
export function decompress(options: DecompressOptions = {}): ByteStream<'bytes'> {
  checkOptions(options, OPTIONS, 'decompress')
  return byteStream('decompress()', (source, stream) => inflateOnNode(source, options, stream))
}
